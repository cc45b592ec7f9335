"""Statements in a reply that should give one of a few answers, and the answer that follows from them.

A statement is final if the reply calls it so ("Final answer: ..", a conclusion, a box), firm if the reply commits
itself (first words, a label, a closing line, a sentence that concludes), else loose; what other people would say counts
only if the reply says nothing else. If a reply makes two different statements of equal weight, there is no answer:
never a guess. Quantifiers are bounded, so that hostile text cannot
slow parsing.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ..package_data import sibling_toml
from ..text.patterns import Patterns
from ..text.reply import (
    STRUCK,
    concluded,
    json_in,
    own_turn,
    spoken,
    table_rows,
    without_echo,
    without_markup,
    without_quoted_question,
)

# The phrases by which the updated parsers recognise what chat models write (phrases.toml).


RE = Patterns(sibling_toml(__file__, "phrases.toml"))


FINAL, FIRM, LOOSE, OTHERS = 4, 3, 2, 1


class Statement(NamedTuple):
    """The reply says `value` at character `at`."""

    value: str
    at: int
    weight: int


class Begins(NamedTuple):
    """The answer that a text begins with, and where the answer ends."""

    value: str
    end: int


First = Callable[[str], Begins | None]
"""Parses the answer that a text begins with; None if it begins with none."""


def settle(statements: Iterable[Statement]) -> str | None:
    """Return the answer that follows from the statements; None if there are none or they disagree. The weightiest ones
    count, and so does a lighter one that comes after all of these.
    """
    statements = list(statements)
    top = max((said.weight for said in statements), default=0)
    last = max((said.at for said in statements if said.weight == top), default=-1)
    return only(
        said.value
        for said in statements
        if said.weight == top or (said.at > last and top > LOOSE and said.weight >= LOOSE)
    )


def only(values: Iterable[str]) -> str | None:
    """Return the value if there is exactly one distinct value, else None."""
    values = set(values)
    return values.pop() if len(values) == 1 else None


# The words of a reply.

BEGINNING, END = 4_096, 12_288
"""Characters that are read. Models answer in their first words or their last."""

_FIRST_KEYS = ("final_answer", "answer", "label", "verdict", "prediction", "guess", "choice", "decision", "simulation")
_DEEPEST = 5


def field(value: Any) -> str | None:
    """Return the answer in a JSON value: from a field with a fitting name, else from the only field, else the key with
    the highest number. None if there is none.
    """
    for _ in range(_DEEPEST):
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, Mapping):
            value = _named(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, str | int) and value != "" else None


def _named(entries: Mapping[str, Any]) -> Any:
    known = {re.sub(r"[ -]", "_", key.lower()): "none" if value is None else value for key, value in entries.items()}
    for key in (*_FIRST_KEYS, *(key for key in known if RE.answer_key.search(key))):
        if key in known and not RE.reason_key.search(key):
            return known[key]
    numbers = [value for value in known.values() if isinstance(value, int | float)]
    if len(numbers) == len(known) > 1 and numbers.count(max(numbers)) == 1:
        return next(key for key, value in entries.items() if value == max(numbers))
    only = [value for key, value in known.items() if not RE.reason_key.search(key)]
    return only[0] if len(only) == 1 else None


_LONGEST_OPTION = 80
"""Longest ticked line that counts, in characters."""


def reply(text: str) -> str:
    """Return the model's own words in plain text, without their wrapping; of a longer text, its BEGINNING and END.

    The answer in a JSON reply becomes a line "Answer: ..". The answer in a box, in tags, or in the only ticked line or
    row becomes a line "Final answer: ..". In the row of a table, each cell gets its heading before it.
    A call of a tool is no answer: its arguments are what the model wants to know.
    """
    written = own_turn(without_echo(spoken(text)))
    if RE.tool_call.search(written):
        return ""
    own = RE.inline_label.sub("\n", STRUCK.sub("", written))
    if len(own) > BEGINNING + END:
        own = f"{own[:BEGINNING]}\n{own[-END:]}"
    parsed = json_in(own)
    if isinstance(parsed, dict) or (parsed is not None and own.startswith("[") and own.endswith("]")):
        value = field(parsed)
        if value is not None:
            return f"Answer: {without_markup(concluded(value))}"
    words = RE.if_forced.sub("", without_markup(_lined(concluded(without_quoted_question(own)))))
    # Where it takes something back ("wait, no") or says that it cannot choose, only what follows counts.
    turns = [] if STRUCK.search(written) else list(RE.turn.finditer(words))
    return words[turns[-1].end() :].lstrip(" ,.:;!…–—-\n") if turns else words


def _lined(text: str) -> str:
    """Return `text` with tables turned into lines and, if exactly one line is ticked, with a line that names it."""
    rows = table_rows(text)
    lines = text.split("\n")
    if rows:
        at = next(k for k, line in enumerate(lines) if line.lstrip().startswith("|"))
        others = [line for line in lines[at:] if not line.lstrip().startswith("|")]
        lines = [*lines[:at], *(_rows_as_lines(rows)), *others]
    ticked = [
        line for line in lines if RE.tick.search(line) and not RE.cross.search(line) and not RE.tick_within.search(line)
    ] or [found[1] for line in lines if (found := RE.said_yes.fullmatch(line))]
    if len(ticked) == 1:
        named = RE.tick.sub("", ticked[0]).strip(" -*\t")
        if len(ticked[0]) > _LONGEST_OPTION:
            named = RE.item_note.sub("", named)
        if len(named) <= _LONGEST_OPTION:
            lines = ["" if line in ticked else line for line in lines if not RE.unticked.search(line)]
            lines.append("Final answer: " + named)
    return "\n".join(lines)


def _rows_as_lines(rows: list[list[str]]) -> list[str]:
    """Turn a table into lines. In a single row, each cell gets its heading; of several rows, the only ticked one is the
    answer.
    """
    is_pairs = all(len(row) == 2 for row in rows) and RE.reason_key.search(rows[-1][0].lower())
    if len(rows) == 2 and not is_pairs:
        named = zip(*rows, strict=False)
        return [f"{heading}: {cell}" for heading, cell in named if re.search(r"[^\W\d]{3}", heading)]
    for column in list(zip(*rows[1:], strict=False))[:9]:
        ticked = [at for at, cell in enumerate(column, 1) if RE.ticked_cell.fullmatch(cell)]
        if len(ticked) == 1 and all(
            RE.no_tick.fullmatch(cell) for at, cell in enumerate(column, 1) if at not in ticked
        ):
            cells = [cell for cell in rows[ticked[0]] if not RE.ticked_cell.fullmatch(cell)]
            return ["Final answer: " + (") " if len("".join(cells[:1])) == 1 else " ").join(cells)]
    return [": ".join(row) if len(row) == 2 else " ".join(row) for row in rows]


BOTH = "(both)"
"""Stands for an answer that is left open."""


def without_open(text: str, values: re.Pattern[str]) -> str:
    """Replace by BOTH the sentences that give two of the `values` under two conditions ("If so, yes; if not, no") or on
    two sides ("half positive, half negative").
    """
    kept: list[str] = []
    run: list[str] = []
    for part in [*re.split(r"(?<=[.!?\n])|(?=\b(?:but|however)\b)", text), ""]:
        if not RE.commits.search(part) and (
            RE.condition.search(part) or (run and len({value.lower() for value in values.findall(part)}) > 1)
        ):
            run.append(part)
            continue
        whole = "".join(run)
        conditions = sum(2 if one["both"] else 1 for one in RE.condition.finditer(whole))
        is_open = conditions > 1 and len({value.lower() for value in values.findall(whole)}) > 1
        kept += [f"{BOTH}.\n" if is_open else whole, part]
        run = []
    return "".join(kept)


def sentences(text: str) -> list[str]:
    """Split `text` at full stops, exclamation and question marks, semicolons and line ends."""
    return [part.strip() for part in re.split(r"(?<=[.!?;])\s+|\n+", text) if part.strip()]


# The places where an answer is given.

STATED = (RE.answer_is, RE.would, RE.so, RE.it_is, RE.results)
_WINDOW = 240
"""Characters after a marker within which its answer begins and ends."""

_MOST = 200
"""Most statements of one form that are examined."""


def stands(text: str, at: int, until: int, doubts: bool) -> int:
    """Return the weight of the statement from `at` to its value at `until`; 0 if it is denied or left open. With
    `doubts`, also 0 if it is doubted, ascribed to others or conditional.
    """
    sentence = RE.sentence_end.split(text[max(0, at - 200) : at])[-1]
    clause = "" if text[at] in ",;–—" else RE.clause_end.split(sentence)[-1]
    statement = text[at:until] + " "
    if RE.denied.search(clause) or RE.denied.search(statement) or RE.left_open.search(clause):
        return 0
    firm = bool(RE.concludes.search(sentence + statement))
    if doubts and (RE.doubted.search(clause) or (not firm and RE.conditional.search(sentence))):
        return 0
    return FIRM if firm else LOOSE


def statements_in(
    text: str,
    first: First,
    markers: Sequence[re.Pattern[str]] = STATED,
    doubts: bool = True,
    passes: Callable[[str, int, int], bool] = lambda text, at, until: False,
) -> Iterator[Statement]:
    """Yield what plain `text` says beyond its first words: in labels, in its closing line or sentence, after `markers`.
    A label or marker is skipped if `passes` returns True for (text, begin, end).
    """
    above, _, last = text.rpartition("\n")
    listed = RE.item.match(last) and RE.item.match(above[above.rfind("\n") + 1 :])
    ends = (
        []
        if listed or RE.one_of_several.search(text)
        else islice(re.finditer(r"\A|[.!?:–—] |(?:→|[-=]>) ?", last), _MOST)
    )
    for at in {end.end() for end in ends}:
        is_aside = last.rfind("(", 0, at) > last.rfind(")", 0, at)
        if not is_aside and (begins := alone(last[at:], first)):
            yield Statement(begins.value, len(text), FIRM)
    lines = islice(re.finditer(r"^[^\n]{0,30}[^\n:]$", text, re.MULTILINE), _MOST)
    for line in lines:
        if not RE.item.match(line[0]) and (begins := alone(line[0], first)):
            yield Statement(begins.value, line.start(), FIRM)
    for match in (
        match
        for form in (RE.in_brackets, RE.above_reasons, RE.value_is)
        for match in islice(form.finditer(text), _MOST)
    ):
        if begins := alone(match[1], first):
            yield Statement(begins.value, match.start(1), FIRM)
    for marker in (RE.label, *markers):
        for match in islice(marker.finditer(text), _MOST):
            begins = first(text[match.end() : match.end() + _WINDOW])
            if begins is None or passes(text, match.start(), match.end()):
                continue
            weight = FIRM if marker is RE.label else stands(text, match.start(), match.end(), doubts)
            if doubts and marker is not RE.label and RE.condition_behind.match(text, match.end() + begins.end):
                continue
            if weight and (
                _is_quoted(text, match.start()) or (weight == LOOSE and RE.others_say.match(text, match.start()))
            ):
                weight = OTHERS
            if weight:
                yield Statement(begins.value, match.start(), FINAL if match.groupdict().get("final") else weight)


def _is_quoted(text: str, at: int) -> bool:
    """Whether a quotation that began in the line before `at` is still open there."""
    return text.count('"', text.rfind("\n", 0, at) + 1, at) % 2 == 1


def beyond_question(text: str) -> str:
    """Remove the question that `text` repeats before answering it ("Does it follow? Yes."), if there is one."""
    question = RE.question.match(text)
    return text[question.end() :].lstrip() if question else text


def alone(line: str, first: First) -> Begins | None:
    """Return the answer of a line that contains nothing else ("So, no."); None otherwise."""
    line = RE.without_conclusion.sub("", line)
    begins = first(line)
    return begins if begins and not re.search(r"\w", RE.then.sub("", line[begins.end :])) else None


def one_of(names: Iterable[str]) -> str:
    """Return a regular expression of these names, longest first; it matches nothing if there are none."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or r"(?!)"


def values(**names: str) -> dict[str, str]:
    """Return the value that each name stands for; the names of a value are separated by "|"."""
    return {name: value for value, joined in names.items() for name in joined.split("|")}


def begins_with(values: Mapping[str, str], alone: Mapping[str, str] | None = None, form: str = "first_value") -> First:
    """Return a parser of texts that begin with one of `values` (lower case) or consist only of one of `alone`."""
    pattern = RE(form, names=one_of(values))
    only = RE("only_value", names=one_of(alone)) if alone else None

    def first(text: str) -> Begins | None:
        if match := pattern.match(text):
            return Begins(values[match["v"].lower()], match.end())
        match = only.match(text) if only else None
        return Begins((alone or {})[match["v"].lower()], match.end("v")) if match else None

    return first


# Recognises replies that refuse, and those that say that something cannot be told.


# Refusals: the model says that it will not answer, not that the answer cannot be known.


def declines(text: str) -> bool:
    """Whether the reply refuses: "I can't determine that because it violates policy", not "I can't determine that"."""
    return RE.declines.search(text) is not None


def begins_as_refusal(text: str) -> bool:
    """Whether an answer that should be a text or a list of words begins as a refusal."""
    return RE.refusal.match(text) is not None


UNKNOWN = "unknown"


def not_guessed(text: str) -> Iterator[Statement]:
    """Yield statements that the writer cannot guess. "I cannot say for sure" alone is not one."""
    for match in RE.cannot_guess.finditer(text):
        if not RE.only_unsure.match(text, match.end()):
            yield Statement(UNKNOWN, match.start(), FIRM)
    for match in islice(RE.label.finditer(text), 200):
        if RE.unknown_slot.match(text, match.end()):
            yield Statement(UNKNOWN, match.start(), FIRM)
    for match in RE.little_to_go_on.finditer(text):
        yield Statement(UNKNOWN, match.start(), LOOSE)
    lines = text.split("\n")
    if RE.unknown_line.fullmatch(lines[0].partition(". ")[0]):
        yield Statement(UNKNOWN, 0, FIRM)
    if RE.unknown_line.fullmatch(re.split(r"(?<=[.!?]) ", lines[-1])[-1]):
        yield Statement(UNKNOWN, len(text), FIRM)


def without_open_question(sentence: str) -> str:
    """Remove from `sentence` what it leaves open ("whether it is so")."""
    return RE.open_clause.sub("", sentence)


def cannot_tell(sentence: str) -> int | None:
    """Return where a plain sentence says that something cannot be told; None if it does not."""
    match = RE.says_unknown.search(sentence)
    return match.start() if match else None
