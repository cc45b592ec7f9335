"""Statements in a reply that should give one of a few answers, and the answer that follows from them.

A statement is final if the reply calls it so ("Final answer: ..", a conclusion, a box), firm if the reply commits
itself (first words, a label, a closing line, a sentence that concludes), else loose. If a reply makes two different
statements of equal weight, there is no answer: never a guess. Quantifiers are bounded, so that hostile text cannot slow
parsing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ..text.patterns import anycase
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

FINAL, FIRM, LOOSE = 3, 2, 1
_FLAGS = re.IGNORECASE | re.MULTILINE


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
    return only(said.value for said in statements if said.weight == top or (said.at > last and top > LOOSE))


def only(values: Iterable[str]) -> str | None:
    """Return the value if there is exactly one distinct value, else None."""
    values = set(values)
    return values.pop() if len(values) == 1 else None


# The words of a reply.

BEGINNING, END = 4_096, 12_288
"""Characters that are read. Models answer in their first words or their last."""

_KEY = re.compile(
    r"(?:answer|label|sentiment|entailment|choice|class(?:ification)?|prediction|predicted|guess|verdict|decision"
    r"|simulation|option|letter|polarity|tone|selection|winner|preference|(?:more_)?helpful|preferred_response"
    r"|more_helpful_response|conclusion|value|result|output|response)$"
)
_FIRST_KEYS = ("final_answer", "answer", "label", "verdict", "prediction", "guess", "choice", "decision", "simulation")
_REASONS = re.compile(r"reason|explan|justif|rationale|analysis|thought|why|note|comment|confidence|evidence")
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
    for key in (*_FIRST_KEYS, *(key for key in known if _KEY.search(key))):
        if key in known and not _REASONS.search(key):
            return known[key]
    numbers = [value for value in known.values() if isinstance(value, int | float)]
    if len(numbers) == len(known) > 1 and numbers.count(max(numbers)) == 1:
        return next(key for key, value in entries.items() if value == max(numbers))
    only = [value for key, value in known.items() if not _REASONS.search(key)]
    return only[0] if len(only) == 1 else None


_TICK = anycase("[✅✔✓☑🔘]|\\[x\\]|\\(x\\)")
_NO_TICK = anycase(r"[✗✘❌☐✖–—-]?\W?|\[ ?\]|no|false|incorrect|wrong")
_UNTICKED = anycase(
    r"[✗✘❌☐✖](?=.{2})|.{2}[✗✘❌☐✖]|\[ ?\]|\( ?\)|^\W{0,4}[a-z1-9][.)].{1,80}[:–—-] ?\**(?:no|false|incorrect)\W{0,4}$"
)
_CROSS = re.compile("[✗✘❌☐✖]")
_SAID_YES = anycase(r"(\W{0,4}[a-z1-9][.)].{1,80})[:–—-] ?\**(?:yes|true|correct)\W{0,4}")
"""An option that the reply accepts or rejects, on its own line."""
_TICKED_CELL = anycase(rf"(?:{_TICK.pattern})\W?|yes|true|correct|right")
_LONGEST_OPTION = 80
"""Longest ticked line that counts, in characters."""


_IF_FORCED = anycase(
    r"\bif (?:(?:i|we)(?:'d| had| have| were| was| must| am)? )?(?:(?:to|forced|pressed|pushed|made) ){1,3}"
    r"(?:choose|guess|pick|say|decide|bet|answer)\b(?: one\b)?,?|\bif (?:anything|you ask me),"
)
"""Not a condition: a writer who says this makes a choice."""


def reply(text: str) -> str:
    """Return the model's own words in plain text, without their wrapping; of a longer text, its BEGINNING and END.

    The answer in a JSON reply becomes a line "Answer: ..". The answer in a box, in tags, or in the only ticked line or
    row becomes a line "Final answer: ..". In the row of a table, each cell gets its heading before it.
    """
    written = own_turn(without_echo(spoken(text)))
    own = STRUCK.sub("", written)
    if len(own) > BEGINNING + END:
        own = f"{own[:BEGINNING]}\n{own[-END:]}"
    parsed = json_in(own)
    if isinstance(parsed, dict) or (parsed is not None and own.startswith("[") and own.endswith("]")):
        value = field(parsed)
        if value is not None:
            return f"Answer: {without_markup(concluded(value))}"
    words = _IF_FORCED.sub("", without_markup(_lined(concluded(without_quoted_question(own)))))
    return words if STRUCK.search(written) else since_turn(words)


_TAKEN_BACK = (
    r"(?<![\w\"'])(?:(?:wait(?: a (?:minute|moment|second|sec))?|h[oa]ld on|hang on|on (?:second|further) thoughts?"
    r"|on reflection|then again|actually,? (?:no|scratch that)|(?:scratch|strike|forget) that|my (?:mistake|bad)"
    r"|i stand corrected)(?=\s?(?:[,.:;!…–—-]|\n|\Z))|(?:correction|edit(?:ed)?|update):"
    r"|i(?:'ve| have|'d| had| would|'ll| will)? (?:just )?(?:overlooked|misread|mixed up|take (?:that|it|this) back"
    r"|meant"
    r"|(?:need|have) to correct|changed? (?:(?:that|it|this|my (?:mind|answer))\b"
    r"|(?:my (?:\w+ )?)?\w+(?= to\b))(?: to)?)\b|\b(?:that|this) was (?:wrong"
    r"|a mistake|an error)\b)"
)
"""What takes back everything before it."""
_ONE = r"(?:one|any|both|either|between|from|just|them|it down|two|which|on|to|that one)"
_UNDECIDED = (
    r"(?:\b(?:i|we)(?: really| honestly| just| simply|'m|'d| am| would)? (?:can ?not|can't|couldn't|won't|will not"
    r"|rather not"
    r"|unable to|not going to|don't want to)(?: \w+ly)? (?:(?:choose|pick|decide|commit|settle|select|narrow|force)"
    rf"(?=[,.;:!\n]| {_ONE}\b|\Z)|make up my mind)"
    r"|\b(?:i|i'll|i'd|i will|i would|so)(?: \w+)? (?:give|take|name|say|keep|leave it at|list) (?:both|(?:the|those"
    r"|these) two)\b"
    r"|(?<![\w])both,? really\b|\b(?:either|both)(?: (?:of (?:them|the two)|labels?|answers?|options?|lists?"
    r"|readings?|ones?))?"
    r" (?:would|could|can|may|might|is|are|fits?|works?|appl(?:y|ies))(?: be)?(?: \w+ly)? (?:fine|defensible|right"
    r"|correct|possible"
    r"|well|valid|for me|explain\w*|work|fit)\b(?! in)|\bboth (?:fit|work|apply)\b(?: equally)?|(?:^"
    r"|[.;,] )(?:well, )?either[.!]"
    r"|\bequal (?:chances|weight)\b)"
)
"""What says that the writer takes both of two answers, or none."""
UNDECIDED = re.compile(_UNDECIDED, _FLAGS)
_TURN = re.compile(rf"{_TAKEN_BACK}|{_UNDECIDED}", _FLAGS)


def since_turn(text: str) -> str:
    """Return what plain `text` says since it last took something back ("wait, no") or said that it cannot choose."""
    turns = list(_TURN.finditer(text))
    return text[turns[-1].end() :].lstrip(" ,.:;!…–—-\n") if turns else text


def _lined(text: str) -> str:
    """Return `text` with tables turned into lines and, if exactly one line is ticked, with a line that names it."""
    rows = table_rows(text)
    lines = text.split("\n")
    if rows:
        at = next(k for k, line in enumerate(lines) if line.lstrip().startswith("|"))
        others = [line for line in lines[at:] if not line.lstrip().startswith("|")]
        lines = [*lines[:at], *(_rows_as_lines(rows)), *others]
    ticked = [line for line in lines if _TICK.search(line) and not _CROSS.search(line)] or [
        found[1] for line in lines if (found := _SAID_YES.fullmatch(line))
    ]
    if len(ticked) == 1 and len(ticked[0]) <= _LONGEST_OPTION:
        lines = ["" if line in ticked else line for line in lines if not _UNTICKED.search(line)]
        lines.append("Final answer: " + _TICK.sub("", ticked[0]).strip(" -*\t"))
    return "\n".join(lines)


def _rows_as_lines(rows: list[list[str]]) -> list[str]:
    """Turn a table into lines. In a single row, each cell gets its heading; of several rows, the only ticked one is the
    answer.
    """
    if len(rows) == 2:
        named = zip(*rows, strict=False)
        return [f"{heading}: {cell}" for heading, cell in named if re.search(r"[^\W\d]{3}", heading)]
    for column in list(zip(*rows[1:], strict=False))[:9]:
        ticked = [at for at, cell in enumerate(column, 1) if _TICKED_CELL.fullmatch(cell)]
        if len(ticked) == 1 and all(_NO_TICK.fullmatch(cell) for at, cell in enumerate(column, 1) if at not in ticked):
            cells = [cell for cell in rows[ticked[0]] if not _TICKED_CELL.fullmatch(cell)]
            return ["Final answer: " + (") " if len("".join(cells[:1])) == 1 else " ").join(cells)]
    return [": ".join(row) if len(row) == 2 else " ".join(row) for row in rows]


_CONDITION = anycase(
    r"\b(?:(?P<both>depend(?:s|ing)|either way|both ways|split|torn|toss-?up|two (?:directions|ways|minds)"
    r"|half\b[^.!?\n]{1,100}\bhalf|with\b[^.!?;\n]{1,60}\bwithout|one\b[^.!?;\n]{1,60}\b(?:an|the )other)"
    r"|(?<!even )if|unless|otherwise)\b"
)
_COMMITS = anycase(
    r"(?<!if )\bso\b|\b(?:thus|therefore|hence|i(?:'d| would|'ll| will) (?:say|go|call|classify|answer|pick|lean))\b"
)
BOTH = "(both)"
"""Stands for an answer that is left open."""


def without_open(text: str, values: re.Pattern[str]) -> str:
    """Replace by BOTH the sentences that give two of the `values` under two conditions ("If so, yes; if not, no") or on
    two sides ("half positive, half negative").
    """
    kept: list[str] = []
    run: list[str] = []
    for part in [*re.split(r"(?<=[.!?\n])|(?=\b(?:but|however)\b)", text), ""]:
        if not _COMMITS.search(part) and (
            _CONDITION.search(part) or (run and len({value.lower() for value in values.findall(part)}) > 1)
        ):
            run.append(part)
            continue
        whole = "".join(run)
        conditions = sum(2 if one["both"] else 1 for one in _CONDITION.finditer(whole))
        is_open = conditions > 1 and len({value.lower() for value in values.findall(whole)}) > 1
        kept += [f"{BOTH}.\n" if is_open else whole, part]
        run = []
    return "".join(kept)


def sentences(text: str) -> list[str]:
    """Split `text` at full stops, exclamation and question marks, semicolons and line ends."""
    return [part.strip() for part in re.split(r"(?<=[.!?;])\s+|\n+", text) if part.strip()]


# The places where an answer is given.

ADVERBS = (
    r"(?:(?:most|very|quite|a|an|the|still|just|likely|indeed|also|again|thus|then|resounding|definite|firm|clear|"
    r"simple|overall|rather|somewhat|[a-z]{2,15}ly),? ){0,3}"
)
OPENING = r"[^\w.!?;]{0,6}"
AFTER = (
    r"(?!\W{0,3}[:→=]\W{0,3}(?:yes|no|true|false|unknown|neutral|unclear)\b)(?=\s?(?:$|[^\w\s?-]|-(?!\w)|\n"
    r"|(?:because|since|as|due|given|rather|over|and|but|for|from|based|in|to|with|according|if|"
    r"when|while|although|though|unless|on|here|too|overall|indeed|absolutely|definitely|certainly|again"
    r"|before|now|then|either|anyway|instead|likewise|it|they|he|she|there|we|you|i|this|that|these|those|the)\b))"
)
_NOUNS = (
    r"answer|verdict|conclusion|decision|prediction|guess|result|choice|selection|preference|winner|response|reply"
    r"|simulation|label|sentiment|tone|polarity|classification|entailment|entail(?:s|ed)|option|judge?ment|output|pick"
)
_QUALIFIERS = (
    r"(?:(?:my|the|your|its|this|short|correct|right|true|actual|real|overall|general|robot's|predicted|expected"
    r"|likely|best|better|more|most|helpful|preferred|so|thus|therefore|in) ){0,5}"
)
_FINAL_NOUNS = rf"final[ _](?:{_NOUNS})|(?:final )?conclusion|verdict|final"
BE = (
    r"(?:, (?:therefore|thus|then|hence|of course|in short),)?(?: is|'s| was| remains|(?: would| will"
    r"| should| must| has to| would have to| is likely to)(?: likely| again| also| still| [a-z]{2,15}ly)? be)"
)
CONCLUDING = r"(?:so|thus|therefore|hence|overall|ultimately|finally|in conclusion|in short|in summary)"
LABEL = re.compile(
    rf"(?:^|(?<=[.!?;:)\n\"]) ?)[\W_]{{0,4}}(?:\d{{1,2}}[.)] )?{_QUALIFIERS}"
    rf"(?:(?P<final>{_FINAL_NOUNS})|{_NOUNS}|response|ans|a)"
    r"(?: (?:to|for|about|of|in) [^.:?\n]{1,120})?(?: ?\([^)\n]{0,40}\))?[\"']? ?"
    r"(?:(?:[:=→–—\]>]|->|=>|-(?= )){1,2}>?|(?=\n))",
    _FLAGS,
)
IS = re.compile(
    # "the answer to this is (clearly)"; what is said about the starter question is not the answer
    rf"\b(?:(?P<final>final answer)|{_NOUNS})"
    rf"(?: (?:to|for|about|here|given|in|of|between|the (?:robot|model)|it|that|i|i'd|we)\b(?:(?!starter"
    rf"|original)[^.\n]){{0,160}}?)??{BE}(?: that)?:?",
    _FLAGS,
)
WOULD = re.compile(
    r"\b(?:i|we|a human|humans|most people|people)(?:'d|'ll|'m| am| would| will| must| should"
    r"| have to)? (?:(?!the)\w{1,10} ){0,2}(?:say|answer|go with|going with|go for|settle on|respond|conclude|vote"
    r"|choose|pick|select|opt for|label it|classify it as|lean)"
    r"(?: with| that| for| towards?| it is| it's| this is)*:?",
    _FLAGS,
)
SO = re.compile(
    r"\bto answer (?:your|the|this) question[,:]"
    rf"|(?:^|(?<=[.!?;\n]) ?|[,;–—] ?(?:and )?){CONCLUDING}[,:]?(?: it is| it's| it would be)?(?= )"
    r"|\b(?:it|that)(?: i|')s(?= an? )",
    _FLAGS,
)
IT_IS = anycase(
    r"\b(?:it|that)(?:(?: i|')s|(?: would|'d) be)(?= (?:yes|no)\b)|,(?: then)?(?= (?:yes|no)[.!\"')\s]{0,3}\Z)"
)
STATED = (IS, WOULD, SO, IT_IS)
_CONCLUDES = anycase(
    r"\b(?:so|thus|therefore|hence|consequently|accordingly|overall|ultimately|finally|final|conclusion|conclude|"
    r"in short|in summary|to sum up|all in all|as a result)\b"
)
_SENTENCE_END = re.compile(r"[.!?;\n]")
_CLAUSE_END = anycase(
    r"[,:()–—\"]|\b(?:but|so|thus|therefore|hence|because|however|conclude|overall|ultimately|finally)\b"
)
_DOUBTED = anycase(
    r"\b(?:not|never|neither|nor|whether|some|many|few|others?|might|may|could|cannot|unlikely|rather than|"
    r"instead of|doubt)\b|n't\b|\b(?:one|you|they|anyone|someone) (?:would|will|can|think)|(?<!most )\bpeople\b"
)
_CONDITIONAL = anycase(r"\b(?:if|unless|suppose|supposing|assuming|provided)\b")
_OPEN = anycase(r"\b(?:whether|if)\b")
_DENIED = anycase(
    r"(?:\bnot|n't|\bnever|\bunlikely to|\brather than|\binstead of|\bneither|\bnor|\bwithout) (?:\w{1,15} ){0,2}$"
    r"|(?:\bnot|n't) (?:think|believe|expect|suppose)\b[^.;\n]{0,60}$"
)
_WINDOW = 240
"""Characters after a marker within which its answer begins and ends."""

_MOST = 200
"""Most statements of one form that are examined."""


def stands(text: str, at: int, until: int, doubts: bool) -> int:
    """Return the weight of the statement from `at` to its value at `until`; 0 if it is denied or left open. With
    `doubts`, also 0 if it is doubted, ascribed to others or conditional.
    """
    sentence = _SENTENCE_END.split(text[max(0, at - 200) : at])[-1]
    clause = "" if text[at] in ",;–—" else _CLAUSE_END.split(sentence)[-1]
    statement = text[at:until] + " "
    if _DENIED.search(clause) or _DENIED.search(statement) or _OPEN.search(clause):
        return 0
    firm = bool(_CONCLUDES.search(sentence + statement))
    if doubts and (_DOUBTED.search(clause) or (not firm and _CONDITIONAL.search(sentence))):
        return 0
    return FIRM if firm else LOOSE


_IN_BRACKETS = re.compile(r"^[^()\n.:]{1,40}\(([^()\n]{1,40})\)\W{0,4}$", re.MULTILINE)
"""A short line that ends in brackets, for instance in another language: "Oui (yes)"."""
_ABOVE_REASONS = re.compile(r"^(.{1,60})\n(?=\W{0,4}(?:justification|explanation|reason)\b)", re.I | re.MULTILINE)
_ITEM = anycase(r"\W{0,4}(?:[a-z]|\d)[).]")


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
    listed = _ITEM.match(last) and _ITEM.match(above[above.rfind("\n") + 1 :])
    ends = [] if listed else islice(re.finditer(r"\A|[.!?:] |(?:→|[-=]>) ?", last), _MOST)
    for at in {end.end() for end in ends}:
        if begins := alone(last[at:], first):
            yield Statement(begins.value, len(text), FIRM)
    for match in (match for form in (_IN_BRACKETS, _ABOVE_REASONS) for match in islice(form.finditer(text), _MOST)):
        if begins := alone(match[1], first):
            yield Statement(begins.value, match.start(1), FIRM)
    for marker in (LABEL, *markers):
        for match in islice(marker.finditer(text), _MOST):
            begins = first(text[match.end() : match.end() + _WINDOW])
            if begins is None or passes(text, match.start(), match.end()):
                continue
            weight = FIRM if marker is LABEL else stands(text, match.start(), match.end(), doubts)
            if weight:
                yield Statement(begins.value, match.start(), FINAL if match.groupdict().get("final") else weight)


_QUESTION = re.compile(r"\A[^.!?\n]{2,300}\?[\"')\]]{0,2}(?=\s)")


def beyond_question(text: str) -> str:
    """Remove the question that `text` repeats before answering it ("Does it follow? Yes."), if there is one."""
    question = _QUESTION.match(text)
    return text[question.end() :].lstrip() if question else text


def _without_conclusion(line: str) -> str:
    return re.sub(rf"\A[\W_]{{0,4}}{CONCLUDING}[,:]? ?", "", line, flags=re.IGNORECASE)


def alone(line: str, first: First) -> Begins | None:
    """Return the answer of a line that contains nothing else ("So, no."); None otherwise."""
    line = _without_conclusion(line)
    begins = first(line)
    return begins if begins and not re.search(r"\w", _THEN.sub("", line[begins.end :])) else None


_THEN = anycase(
    r"\A\W{0,4}(?:it is|then|again|after all|overall|on balance|in the end|i(?:'d| would) (?:say|guess)|i think"
    r"|in my view)\b"
)
"""What may follow an answer that is alone on its line."""


_INTERJECTED = (
    r"(?:(?:sure|certainly|of course|okay|ok|alright|great question|good question|interesting question|well|hmm)"
    r"[!.,:…-]{1,3}\s){0,2}"
)


def begins_with(values: Mapping[str, str], alone: Mapping[str, str] | None = None, after: str = AFTER) -> First:
    """Return a parser of texts that begin with one of `values` (lower case) or consist only of one of `alone`."""
    names = "|".join(re.escape(name) for name in sorted(values, key=len, reverse=True))
    pattern = anycase(
        rf"[\W_]{{0,6}}{_INTERJECTED}[\W_]{{0,4}}{ADVERBS}{OPENING}(?P<v>{names})\b(?!\.?"
        rf" ?\d)(?:[\W_]{{1,3}}(?P=v)\b){{0,20}}{after}"
    )
    few = "|".join(re.escape(name) for name in alone or {})
    only = anycase(rf"[\W_]{{0,6}}(?P<v>{few})[^\w\n]{{0,6}}(?=\n|\Z)") if alone else None

    def first(text: str) -> Begins | None:
        if match := pattern.match(text):
            return Begins(values[match["v"].lower()], match.end())
        match = only.match(text) if only else None
        return Begins((alone or {})[match["v"].lower()], match.end("v")) if match else None

    return first
