"""Annotation sets of a study: which pages they have, what people see on them, and scripted people who try them out."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from .. import journal
from ..events import now
from ..labs.base.declared import AnnotationQuestion, AnnotationTask
from ..labs.base.lab import Lab
from ..runs import annotation_sets
from ..runs.annotation_sets import MOST_PAGES, AnnotationError, AnnotationPage, AnnotationPlace, LiveSet, SetMade
from ..text.stable_random import unit_number
from ..transcript import Transcript, transcript
from .plan import Study
from .run_status import is_completed


@dataclass(frozen=True)
class ShownPage:
    """A page as people see it: what stands above the questions, and the text of each question, '' if there is only one
    thing to judge.
    """

    shown: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]

    @property
    def digest(self) -> str:
        """16 hexadecimal digits over all that the page shows."""
        content = json.dumps([self.shown, self.texts], ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def order(self, person: str) -> list[int]:
        """The places of the questions in the order in which that person sees them."""
        return sorted(range(len(self.texts)), key=lambda place: unit_number(f"{person}|{self.digest}|{place}"))


def tasks(labs: Mapping[str, Lab]) -> dict[str, tuple[Lab, AnnotationTask]]:
    """All tasks for people, by name."""
    return {task.name: (lab, task) for lab in labs.values() for task in lab.listing.annotations}


def task_of(made: SetMade, labs: Mapping[str, Lab]) -> AnnotationTask:
    """The task of a set. Raises AnnotationError if no lab has it."""
    try:
        return tasks(labs)[made.task][1]
    except KeyError:
        raise AnnotationError(f"No lab of this app has the task {made.task!r}.") from None


def make(
    study: Study,
    labs: Mapping[str, Lab],
    journals: Path,
    name: str,
    task: str = "",
    most: int | None = None,
    **settings: Any,
) -> LiveSet:
    """Make a set of all questions of a task in the completed runs of the study, without its controls; of at most `most`
    pages, sampled by the seed. The task is by default the first one of the study's labs. `settings` are those of
    `SetMade`. Raises AnnotationError.
    """
    known = tasks(labs)
    lab, asked = known.get(task) or _first_task(study, task, known)
    runs = [run for run in study.runs if run.lab.name == lab.name]
    done = [run.id for run in runs if is_completed(journal.path_for(journals, run.id))]
    if not done:
        raise AnnotationError("No run of this study is complete yet. Run it first: `study run FILE`.")
    pages, shown = [], _pages(asked, lab, [(run, journals / f"{run}.jsonl") for run in done])
    for (key, group, arm), (places, page) in shown.items():
        id = hashlib.sha256(f"{key}|{places}".encode()).hexdigest()[:12]
        pages.append(AnnotationPage(id=id, places=tuple(places), digest=page.digest, group=group, arm=arm))
    if not pages:
        raise AnnotationError(f"The runs of this study have nothing for the task {asked.name}.")
    if len(pages) > (least := min(MOST_PAGES, most or MOST_PAGES)):
        if most is None:
            raise AnnotationError(f"{len(pages):,} pages are too many. Give --items, at most {MOST_PAGES:,}.")
        chance = np.random.default_rng([int(settings.get("seed", 0)), len(pages)])
        pages = [pages[place] for place in sorted(chance.permutation(len(pages))[:least])]
    made = SetMade(study=study.name or study.title, lab=lab.name, task=asked.name, pages=tuple(pages), **settings)
    return annotation_sets.make(journals, name, made)


def _first_task(study: Study, task: str, known: Mapping[str, tuple[Lab, AnnotationTask]]) -> tuple[Lab, AnnotationTask]:
    if task:
        raise AnnotationError(f"There is no task {task!r}. Choose one of {', '.join(known)}.")
    for run in study.runs:
        if run.lab.listing.annotations:
            return run.lab, run.lab.listing.annotations[0]
    raise AnnotationError("Nobody annotates the runs of this study's labs.")


_Key = tuple[str, str, str]


def _pages(
    task: AnnotationTask, lab: Lab, runs: Sequence[tuple[str, Path]]
) -> dict[_Key, tuple[list[AnnotationPlace], ShownPage]]:
    """The pages of a task in those runs: questions with the same key and shown texts are on one page; in one run each
    key has a page of its own unless it is about a whole case.
    """
    found: dict[_Key, tuple[list[AnnotationPlace], list[AnnotationQuestion]]] = {}
    for run, path in runs:
        state = transcript(journal.read(path).events)
        for case in state.in_order:
            for one in task.questions(lab.view(state.case(case))):
                # The same explanation of two runs is rated once for each.
                key = one.key if not one.trial else f"{run} {one.key}"
                same = f"{key}|{json.dumps(one.shown)}"
                places, questions = found.setdefault((same, one.group, one.arm), ([], []))
                places.append(AnnotationPlace(run=run, case=case, trial=one.trial))
                questions.append(one)
    return {
        key: (places, ShownPage(questions[0].shown, tuple(one.text for one in questions)))
        for key, (places, questions) in found.items()
    }


def shown_pages(live: LiveSet, task: AnnotationTask, lab: Lab, journals: Path) -> dict[str, ShownPage]:
    """What people see on each page of a set, by id; a page is missing if one of its runs was deleted or changed."""
    runs = sorted({place.run for page in live.state.made.pages for place in page.places})
    files = [(run, path, path.stat()) for run in runs if (path := journal.path_for(journals, run)).is_file()]
    stamp = tuple((run, str(path), stat.st_mtime_ns, stat.st_size) for run, path, stat in files)
    texts = _texts_of(task, lab, stamp)
    found = {}
    for page in live.state.made.pages:
        if all(place in texts for place in page.places):
            made = ShownPage(texts[page.places[0]][0], tuple(texts[place][1] for place in page.places))
            if made.digest == page.digest:
                found[page.id] = made
    return found


@lru_cache(maxsize=8)
def _texts_of(
    task: AnnotationTask, lab: Lab, runs: tuple[tuple[str, str, int, int], ...]
) -> dict[AnnotationPlace, tuple[tuple[tuple[str, str], ...], str]]:
    """What each question of those runs shows, cached until one of the journals changes."""
    pages = _pages(task, lab, [(run, Path(path)) for run, path, *_ in runs])
    return {
        place: (page.shown, text)
        for places, page in pages.values()
        for place, text in zip(places, page.texts, strict=True)
    }


# Scripted people

KINDS = ("good", "random", "lazy")
"""A good person answers nearly always as a careful reader would, a random one anything, a lazy one always the first
option.
"""

CARE = 0.95
"""How often a good person does not slip."""


def simulate(live: LiveSet, labs: Mapping[str, Lab], journals: Path, n: int) -> Counter[str]:
    """Let `n` scripted people go through a set as people do: the test, then page after page. Returns how many of each
    kind passed the test. Their answers are marked in the journal, and never pooled with people's.
    """
    task = task_of(live.state.made, labs)
    lab = labs[live.state.made.lab]
    views = case_views(lab, journals)
    passed: Counter[str] = Counter()
    before = sum(bool(one.entered.simulated) for one in live.state.people.values())
    for number in range(before, before + n):
        kind = KINDS[number % len(KINDS)]
        person = live.enter(f"simulated {number}", f"simulated-{kind}-{number // len(KINDS) + 1}", simulated=kind)
        if not _passes(live, task, person.id, kind):
            continue
        passed[kind] += 1
        while (page := live.next_page(person.id, live.state.pages)) is not None:
            places = live.state.pages[page].places
            words = tuple(
                _choice(kind, f"{person.id}|{page}|{at}", task.options, task.careful(views(place), place.trial))
                for at, place in enumerate(places)
            )
            live.answer(person.id, page, words, task.options)
    return passed


def _passes(live: LiveSet, task: AnnotationTask, person: str, kind: str) -> bool:
    test = task.test()
    if not test:
        return True
    guesses = {one.id: _choice(kind, f"{person}|test|{one.id}", task.options, one.right) for one in test}
    return live.take_test(person, guesses, {one.id: one.right for one in test}, task.needed()).passed


def _choice(kind: str, about: str, options: Mapping[str, str], careful: str) -> str:
    words = list(options)
    if kind == "lazy":
        return words[0]
    if kind == "good" and unit_number(f"{about}|slip") < CARE:
        return careful
    return words[int(unit_number(f"{about}|word") * len(words))]


def case_views(lab: Lab, journals: Path) -> Callable[[AnnotationPlace], Any]:
    """A function that returns the view of the case at a place; each run's journal is read once."""

    @cache
    def state_of(run: str) -> Transcript:
        return transcript(journal.read(journal.path_for(journals, run)).events)

    @cache
    def view_of(run: str, case: str) -> Any:
        return lab.view(state_of(run).case(case))

    return lambda place: view_of(place.run, place.case)


def progress(live: LiveSet, shown: Mapping[str, ShownPage] | None = None) -> Iterator[str]:
    """Yield sentences about the state of a set."""
    state = live.state
    made, at = state.made, now()
    people = [one for one in state.people.values() if not one.entered.simulated]
    yield f"{state.done():,} of {len(made.pages):,} pages have been answered by {made.per_item} people each."
    tested = [one for one in people if one.tested is not None]
    passed = sum(one.tested.passed for one in tested if one.tested)
    test = f", {passed} of {len(tested)} passed the qualification test" if tested else ""
    status = Counter(one.status or ("active" if state.is_active(one, at) else "abandoned") for one in people)
    each = ", ".join(f"{n} {word}" for word, n in sorted(status.items()))
    yield f"People: {len(people)}{test}{f' ({each})' if each else ''}."
    if scripted := len(state.people) - len(people):
        done = state.done(simulated=True)
        yield f"Simulated people: {scripted}, with {done:,} pages done. They are left out of all figures about people."
    if shown is not None and (gone := len(made.pages) - len(shown)):
        yield f"{gone:,} pages are not shown any more: a run was deleted or changed."
