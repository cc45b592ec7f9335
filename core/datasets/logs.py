"""Answers from logs of other tools, as rows of a data set for *Ask*: Inspect's `.eval` and JSON logs, lm-eval's
`samples_*.jsonl`, and JSON lines. The formats are read by this module itself: inspect_ai and lm_eval are not needed.

A row has the columns question, answer, explanation, gold and source (the model), and sample, epoch, prompt and sampling
to keep; of multiple choice also choices, a JSON list, unless these are yes and no. The updated parser reads the answer.
A sample that cannot be read is reported with its field and the reason.
"""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Literal, NamedTuple

from .. import files, home
from ..parsers.choice import choice
from ..parsers.yes_no import yes_no
from ..text.reply import own_turn, spoken
from .items import DatasetError
from .own import ANSWERS, LONGEST

Tool = Literal["inspect", "lm-eval", "jsonl"]

LARGEST = 256 * files.MB
"""Maximum size of a log in bytes."""
LARGEST_SAMPLE = 32 * files.MB
"""Maximum size of an unpacked sample in bytes."""
LARGEST_UNPACKED = 1024 * files.MB
MOST_SAMPLES = 100_000

MOST_CHOICES = 26
"""Maximum number of choices of a question."""

MOST_MESSAGES = 10_000
"""Maximum number of messages that are read of a sample."""

_ZSTANDARD = 93
"""The zip method that Inspect writes, which Python reads only from 3.14 on."""
_SAMPLE = re.compile(r"samples/.+_epoch_\d+(?:\.json|/sample\.json)")
"""A sample in one file, or the file of one in chunks, whose messages and long texts are in files beside it."""
_CHUNK = re.compile(r"(?P<sample>samples/.+)/(?P<part>messages|attachments)/(?P<start>\d{1,9})\.json")
_ANSWER_SENTENCE = re.compile(
    r"(?:(?<=[.!?\n])|(?<=[.!?\n] ))(?:so |therefore,? )?the answer is:? [*_]*(?:yes|no)[*_]*\.?\Z", re.I
)
_LETTER = re.compile(r"(?:\A|(?<=\n))[*_ ]*answer[*_ ]*:[*_ ]*\(?[a-z]\)?[*_ .]*\s*\Z", re.I)
"""The line with which Inspect's multiple choice ends."""


class Unread(NamedTuple):
    """A field of a sample that could not be read, and why. `is_row`: the sample is a row nevertheless."""

    sample: str
    field: str
    why: str
    is_row: bool = False


class LogRows(NamedTuple):
    """The rows of a log, how many samples it has, and what could not be read."""

    rows: list[dict[str, str]]
    samples: int
    unread: list[Unread]

    @property
    def for_ask(self) -> int:
        """How many rows *Ask* tests: those with an answer yes or no."""
        return sum("choices" not in row for row in self.rows)

    def columns(self) -> list[str]:
        """Return the columns with a role that a run has to be told of."""
        return ["explanation", *(name for name in ("gold", "source") if any(row[name] for row in self.rows))]

    def content(self) -> bytes:
        """Return the rows as JSON lines."""
        lines = (json.dumps(row, ensure_ascii=False) for row in self.rows)
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


class _FieldError(ValueError):
    def __init__(self, field: str, why: str) -> None:
        super().__init__(why)
        self.field, self.why = field, why


class _Answer(NamedTuple):
    """What a sample says. `text` is the raw answer, or the reasons where the log has the answer, `said`, apart. If
    there are `choices`, `said` is one of them, and so is `target` unless it is empty.
    """

    question: str
    text: str
    target: str
    source: str
    kept: dict[str, Any]
    said: str = ""
    choices: tuple[str, ...] = ()


_Samples = Iterator[tuple[str, Callable[[], _Answer]]]


def read(path: Path, tool: Tool) -> LogRows:
    """Return the rows of a log. Raises DatasetError if the file cannot be read at all, FileError if it is no file."""
    return read_content(path.name, files.read_bytes(path, LARGEST), tool, _source(path))


def tool_of(name: str, data: bytes) -> Tool:
    """Return which tool wrote a log, by its name and its first line. Raises DatasetError if its name is not that of a
    log.
    """
    match Path(name).suffix.lower():
        case ".eval" | ".json":
            return "inspect"
        case ".jsonl":
            return "lm-eval" if b'"resps"' in data[: data.find(b"\n")] else "jsonl"
    raise DatasetError(f"{name[:100]} is no log: choose a file that ends in .eval, .json or .jsonl.")


def read_content(name: str, data: bytes, tool: Tool, source: str = "") -> LogRows:
    """Return the rows of a log with this name and content; `source` is the model if an lm-eval file is known to have
    one. Raises DatasetError if it cannot be read at all.
    """
    if tool == "inspect":
        samples = _zipped(data) if data.startswith(b"PK") else _inspect_json(data)
    else:
        samples = _lines(data, _lm_eval if tool == "lm-eval" else _plain, source if tool == "lm-eval" else "")
    rows: list[dict[str, str]] = []
    unread: list[Unread] = []
    number = 0
    for number, (sample, reading) in enumerate(samples, start=1):
        if number > MOST_SAMPLES:
            raise DatasetError(f"{name} has more than {MOST_SAMPLES:,} samples. Divide it into several files.")
        try:
            row, problems = _row(reading())
        except _FieldError as error:
            unread.append(Unread(sample[:100], error.field, error.why))
            continue
        except RecursionError:
            unread.append(Unread(sample[:100], "sample", "it is nested too deeply"))
            continue
        rows.append(row)
        unread += [Unread(sample[:100], field, why, is_row=True) for field, why in problems.items()]
    return LogRows(rows, number, unread)


def _row(found: _Answer) -> tuple[dict[str, str], dict[str, str]]:
    """Return a row, and what is wrong with it, by field. Raises _FieldError."""
    for field, text in (("question", found.question), ("answer", found.text)):
        if not text.strip():
            raise _FieldError(field, "it is empty")
        if len(text) > LONGEST:
            raise _FieldError(field, f"it is longer than {LONGEST:,} characters")
    try:
        # A choice is neither yes nor no, and its words may be neither.
        answer, explanation = answer_and_reasons(found.text, "yes" if found.choices else found.said)
    except ValueError as error:
        raise _FieldError("answer", str(error)) from None
    problems = {}
    if found.choices:
        answer, gold = found.said, found.target
        problems["choices"] = "they are not yes and no: the row keeps them, and Ask leaves it out"
        if not gold:
            problems["target"] = "it is none of the choices, so the row has no correct answer"
    else:
        gold = (yes_no(found.target, []) or "") if found.target and len(found.target) <= LONGEST else ""
        if found.target and not gold:
            problems["target"] = "it is neither yes nor no, so the row has no correct answer"
    row = {"question": found.question, "answer": answer, "explanation": explanation, "gold": gold}
    kept = {"choices": list(found.choices), **found.kept}
    shown = {name: _shown(value) for name, value in kept.items() if value not in (None, "", {}, [])}
    return {**row, "source": found.source[:300], **shown}, problems


def answer_and_reasons(text: str, said: str = "") -> tuple[str, str]:
    """Return the answer, yes or no, in what a model wrote, and its reasons; `said` is the answer if it is known apart.
    Raises ValueError if one of them cannot be read.
    """
    answer = yes_no(said or text, [])
    if answer is None:
        raise ValueError("the parser reads neither yes nor no in it")
    explanation = own_turn(spoken(text)).strip()
    if not said:
        # Ask ends the explanation with such a sentence itself.
        explanation = _ANSWER_SENTENCE.sub("", explanation).strip()
    if len(explanation.split()) < 3:
        raise ValueError("it gives no reasons")
    return answer, explanation


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _loaded(data: bytes, field: str, kind: type = dict) -> Any:
    """Return a JSON object or, as `kind` says, a list. Raises _FieldError."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        too_deep = isinstance(error, RecursionError)
        raise _FieldError(field, "it is nested too deeply" if too_deep else "it is no valid JSON") from None
    if not isinstance(value, kind):
        raise _FieldError(field, f"it is no JSON {'object' if kind is dict else 'list'}")
    return value


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


# Inspect


def _inspect_json(data: bytes) -> _Samples:
    """Yield the samples of a log that is one JSON object."""
    try:
        log = _loaded(data, "log")
    except _FieldError as error:
        raise DatasetError(f"The file is no log of Inspect: {error.why}.") from None
    samples = log.get("samples")
    if not isinstance(samples, list):
        raise DatasetError("The log holds no samples. Inspect leaves them out with --no-log-samples.")
    for number, sample in enumerate(samples, start=1):
        about = _object(sample)
        yield _name(about, number), lambda about=about: _inspect(about, log)  # type: ignore[misc]


def _zipped(data: bytes) -> _Samples:
    """Yield the samples of a log that is a zip with one JSON file for each."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except home.DAMAGED_ARCHIVE as error:
        raise DatasetError(f"The file is damaged, or no log of Inspect: {error}.") from None
    # A log that was rewritten may have a name twice; the last one holds.
    named = {one.filename: one for one in archive.infolist()}
    start = next((named[name] for name in ("header.json", "_journal/start.json") if name in named), None)
    if start is None:
        raise DatasetError("The file is no log of Inspect: it has no header.json.")
    try:
        log = _loaded(_unpacked(data, archive, start), "header")
    except _FieldError as error:
        raise DatasetError(f"The log's header cannot be read: {error.why}.") from None
    left = LARGEST_UNPACKED
    samples = [one for name, one in named.items() if _SAMPLE.fullmatch(name)]
    chunks: dict[tuple[str, str], list[tuple[int, zipfile.ZipInfo]]] = {}
    for match in filter(None, map(_CHUNK.fullmatch, named)):
        chunks.setdefault((match["sample"], match["part"]), []).append((int(match["start"]), named[match[0]]))
    if not samples:
        raise DatasetError("The log holds no samples. Inspect leaves them out with --no-log-samples.")

    def unpacked(member: zipfile.ZipInfo) -> bytes:
        nonlocal left
        if left <= 0:
            raise _FieldError("sample", f"the log takes more than {LARGEST_UNPACKED // files.MB} MB unpacked")
        found = _unpacked(data, archive, member)
        left -= len(found)
        return found

    def listed(folder: str, part: str) -> list[Any]:
        held = sorted(chunks.get((folder, part), ()), key=itemgetter(0))
        return [one for _, chunk in held for one in _loaded(unpacked(chunk), part, list)]

    for member in samples:

        def reading(member: zipfile.ZipInfo = member) -> _Answer:
            sample = _loaded(unpacked(member), "sample")
            folder, _, is_whole = member.filename.rpartition("/sample.json")
            if folder and not is_whole:
                sample |= _joined(sample, listed(folder, "messages"), listed(folder, "attachments"))
            return _inspect(sample, log)

        yield member.filename.removeprefix("samples/").removesuffix(".json").removesuffix("/sample"), reading


def _joined(shell: dict[str, Any], messages: list[Any], attachments: list[Any]) -> dict[str, Any]:
    """Return the messages of a sample in chunks, to which it refers by ranges, and its long texts by their places."""
    refs = shell.get("message_refs")
    ranges = [(one[0], one[1]) for one in refs if _is_range(one)] if isinstance(refs, list) else []
    told = [message for start, end in ranges[:MOST_MESSAGES] for message in messages[start:end]]
    return {
        "messages": told[:MOST_MESSAGES],
        "attachments": {str(place): text for place, text in enumerate(attachments)},
    }


def _is_range(value: Any) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2
    return is_pair and all(isinstance(end, int) and not isinstance(end, bool) and end >= 0 for end in value)


def _unpacked(data: bytes, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return the content of a zip's member, at most LARGEST_SAMPLE whatever the zip says. Raises _FieldError."""
    import pyarrow as pa

    most = LARGEST_SAMPLE
    try:
        if member.compress_type == _ZSTANDARD:
            head = data[member.header_offset : member.header_offset + 30]
            begin = member.header_offset + 30 + int.from_bytes(head[26:28], "little")
            begin += int.from_bytes(head[28:30], "little")
            packed = pa.py_buffer(data[begin : begin + member.compress_size])
            with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
                found = bytes(stream.read(most + 1))
        else:
            with archive.open(member) as file:
                found = file.read(most + 1)
    except (*home.DAMAGED_ARCHIVE, NotImplementedError, OSError, ValueError):
        raise _FieldError("sample", "it is damaged, or packed in an unknown way") from None
    if len(found) > most:
        raise _FieldError("sample", f"it takes more than {most // files.MB} MB unpacked")
    return found


def _name(sample: dict[str, Any], number: int) -> str:
    name = str(sample.get("id", f"number {number}"))
    return f"{name}_epoch_{sample['epoch']}" if "epoch" in sample else name


def _inspect(sample: dict[str, Any], log: dict[str, Any]) -> _Answer:
    evaluated, attached = _object(log.get("eval")), _object(sample.get("attachments"))

    def text(content: Any) -> str:
        """Return the text of a message; long texts are attachments."""
        if isinstance(content, list):
            parts = (part for part in map(_object, content) if part.get("type") == "text")
            return "\n".join(text(part.get("text")) for part in parts)
        found: str = content if isinstance(content, str) else ""
        if found.startswith("attachment://"):
            held = attached.get(found.removeprefix("attachment://"))
            return held if isinstance(held, str) else ""
        return found

    asked = sample.get("input")
    if isinstance(asked, list):
        turns = [one for one in map(_object, asked) if one.get("role") == "user"]
        asked = turns[-1].get("content") if turns else ""
    output = _object(sample.get("output"))
    choices = output.get("choices")
    answered = _object(_object(choices[0] if isinstance(choices, list) and choices else {}).get("message"))
    if (error := _object(sample.get("error"))) and not answered:
        raise _FieldError("output", f"the sample failed: {str(error.get('message'))[:200]}")
    targets = sample.get("target")
    target = targets[0] if isinstance(targets, list) and targets else targets
    messages = sample.get("messages")
    before = [{"role": one.get("role"), "content": text(one.get("content"))} for one in map(_object, messages or ())]
    while before and before[-1]["role"] == "assistant":
        before.pop()
    plan = _object(_object(log.get("plan")).get("config"))
    found = _Answer(
        question=text(asked),
        text=text(answered.get("content")) or text(output.get("completion")),
        target=text(target),
        source=str(output.get("model") or evaluated.get("model") or ""),
        kept={
            "sample": str(sample.get("id", "")),
            "epoch": str(sample.get("epoch", "")),
            "prompt": before,
            "sampling": {**plan, **_object(evaluated.get("model_generate_config"))},
        },
    )
    if not sample.get("choices"):
        return found
    if isinstance(targets, list) and len(targets) > 1:
        raise _FieldError("target", "several choices are correct; only questions with one are read")
    return _chosen(found, sample["choices"], "output")


# Multiple choice


def _chosen(found: _Answer, choices: Any, field: str, is_numbered: bool = False) -> _Answer:
    """Return an answer as one of the choices that its question offers: yes or no if these are the choices. `field`
    holds the raw answer; the target may be a number, from 0, if `is_numbered`. Raises _FieldError.
    """
    offered = _choices(choices)
    said = _choice_of(found.said, offered) or choice(own_turn(spoken(found.said or found.text)), offered)
    if said not in offered:
        raise _FieldError(field, "the parser reads none of the choices in it")
    target = _choice_of(found.target, offered, is_numbered)
    found = found._replace(text=_LETTER.sub("", found.text))
    known = [ANSWERS["strategyqa"].get(one.strip().lower(), "") for one in offered]
    if sorted(known) == ["no", "yes"]:
        means = dict(zip(offered, known, strict=True))
        return found._replace(said=means[said], target=means.get(target, ""))
    return found._replace(said=said, target=target, choices=tuple(offered))


def _choices(choices: Any) -> list[str]:
    """Return the choices of a question: a list, or {"text": […]} as in some data sets. Raises _FieldError."""
    held = choices.get("text") if isinstance(choices, dict) else choices
    offered = [one.strip() for one in held if isinstance(one, str)] if isinstance(held, list) else []
    if not (isinstance(held, list) and 2 <= len(held) == len(offered) == len(set(offered)) <= MOST_CHOICES):
        raise _FieldError("choices", f"they are no list of 2 to {MOST_CHOICES} different texts")
    if not all(offered) or len(json.dumps(offered)) > LONGEST:
        raise _FieldError("choices", f"one is empty, or they are longer than {LONGEST:,} characters")
    return offered


def _choice_of(text: str, choices: Sequence[str], is_numbered: bool = False) -> str:
    """Return the choice with these words, this letter or, if `is_numbered`, this number; an empty string if there is
    none.
    """
    text = text.strip()
    if text in choices:
        return text
    names = [str(place) for place in range(len(choices))] if is_numbered and text.isdecimal() else ascii_lowercase
    return dict(zip(names, choices, strict=False)).get(text.strip("().").lower(), "")


# JSON lines


def _lines(data: bytes, reading: Callable[[dict[str, Any], str], _Answer], source: str) -> _Samples:
    for number, line in enumerate(io.BytesIO(data), start=1):
        if line.strip():
            yield f"line {number}", lambda line=line: reading(_loaded(line, "line"), source)  # type: ignore[misc]


def _source(path: Path) -> str:
    """Return the model of an lm-eval file, which its folder is named after."""
    name = path.resolve().parent.name
    return name.replace("__", "/") if "__" in name else ""


def _first(held: dict[str, Any], *names: str) -> str:
    """Return the first of these fields that has a text, a number or a truth value."""
    for name in names:
        value = held.get(name)
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, (str, int, float)) and str(value).strip():
            return str(value)
    return ""


def _lm_eval(sample: dict[str, Any], source: str) -> _Answer:
    answered = sample.get("resps") or sample.get("filtered_resps")
    while isinstance(answered, list) and answered:
        answered = answered[0]
    if not isinstance(answered, str):
        raise _FieldError("resps", "it is no text: log-likelihoods give no reasons")
    asked, sampling = _arguments(sample.get("arguments"))
    target, doc = sample.get("target"), _object(sample.get("doc"))
    target = target[0] if isinstance(target, list) and target else target
    found = _Answer(
        question=_first(doc, "question", "query", "input") or asked,
        text=answered,
        target=_first({"target": target}, "target"),
        source=source,
        kept={"sample": str(sample.get("doc_id", "")), "prompt": asked, "sampling": sampling},
    )
    choices = doc.get("choices") or doc.get("options")
    return _chosen(found, choices, "resps", is_numbered=True) if choices else found


def _arguments(held: Any) -> tuple[str, dict[str, Any]]:
    """Return the prompt and the sampling: {"gen_args_0": {"arg_0": …, "arg_1": …}}, or [[…, …]] in older files."""
    held = list(held.values()) if isinstance(held, dict) else held
    first = held[0] if isinstance(held, list) and held else ()
    first = list(first.values()) if isinstance(first, dict) else first
    prompt, sampling = (*(first if isinstance(first, list) else ()), None, None)[:2]
    return prompt if isinstance(prompt, str) else "", _object(sampling)


def _plain(sample: dict[str, Any], source: str) -> _Answer:
    reasons = _first(sample, "explanation", "reasoning", "rationale")
    answer = _first(sample, "answer", "prediction")
    found = _Answer(
        question=_first(sample, "question", "input"),
        text=reasons or _first(sample, "response", "output", "completion") or answer,
        target=_first(sample, "gold", "target", "label"),
        source=_first(sample, "source", "model"),
        kept={
            "sample": _first(sample, "id", "sample"),
            "prompt": sample.get("prompt"),
            "sampling": sample.get("sampling"),
        },
        said=answer if reasons else "",
    )
    choices = sample.get("choices") or sample.get("options")
    return _chosen(found, choices, "answer") if choices else found
