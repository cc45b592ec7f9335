"""Packs of the game: trials of recorded runs as cards that a person predicts, and how they were chosen."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from ...errors import ExplainError
from ...events import Frozen
from ...package_data import DATA
from ...runs.context import complaints
from ...scene import Card, Claim, Part, Who

SCHEMA = 1
"""The version of a pack's JSON."""

LARGEST, MOST_CARDS, MOST_RUNS = 1_000_000, 200, 1_000
"""The most bytes of a pack, the most cards in it, and the most runs that it may be chosen from."""

PACKS = DATA / "packs"
"""The folder of the packs that come with the app."""

UNKNOWN = "unknown"
"""What an explanation implies if it does not cover the question."""

Going = Literal["comes true", "misleads", "does not say"]
"""What happens if one predicts by the explanation."""


class GamePackError(ExplainError, ValueError):
    """A pack that cannot be read or made; the message says why."""


class PackCard(Frozen):
    """A trial to predict. `title` is what had been asked and `claim` the model's answer and explanation, None on a card
    of *Plant*, which shows two. `card.parts` is what the player is asked, `card.options` are the answers to choose
    from, `card.said` is the model's answer and `card.text` the model's wording of it.

    The first of `card.expects` is what the explanation implies: one of the options, or *unknown* if it does not say,
    with the reason in its `quote`. An unselected pack may lack it; `card.doubt` then says why what the explanation
    implies is not settled. `truth` is the true answer, if there is one. `after` is shown once the card is turned.
    """

    run: str
    case: str
    who: Who
    title: str
    claim: Claim | None = None
    card: Card
    truth: str = ""
    after: tuple[Part, ...] = ()

    @property
    def question(self) -> tuple[str, str]:
        """What identifies a question, even if several explanations of it were tested."""
        return self.title, self.case.partition("/")[0]

    @property
    def going(self) -> Going:
        """What happens if one predicts by the explanation, as it was first parsed."""
        implied = self.card.expects[0].value if self.card.expects else UNKNOWN
        if self.card.doubt or implied not in self.card.options or implied == UNKNOWN:
            return "does not say"
        return "comes true" if implied == self.card.said else "misleads"


class Pack(Frozen):
    """Cards in the order in which they are played. `chosen` says how they were chosen and `recorded` from how many
    trials of `runs`. For `annotated` of these two readers wrote what the explanation implies; in `differed` cases
    they disagreed, so the trial is no card. `seed` is the seed of the sample, if there was one; `as_it_came`: the
    sample left nothing out. `truths` is the file in `data/questions` with the true answers. A pack of kind *exam* is
    a qualification test for people: the right answer is what the explanation implies.
    """

    schema_version: int = SCHEMA
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
    title: Annotated[str, Field(max_length=200)]
    kind: Literal["ask", "check", "plant", "exam"]
    chosen: Annotated[str, Field(max_length=2_000)]
    recorded: int
    annotated: int = 0
    differed: int = 0
    seed: int | None = None
    as_it_came: bool = False
    truths: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,59}\.toml$|^$")] = ""
    runs: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=MOST_RUNS)] = ()
    cards: Annotated[tuple[PackCard, ...], Field(min_length=1, max_length=MOST_CARDS)]


def read(path: Path) -> Pack:
    """The pack in that file. Raises GamePackError."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise GamePackError(f"{path} cannot be read: {error.strerror or error}.") from None
    if len(data) > LARGEST:
        raise GamePackError(f"{path.name} is too large: a pack has at most {LARGEST:,} bytes.")
    try:
        pack = Pack.model_validate(json.loads(data))
    except ValidationError as error:
        raise GamePackError(f"{path.name} is no pack: {'; '.join(complaints(error)[:3])[:500]}") from None
    except (ValueError, RecursionError):
        raise GamePackError(f"{path.name} is not a pack: it is not readable JSON.") from None
    if pack.schema_version != SCHEMA:
        raise GamePackError(f"{path.name} is of schema {pack.schema_version}; this version of the app knows {SCHEMA}.")
    if pack.name != path.stem:
        raise GamePackError(f"{path.name} holds a pack that is called {pack.name!r}: a pack is called as its file is.")
    return pack


def pack_text(pack: Pack) -> str:
    """The text of a pack's file: all fields, including empty ones."""
    return json.dumps(pack.model_dump(), indent=1) + "\n"


def shipped_packs() -> list[Path]:
    """The packs that come with the app."""
    return sorted(PACKS.glob("*.json"))


def path_of(name: str) -> Path:
    """The file of the pack of that name that comes with the app. Raises GamePackError."""
    known = {path.stem: path for path in shipped_packs()}
    if name not in known:
        raise GamePackError(f"No pack is called {name[:60]!r}. There are: {', '.join(known)}.")
    return known[name]


def load_pack(name: str) -> Pack:
    """The pack of that name that comes with the app. Raises GamePackError."""
    path = path_of(name)
    return _as_it_is(path, path.stat().st_mtime_ns)


def other_packs(name: str) -> list[dict[str, str]]:
    """The names and titles of the other packs that come with the app."""
    return [{"name": path.stem, "title": load_pack(path.stem).title} for path in shipped_packs() if path.stem != name]


@lru_cache(maxsize=16)
def _as_it_is(path: Path, modified: int) -> Pack:
    """The pack in a file with that modification time, cached: each guess in a game needs it."""
    return read(path)
