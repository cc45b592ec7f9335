"""The cells of a study's tables: groups of cases with their figure, its n and its interval."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import journal
from ..events import Recorded, Rules
from ..labs.base.declared import GUESS, VERDICT, AlternativeReading, Metric
from ..labs.base.lab import Lab
from ..labs.base.report import View
from ..rulesets import RULES
from ..runs import annotation_sets, labels
from ..runs.annotation_sets import SIMULATED, AnnotationPlace, Annotator
from ..runs.labels import ABOUT, BY, EXAM, Label
from ..statistics.groups import group_statistics, multiverse
from ..statistics.intervals import Kind, of_items
from ..text.display import count_noun
from ..text.embed import PAPER
from ..transcript import RecordReader, Transcript, name_of, transcript
from .plan import LABEL_PREFIX, Planned, Study

if TYPE_CHECKING:
    from pandas import DataFrame


Row = dict[str, Any]
"""One cell: `table`, `row`, `column`, `value`; `n` items with a value, of `of`; `low` and `high` of its 95 % interval
(over items), `trials`, `truth` if the correct value is known, `thin` if less than 70 % counts, `complete`, whether
all of its runs are, and `stopped_early`, whether one of them ended at the study's `stop_width`.

`published`, `published_n`, `source`: the value that a paper printed there, its n, and where; a cell that only the
paper has lacks a value. `difference` is ours minus theirs, `reading` an address where the paper has it, and `why`
what may make them differ. `other` and `other_n` are the value and its items by the parser `other_parser`. `p`,
`p_holm`: p of a paired test, and corrected for all tests of the table. `note` says what else to know. `mixed`: its
table has several figures, which must not be compared with one another. `behind`: the (run, case) pairs of its cases,
which are not printed.
"""

BLANK: Row = {
    **{"value": None, "n": 0, "low": None, "high": None, "of": 0, "trials": 0, "thin": False, "truth": None},
    **{"complete": True, "published": None, "published_n": None, "source": None, "p": None, "p_holm": None},
    **{"difference": None, "reading": None, "why": "", "other": None, "other_n": 0, "other_parser": ""},
    **{"stopped_early": False, "mixed": False, "note": "", "behind": ()},
}


def cells(frame: DataFrame, rows: Sequence[str], columns: Sequence[str], otherwise: str, metric: Metric) -> list[Row]:
    """A cell for each combination of the values of `rows` and `columns`, which are columns of `frame`
    (`tables.measured`); `otherwise` is the name of a row or column without a value. Cases for which a lab gives no
    such figure at all (`applies`) have no cell. `metric` is the figure.
    """
    # Prefixed, since a group's statistic may have the same name as a field (how).
    by = {name: f"by {name}" for name in (*rows, *columns)}
    if not len(frame):
        return []
    keyed = {key: frame[name].astype(object).fillna("") for name, key in by.items()} or {"by all": ""}
    places = frame.assign(**keyed, place=list(zip(frame["run"], frame["case"], strict=True)))
    statistics = group_statistics(places, [*keyed], kind=metric.kind, ends=metric.ends)
    extra = places.groupby([*keyed]).agg(
        **{"complete": ("complete", "all"), "early": ("early", "any")},
        **{"applies": ("applies", "any"), "behind": ("place", lambda cases: tuple(dict.fromkeys(cases)))},
    )
    truths = {tuple(place): truth_of(some, metric.kind) for place, some in places.groupby([*keyed])}
    made = []
    for group in statistics.join(extra, on=[*keyed]).to_dict("records"):
        if not group["applies"]:
            continue
        named = {name: group[key] for name, key in by.items()}
        truth = truths[tuple(group[key] for key in keyed)]
        made.append(
            {
                **BLANK,
                **{"row": label(named, rows) or otherwise, "column": label(named, columns) or otherwise},
                **{"value": number(group["macro"]), "low": number(group["low"]), "high": number(group["high"])},
                **{"n": group["items"], "of": group["items_of"], "trials": group["trials"], "thin": group["thin"]},
                **{"truth": truth, "complete": group["complete"], "stopped_early": group["early"]},
                "behind": group["behind"],
            }
        )
    return made


def pivot(cells: Sequence[Row]) -> tuple[list[str], dict[str, dict[str, Row]]]:
    """The columns of a table, in order, and its cells by row and column."""
    rows: dict[str, dict[str, Row]] = {}
    for cell in cells:
        rows.setdefault(cell["row"], {})[cell["column"]] = cell
    return list(dict.fromkeys(cell["column"] for cell in cells)), rows


def has_figures(cells: Sequence[Row]) -> bool:
    """Whether a table has more than the note that says why it is empty."""
    return any(cell["of"] or cell["published"] is not None for cell in cells)


def truth_of(frame: DataFrame, kind: Kind = "share") -> float | None:
    """The correct value of the figure of this `kind` for the cases of `frame`: computed from their truths over the same
    cases and in the same way, each item counting equally. None if the truth of one is not known, or no case has a
    value.
    """
    defined = frame[frame["value"].notna()]
    if not len(defined) or defined["truth"].isna().any():
        return None
    return of_items(defined["truth"].astype(float).groupby(defined["item"]).mean().tolist(), kind)


def origins(frame: DataFrame) -> dict[str, str]:
    """Cautions about the runs, in words, by run: that it was imported, or that its journal is damaged."""
    told: dict[str, list[str]] = {}
    for run, *words in frame.reindex(columns=["run", "imported", "damaged"]).drop_duplicates().itertuples(index=False):
        imported, damaged = words
        told[run] = [imported] if isinstance(imported, str) and imported else []
        told[run] += [f"with {count_noun(int(damaged), 'damaged line')} in its journal"] if damaged > 0 else []
    return {run: ", ".join(words) for run, words in told.items()}


def with_origins(cell: Row, sent: Mapping[str, str]) -> Row:
    """The cell with a note on how many of its runs have which caution; `sent` has the cautions by run (`origins`)."""
    runs_from = Counter(words for words in sent.values() if words)
    told = (f"{count_noun(runs, 'run')} {words}" for words, runs in sorted(runs_from.items()))
    return {**cell, "note": "; ".join(filter(None, (cell["note"], *told)))}


def other_encoders(frame: DataFrame) -> str:
    """The sentence encoders behind the values of `frame` (`tables.measured`), for a heading; '' if there are none, or
    only that of Chen et al.
    """
    used = frame["by_encoder"].dropna().unique() if "by_encoder" in frame else []
    others = sorted(str(name) for name in used if name != PAPER)
    if not others:
        return ""
    also = f" and {PAPER}" if len(others) < len(used) else f" in place of {PAPER}"
    return f"sentence encoder {' and '.join(others)}{also}"


def label(values: Any, names: Sequence[str]) -> str:
    """The values of these names, as the label of a row or column."""
    return " · ".join(str(values[name]) for name in names if str(values.get(name, "")))


def number(value: Any) -> float | None:
    """The value as a float; None for pandas' NaN."""
    return None if value is None or value != value else float(value)


# Each headline figure as it would be under other analysis choices, from the same answers.


NAMED = "otherwise: "
"""The prefix of the metric in these rows of `tables.measured`."""

MULTIVERSE = "Multiverse: "
"""The prefix of the title of these tables."""

RANGE = "range"
"""The column with the range."""

MOVED = "moved by "
"""The prefix of a column that says how far a choice moves the figure, and how many items (`n` of `of`)."""

ITEMS = 5
"""How many of the items that a choice moves are named."""


def otherwise(lab: Lab, view: View) -> Iterable[AlternativeReading]:
    """A case's headline figure by either parser, or the lab's own list with further choices."""
    if (own := lab.studies.alternative_readings(view)) is not None:
        return own
    scores = {rules: view.log.score(lab.headline, rules) for rules in RULES}
    return [
        AlternativeReading(lab.headline, {"rules": rules}, score.value if score else None)
        for rules, score in scores.items()
    ]


def rows(lab: Lab, frame: DataFrame) -> list[Row]:
    """For each headline figure, model and way of explaining: the range of values under all combinations of choices that
    were made somewhere in the study or can be made from its answers, how far each choice alone moves the figure, and
    for which items. `low` and `high` are a range, not a confidence interval; `value` is the mean over all
    combinations. `frame` is the lab's part of `tables.measured`.
    """
    table_rows: list[Row] = []
    for metric in dict.fromkeys(frame["metric"]):
        if not metric.startswith(NAMED):
            continue
        by = [name for name in ("model", "how") if name in frame]
        chosen = frame[frame["metric"] == metric].fillna(dict.fromkeys(by, ""))
        title = f"{MULTIVERSE}{lab.title}: {lab.metric(metric.removeprefix(NAMED)).title}"
        for key, group in chosen.groupby(by, sort=False):
            row = label(dict(zip(by, key, strict=True)), by)
            sent = origins(group)
            made = ({**BLANK, "table": title, "row": row, **cell} for cell in _of_group(lab, group))
            table_rows += [with_origins(cell, sent) for cell in made]
    return table_rows


def moved(cells: Sequence[Row]) -> tuple[list[Row], str]:
    """The cells of one table in whose row a choice moves the figure or an item, and a sentence on how many rows stay
    the same. For any other table, all cells.
    """
    if not cells[0]["table"].startswith(MULTIVERSE):
        return list(cells), ""
    all_rows = dict.fromkeys(cell["row"] for cell in cells)
    moving = {
        cell["row"]
        for cell in cells
        if (cell["low"] is None or cell["low"] < cell["high"] if cell["column"] == RANGE else cell["n"])
    }
    still = len(all_rows) - len(moving)
    sentence = f"{still} of {len(all_rows)} are the same under every choice, item by item." if still else ""
    return [cell for cell in cells if cell["row"] in moving], sentence


def _of_group(lab: Lab, frame: DataFrame) -> Iterable[Row]:
    choices = ["rules", *(name for name in lab.studies.choices if name in frame and frame[name].nunique() > 1)]
    settings = frame.fillna(dict.fromkeys(choices, ""))
    ways = multiverse(settings, choices)
    values = ways.universes["value"].dropna()
    complete = bool(frame["complete"].all())
    counted, items = int(ways.universes["n"].max()), int(frame["item"].nunique())
    gaps = f"; {ways.missing} more were not made" if ways.missing else ""
    yield {
        **{"column": RANGE, "value": float(values.mean()) if len(values) else None, "low": ways.low, "high": ways.high},
        **{"n": counted, "of": items, "complete": complete, "note": f"{len(ways.universes)} ways{gaps}"},
    }
    for choice in ways.choices:
        moved = ways.items[ways.items["choice"] == choice.name]
        more = f" and {len(moved) - ITEMS} more" if len(moved) > ITEMS else ""
        yield {
            "column": f"{MOVED}{choice.name} ({', '.join(map(str, choice.tried))})",
            **{"value": choice.moves, "n": len(moved), "of": items, "complete": complete},
            "note": f"items: {', '.join(map(str, moved['item'].head(ITEMS)))}{more}" if len(moved) else "no item",
        }


# What people said about a study's cases, beside the parser's results: their guesses, their verdicts, and their
# answers in annotation sets.


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
    for path in labels.journals(folder):
        for run in {one.played.run for one in labels.guesses(path)}:
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
    return [name.removeprefix(LABEL_PREFIX) for name in names if name.startswith(LABEL_PREFIX)]


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
            own = found.own if (found := RecordReader().read(Label, data)) else {}
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


def human_rows(
    run: Planned, folder: Path, said: Sequence[Path], measured: Sequence[Row], rules: Rules
) -> Iterator[Row]:
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
    games = [one for path in said if path.stem.startswith(ABOUT) for one in labels.guesses(path)]
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
            about = {**cases[case], **_SAID, "who": who, "trial": item, "exam": exams.get(who, "{}")}
            yield about | {"metric": GUESS, "word": word, "read": trial.expected, "came": trial.observed}
    for (who, case, item, record), event in last.items():
        about = {**cases[case], **_SAID, "who": who, "trial": item}
        if record == LABEL:
            for name, word in Label.model_validate(event.data).verdicts.items():
                yield about | {"metric": f"{VERDICT}{name}", "word": word, "value": float(word == good.get(name))}


LABEL = name_of(Label)
_GUESSED = ("", "not simulatable")
"""Why a trial that does not count may have been guessed all the same: "cannot be predicted" is a guess too."""

SINGLE: Row = {"n": 1, "of": 1, "truth": None, "value": None, "other": None, "applies": True}
"""The counts of a row in `tables.measured` that stands for one thing alone, without a value yet."""

_SAID: Row = {**SINGLE, "simulated": "", "blind": False}


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
            **_SAID,
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
    for path in labels.journals(folder):
        if path.stem.startswith(f"{ABOUT}{EXAM}~"):
            for one in labels.guesses(path):
                found.setdefault(one.who, {}).setdefault(one.trial, one.played.value)
    return {who: json.dumps(said) for who, said in found.items()}
