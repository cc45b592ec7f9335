"""Answers of annotation sets in the columns of other tools, Potato's (a row for each person and question) and
Prolific's (a row for each submission).

Potato writes `user`, `instance_id`, `displayed_text` and a column `SCHEME:::LABEL` for each label, filled where it was
chosen. Prolific's export has a row for each submission, with `Participant id` and `Status` among its columns.
"""

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..events import now
from ..labs.base.declared import AnnotationTask
from ..runs.annotation_sets import AnnotationError, AnnotationState, Annotator, LiveSet, Status
from ..studies.annotation import ShownPage
from ..text.display import harmless

LARGEST, MOST_ROWS, LONGEST_CELL = 50_000_000, 200_000, 100_000
"""The most bytes and rows of a file that is read, and the most characters of a cell."""

_LONGEST_NAME = 200
"""The most characters of a person's name (`PersonEntered`)."""

_JOIN = ":::"
_NOT_CHOSEN = {"", "false", "0", "none", "nan", "null"}
"""What a cell of Potato's holds if the label was not chosen, in lower case."""

_OURS: dict[str, Status] = {
    "APPROVED": "completed",
    "AWAITING REVIEW": "completed",
    "RETURNED": "returned",
    "REJECTED": "rejected",
    "TIMED-OUT": "timed out",
}
"""Our word for each status of a submission; others change nothing. Of two with one word, the last is exported."""

_THEIRS: dict[Status | None, str] = {**{ours: theirs for theirs, ours in _OURS.items()}, None: "ACTIVE"}

Rows = list[dict[str, str]]


# Writing


def _people(state: AnnotationState, simulated: bool) -> list[Annotator]:
    return [one for one in state.people.values() if bool(one.entered.simulated) == simulated]


def _text(page: ShownPage, place: int) -> str:
    """All that is shown of a question, in one text."""
    lines = [f"{label}: {text}" for label, text in page.shown]
    return "\n".join([*lines, *([f"Explanation: {page.texts[place]}"] if page.texts[place] else [])])


def potato_items(state: AnnotationState, task: AnnotationTask, shown: Mapping[str, ShownPage], simulated: bool) -> Rows:
    """Every question of the set with its text, as Potato reads them, for annotating them in Potato itself. A page with
    several questions has several.
    """
    return [
        {"id": f"{page.id}-{place + 1}", "text": _text(shown[page.id], place)}
        for page in state.made.pages
        if page.id in shown
        for place in range(len(page.places))
    ]


def potato(state: AnnotationState, task: AnnotationTask, shown: Mapping[str, ShownPage], simulated: bool) -> Rows:
    """Every answer that counts, in the columns of Potato's output."""
    texts = {one["id"]: one["text"] for one in potato_items(state, task, shown, simulated)}
    made: Rows = []
    for person in _people(state, simulated):
        for page, words in person.answers.items() if person.counts else ():
            for place, word in enumerate(words, start=1):
                labels = {f"{task.name}{_JOIN}{option}": option if option == word else "" for option in task.options}
                instance = f"{page}-{place}"
                about = {"user": person.entered.participant, "instance_id": instance}
                made.append({**about, "displayed_text": texts.get(instance, ""), **labels})
    return made


def prolific(state: AnnotationState, task: AnnotationTask, shown: Mapping[str, ShownPage], simulated: bool) -> Rows:
    """Every person, in the columns of Prolific's export of submissions, followed by what they did here."""
    made: Rows = []
    for person in _people(state, simulated):
        ended = max(person.answered.values(), default=None) if person.status else None
        tested = person.tested
        made.append(
            {
                "Submission id": person.entered.session,
                "Participant id": person.entered.participant,
                "Status": _THEIRS[person.status],
                "Started at": f"{person.began:%Y-%m-%dT%H:%M:%SZ}",
                "Completed at": f"{ended:%Y-%m-%dT%H:%M:%SZ}" if ended else "",
                "Time taken": str(round((ended - person.began).total_seconds())) if ended else "",
                "Completion code": state.made.completion if person.status == "completed" else "",
                "Test right": str(tested.right) if tested else "",
                "Test passed": ("yes" if tested.passed else "no") if tested else "",
                "Pages answered": str(len(person.answers)),
            }
        )
    return made


EXPORTS: dict[str, Callable[[AnnotationState, AnnotationTask, Mapping[str, ShownPage], bool], Rows]] = {
    "potato": potato,
    "potato-items": potato_items,
    "prolific": prolific,
}


def written(rows: Rows, path: Path) -> bytes:
    """The rows as CSV, or with tabs if the file is called .tsv. No cell runs in a spreadsheet. Raises AnnotationError
    if there are none.
    """
    if not rows:
        raise AnnotationError("There is nothing to write yet.")
    file = io.StringIO()
    made = csv.DictWriter(file, list(rows[0]), delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
    made.writeheader()
    made.writerows({name: harmless(cell) for name, cell in row.items()} for row in rows)
    return file.getvalue().encode("utf-8", "replace")


# Reading


class Taken(NamedTuple):
    """How many rows of a file were taken in, and how many were left out for which reason."""

    taken: int
    left_out: Counter[str]


def read(path: Path) -> Rows:
    """The rows of a CSV or TSV file. Raises AnnotationError if it is too large, or is no such file."""
    try:
        if path.stat().st_size > LARGEST:
            raise AnnotationError(f"{path.name} is too large: at most {LARGEST:,} bytes.")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise AnnotationError(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise AnnotationError(f"{path.name} is not UTF-8 text. Save it as CSV in UTF-8.") from None
    return rows_of(text, path.name)


def rows_of(text: str, name: str) -> Rows:
    """The rows of the text of such a file, called `name` in messages. Raises AnnotationError."""
    head = text.partition("\n")[0]
    found: Rows = []
    # Strict: what is no CSV is refused, and not guessed at.
    given = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in head else ",", strict=True)
    try:
        for row in given:
            if len(found) == MOST_ROWS:
                raise AnnotationError(f"{name} has more than {MOST_ROWS:,} rows. Divide it.")
            if None in row:
                raise AnnotationError(f"{name}, line {given.line_num}: there are more cells than columns.")
            found.append({key.strip(): (cell or "")[:LONGEST_CELL].strip() for key, cell in row.items()})
    except csv.Error as error:
        raise AnnotationError(f"{name}, line {given.line_num}: {error}.") from None
    if not found:
        raise AnnotationError(f"{name} has no rows.")
    return found


def _must_have(rows: Rows, columns: Sequence[str]) -> None:
    if missing := [column for column in columns if column not in rows[0]]:
        raise AnnotationError(f"The file lacks the {'columns' if len(missing) > 1 else 'column'} {', '.join(missing)}.")


def take_potato(live: LiveSet, task: AnnotationTask, rows: Rows) -> Taken:
    """Take in what people answered in Potato: whole pages of this set, each person's first answers. Raises
    AnnotationError if a column is missing.
    """
    labels = [f"{task.name}{_JOIN}{option}" for option in task.options]
    _must_have(rows, ["user", "instance_id", *labels])
    left_out: Counter[str] = Counter()
    state = live.state
    of_page: defaultdict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for row in rows:
        page, _, place = row["instance_id"].rpartition("-")
        chosen = [label.partition(_JOIN)[2] for label in labels if row[label].lower() not in _NOT_CHOSEN]
        if not row["user"] or len(row["user"]) > _LONGEST_NAME:
            left_out["it names no user, or one with too long a name"] += 1
        elif page not in state.pages or place not in map(str, range(1, len(state.pages[page].places) + 1)):
            left_out["it is about no page of this set"] += 1
        elif len(chosen) != 1:
            left_out["it has no answer" if not chosen else "it has several answers"] += 1
        else:
            of_page[row["user"], page].setdefault(int(place), chosen[0])
    taken = 0
    for (user, page), words in of_page.items():
        places = range(1, len(state.pages[page].places) + 1)
        if len(words) < len(places):
            left_out["not all questions of its page are answered"] += len(words)
        elif live.take_page(user, page, tuple(words[place] for place in places)):
            taken += len(words)
        else:
            left_out["it was taken in before"] += len(words)
    return Taken(taken, left_out)


def take_prolific(live: LiveSet, task: AnnotationTask, rows: Rows) -> Taken:
    """Take in how Prolific's submissions ended. Answers of people who returned theirs, or whose work was rejected, no
    longer count, and their pages go to others. Raises AnnotationError if a column is missing.
    """
    _must_have(rows, ["Participant id", "Status"])
    people = {one.entered.participant: one for one in _people(live.state, simulated=False)}
    left_out: Counter[str] = Counter()
    taken = 0
    for row in rows:
        status = _OURS.get(row["Status"].upper().replace("_", " ").replace("TIMED OUT", "TIMED-OUT"))
        person = people.get(row["Participant id"])
        if person is None:
            left_out["the participant did not begin here"] += 1
        elif status is None:
            left_out["its status changes nothing"] += 1
        elif status == "completed" and live.state.left(person, now()):
            left_out["it is completed there, and not here"] += 1
        else:
            live.end(person.id, status)
            taken += 1
    return Taken(taken, left_out)


IMPORTS: dict[str, Callable[[LiveSet, AnnotationTask, Rows], Taken]] = {
    "potato": take_potato,
    "prolific": take_prolific,
}
