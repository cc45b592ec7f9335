"""Read the files of the papers' data sets: bAbI, GLUE (SST-2, RTE), IMDB, MCTest, SHP and StrategyQA. Every error
names its file and line.
"""

import csv
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

from .. import files
from .items import BROKEN, LARGEST, NOT_UTF8, BrokenRowError, DatasetError, Item, LeftOut, Read, Split, Task

Value = TypeVar("Value")

# Read dataset files so that every problem is reported with its file and line.


csv.field_size_limit(10_000_000)

_noting: ContextVar[dict[Path, tuple[int, int]] | None] = ContextVar("_noting", default=None)


@contextmanager
def noted(stamps: dict[Path, tuple[int, int]]) -> Iterator[dict[Path, tuple[int, int]]]:
    """While this context is active, add each file that is read, and its folder, to `stamps`, with the state before
    reading (`files.stamp`).
    """
    token = _noting.set(stamps)
    try:
        yield stamps
    finally:
        _noting.reset(token)


class TableRow(NamedTuple):
    """One row of a table, and the number of its last line, counted from 1."""

    line: int
    cells: list[str]


def text_of(path: Path) -> str:
    """Return the file as text. Bytes that are not UTF-8 become surrogates, which no item accepts. Raises DatasetError
    if the file is missing or too large.
    """
    if (noting := _noting.get()) is not None:
        for read in (path, path.parent):
            if read not in noting:
                noting[read] = files.stamp(read)
    try:
        content = files.read_bytes(path, LARGEST)
    except files.FileError as error:
        raise DatasetError(str(error).rstrip(".")) from None
    return content.decode("utf-8-sig", "surrogateescape")


def lines_of(path: Path) -> list[str]:
    """Return the lines of the file, without line ends. Only line feeds end a line, because stories contain rarer
    separators.

    Raises DatasetError as `text_of` does.
    """
    lines = text_of(path).replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def plain_rows(path: Path) -> list[TableRow]:
    """Return rows of tab-separated cells in which quotes are ordinary characters, as in the files of GLUE and
    MCTest.
    """
    return [TableRow(number, line.split("\t")) for number, line in enumerate(lines_of(path), start=1)]


def quoted_rows(path: Path) -> list[TableRow]:
    """Return rows of tab-separated cells in which cells may be quoted, with quotes in them doubled. Raises
    DatasetError.
    """
    reader = csv.reader(text_of(path).splitlines(keepends=True), delimiter="\t", strict=True)
    try:
        return [TableRow(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        problem = f"not a row of tab-separated cells ({error})"
        raise DatasetError(f"{path}, line {reader.line_num}: {problem}") from None


def table(rows: list[TableRow], path: Path) -> tuple[TableRow, list[tuple[int, list[str] | BrokenRowError]]]:
    """Return the header and the other rows. A row with more or fewer cells than the header is broken. Raises
    DatasetError.
    """
    if not rows:
        raise DatasetError(f"{path} is empty")
    header, *rest = rows
    wanted = len(header.cells)

    def checked(row: TableRow) -> tuple[int, list[str] | BrokenRowError]:
        if len(row.cells) == wanted:
            return row
        return row.line, broken(path, row.line, f"{len(row.cells)} cells where the header has {wanted}")

    return header, [checked(row) for row in rest]


def columns(path: Path, header: TableRow, *names: str) -> list[int]:
    """Return the positions of the columns called `names`. Raises DatasetError if one is missing."""
    header_names = [cell.strip().lower() for cell in header.cells]
    for name in names:
        if name not in header_names:
            raise DatasetError(f"{path}, line 1: the header has no column “{name}”")
    return [header_names.index(name) for name in names]


def json_rows(path: Path) -> list[tuple[int, Any]]:
    """Return the entries of a JSON array, or of a file with one JSON value per line, each with its first line. A line
    that is not JSON becomes a BrokenRowError.

    Raises DatasetError, with the line, for an array that is not valid JSON: the start of its next entry cannot be
    determined.
    """
    text = text_of(path)
    at = _skip(text, 0)
    if text[at : at + 1] == "[":
        return _of_array(path, text, at)
    lines = enumerate(text.split("\n"), start=1)
    return [(number, _of_line(path, number, line)) for number, line in lines if line.strip()]


def check_texts(path: Path, line: int, entry: Any, *names: str) -> None:
    """Raises BrokenRowError if a JSON entry is not an object with a text in each of these fields."""
    if not isinstance(entry, dict):
        raise broken(path, line, f"an object with {', '.join(names[:-1])} and {names[-1]} is expected")
    for name in names:
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            raise broken(path, line, f"“{name}” is missing or empty")


def _of_line(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        return broken(path, number, f"not valid JSON ({error.msg})")
    except RecursionError:
        return broken(path, number, "this JSON is nested too deeply")


def _of_array(path: Path, text: str, at: int) -> list[tuple[int, Any]]:
    decoder = json.JSONDecoder()
    rows: list[tuple[int, Any]] = []
    line = text.count("\n", 0, at) + 1
    begin, at = at, _skip(text, at + 1)
    while at < len(text) and text[at] != "]":
        line += text.count("\n", begin, at)
        begin = at
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise DatasetError(f"{path}, line {error.lineno}: not valid JSON ({error.msg})") from None
        except RecursionError:
            raise DatasetError(f"{path}, line {line}: this JSON is nested too deeply") from None
        rows.append((line, value))
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            end = line + text.count("\n", begin, at)
            raise DatasetError(f"{path}, line {end}: the array ends before its closing bracket")
    return rows


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def files_for(path: Path, split: Split | None, names: Mapping[Split, Sequence[str]]) -> tuple[Split, list[Path]]:
    """Return the split and its files in folder `path`; without a `split`, the first available of test, valid, train. A
    `path` that is a file is that split, and test without one.

    `names` gives for each split the file names to look for, as glob patterns; the first pattern that matches any file
    is used. Raises DatasetError.
    """
    if path.is_file():
        return split or "test", [path]
    order: tuple[Split, ...] = (split,) if split else ("test", "valid", "train")
    for wanted in order:
        for pattern in names.get(wanted, ()):
            matching = sorted(path.glob(pattern))
            if matching:
                return wanted, matching
    looked = ", ".join(dict.fromkeys(names[wanted][0] for wanted in order if names.get(wanted)))
    of = f" for the split “{split}”" if split else ""
    raise DatasetError(f"{path} has no file{of}. Looked for: {looked}")


def file_for(path: Path, split: Split | None, names: Mapping[Split, Sequence[str]]) -> Path:
    """Return the first file of `files_for`. Raises DatasetError."""
    return files_for(path, split, names)[1][0]


def part_of_train(rows: Read, split: Split) -> Read:
    """Return the first 80 % for train, the last 20 % for valid (llm-introspection, dataset/*.py)."""
    cut = round(len(rows) * 0.8)
    return rows[:cut] if split == "train" else rows[cut:]


def broken(path: Path, line: int, problem: str) -> BrokenRowError:
    """Return the error for a broken row; `line` counts from 1."""
    return BrokenRowError(f"{path}, line {line}: {problem}")


def checked_item(path: Path, line: int, item: Item) -> Item:
    """Return the item unchanged. Raises BrokenRowError if its texts contain bytes that are not valid characters."""
    texts = (item.id, item.paragraph, item.question, item.hypothesis, item.label or "", *item.choices, *item.facts)
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise broken(path, line, NOT_UTF8) from None
    return item


def read_items(
    path: Path, rows: Iterable[tuple[int, Value | BrokenRowError]], item: Callable[[int, Value], Item]
) -> Read:
    """Apply `item(line, value)` to each row. A row that it refuses, or that is broken already, is left out."""
    read: Read = []
    for line, value in rows:
        try:
            if isinstance(value, BrokenRowError):
                raise value
            read.append(checked_item(path, line, item(line, value)))
        except BrokenRowError as error:
            read.append(LeftOut(BROKEN, str(error)))
    return read


# bAbI stories (Weston et al. 2016), tasks 1 to 3.

# As in the authors' data, the sentences before a question are joined with " Then, ", and the choices are the sorted
# answers that occur in that story (llm-introspection, dataset/babi.py and dataset/local/babi).


# The official files use tabs; some copies in circulation use bars instead.
_CELL_ENDS = re.compile(r"[\t|]")
_FOLDERS = ("", "en-10k/", "tasks_1-20_v1-2/en-10k/", "en/", "tasks_1-20_v1-2/en/")


def read_babi(path: Path, split: Split | None, number: int) -> Read:
    """Read a whole file, or a folder with qa<number>_*_test.txt and _train.txt. Raises DatasetError."""
    test, train = ([f"{folder}qa{number}_*_{part}.txt" for folder in _FOLDERS] for part in ("test", "train"))
    split, (file, *_) = files_for(path, split, {"test": test, "valid": train, "train": train})
    items = _stories(file)
    return items if split == "test" or path.is_file() else part_of_train(items, split)


def _stories(path: Path) -> Read:
    """Return every question. A broken question is the only one lost. Any other broken line costs all later questions of
    its story, because their basis is unknown.
    """
    stories: list[list[tuple[int, str]]] = [[]]
    for line_number, line in enumerate(lines_of(path), start=1):
        if line.strip().partition(" ")[0] == "1" and stories[-1]:
            stories.append([])
        stories[-1].append((line_number, line))
    items = [item for number, story in enumerate(stories, start=1) for item in _story(path, number, story)]
    if not items:
        raise DatasetError(f"{path} holds no question")
    return items


def _story(path: Path, story: int, lines: list[tuple[int, str]]) -> Read:
    sentences: list[str] = []
    rows: list[tuple[int, dict[str, Any] | BrokenRowError]] = []
    fault: BrokenRowError | None = None
    for expected, (line_number, line) in enumerate(lines, start=1):
        number, _, rest = line.strip().partition(" ")
        cells = [cell.strip() for cell in _CELL_ENDS.split(rest)]
        is_question = len(cells) > 1
        if fault is None:
            fault = _fault(path, line_number, number, expected, cells[0])
            if fault is not None and not is_question:
                rows.append((line_number, fault))
        if not is_question:
            sentences.append(cells[0])
        elif fault is not None:
            rows.append((line_number, fault))
        elif not cells[1]:
            rows.append((line_number, broken(path, line_number, "a question without an answer")))
        elif not sentences:
            rows.append((line_number, broken(path, line_number, "a question before the first sentence of its story")))
        else:
            id = f"{path.stem}-{story}-{len(rows)}"
            about = " Then, ".join(sentences)
            rows.append((line_number, {"id": id, "paragraph": about, "question": cells[0], "label": cells[1]}))
    choices = tuple(sorted({row["label"] for _, row in rows if isinstance(row, dict)}))
    return read_items(path, rows, lambda line, fields: Item(task="multi_choice", choices=choices, **fields))


def _fault(path: Path, line: int, number: str, expected: int, text: str) -> BrokenRowError | None:
    if number != str(expected):
        return broken(path, line, f"the line should begin with {expected} or, for a new story, with 1")
    return None if text else broken(path, line, "nothing stands after the line's number")


# SST-2 and RTE in GLUE's tab-separated files.
#
# GLUE's own test.tsv has no labels. As in the paper, dev.tsv is the test split, and valid is the last 20 % of
# train.tsv (llm-introspection, dataset/{sst2,rte}.py).


_FILES: dict[Split, tuple[str, ...]] = {
    "test": ("dev.tsv", "validation.tsv"),
    "valid": ("train.tsv",),
    "train": ("train.tsv",),
}
_SENTIMENT = {"0": "negative", "1": "positive"}
_ENTAILMENT = {"entailment": "yes", "not_entailment": "no", "0": "yes", "1": "no"}


def read_sst2(path: Path, split: Split | None) -> Read:
    """Read the columns sentence and label (0 negative, 1 positive). Raises DatasetError."""
    return _read_glue(path, split, "sst2", "sentiment", {"paragraph": "sentence"}, _SENTIMENT)


def read_rte(path: Path, split: Split | None) -> Read:
    """Read the columns sentence1 (premise), sentence2 (hypothesis) and label (a word, or 0 for entailment). Raises
    DatasetError.
    """
    held = {"paragraph": "sentence1", "hypothesis": "sentence2"}
    return _read_glue(path, split, "rte", "entailment", held, _ENTAILMENT)


def _read_glue(
    path: Path, split: Split | None, name: str, task: Task, held: Mapping[str, str], labels: Mapping[str, str]
) -> Read:
    """Read a table. `held` maps each field of an item to its column."""
    split, (file, *_) = files_for(path, split, _FILES)
    rows = plain_rows(file)
    # GLUE's own files never quote cells; copies with an "idx" column quote cells that contain quotes.
    if rows and "idx" in rows[0].cells:
        rows = quoted_rows(file)
    header, rest = table(rows, file)
    *places, label_at = columns(file, header, *held.values(), "label")
    number = {line: place for place, (line, _) in enumerate(rest)}

    def item(line: int, cells: list[str]) -> Item:
        texts = {field: cells[at].strip() for field, at in zip(held, places, strict=True)}
        for field, text in texts.items():
            if not text:
                raise broken(file, line, f"the cell “{held[field]}” is empty")
        label = cells[label_at].strip()
        if label not in labels:
            raise broken(file, line, f"the label “{label}” is none of {', '.join(labels)}")
        return Item.model_validate(
            {"id": f"{name}-{file.stem}-{number[line]}", "task": task, "label": labels[label], **texts}
        )

    items = read_items(file, rest, item)
    return items if split == "test" or path.is_file() else part_of_train(items, split)


# IMDB reviews: the aclImdb folders (Maas et al. 2011), and the table with human edits (Kaushik et al. 2020).
#
# As in the authors' data, "<br />" becomes a line break (llm-introspection, dataset/imdb.py).


_LABELS = {"neg": "negative", "pos": "positive"}
_TABLES: dict[Split, tuple[str, ...]] = {
    "test": ("test_paired.tsv", "*test*.tsv"),
    "valid": ("dev_paired.tsv", "*dev*.tsv"),
    "train": ("train_paired.tsv", "*train*.tsv"),
}


def read_imdb(path: Path, split: Split | None) -> Read:
    """Read a table, or a folder with a table or with train/ and test/, each with pos/ and neg/. Raises DatasetError."""
    for folder in (path, path / "aclImdb"):
        if (folder / "test" / "pos").is_dir() or (folder / "train" / "pos").is_dir():
            return _folders(folder, split or "test")
    return _table(file_for(path, split, _TABLES))


def _folders(path: Path, split: Split) -> Read:
    """Read the reviews of a split. Negative reviews come first, as in the authors' data, so the last 20 % of train are
    all positive.
    """
    part = "test" if split == "test" else "train"
    items: Read = []
    for folder, label in _LABELS.items():
        files = sorted((path / part / folder).glob("*.txt"), key=lambda file: (_number(file.stem), file.stem))
        if not files:
            raise DatasetError(f"{path / part / folder} holds no reviews (*.txt)")
        for file in files:
            items += read_items(
                file, [(1, text_of(file))], partial(_review, file, f"imdb-{part}-{folder}-{file.stem}", label)
            )
    return items if split == "test" else part_of_train(items, split)


def _review(file: Path, id: str, label: str, line: int, text: str) -> Item:
    paragraph = text.replace("<br />", "\n").strip()
    if not paragraph:
        raise broken(file, line, "the review is empty")
    return Item(id=id, task="sentiment", paragraph=paragraph, label=label)


def _number(stem: str) -> int:
    digits = re.match(r"\d+", stem)
    return int(digits[0]) if digits else -1


def _table(path: Path) -> Read:
    """Read the columns Sentiment, Text and, if reviews are paired, batch_id: the original first, then its human
    edit.
    """
    header, rows = table(quoted_rows(path), path)
    label_at, text_at = columns(path, header, "sentiment", "text")
    batch_at = header.cells.index("batch_id") if "batch_id" in header.cells else None
    pairs: dict[str, list[Item]] = {}

    def review(line: int, cells: list[str]) -> Item:
        label = cells[label_at].strip().lower()
        if label not in _LABELS.values():
            raise broken(path, line, f"“{cells[label_at]}” is neither Negative nor Positive")
        batch = cells[batch_at].strip() if batch_at is not None else str(len(pairs))
        item = checked_item(path, line, _review(path, f"imdb-{path.stem}-{batch}", label, line, cells[text_at]))
        pair = pairs.setdefault(batch, [])
        if len(pair) == 2:
            raise broken(path, line, f"a third review with batch_id {batch}: pairs are expected")
        pair.append(item)
        return item

    left_out = [one for one in read_items(path, rows, review) if isinstance(one, LeftOut)]
    edited = (
        original.model_copy(update={"reference_edit": edits[0].paragraph}) if edits else original
        for original, *edits in pairs.values()
    )
    return [*edited, *left_out]


# MCTest stories (Richardson et al. 2013): a .tsv with stories and questions, an .ans of the same name with answers.
#
# As in the authors' data, the mark \newline becomes a line break and choices are sorted (llm-introspection,
# dataset/mctest.py). "one:" and "multiple:" before a question say how many sentences answer it and are removed.


_MCTEST_FILES: dict[Split, tuple[str, ...]] = {
    "test": ("mc500.test.tsv", "mc160.test.tsv"),
    "valid": ("mc500.dev.tsv", "mc160.dev.tsv"),
    "train": ("mc500.train.tsv", "mc160.train.tsv"),
}
_QUESTIONS, _CHOICES = 4, 4
_CELLS = 3 + _QUESTIONS * (1 + _CHOICES)


def read_mctest(path: Path, split: Split | None) -> Read:
    """Read four questions per story. In a folder with both collections mc500 is used. Raises DatasetError."""
    file = file_for(path, split, _MCTEST_FILES)
    stories = plain_rows(file)
    answers_file = file.with_suffix(".ans")
    if not answers_file.is_file():
        raise DatasetError(f"{file} has no answers beside it: {answers_file.name} is missing")
    answers = plain_rows(answers_file)
    if len(answers) != len(stories):
        raise DatasetError(f"{answers_file} has {len(answers)} lines where {file.name} has {len(stories)} stories")
    items: Read = []
    for story, answer in zip(stories, answers, strict=True):
        questions = _questions(file, answers_file, story, answer)
        items += read_items(file, questions, lambda line, fields: Item(task="multi_choice", **fields))
    return items


def _questions(
    file: Path, answers_file: Path, story: TableRow, answer: TableRow
) -> Iterator[tuple[int, dict[str, Any] | BrokenRowError]]:
    """Yield the questions of one story. A broken question is lost alone; a broken story or answer line costs all
    four.
    """
    letters = [cell.strip() for cell in answer.cells]
    fault = None
    if len(story.cells) != _CELLS:
        fault = broken(file, story.line, f"{len(story.cells)} cells where a story has {_CELLS}")
    elif len(letters) != _QUESTIONS or any(letter not in ("A", "B", "C", "D") for letter in letters):
        fault = broken(answers_file, answer.line, f"four letters from A to D are expected, not “{' '.join(letters)}”")
    if fault is not None:
        yield from [(story.line, fault)] * _QUESTIONS
        return
    identity, _, paragraph, *questions = story.cells
    for number, letter in enumerate(letters):
        asked, *choices = (cell.strip() for cell in questions[5 * number : 5 * number + 5])
        if not asked or not all(choices):
            yield story.line, broken(file, story.line, f"question {number + 1} has an empty cell")
            continue
        yield (
            story.line,
            {
                "id": f"{identity}-{number}",
                "paragraph": paragraph.replace(r"\newline", "\n").strip(),
                "question": re.sub(r"^(?:one|multiple)\s*:\s*", "", asked),
                "choices": tuple(sorted(choices)),
                "label": choices["ABCD".index(letter)],
            },
        )


# Stanford Human Preferences (Ethayarajh et al. 2022): a post and two responses, one JSON object per line.
#
# If the rows have scores, as the official ones do, they are filtered as by Chen et al. (shp/preprocess.py). Of each
# post, keep the pairs whose better response is the post's best; of those, the pairs whose other response scores
# below the median of the other responses; of those, one pair; and drop it if it is too long. The paper draws this
# pair at random, unseeded, and counts GPT-2's tokens. Here a hash of its content selects the pair, always the same
# one, and four characters count as a token. Texts are cleaned as in the paper.


_SHP_FILES: dict[Split, tuple[str, ...]] = {
    "test": ("test.json*", "*/test.json*", "*.jsonl", "*.json"),
    "valid": ("validation.json*", "*/validation.json*"),
    "train": ("train.json*", "*/train.json*"),
}
_TEXTS = ("history", "human_ref_A", "human_ref_B")
MOST_TOKENS = 1024
"""Maximum length of a post with both responses."""
TOKEN = 4
"""Characters per token."""

NOT_BEST = "without the post's best response"
NOT_BELOW = "the other response is not below the median of those"
NOT_DRAWN = "the post has another pair"
TOO_LONG = f"longer than about {MOST_TOKENS:,} tokens"


def read_shp(path: Path, split: Split | None) -> Read:
    """Read the fields history, human_ref_A, human_ref_B and, if people voted, labels (1: A preferred). In a folder,
    read the file of every domain. Raises DatasetError.
    """
    _, paths = files_for(path, split, _SHP_FILES)
    entries: list[tuple[Path, int, Any]] = [(file, *row) for file in paths for row in json_rows(file)]
    whole = [(file, line, entry) for file, line, entry in entries if not isinstance(entry, BrokenRowError)]
    kept, left_out = _filtered(whole)
    read: Read = [LeftOut(BROKEN, str(entry)) for *_, entry in entries if isinstance(entry, BrokenRowError)]
    for file, line, entry in kept:
        read += read_items(file, [(line, entry)], partial(_item, file))
    return [*read, *(LeftOut(reason, rows=n) for reason, n in left_out.items())]


def _item(file: Path, line: int, entry: Any) -> Item:
    check_texts(file, line, entry, *_TEXTS)
    vote = entry.get("labels")
    if vote not in (None, 0, 1):
        raise broken(file, line, f"“labels” must be 0 or 1, not {vote!r}")
    return Item(
        id=f"shp-{_identity(entry)}",
        task="shp",
        paragraph=cleaned(entry["history"]),
        choices=(cleaned(entry["human_ref_A"]), cleaned(entry["human_ref_B"])),
        label=None if vote is None else ("1" if vote else "2"),
    )


_CLOSED_UP = ((" , ", ","), (" .", "."), (" !", "!"), (" ?", "?"), (" : ", ": "), (" '", "'"))
"""The replacements of the authors' preprocessing, in order. A comma between two spaces loses both of them."""


def cleaned(text: str) -> str:
    """Clean a text as the authors' preprocessing does: single spaces only, and none before a closing mark."""
    text = re.sub(" +", " ", text.strip())
    for old, new in _CLOSED_UP:
        text = text.replace(old, new)
    return text


def _identity(entry: dict[str, Any]) -> str:
    """Return a name for the pair that does not depend on its position: the ids of its three comments, else a hash of
    its content.
    """
    ids = [entry.get(name) for name in ("post_id", "c_root_id_A", "c_root_id_B")]
    if all(isinstance(id, str) and id for id in ids):
        return "-".join(map(str, ids))
    texts = "\x1f".join(str(entry.get(name)) for name in _TEXTS)
    return hashlib.sha256(texts.encode("utf-8", "surrogateescape")).hexdigest()[:16]


Row = tuple[Path, int, Any]


def _filtered(rows: list[Row]) -> tuple[list[Row], dict[str, int]]:
    """Return the rows that pass the paper's filters, and those without the scores or text that these need; and how many
    others there are, by reason.
    """
    kept: list[Row] = []
    posts: dict[str, list[tuple[float, float, Row]]] = defaultdict(list)
    for row in rows:
        entry = row[2]
        scores = [entry.get(name) for name in ("score_A", "score_B")] if isinstance(entry, dict) else []
        numbers = [float(score) for score in scores if isinstance(score, int | float)]
        if len(numbers) < 2 or not isinstance(entry.get("history"), str):
            kept.append(row)
        else:
            posts[entry["history"]].append((max(numbers), min(numbers), row))
    left_out = dict.fromkeys((NOT_BEST, NOT_BELOW, NOT_DRAWN, TOO_LONG), 0)
    for pairs in posts.values():
        top = max(better for better, *_ in pairs)
        best = [(worse, row) for better, worse, row in pairs if better == top]
        middle = median(worse for worse, _ in best)
        below = [row for worse, row in best if worse < middle]
        left_out[NOT_BEST] += len(pairs) - len(best)
        left_out[NOT_BELOW] += len(best) - len(below)
        if not below:
            continue
        left_out[NOT_DRAWN] += len(below) - 1
        chosen = min(below, key=lambda row: hashlib.sha256(_identity(row[2]).encode()).digest())
        if sum(len(cleaned(str(chosen[2].get(name)))) for name in _TEXTS) > MOST_TOKENS * TOKEN:
            left_out[TOO_LONG] += 1
        else:
            kept.append(chosen)
    return kept, {reason: n for reason, n in left_out.items() if n}


# StrategyQA (Geva et al. 2021): yes/no questions that need several reasoning steps, in the official JSON array.


_STRATEGYQA_FILES: dict[Split, tuple[str, ...]] = {
    "test": ("dev.json", "strategyqa_test.json", "test.json"),
    "valid": ("dev.json",),
    "train": ("train.json", "strategyqa_train.json"),
}


def read_strategyqa(path: Path, split: Split | None) -> Read:
    """Read the questions of a split. The official test file has no answers, so dev.json is the test split. Raises
    DatasetError.
    """
    file = file_for(path, split, _STRATEGYQA_FILES)
    return read_items(file, json_rows(file), partial(_strategyqa_item, file))


def _strategyqa_item(file: Path, line: int, entry: Any) -> Item:
    check_texts(file, line, entry, "qid", "question")
    answer = entry.get("answer")
    if answer is not None and not isinstance(answer, bool):
        raise broken(file, line, "“answer” must be true or false")
    facts = entry.get("facts") or []
    if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in facts):
        raise broken(file, line, "“facts” must be a list of texts")
    return Item(
        id=entry["qid"],
        task="strategyqa",
        question=entry["question"].strip(),
        label=None if answer is None else ("yes" if answer else "no"),
        facts=tuple(facts),
    )
