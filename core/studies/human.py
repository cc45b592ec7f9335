"""What people said about a study's cases, beside the parser's results: their guesses, their verdicts, and their answers
in annotation sets.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import journal
from ..events import Recorded, Rules
from ..labs.base.declared import GUESS, VERDICT
from ..labs.base.lab import Lab
from ..runs import annotation_sets, guesses
from ..runs.annotation_sets import SIMULATED, AnnotationPlace, Annotator
from ..runs.guesses import ABOUT, EXAM
from ..runs.labels import BY, Label
from ..transcript import RecordReader, Transcript, name_of, transcript
from .plan import LABEL as LABEL_SCHEME
from .plan import Planned, Study
from .table_cells import Row


def journals(study: Study, labs: Mapping[str, Lab], folder: Path) -> dict[str, list[Path]]:
    """The journals of what people said, by the run that they are about; journals of games and annotation sets are
    included for each of their runs. Empty if no table of the study needs them.
    """
    kinds = {table.kind for table in study.tables}
    if not any(table.of_people and table.kind in kinds for lab in labs.values() for table in lab.studies.tables):
        return {}
    by_run: dict[str, list[Path]] = {}
    for path in journal.list_journals(folder, "*~*"):
        run, _, who = path.stem.partition("~")
        # "~~" marks the owner's own settings of the run, such as whether it is shared.
        if not who.startswith("~") and not run.startswith(ABOUT):
            by_run.setdefault(run, []).append(path)
    for path in guesses.journals(folder):
        for run in {one.played.run for one in guesses.guesses(path)}:
            by_run.setdefault(run, []).append(path)
    for one in annotation_sets.sets(folder):
        for run in {place.run for page in one.state.made.pages for place in page.places}:
            by_run.setdefault(run, []).append(one.path)
    return {run.id: by_run[run.id] for run in study.all if run.id in by_run}


NOT_LABELLED, DIFFERENT = "not labelled", "labelled differently"
"""Values of a label scheme in a table for cases without a label, and for those on whose labels no majority agrees."""


def _label_journals(study: Study, folder: Path) -> list[Path]:
    """The journals of labels of the study's runs; none if no table has a label scheme."""
    if not _schemes(study):
        return []
    runs = {run.id for run in study.all}
    return [path for path in journal.list_journals(folder, f"*~{BY}*") if path.stem.partition("~")[0] in runs]


def _schemes(study: Study) -> list[str]:
    names = dict.fromkeys(name for table in study.tables for name in (*table.rows, *table.columns))
    return [name.removeprefix(LABEL_SCHEME) for name in names if name.startswith(LABEL_SCHEME)]


def own_labels(study: Study, folder: Path) -> dict[str, dict[tuple[str, str], str]]:
    """The labels of cases under each scheme that a table of the study has, by run and case: what more than half of the
    people who labelled the case say, else DIFFERENT. Several labels of one person are joined by commas. Unlabelled
    cases are missing, and so are labels by judge models.
    """
    given: dict[str, dict[tuple[str, str], list[str]]] = {scheme: {} for scheme in _schemes(study)}
    for path in _label_journals(study, folder):
        run = path.stem.partition("~")[0]
        said = {
            event.case: event.data
            for event in journal.read(path).events
            if isinstance(event, Recorded) and event.record == LABEL and not event.item
        }
        for case, data in said.items():
            own = label.own if (label := RecordReader().read(Label, data)) else {}
            for scheme in given.keys() & own.keys():
                given[scheme].setdefault((run, case), []).append(", ".join(sorted(own[scheme])))
    return {scheme: {case: _majority(words) for case, words in cases.items()} for scheme, cases in given.items()}


def _majority(words: Sequence[str]) -> str:
    ((word, times),) = Counter(words).most_common(1)
    return word if 2 * times > len(words) else DIFFERENT


def bytes_said(study: Study, labs: Mapping[str, Lab], folder: Path) -> int:
    """The total size in bytes of these journals and of those of labels: it grows when somebody says more."""
    paths = {path for several in journals(study, labs, folder).values() for path in several}
    return sum(path.stat().st_size for path in paths.union(_label_journals(study, folder)))


def rows(run: Planned, folder: Path, said: Sequence[Path], measured: Sequence[Row], rules: Rules) -> Iterator[Row]:
    """A row for each guess and verdict, the last that each person gave about a place: `who`, `trial` ("" for the whole
    case) and `word`, by `rules`. A guess also has `read`, the answer that the run expected, `came`, the actual answer,
    and `exam`, the person's guesses in the qualification test for people, as JSON. A verdict has `value`, 1 for the
    good word and 0 for the other. In the game the first guess about a trial counts, if its reason was shown; if
    somebody guessed a trial there and on the run's own page, the earlier guess counts. The other columns are those
    of the case's rows in `measured`; cases without rows there are left out.

    Answers in annotation sets are rows too: with `blind` true, because no page shows an outcome, and with `simulated`
    SIMULATED if a scripted person gave them, else ''.
    """
    state = transcript(journal.read(journal.path_for(folder, run.id)).events)
    cases = {row["case"]: row for row in measured}
    good = {judgement.name: judgement.good for judgement in run.lab.listing.judgements}
    trials = {case: run.lab.view(state.case(case)).trials for case in cases}
    last: dict[tuple[str, str, str, str], Recorded] = {}
    games = [one for path in said if path.stem.startswith(ABOUT) for one in guesses.guesses(path)]
    sets = [path for path in said if path.parent.name == annotation_sets.FOLDER]
    said = [path for path in said if path not in sets]
    exams = _exams(said[0].parent) if said else {}
    yield from _annotated(run, state, cases, sets, rules)
    for path in said:
        if path.stem.startswith(ABOUT):
            continue
        begun = journal.first_event(path)
        # A person has a different name in each run, but is one `owner`.
        who = begun.owner if begun and begun.owner else path.stem.partition("~")[2].removeprefix(BY)
        said_here = {
            (who, event.case, event.item, event.record): event
            for event in journal.read(path).events
            if isinstance(event, Recorded) and event.case in cases
        }
        # Within a journal, order shows which came last, whatever the clock said; between two journals only the clock
        # can.
        for place, event in said_here.items():
            before = last.get(place)
            last[place] = event if before is None or before.at <= event.at else before
    words = {
        (who, case, item): (event.at, str(event.data[rules]))
        for (who, case, item, record), event in last.items()
        if record != LABEL and rules in event.data and not event.data.get("without")
    }
    for one in games:
        of = one.who, one.case, one.trial
        if one.played.run == run.id and one.case in cases and (of not in words or one.event.at < words[of][0]):
            words[of] = one.event.at, "" if one.played.without else one.played.value
    for (who, case, item), (_, word) in words.items():
        trial = trials[case][item][rules] if item in trials[case] else None
        # A trial that was excluded, or added by hand after the explanation was parsed, is in no figure.
        if word and trial is not None and trial.reason in _GUESSED:
            about = {**cases[case], **_SINGLE, "who": who, "trial": item, "exam": exams.get(who, "{}")}
            yield about | {"metric": GUESS, "word": word, "read": trial.expected, "came": trial.observed}
    for (who, case, item, record), event in last.items():
        about = {**cases[case], **_SINGLE, "who": who, "trial": item}
        if record == LABEL:
            for name, word in Label.model_validate(event.data).verdicts.items():
                yield about | {"metric": f"{VERDICT}{name}", "word": word, "value": float(word == good.get(name))}


LABEL = name_of(Label)
_GUESSED = ("", "not simulatable")
"""Why a trial that does not count may have been guessed all the same: "cannot be predicted" is a guess too."""

_SINGLE: Row = {
    **{"n": 1, "of": 1, "truth": None, "value": None, "other": None, "applies": True},
    **{"simulated": "", "blind": False},
}


def _annotated(
    run: Planned, state: Transcript, cases: Mapping[str, Row], sets: Sequence[Path], rules: Rules
) -> Iterator[Row]:
    """A row for each answer in annotation sets about the run."""
    tasks = {task.name: task for task in run.lab.listing.annotations}
    views: dict[str, Any] = {}
    seen: set[tuple[str, str, AnnotationPlace]] = set()
    for person, place, word, name in _answers(sets):
        key = person.entered.participant, name, place
        if place.run != run.id or place.case not in cases or name not in tasks or key in seen:
            continue
        seen.add(key)
        task = tasks[name]
        if place.case not in views:
            views[place.case] = run.lab.view(state.case(place.case))
        found = task.compared(views[place.case], place.trial, rules)
        if found is None or word not in task.options:
            continue
        value = task.texts.values.get(word)
        if value is None and found.actual is not None:
            value = float(word == found.actual)
        tested = person.tested
        yield {
            **cases[place.case],
            **_SINGLE,
            **{"who": person.entered.participant, "trial": place.trial, "metric": task.metric, "word": word},
            **{"read": found.machine, "came": found.actual, "machine": found.who, "part": found.part, "value": value},
            **{"exam": json.dumps(tested.guesses) if tested else "{}", "blind": True},
            "simulated": SIMULATED if person.entered.simulated else "",
        }


def _answers(sets: Sequence[Path]) -> Iterator[tuple[Annotator, AnnotationPlace, str, str]]:
    """Yield each answer that counts, people's and simulated people's, with the name of its task."""
    for path in sets:
        state = annotation_sets.live(path).state
        for is_simulated in (False, True):
            for person, place, word in state.answers(is_simulated):
                yield person, place, word, state.made.task


def _exams(folder: Path) -> dict[str, str]:
    """What people guessed in the qualification test for people, by question, as JSON; only for those who took it."""
    found: dict[str, dict[str, str]] = {}
    for path in guesses.journals(folder):
        if path.stem.startswith(f"{ABOUT}{EXAM}~"):
            for one in guesses.guesses(path):
                found.setdefault(one.who, {}).setdefault(one.trial, one.played.value)
    return {who: json.dumps(said) for who, said in found.items()}
