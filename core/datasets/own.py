"""A person's own data sets: a CSV, JSONL or Parquet file, and what each of its columns contains.

`file:NAME` is a file in $EXPLAIN_HOME/datasets, or one named on the command line; `hf://OWNER/NAME/FILE` is a file on
the Hugging Face hub. DuckDB reads it in a separate process (`own_process`). An item is identified by its id column, or
by its content, so the order of the lines does not affect which items a seed draws.
"""

import codecs
import csv
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

from .. import duckdb_worker, files, package_data, policy
from ..home import home
from . import own_process
from .items import BROKEN, LARGEST, MOST_NAMED, DatasetError, Item, LeftOut, Read, Task
from .own_process import BESIDE, LONGEST_EXTRA, ReadRequest

HUB = "hf://"
_ON_HUB = re.compile(r"hf://(?P<repo>[\w.-]{1,96}/[\w.-]{1,96})/(?P<file>[\w./ +-]{1,300})")

KINDS = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
LONGEST = 20_000
"""Maximum number of characters in a cell."""
MOST_ROWS = 5_000
"""Maximum number of rows drawn at once. A run has fewer cases."""
FIRST_ROWS = 5
LONGEST_HEADER = files.MB
"""Maximum length of a CSV file's first line in bytes."""
MOST_EXTRA = 50
"""Maximum number of columns that are kept with a case although they are no part of the question."""
LONGEST_NAME = 100
_IN_PATTERNS = frozenset("*?[]{}")
"""Characters with which DuckDB takes a path for a pattern."""
MEMORY_MB, SECONDS = 1_000, 120

_TASKS = package_data.table("tasks")

NEEDS: dict[str, tuple[str, ...]] = {task: tuple(about["needs"]) for task, about in _TASKS.items()}
"""The roles that an item of a task needs. Each item may also have an `answer` and an `id`."""

GIVEN: dict[str, tuple[str, ...]] = {task: tuple(about.get("given", ())) for task, about in _TASKS.items()}
"""The roles that a column has only if a person says so."""

INPUT: dict[str, str] = {task: about["input"] for task, about in _TASKS.items()}
"""The role that other tools call the input."""

ANSWERS: dict[str, dict[str, str]] = {task: about["answers"] for task, about in _TASKS.items()}
"""The accepted words for answers, in lower case."""


class SavedFile(NamedTuple):
    """A stored file in the form used for `dataset`, and its encoding if it was not UTF-8."""

    dataset: str
    encoding: str


class DrawnRows(NamedTuple):
    """Rows of a file, the number of rows to draw from, and how many columns are too many to be kept."""

    rows: Read
    of: int
    dropped: int


class FilePreview(NamedTuple):
    """The columns of a file, and its first rows."""

    columns: list[str]
    rows: list[list[str | None]]


def is_own(dataset: str) -> bool:
    """Whether `dataset` names a person's own file."""
    return dataset.startswith(("file:", HUB))


def title(dataset: str, count: str) -> str:
    """Return the title of a run over a data set. The number of rows in a person's own file is known only once it is
    read.
    """
    most = "" if count.startswith("all ") or not is_own(dataset) else "at most "
    return f"{dataset.removeprefix('file:')}: {most}{count}"


def without_folder(dataset: str) -> str:
    """Return the name of a data set without the folder of a person's own file, as it may be published."""
    return dataset if dataset.startswith(HUB) else re.split(r"[/\\]", dataset.removeprefix("file:"))[-1]


def title_without_folder(title: str, dataset: str) -> str:
    """Return the title of a run as it is shown: without the folder of its file. The specification keeps it, because the
    run's name is made from it.
    """
    path = dataset.removeprefix("file:")
    if not dataset.startswith("file:") or not title.startswith(f"{path}: "):
        return title
    return without_folder(dataset) + title.removeprefix(path)


def roles(task: Task) -> tuple[str, ...]:
    """Return the roles of columns for a task; those after NEEDS are optional."""
    return *NEEDS[task], *BESIDE, *GIVEN[task]


def at_home() -> list[str]:
    """Return the files in $EXPLAIN_HOME/datasets, in the form used for `dataset`."""
    folder = home() / "datasets"
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return [f"file:{path.name}" for path in found if path.suffix.lower() in KINDS and path.is_file()]


def save_file(name: str, content: bytes) -> SavedFile:
    """Store a file in $EXPLAIN_HOME/datasets, as UTF-8. If the same content is stored already, that file is used. An
    existing file with that name and other content is not replaced: the new one gets a number. Raises DatasetError if
    the file is too large or its name is not that of a table.
    """
    stem, suffix = re.sub(r"[^\w .-]", "_", Path(name).stem)[:80].strip(" .") or "items", Path(name).suffix.lower()
    if suffix not in KINDS:
        raise DatasetError(f"{name[:100]} cannot be read as a table. Choose a file that ends in {', '.join(KINDS)}.")
    if len(content) > LARGEST:
        raise DatasetError(f"{name[:100]} is larger than {LARGEST // files.MB} MB.")
    content, encoding = (content, "") if suffix == ".parquet" else _as_utf8(content)
    folder = home() / "datasets"
    folder.mkdir(exist_ok=True)
    for kept in (folder / name.removeprefix("file:") for name in at_home()):
        # Only a file of the same size is read.
        may_be = kept.suffix.lower() == suffix and not _IN_PATTERNS & set(kept.name)
        if may_be and kept.stat().st_size == len(content) and kept.read_bytes() == content:
            return SavedFile(f"file:{kept.name}", encoding)
    numbered = (f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}" for number in count(1))
    path = next(folder / free for free in numbered if not (folder / free).exists())
    path.write_bytes(content)
    return SavedFile(f"file:{path.name}", encoding)


def _as_utf8(content: bytes) -> tuple[bytes, str]:
    """Return text as UTF-8, and the name of its encoding if it was another one. A file with more bytes that are not
    UTF-8 than characters beyond ASCII is taken for Windows-1252; in any other file such bytes are broken rows.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", errors="replace").encode(), "UTF-16"
    text = content.decode("utf-8", errors="surrogateescape")
    no_characters = len(content) - len(text.encode("utf-8", errors="ignore"))
    ascii_characters = len(text.encode("ascii", errors="ignore"))
    if no_characters <= len(text) - ascii_characters - no_characters:
        return content, ""
    try:
        return content.decode("cp1252").encode(), "Windows-1252"
    except UnicodeDecodeError:
        return content.decode("latin-1").encode(), "Latin-1"


def check_columns(task: Task, columns: Mapping[str, str]) -> None:
    """Raises ValueError if `columns` names a role that items of the task do not have."""
    for role in columns:
        if role not in roles(task):
            raise ValueError(f"Items for {task} have no {role!r}. Name columns for: {', '.join(roles(task))}.")
    if "explanation" not in columns and (stray := [role for role in GIVEN[task] if role in columns]):
        raise ValueError(f"A column for {stray[0]!r} belongs to one for 'explanation': name that too.")


def path_of(dataset: str) -> Path:
    """Return the path of the file. Raises DatasetError if it does not exist, is not a table, or may not be named by
    this user.
    """
    if dataset.startswith(HUB):
        path = fetched(dataset)
    else:
        name, folder = dataset.removeprefix("file:"), (home() / "datasets").resolve()
        try:
            path = (folder / name).resolve()
            if not path.is_relative_to(folder) or not path.is_file():
                path = files.resolve_named(name)
            with files.open_file(path) as file:
                size = os.fstat(file.fileno()).st_size
        except (files.FileError, policy.NotAllowedError) as error:
            raise DatasetError(f"{dataset[:200]}: {error}") from None
        except (OSError, ValueError):
            raise DatasetError(f"{dataset[:200]!r} is not the name of a file.") from None
        if size > LARGEST:
            raise DatasetError(f"{path.name} is larger than {LARGEST // files.MB} MB.")
    if path.suffix.lower() not in KINDS:
        raise DatasetError(f"{path.name} cannot be read as a table. Choose a file that ends in {', '.join(KINDS)}.")
    if _IN_PATTERNS & set(str(path)):
        raise DatasetError(
            f"{path.name}: a path must not contain * ? [ ] {{ }}. Give the file or its folder another name."
        )
    return path


def digest(dataset: str) -> str:
    """Return the current SHA-256 of the file `file:NAME`; an empty string if it cannot be read, and for any other data
    set.
    """
    if not dataset.startswith("file:"):
        return ""
    try:
        return digest_of_content(dataset)
    except (ValueError, OSError):
        return ""


def digest_of_content(dataset: str) -> str:
    """Return the current SHA-256 of a person's own file, here or on the hub. Raises DatasetError and OSError."""
    path = path_of(dataset)
    return _digest(path, files.stamp(path))


@lru_cache(maxsize=64)
def _digest(path: Path, stamp: tuple[int, int]) -> str:
    found = hashlib.sha256()
    for block in _blocks(path):
        found.update(block)
    return found.hexdigest()


def preview(dataset: str) -> FilePreview:
    """Return a preview of a file. Raises DatasetError."""
    path = path_of(dataset)
    return _look(path, files.stamp(path))


@lru_cache(maxsize=8)
def _look(path: Path, stamp: tuple[int, int]) -> FilePreview:
    return FilePreview(**_answer(path, _wanted(path, {}, FIRST_ROWS, None)._replace(longest=200)))


def read(
    dataset: str,
    task: Task,
    columns: Mapping[str, str],
    limit: int | None,
    seed: int | None,
    skip: int = 0,
    keep: tuple[str, ...] = (),
) -> DrawnRows:
    """Return at most `limit` rows of a file after the first `skip`, drawn by `seed` (in file order for None), with
    the columns `keep`, or all columns without a role. Raises DatasetError.
    """
    check_columns(task, columns)
    path = path_of(dataset)
    return _read(path, files.stamp(path), task, tuple(sorted(columns.items())), limit, seed, skip, keep)


def size(dataset: str, task: Task, columns: Mapping[str, str]) -> int:
    """Return the number of rows of a file to draw from. Raises DatasetError."""
    check_columns(task, columns)
    path = path_of(dataset)
    return _size(path, files.stamp(path), task, tuple(sorted(columns.items())))


@lru_cache(maxsize=64)
def _size(path: Path, stamp: tuple[int, int], task: Task, pairs: tuple[tuple[str, str], ...]) -> int:
    return int(_answer(path, _asked(path, task, dict(pairs), 1, 0))["of"])


@lru_cache(maxsize=2)
def _read(
    path: Path,
    stamp: tuple[int, int],
    task: Task,
    pairs: tuple[tuple[str, str], ...],
    limit: int | None,
    seed: int | None,
    skip: int,
    keep: tuple[str, ...],
) -> DrawnRows:
    wanted = _asked(path, task, dict(pairs), min(limit or MOST_ROWS, MOST_ROWS), seed)
    wanted = wanted._replace(skip=skip, keep=list(keep), extra=MOST_EXTRA)
    found = _answer(path, wanted)
    if limit is None and found["of"] > MOST_ROWS:
        raise DatasetError(
            f"{path.name} has {found['of']:,} rows; at most {MOST_ROWS:,} are read at once. Set a limit."
        )
    rows: list[Any] = []
    faults: list[tuple[int, str]] = []
    names: dict[str, None] = {}
    for number, id, *texts in found["rows"]:
        cells = iter(texts)
        try:
            item = item_of(task, id, {role: list(islice(cells, len(held))) for role, held in found["columns"].items()})
            extra = _extra(zip(found["extra"], cells, strict=True))
            rows.append(item.model_copy(update={"extra": (*item.extra, *extra)}))
            names |= dict.fromkeys(name for name, _ in rows[-1].extra)
        except ValueError as error:
            faults.append((number, str(error)))
    placed = _placed(path, wanted, [*faults, *map(tuple, found["broken"])], found["rejected"])
    what = "row" if wanted.kind == "parquet" else "line"
    rows += [LeftOut(BROKEN, f"{path.name}, {what} {line}: {problem}") for line, problem in placed]
    if more := len(faults) + found["lost"] - len(placed):
        rows.append(LeftOut(BROKEN, rows=more))
    if found["repeated"]:
        rows.append(LeftOut("the id or the words of another row", rows=found["repeated"]))
    # Members of objects count as columns too.
    most, dropped = set(islice(names, MOST_EXTRA)), max(0, len(names) - MOST_EXTRA)
    if dropped:
        for at, row in enumerate(rows):
            if isinstance(row, Item):
                extra = tuple(one for one in row.extra if one[0] in most)
                rows[at] = row.model_copy(update={"extra": extra})
    return DrawnRows(rows, found["of"] - len(faults), found["dropped"] + dropped)


def _extra(cells: Iterable[tuple[str, str | None]]) -> tuple[tuple[str, str], ...]:
    """Return the columns of a row that have no role, with their texts; each member of a JSON object is a column."""
    found: dict[str, str] = {}
    for name, text in cells:
        for key, value in _members(name, text or ""):
            if value.strip():
                found[key[:LONGEST_NAME]] = value if len(value) <= LONGEST_EXTRA else f"{value[:LONGEST_EXTRA]}…"
    return tuple(found.items())


def _members(name: str, text: str) -> Iterator[tuple[str, str]]:
    if text.startswith("{"):
        try:
            held = json.loads(text)
        except (ValueError, RecursionError):
            held = None
        if isinstance(held, dict):
            for key, value in held.items():
                value = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                yield from _members(f"{name}.{key}", "" if value == "null" else value)
            return
    yield name, text


def _asked(path: Path, task: Task, columns: Mapping[str, str], rows: int, seed: int | None) -> ReadRequest:
    named = {role: [columns.get(role, role)] for role in roles(task) if role in columns or role not in GIVEN[task]}
    if "choices" in columns and task == "multi_choice":
        named["choices"] = [name.strip() for name in columns["choices"].split(",")]
    needs_answer = "explanation" in columns and "gold" in GIVEN[task]
    return _wanted(path, named, rows, seed)._replace(
        optional=[role for role in BESIDE if role not in columns and (role == "id" or not needs_answer)],
        needed=[*NEEDS[task], *(role for role in ("explanation",) if role in columns)],
        answers=[] if task == "multi_choice" else [*ANSWERS[task]],
    )


def item_of(task: Task, id: str, cells: Mapping[str, Sequence[str | None]]) -> Item:
    """Build the item of a row, whose cells are given by role. Raises ValueError, saying what is wrong with the row."""
    for role, texts in cells.items():
        for text in texts:
            if (role in NEEDS[task] or role == "explanation") and not (text or "").strip():
                raise ValueError(f"the {role.replace('_', ' ')} is empty")
            if len(text or "") > LONGEST:
                raise ValueError(f"the {role.replace('_', ' ')} is longer than {LONGEST:,} characters")
    said = {role: (texts[0] or "").strip() for role, texts in cells.items()}
    fields: dict[str, Any] = {"paragraph": said.get("paragraph", "")}
    if task in ("strategyqa", "multi_choice"):
        fields["question"] = said["question"]
    if task == "entailment":
        fields["hypothesis"] = said["hypothesis"]
    answer = said.get("answer", "")
    if task == "shp":
        fields |= {"paragraph": said["context"], "choices": (said["response_1"], said["response_2"])}
    if task == "multi_choice":
        choices = [text.strip() for text in _choices(cells["choices"])]
        if len(choices) < 2 or not all(choices) or len(set(choices)) < len(choices):
            raise ValueError("it needs at least two choices, all different and none of them empty")
        fields |= {"choices": tuple(sorted(choices)), "label": _choice(answer, choices)}
    else:
        fields["label"] = _known(task, answer)
    if explanation := said.get("explanation"):
        fields["explanation"] = explanation
        if "gold" in GIVEN[task]:
            if not answer:
                raise ValueError("there is no answer that the explanation is for")
            fields |= {"said": fields["label"], "label": _known(task, said.get("gold", ""))}
        fields["extra"] = (("source", said["source"][:LONGEST_EXTRA]),) if said.get("source") else ()
    return Item(id=id.replace("/", "%2F"), task=task, **fields)


def _known(task: Task, answer: str) -> str | None:
    """Return the answer by the task's own name for it; None if it is empty. Raises ValueError."""
    known = ANSWERS[task]
    if answer and answer.lower() not in known:
        raise ValueError(f"the answer “{answer[:80]}” is not one of {', '.join(known)}")
    return known.get(answer.lower())


def _choices(cells: Sequence[str | None]) -> list[str]:
    """Return the choices: one per column, or in a single column a list."""
    return listed(cells[0] or "", "|") if len(cells) == 1 else [cell or "" for cell in cells]


def listed(text: str, *separators: str) -> list[str]:
    """Return the texts of a list in one cell: a JSON list, or texts with the first of `separators` that occurs between
    them.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, list):
        return [str(one) for one in found]
    return text.split(next((one for one in separators if one in text), separators[0]))


def _choice(answer: str, choices: list[str]) -> str | None:
    """Return the choice that the answer names, in full or by its letter. Raises ValueError."""
    letters = {chr(ord("a") + number): choice for number, choice in enumerate(choices[:26])}
    if not answer or answer in choices:
        return answer or None
    if answer.lower() not in letters:
        raise ValueError(f"the answer “{answer[:80]}” is not one of the choices")
    return letters[answer.lower()]


def _header(path: Path) -> tuple[list[str], str]:
    """Return the column names in a CSV file's first line, and the separator of its cells. Raises DatasetError."""
    if KINDS[path.suffix.lower()] != "csv":
        return [], ","
    with files.open_file(path) as file:
        line = file.readline(LONGEST_HEADER + 1)
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise DatasetError(
            f"{path.name}, line 1: this is not UTF-8 text. Save it as UTF-8, or upload it in the form."
        ) from None
    if len(line) > LONGEST_HEADER or "\0" in text or not text.strip():
        raise DatasetError(f"{path.name}, line 1: write the names of the columns here")
    delimiter = max((",", "\t", ";", "|"), key=text.count)
    try:
        return [name.strip() for name in next(csv.reader([text], delimiter=delimiter, strict=True))], delimiter
    except csv.Error as error:
        raise DatasetError(f"{path.name}, line 1: the names of the columns cannot be read ({error})") from None


def _wanted(path: Path, columns: dict[str, list[str]], rows: int, seed: int | None) -> ReadRequest:
    header, delimiter = _header(path)
    open_quote = bool(header) and sum(block.count(b'"') for block in _blocks(path)) % 2 == 1
    return ReadRequest(
        path=str(path),
        kind=KINDS[path.suffix.lower()],
        columns=columns,
        header=header,
        delimiter=delimiter,
        open_quote=open_quote,
        rows=rows,
        seed=seed,
        longest=LONGEST,
        named=MOST_NAMED,
        memory_mb=MEMORY_MB,
        seconds=SECONDS,
    )


def _blocks(path: Path) -> Iterator[bytes]:
    with files.open_file(path) as file:
        yield from iter(lambda: file.read(files.MB), b"")


def _answer(path: Path, wanted: ReadRequest) -> dict[str, Any]:
    """Return the answer of the reading process. Raises DatasetError."""
    try:
        found: dict[str, Any] = json.loads(duckdb_worker.run_worker(own_process.__name__, wanted))
        return found
    except duckdb_worker.WorkerTimeoutError:
        raise DatasetError(f"{path.name} took longer than {wanted.seconds} seconds to read.") from None
    except OSError as error:
        raise DatasetError(f"{path.name} cannot be read: {error.strerror}.") from None
    except duckdb_worker.WorkerRefusedError as error:
        words = " ".join(str(error).replace(str(path), path.name).split())
        if not words.startswith("Out of Memory"):
            raise DatasetError(f"{path.name} cannot be read: {words[:300]}") from None
    except duckdb_worker.WorkerMemoryError:
        pass
    raise DatasetError(f"{path.name} cannot be read: it takes more memory than {wanted.memory_mb:,} MB.")


def _placed(path: Path, wanted: ReadRequest, faults: list[Any], rejected: list[str]) -> list[tuple[int, str]]:
    """Return the first line of each broken row and its problem, in order. `faults` name rows by the number that DuckDB
    gave them; `rejected` are the problems of rows that it did not number, in order.
    """
    if wanted.kind == "parquet" or not (faults or rejected):
        return sorted(faults)
    problems = dict(faults)
    refused = iter(rejected)
    found: list[tuple[int, str]] = []
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
        number = 0
        for line, is_row in _csv_rows(file, wanted) if wanted.kind == "csv" else _json_rows(file):
            number += is_row
            problem = problems.get(number) if is_row else next(refused, None)
            if problem is not None:
                found.append((line, problem))
    return found


_NO_CHARACTER = re.compile("[\ud800-\udfff]")


def _json_rows(file: Iterable[str]) -> Iterator[tuple[int, bool]]:
    """Yield each line's number, and whether DuckDB counts the line as a row."""
    for number, line in enumerate(file, start=1):
        yield number, "\x1f" not in line and not _NO_CHARACTER.search(line)


def _csv_rows(file: Iterable[str], wanted: ReadRequest) -> Iterator[tuple[int, bool]]:
    """Yield the first line of each row except the header and blank rows, and whether DuckDB counts it as a row."""
    reader = csv.reader(file, delimiter=wanted.delimiter)
    begins = 1
    while True:
        too_long = False
        try:
            cells = next(reader, None)
        except csv.Error:
            # The line is too long for DuckDB too.
            cells, too_long = [""], True
        if cells is None:
            return
        if begins > 1 and cells:
            yield begins, not too_long and not any(map(_NO_CHARACTER.search, cells))
        begins = reader.line_num + 1


# Files on the hub, by `huggingface_hub`; kept in $EXPLAIN_HOME/datasets/hub.


def fetched(dataset: str) -> Path:
    """Return the local copy of the file `hf://OWNER/NAME/FILE`, fetching it from $HF_ENDPOINT or the public hub if
    needed.

    Raises DatasetError, even if there is only no network.
    """
    named = _ON_HUB.fullmatch(dataset)
    if named is None or ".." in dataset:
        raise DatasetError(f"{dataset[:200]!r} is no file on the hub. One is called hf://OWNER/NAME/FILE.")
    folder = home() / "datasets" / "hub" / named["repo"]
    kept = folder / named["file"]
    if kept.is_file():
        return kept
    if not policy.allows("downloads"):
        raise DatasetError("Here only the host can fetch files from the hub. Choose one of the data sets listed.")
    _download(dataset, named["repo"], named["file"], folder)
    return kept


def _download(dataset: str, repo: str, file: str, folder: Path) -> None:
    import httpx2
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    hub = (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
    advice = "Or fetch it in a browser, and put it into $EXPLAIN_HOME/datasets."
    try:
        about = get_hf_file_metadata(hf_hub_url(repo, file, repo_type="dataset", endpoint=hub), endpoint=hub)
        if about.size is None or about.size > LARGEST:
            size = f"{about.size / files.MB:,.0f} MB" if about.size is not None else "a size that the hub does not tell"
            raise DatasetError(f"{dataset} has {size}; at most {LARGEST // files.MB} MB are fetched.")
        hf_hub_download(repo, file, repo_type="dataset", local_dir=folder, endpoint=hub)
    except OfflineModeIsEnabled:
        raise DatasetError(f"{dataset} cannot be fetched: HF_HUB_OFFLINE is set. {advice}") from None
    except HfHubHTTPError as error:
        status = error.response.status_code
        why = {404: "has no such file", 401: "wants an account (set HF_TOKEN)", 403: "does not give it out"}
        raise DatasetError(f"{hub} {why.get(status, 'does not answer')} (HTTP {status}): {dataset}. {advice}") from None
    except (httpx2.RequestError, LocalEntryNotFoundError) as error:
        reason = str(error) if isinstance(error, httpx2.RequestError) else "the connection was cut"
        raise DatasetError(
            f"{hub} cannot be reached for {dataset}: {reason or type(error).__name__}. {advice}"
        ) from None
    except OSError as error:
        raise DatasetError(f"{dataset} could not be stored: {error.strerror or error}.") from None
