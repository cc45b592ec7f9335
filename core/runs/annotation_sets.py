"""Annotation sets: fixed pages that a number of people annotate, each set in a journal in `$EXPLAIN_HOME/annotations`.

A set says which trials and cases its pages are about, and not their texts: these are read from the runs. So nothing of
a deleted run is left in it, and a page whose texts changed is noticed by its digest.
"""

import re
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from .. import home, journal
from ..errors import ExplainError
from ..events import Event, Frozen, Recorded, Started, now
from ..journal import Journal, JournalInUseError
from ..text.stable_random import unit_number
from ..transcript import name_of
from .context import recorded

FOLDER = "annotations"

MOST_PAGES, MOST_PEOPLE = 5_000, 2_000
"""The most pages of a set, and the most people in it."""

SIMULATED = "simulated people"

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
_TRIES, _WAIT = 50, 0.02
"""How often, and after how many seconds, a write is tried again while another process writes."""

Status = Literal["completed", "returned", "rejected", "timed out"]
EXCLUDED: tuple[Status, ...] = ("returned", "rejected")
"""People whose answers do not count: they withdrew, or the platform that recruited them refused their work."""

_Word = Annotated[str, Field(max_length=200)]


class AnnotationError(ExplainError, ValueError):
    """What is asked of an annotation set is not possible; the message says why."""


class AnnotationPlace(Frozen):
    """What a question of a page is about: a trial of a case of a run, or the whole case if `trial` is ''."""

    run: str
    case: str
    trial: str = ""


class AnnotationPage(Frozen):
    """A page of a set. `digest`: of all that it shows. See `AnnotationQuestion` for `group` and `arm`."""

    id: str
    places: tuple[AnnotationPlace, ...]
    digest: str
    group: str = ""
    arm: str = ""


class SetMade(Frozen):
    """A set was made: its `task` and its pages. Each page is for `per_item` people, each of whom gets at most `each`
    pages. A person who does nothing for `minutes` has abandoned theirs. `completion`: the code that they get at the
    end.
    """

    study: str
    lab: str
    task: str
    per_item: Annotated[int, Field(ge=1, le=100)] = 3
    each: Annotated[int, Field(ge=1, le=1_000)] = 20
    minutes: Annotated[int, Field(ge=1, le=10_000)] = 60
    seed: int = 0
    completion: Annotated[str, Field(max_length=200)] = ""
    pages: tuple[AnnotationPage, ...]


class PersonEntered(Frozen):
    """Somebody began. `participant`: their name in exports; `session`: their submission, where a platform sent them.
    `simulated`: the kind of a scripted person, whose answers are never pooled with people's.
    """

    participant: _Word
    session: _Word = ""
    simulated: Annotated[str, Field(max_length=20)] = ""


class PersonTested(Frozen):
    """Somebody took the qualification test: what they chose, by question, and how many answers are right."""

    guesses: dict[_Word, _Word]
    right: int
    needed: int
    of: int

    @property
    def passed(self) -> bool:
        """Whether enough answers are right."""
        return self.right >= self.needed


class PagesAssigned(Frozen):
    """Somebody got these pages, by their ids."""

    pages: tuple[_Word, ...]


class PageAnswered(Frozen):
    """Somebody's answers to the questions of a page, in the page's order. The first ones count."""

    page: _Word
    words: tuple[_Word, ...]


class PersonEnded(Frozen):
    """How somebody's work ended."""

    status: Status


RECORDS = {name_of(one): one for one in (PersonEntered, PersonTested, PagesAssigned, PageAnswered, PersonEnded)}


@dataclass
class Annotator:
    """A person in a set. `seen` is when they did something last, `answered` when each page was answered."""

    id: str
    entered: PersonEntered
    began: datetime
    seen: datetime
    tested: PersonTested | None = None
    assigned: dict[str, datetime] = field(default_factory=dict)
    answers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    answered: dict[str, datetime] = field(default_factory=dict)
    status: Status | None = None

    @property
    def counts(self) -> bool:
        """Whether their answers count."""
        return self.status not in EXCLUDED


class AnnotationState:
    """A set as its journal tells it."""

    def __init__(self, name: str, made: SetMade) -> None:
        self.name, self.made = name, made
        self.pages = {page.id: page for page in made.pages}
        self.people: dict[str, Annotator] = {}

    def apply(self, event: Event) -> None:
        """Take in an event; one that is not known, or that has no place here, changes nothing."""
        if not isinstance(event, Recorded) or event.record not in RECORDS:
            return
        try:
            record = RECORDS[event.record].model_validate(event.data)
        except ValidationError:
            return
        person = self.people.get(event.by)
        if isinstance(record, PersonEntered):
            self.people.setdefault(event.by, Annotator(event.by, record, event.at, event.at))
            return
        if person is None:
            return
        if isinstance(record, PersonEnded):
            person.status = record.status
            return
        person.seen = event.at
        if isinstance(record, PersonTested):
            person.tested = person.tested or record
        elif isinstance(record, PagesAssigned):
            # What they had before and did not answer was abandoned.
            kept = {page: at for page, at in person.assigned.items() if page in person.answers}
            person.assigned = kept | dict.fromkeys((page for page in record.pages if page in self.pages), event.at)
        elif isinstance(record, PageAnswered) and record.page in self.pages and record.page not in person.answers:
            person.answers[record.page] = record.words
            person.answered[record.page] = event.at

    def is_active(self, person: Annotator, at: datetime) -> bool:
        """Whether their unanswered pages are still theirs."""
        return person.status is None and at - person.seen < timedelta(minutes=self.made.minutes)

    def left(self, person: Annotator, at: datetime) -> list[str]:
        """The pages that they have got and not answered; none once they have abandoned them."""
        if not self.is_active(person, at):
            return []
        return [page for page in person.assigned if page not in person.answers]

    def counted(self, simulated: bool) -> Iterator[Annotator]:
        """Yield the people whose answers count; people and simulated people are counted apart."""
        for person in self.people.values():
            if person.counts and bool(person.entered.simulated) == simulated:
                yield person

    def taken(self, at: datetime, simulated: bool) -> Counter[str]:
        """How many people have answered or now have each page."""
        found: Counter[str] = Counter()
        for person in self.counted(simulated):
            found.update([*person.answers, *self.left(person, at)])
        return found

    def choose(self, person: Annotator, at: datetime, among: Collection[str]) -> tuple[str, ...]:
        """The pages to give to that person, of those `among` which to choose: those with the fewest people first, and
        at random among equals.
        """
        taken = self.taken(at, bool(person.entered.simulated))
        theirs = dict.fromkeys([*person.answers, *person.assigned])
        groups = {self.pages[one].group: self.pages[one].arm for one in theirs}
        others = (page for page in self.made.pages if page.id in among and page.id not in theirs)
        free = [page for page in others if taken[page.id] < self.made.per_item]
        free.sort(key=lambda page: (taken[page.id], unit_number(f"{self.made.seed}|{person.id}|{page.id}")))
        chosen: list[str] = []
        for page in free:
            if len(chosen) + len(person.answers) == self.made.each:
                break
            if not page.group or groups.setdefault(page.group, page.arm) == page.arm:
                chosen.append(page.id)
        return tuple(chosen)

    def answers(self, simulated: bool = False) -> Iterator[tuple[Annotator, AnnotationPlace, str]]:
        """Yield each answer that counts: who gave it, what it is about, and the chosen option."""
        for person in self.counted(simulated):
            for page, words in person.answers.items():
                for place, word in zip(self.pages[page].places, words, strict=False):
                    yield person, place, word

    def done(self, simulated: bool = False) -> int:
        """How many pages have all the people that they need."""
        found = Counter(page for person in self.counted(simulated) for page in person.answers)
        return sum(found[page] >= self.made.per_item for page in self.pages)


class LiveSet:
    """A set that people are working on. Any thread and any process may write it: each write reads first what others
    wrote.
    """

    def __init__(self, path: Path) -> None:
        """Raises AnnotationError if the journal holds no set."""
        self.path = path
        self._tail = journal.Tail(path)
        self._lock = threading.RLock()
        match self._tail.news().events:
            case [Started(), Recorded() as made, *events] if made.record == name_of(SetMade):
                pass
            case _:
                raise AnnotationError(f"{path.name} contains no annotation set.")
        try:
            self._state = AnnotationState(path.stem, SetMade.model_validate(made.data))
        except ValidationError:
            raise AnnotationError(
                f"The annotation set {path.stem} cannot be read by this version of the app."
            ) from None
        for event in events:
            self._state.apply(event)

    @property
    def state(self) -> AnnotationState:
        """The set as it is now."""
        with self._lock:
            for event in self._tail.news().events:
                self._state.apply(event)
            return self._state

    def person(self, who: str) -> str:
        """The name of a visitor or participant in this set. It says nothing about them elsewhere."""
        return home.signature(f"annotation {self.path.stem} {who}")[:16]

    def enter(self, who: str, participant: str = "", session: str = "", simulated: str = "") -> Annotator:
        """Let somebody in; who is in stays in. Raises AnnotationError if the set is full, and as `_write` does."""
        id = self.person(who)
        with self._lock:
            if (known := self.state.people.get(id)) is not None:
                return known
            if len(self._state.people) >= MOST_PEOPLE:
                raise AnnotationError("This set is full: nobody else can start.")
            self._write(PersonEntered(participant=participant or id, session=session, simulated=simulated), id)
            return self.state.people[id]

    def take_test(self, id: str, guesses: Mapping[str, str], right: Mapping[str, str], needed: int) -> PersonTested:
        """Keep somebody's answers to the qualification test; `right` has its right answers. The first ones count.
        Raises AnnotationError if one is missing.
        """
        with self._lock:
            known = self.state.people[id].tested
            if known is not None:
                return known
            if missing := [one for one in right if not guesses.get(one)]:
                raise AnnotationError(f"Answer all questions first: {len(missing)} of {len(right)} are left.")
            of = {one: guesses[one] for one in right}
            made = PersonTested(
                guesses=of, right=sum(of[one] == right[one] for one in right), needed=needed, of=len(right)
            )
            self._write(made, id)
            return made

    def next_page(self, id: str, among: Collection[str]) -> str | None:
        """The page that somebody should answer next, of those `among` which to choose: the ones that can be shown. They
        get pages now if they have none. None if there is none for them.
        """
        with self._lock:
            person, at = self.state.people[id], now()
            if person.status is not None:
                return None
            if left := [page for page in self._state.left(person, at) if page in among]:
                return left[0]
            chosen: tuple[str, ...] = ()
            if abandoned := [page for page in person.assigned if page not in person.answers]:
                # They were away for too long: what others have not taken meanwhile is theirs again.
                taken = self._state.taken(at, bool(person.entered.simulated))
                chosen = tuple(page for page in abandoned if page in among and taken[page] < self._state.made.per_item)
            if not chosen and (abandoned or not person.answers):
                chosen = self._state.choose(person, at, among)
            if not chosen:
                return None
            self._write(PagesAssigned(pages=chosen), id)
            return chosen[0]

    def answer(self, id: str, page: str, words: tuple[str, ...], options: Mapping[str, str]) -> None:
        """Keep somebody's answers to a page of theirs. Raises AnnotationError if it is not theirs, or an answer is
        missing.
        """
        with self._lock:
            person = self.state.people[id]
            if page in person.answers:
                return
            if page not in self._state.left(person, now()):
                raise AnnotationError("You were away for so long that others got this page. Here is the next one.")
            if len(words) != len(self._state.pages[page].places) or any(word not in options for word in words):
                raise AnnotationError("Choose an answer for everything on this page.")
            self._write(PageAnswered(page=page, words=words), id)
            if not self._state.left(person, now()) and len(person.answers) >= len(person.assigned):
                self._write(PersonEnded(status="completed"), id)

    def end(self, id: str, status: Status) -> None:
        """Keep how somebody's work ended, as the platform that recruited them reports it."""
        with self._lock:
            if self.state.people[id].status != status:
                self._write(PersonEnded(status=status), id)

    def take_page(self, who: str, page: str, words: tuple[str, ...]) -> bool:
        """Keep what a participant answered to a page in another tool; False if their answers to it are known."""
        id = self.person(f"import {who}")
        with self._lock:
            known = self.state.people.get(id)
            if known is not None and page in known.answers:
                return False
            begun = () if known else (PersonEntered(participant=who),)
            for record in (*begun, PagesAssigned(pages=(page,)), PageAnswered(page=page, words=words)):
                self._write(record, id)
            return True

    def _write(self, record: Frozen, by: str) -> None:
        """Append a record. Raises JournalInUseError if another process keeps writing, and JournalFullError."""
        event = recorded(self.path.stem, record, name_of(type(record)), by=by)
        for attempt in range(_TRIES):
            try:
                with Journal(self.path) as written:
                    written.append(event)
                break
            except JournalInUseError:
                if attempt + 1 == _TRIES:
                    raise
                time.sleep(_WAIT)
        for news in self._tail.news().events:
            self._state.apply(news)


def folder(journals: Path) -> Path:
    """The folder of the sets of a home with that folder of journals."""
    return journals.parent / FOLDER


def make(journals: Path, name: str, made: SetMade, owner: str = "") -> LiveSet:
    """Write a new set. Raises AnnotationError if there is one of that name already, or the name is invalid."""
    if not _NAME.fullmatch(name):
        raise AnnotationError("A set's name has at most 80 lower-case letters, digits and hyphens.")
    path = journal.path_for(folder(journals), name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        raise AnnotationError(f"An annotation set named {name} already exists.")
    with Journal(path) as written:
        written.append(Started(run=name, lab=made.lab, spec={}, seed=made.seed, about="annotation", owner=owner))
        written.append(recorded(name, made, name_of(SetMade)))
    return LiveSet(path)


def find(journals: Path, name: str) -> LiveSet:
    """The set of that name. Raises AnnotationError."""
    path = journal.path_for(folder(journals), name) if _NAME.fullmatch(name) else None
    if path is None or not path.is_file():
        raise AnnotationError(f"There is no annotation set named {name[:80]!r}.")
    return live(path)


@lru_cache(maxsize=200)
def live(path: Path) -> LiveSet:
    """The set of that journal, one for all threads of this process. Raises AnnotationError."""
    return LiveSet(path)


def sets(journals: Path) -> Iterator[LiveSet]:
    """Yield all sets of a home that can be read, by name."""
    for path in journal.list_journals(folder(journals)):
        try:
            yield live(path)
        except AnnotationError:
            continue


def forget(journals: Path, before: float) -> None:
    """Delete the sets in which nothing happened since that time, in seconds since 1970."""
    for path in journal.list_journals(folder(journals)):
        if path.stat().st_mtime < before:
            path.unlink()
            live.cache_clear()
