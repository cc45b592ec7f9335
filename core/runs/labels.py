"""What people say about a case or a trial (verdicts, tags, a note), and what they guess in the game. Each person has a
journal of their own, `<run>~labels-<who>.jsonl`, so that nobody overwrites another.
"""

from __future__ import annotations

import re
import string
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from .. import files, home, journal
from ..errors import ExplainError
from ..events import Frozen, Recorded
from ..journal import NewerSchemaError
from ..transcript import name_of
from .library import said_path

BY = "labels-"
"""How the names begin under which people label; the rest is the person's name."""

LONGEST_NOTE, LONGEST_TAG, MOST_TAGS = 4_000, 60, 20
"""The most characters of a note and of a tag, and the most tags."""

MOST_SCHEMES, MOST_OF_SCHEME = 6, 20
"""The most label schemes of a home, and the most labels of a scheme (`core.runs.labels`)."""

_Word = Annotated[str, Field(max_length=LONGEST_TAG)]


class Label(Frozen):
    """All that one person says about one case or trial; a later label replaces an earlier one.

    `verdicts`: the person's word for each thing that can be judged (`core.labs.base.declared.Judgement`); `should`:
    what the parser should have found, where its result is judged to be wrong. `own`: labels of the person's own schemes
    (`core.runs.labels`), by the scheme's name.
    """

    verdicts: dict[str, _Word] = Field(default_factory=dict)
    should: dict[str, _Word] = Field(default_factory=dict)
    tags: Annotated[tuple[_Word, ...], Field(max_length=MOST_TAGS)] = ()
    note: Annotated[str, Field(max_length=LONGEST_NOTE)] = ""
    own: Annotated[
        dict[_Word, Annotated[tuple[_Word, ...], Field(max_length=MOST_OF_SCHEME)]], Field(max_length=20)
    ] = Field(default_factory=dict, exclude_if=lambda own: not own)

    def judged(self, name: str, word: str, wrong: bool) -> Label:
        """A copy with another verdict on the judgement `name`, or none if `word` is empty. Its correction in `should`
        stays only if the parser is judged `wrong`.
        """
        verdicts = {one: said for one, said in {**self.verdicts, name: word}.items() if said}
        should = {one: said for one, said in self.should.items() if wrong or one != name}
        return self.model_copy(update={"verdicts": verdicts, "should": should})

    def labelled(self, scheme: str, label: str, several: bool) -> Label:
        """A copy with this label of a scheme, or without it if it had it; it replaces others unless the scheme allows
        `several`.
        """
        now = self.own.get(scheme, ())
        others = tuple(one for one in now if one != label) if several else ()
        chosen = others if label in now else (*others, label)
        own = {name: words for name, words in {**self.own, scheme: chosen}.items() if words}
        return self.model_copy(update={"own": own})


class JudgedCase(Frozen):
    """The label that a judge model gave a case of the run `target`, under a person's `scheme`; '' if its answer could
    not be read. `gold` is the person's own label, '' if there is none. `is_test`: the run only tests the judge.
    """

    call: str
    target: str
    target_case: str
    scheme: str
    label: str
    gold: str = ""
    is_test: bool = False


class Audited(Frozen):
    """A parsed answer sampled for a blind audit, and how the person who saw only the raw answer reads it.

    `audit` is the sample's id; `judged` says what is judged (`core.labs.base.declared.Judgement`). The answer is one of
    `drawn` sampled from the `population` of its `stratum`, and the `number`-th (from 1) of the `of` sampled in all.
    `said` is None until it is judged, '' if the person could not tell. The parser's result is not stored here but in
    the run, so later parses of the same answer are compared with the same words.
    """

    audit: str
    judged: str
    stratum: str
    population: int = Field(ge=1)
    drawn: int = Field(ge=1)
    number: int = Field(ge=1)
    of: int = Field(ge=1)
    said: _Word | None = None


class Foretold(Frozen):
    """The word that one person predicted for a card of a sealed run; the first prediction counts."""

    value: str


class Sealing(Frozen):
    """Whether others see only what they have predicted of a run. In the journal `<run>~~sealed.jsonl`."""

    sealed: bool


class Kept(Frozen):
    """The title that the owner gave a run, and whether they hid it from the lists. In the journal
    `<run>~~kept.jsonl`.
    """

    title: Annotated[str, Field(max_length=200)] = ""
    hidden: bool = False


# A person's own label schemes: what cases are labelled with, in the file `labels.toml` of the home.
#
# [reason] title = "What is wrong with the reason?" several = false # true: a case may have several of the labels
# labels = {circular = "x", vague = "v", fine = "f"} # each label and its key


TAKEN = frozenset("jktcr")
"""Keys that the app uses already: J, K and T while a case is open, C and R in every Streamlit app."""

FREE = "".join(letter for letter in string.ascii_lowercase if letter not in TAKEN)

LONGEST_FILE = 64_000
"""The most bytes of the file."""

EXAMPLE = """[reason]
title = "What is wrong with the reason?"
several = false
labels = {circular = "x", vague = "v", fine = "f"}
"""

_NAME = re.compile(rf"\w(?:[\w '-]{{0,{LONGEST_TAG - 2}}}\w)?")


class SchemeError(ExplainError, ValueError):
    """The file of label schemes is invalid; the message names the file and the line."""


class Scheme(Frozen):
    """A label scheme. `labels` has the key of each label; `several`: a case may have more than one of them."""

    name: str
    title: Annotated[str, Field(max_length=200)] = ""
    several: bool = False
    labels: dict[str, str] = Field(min_length=2, max_length=MOST_OF_SCHEME)

    @model_validator(mode="after")
    def _check(self) -> Scheme:
        for name in (self.name, *self.labels):
            if not _NAME.fullmatch(name):
                raise ValueError(
                    f"{name!r} is not a valid name: use letters, digits, spaces, hyphens, at most {LONGEST_TAG}."
                )
        for label, key in self.labels.items():
            if key.lower() in TAKEN:
                raise ValueError(f"{label!r} has the key {key!r}, which the app uses. Free keys: {FREE}.")
            if key not in FREE or len(key) != 1:
                raise ValueError(f"{label!r} has the key {key!r}: choose one lower-case letter. Free keys: {FREE}.")
        return self

    @property
    def shown(self) -> str:
        """The title, or the name if there is none."""
        return self.title or self.name


_Given = TypeAdapter(dict[str, dict[str, Any]])


def path() -> Path:
    """The file of the label schemes. Raises DataDirError."""
    return home.home() / "labels.toml"


def schemes() -> tuple[Scheme, ...]:
    """The label schemes of this home; none if it has no such file. Raises SchemeError and DataDirError."""
    file = path()
    try:
        return read(file.read_text(encoding="utf-8-sig"), file.name)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise SchemeError(f"{file} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise SchemeError(f"{file.name} is not UTF-8 text. Save it as UTF-8.") from None


def read(text: str, file: str = "labels.toml") -> tuple[Scheme, ...]:
    """The label schemes that the text of a file defines. Raises SchemeError."""
    if len(text) > LONGEST_FILE:
        raise SchemeError(f"{file} is too long: at most {LONGEST_FILE:,} characters.")
    try:
        given = _Given.validate_python(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SchemeError(f"{file} is not TOML: {error}.") from None
    except (ValidationError, RecursionError):
        raise SchemeError(f"{file}, line 1: each scheme begins with its name in brackets, such as [reason].") from None
    if len(given) > MOST_SCHEMES:
        raise SchemeError(f"{file} has {len(given)} schemes: at most {MOST_SCHEMES} fit on the screen.")
    made: list[Scheme] = []
    keys: dict[str, str] = {}
    for name, fields in given.items():
        if unknown := sorted(fields.keys() - {"title", "several", "labels"}):
            raise SchemeError(
                f"{_at(file, text, name, unknown[0])}: {unknown[0]!r} is unknown. Use title, several, labels."
            )
        try:
            scheme = Scheme.model_validate({**fields, "name": name})
        except ValidationError as error:
            raise SchemeError(_complaint(error, file, text, name, fields)) from None
        for label, key in scheme.labels.items():
            if key in keys:
                words = f"the key {key!r} of {label!r} is already used for {keys[key]!r}. Choose another"
                raise SchemeError(f"{_at(file, text, name, label)}: {words}.")
            keys[key] = label
        made.append(scheme)
    return tuple(made)


def save(text: str) -> tuple[Scheme, ...]:
    """Store the text as the file of label schemes, once it is valid. Raises SchemeError and DataDirError."""
    found = read(text)
    file = path()
    try:
        home.write(file, text.encode())
    except OSError as error:
        raise SchemeError(f"{file} cannot be written: {error.strerror or error}.") from None
    return found


def _complaint(error: ValidationError, file: str, text: str, name: str, fields: Mapping[str, Any]) -> str:
    """What is wrong with a scheme, with the file and the line."""
    fault = error.errors()[0]
    words = fault["msg"].removeprefix("Value error, ").rstrip(".")
    named = [str(part) for part in fault["loc"]]
    labels = fields.get("labels")
    known = labels if isinstance(labels, dict) else {}
    # Our own messages name the label first, in quotes.
    about = named[-1] if named else next((label for label in known if words.startswith(repr(label))), name)
    return f"{_at(file, text, name, about)}: {': '.join([*named, words])}."


def _at(file: str, text: str, name: str, about: str) -> str:
    """The place in the file where a scheme has a word: file and line."""
    lines = text.splitlines() or [""]
    quoted = re.escape(name)
    head = re.compile(rf"""\s*\[\s*["']?{quoted}["']?\s*[\].]|\s*["']?{quoted}["']?\s*[.=]""")
    begins = next((number for number, line in enumerate(lines) if head.match(line)), 0)
    line = next((at for at in range(begins, len(lines)) if about in lines[at]), begins)
    return f"{file}, line {line + 1}"


# What people guess in the game: a journal for each pack and player, `pack-<name>~<player>.jsonl`, about the pack.
# The first guess begins it; only the first guess about each trial is written.


ABOUT = "pack-"
"""How the names of packs begin in journals about them; no run's name begins like this."""

EXAM = "exam"
"""The pack that is a qualification test for people."""


class Played(Frozen):
    """A guess on a card of `pack`: the card's `place` from 1, the `run` of its trial (empty for a question of the
    qualification test), and the `value` that was guessed. The event has the case and the trial; its item is `item`.
    `without`: whether the reason was hidden.
    """

    pack: str
    place: Annotated[int, Field(ge=1)]
    run: str = ""
    value: Annotated[str, Field(max_length=100)]
    without: bool = Field(default=False, exclude_if=lambda word: not word)

    def item(self, trial: str) -> str:
        """The event's item, unique even if trials of several runs have the same name."""
        return f"{self.run}/{trial}"


class Guess(Frozen):
    """A guess with its player, and the case and the trial that it is about."""

    who: str
    case: str
    trial: str
    played: Played
    event: Recorded


def path_of(folder: Path, pack: str, who: str) -> Path:
    """The journal of a player's guesses about a pack."""
    return said_path(folder / f"{ABOUT}{pack}.jsonl", who)


def journals(folder: Path) -> list[Path]:
    """The journals of all games that were played."""
    return journal.list_journals(folder, f"{ABOUT}*~*")


class Guessed(Frozen):
    """What all players guessed about a pack: the number of players and, for each card by its place from 0, how many
    guessed each word. It has no names.
    """

    players: int = 0
    cards: dict[int, dict[str, int]] = Field(default_factory=dict)


def guessed(folder: Path, pack: str) -> Guessed:
    """The first guesses of all players of that pack, counted; guesses without the reason are left out."""
    found = [guesses(path) for path in journal.list_journals(folder, f"{ABOUT}{pack}~*")]
    cards: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for one in (one.played for player in found for one in player):
        if not one.without:
            cards[one.place - 1][one.value] += 1
    return Guessed(players=sum(map(bool, found)), cards={place: dict(words) for place, words in cards.items()})


def guesses(path: Path) -> tuple[Guess, ...]:
    """The guesses in a game's journal, in order, the first for each trial; unreadable ones are left out."""
    return _guesses(path, files.stamp(path))


@lru_cache(maxsize=2_048)
def _guesses(path: Path, stamp: tuple[int, int]) -> tuple[Guess, ...]:
    """The guesses of a journal in that state, cached."""
    return tuple(_read(path))


def _read(path: Path) -> Iterator[Guess]:
    seen: set[tuple[str, str, str]] = set()
    try:
        events = journal.read(path).events
        begun = journal.first_event(path)
    except (FileNotFoundError, NewerSchemaError):
        return
    who = begun.owner if begun and begun.owner else path.stem.partition("~")[2]
    for event in events:
        if not isinstance(event, Recorded) or event.record != name_of(Played):
            continue
        try:
            played = Played.model_validate(event.data)
        except ValidationError:
            continue
        place = played.run, event.case, event.trial
        if place not in seen:
            seen.add(place)
            yield Guess(who=who, case=event.case, trial=event.trial, played=played, event=event)
