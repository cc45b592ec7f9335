"""Packs of the game: trials of recorded runs as cards that a person predicts, and how they were chosen."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from ...events import Frozen
from ...package_data import DATA
from ...runs.context import complaints
from ...scene import Card, Claim, Part, Who

SCHEMA = 1
"""Version of a pack's JSON."""

LARGEST, MOST_CARDS, MOST_RUNS = 1_000_000, 200, 1_000
"""Bytes of a pack, cards in it, and runs that it may be chosen from."""

PACKS = DATA / "packs"
"""Where the packs lie that come with the app."""

UNKNOWN = "unknown"
"""What an explanation implies that does not say."""

Going = Literal["comes true", "misleads", "does not say"]
"""What comes of going by an explanation."""


class BadPack(ValueError):
    """A pack that cannot be read or made; the message says why."""


class PackCard(Frozen):
    """A trial to predict. `title` is what had been asked and `claim` what was said to it, None where a card of
    *Plant* shows two; `card.parts` is what is asked of the reader, `card.options` the answers to choose from,
    `card.said` what came and `card.text` the same in the words in which it came.

    The first of `card.expects` is what the explanation implies: a word of the options, *unknown* where it does not say,
    with the reason in its `quote`. In a pack that is drawn as it came there may be none, and `card.doubt` says why what
    it implies is not settled. `truth` is the true answer, where there is one. `after` is shown once the card is turned.
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
        """What is one question, also where several explanations of it were tested."""
        return self.title, self.case.partition("/")[0]

    @property
    def going(self) -> Going:
        """What comes of going by the explanation, as it was first read."""
        implied = self.card.expects[0].value if self.card.expects else UNKNOWN
        if self.card.doubt or implied not in self.card.options or implied == UNKNOWN:
            return "does not say"
        return "comes true" if implied == self.card.said else "misleads"


class Pack(Frozen):
    """Cards in the order in which they are played. `chosen` says how, `recorded` from how many trials of `runs`,
    `annotated` for how many of them two readers wrote what the explanation implies, and `differed` where these two did
    not agree, so that the trial is no card. `seed` is what was drawn by, where something was; `as_it_came`: none was
    left out. `truths` is the file in `data/questions` that has the true answers. A pack of kind *exam* is one for
    people: what came is what the explanation implies, and nothing else is right.
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
    """The pack in that file. Raises BadPack."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise BadPack(f"{path} cannot be read: {error.strerror or error}.") from None
    if len(data) > LARGEST:
        raise BadPack(f"{path.name} is too large: a pack has at most {LARGEST:,} bytes.")
    try:
        pack = Pack.model_validate(json.loads(data))
    except ValidationError as error:
        raise BadPack(f"{path.name} is no pack: {'; '.join(complaints(error)[:3])[:500]}") from None
    except (ValueError, RecursionError):
        raise BadPack(f"{path.name} is no pack: it is no JSON that can be read.") from None
    if pack.schema_version != SCHEMA:
        raise BadPack(f"{path.name} is of schema {pack.schema_version}; this version of the app knows {SCHEMA}.")
    if pack.name != path.stem:
        raise BadPack(f"{path.name} holds a pack that is called {pack.name!r}: a pack is called as its file is.")
    return pack


def written(pack: Pack) -> str:
    """A pack as its file holds it: all fields, also those that are empty."""
    return json.dumps(pack.model_dump(), indent=1) + "\n"


def shipped() -> list[Path]:
    """The packs that come with the app."""
    return sorted(PACKS.glob("*.json"))


def path_of(name: str) -> Path:
    """The file of the pack of that name that comes with the app. Raises BadPack."""
    known = {path.stem: path for path in shipped()}
    if name not in known:
        raise BadPack(f"No pack is called {name[:60]!r}. There are: {', '.join(known)}.")
    return known[name]


def named(name: str) -> Pack:
    """The pack of that name that comes with the app. Raises BadPack."""
    path = path_of(name)
    return _as_it_is(path, path.stat().st_mtime_ns)


def others(name: str) -> list[dict[str, str]]:
    """Name and title of the other packs that come with the app."""
    return [{"name": path.stem, "title": named(path.stem).title} for path in shipped() if path.stem != name]


@lru_cache(maxsize=16)
def _as_it_is(path: Path, modified: int) -> Pack:
    """The pack as the file was at that time: each guess of a game asks for it."""
    return read(path)
