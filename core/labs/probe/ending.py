"""The end of a black box's scene: the verdict with the bars that decide it, the verdict in words, and the true
function.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...parsers import fields
from ...scene import Bar, Mark, Part, Verdict
from ...text.display import count_noun, first_sentence
from ..base.declared import words_of
from . import fidelity
from .agreement import absolute_bound, agreement, agrees
from .case_facts import CaseFacts
from .records import TELL_NOTHING
from .remarks import headline, is_known_beforehand, list_remarks
from .trials import JUDGED
from .verdict import OUTCOMES, judge, of_words, solved
from .view import ProbeView

NOT_MEANT: tuple[str, ...] = words_of(__file__, "means_not")
"""What a verdict does not say."""

_RUNS = 2
"""The most places that are named at which code and function differ."""

_LONGEST = 80
"""The longest text, in characters, that is quoted in full."""


def verdict_of(view: ProbeView) -> Verdict | None:
    """Return the verdict; None while there is none. It comes with the run's result, when no further figure can
    follow.
    """
    outcome = view.outcome
    if outcome == "waiting" or not (view.log.of_type("result") or view.log.status):
        return None
    mark: Mark = "failed" if outcome == "failed" else OUTCOMES.get(outcome, "set aside")
    return Verdict(
        headline=Part(text=headline(view)),
        more=tuple(_more(view)),
        words=in_its_words(CaseFacts(view)),
        mark=mark,
        bars=tuple(bars(CaseFacts(view))),
        doubt=fidelity.sentences(view.fidelity)[-1] if view.fidelity and view.fidelity.contradicts else "",
        meaning=" ".join(NOT_MEANT),
    )


def differs(view: ProbeView) -> str:
    """Return the paper rules' verdict if it differs; an empty string if not."""
    if verdict_of(view) is None or view.by("paper").outcome == view.outcome:
        return ""
    sentence = view.by("paper").judgement.sentence
    return sentence if sentence.startswith("With the original parser") else f"With the original parser: {sentence}"


def remarks(view: ProbeView) -> list[str]:
    """Return what the interpretation missed, without what the headline already says. If there is nothing, one sentence
    says so.
    """
    if view.truth is None:
        return []
    if sentences := [one for one in list_remarks(view) if one not in headline(view)]:
        return sentences
    if view.value(view.headline) is None:
        return []
    return [
        "Nothing that our checks can see." if solved(CaseFacts(view)) else "Our checks cannot say: compare the two."
    ]


def missed_title(view: ProbeView) -> str:
    """Return the heading of the remarks."""
    return "What you missed" if CaseFacts(view).is_you else "What it missed"


def _more(view: ProbeView) -> Iterator[Part]:
    if words := of_words(view):
        yield Part(text=words)
    if view.truth is not None:
        yield Part(label="The function", text=view.truth.description)
        if view.truth.note:
            yield Part(text=view.truth.note)
    for place, remark in enumerate(remarks(view)):
        yield Part(label="" if place else missed_title(view), text=remark)
    for sentence in fields.format_notes(view.spec.answers if view.spec else "prose", view.log.came_as_prose):
        yield Part(text=sentence)


# The bars


def bars(facts: CaseFacts) -> Iterator[Bar]:
    """Yield the shares that decide: of test points, if no noise blurs them; of test texts; of unit tests."""
    case = facts.case
    if case.score(case.headline) is None or not facts.concluded or facts.lacking:
        return
    if facts.category == "numeric":
        yield from _of_points(facts)
    elif facts.is_scored and facts.headline_n:
        yield from _of_texts(facts) if facts.category == "strings" else _of_examples(facts)


def _of_points(facts: CaseFacts) -> Iterator[Bar]:
    """Yield the code's bar and, for comparison, that of zero everywhere, which is the unit of the code's error."""
    if facts.floor or not any(given is not None for _, _, given in facts.points):
        return
    agreed, of, _ = facts.agreement
    zero = agreement([y for _, y, _ in facts.points], [0.0] * len(facts.points)).agreed
    yield Bar(label=f"{facts.whose} code", hits=agreed, n=of, own=True)
    yield Bar(label="Zero everywhere", hits=zero, n=of, wins=zero >= agreed)


def _of_texts(facts: CaseFacts) -> Iterator[Bar]:
    yield Bar(label=f"{facts.whose} code", hits=facts.hits, n=facts.headline_n, own=True)
    wins = facts.unchanged >= facts.hits
    yield Bar(label="Returning every text unchanged", hits=facts.unchanged, n=facts.headline_n, wins=wins)


def _of_examples(facts: CaseFacts) -> Iterator[Bar]:
    """Yield the description's bar, with guessing (one in three), descriptions that tell nothing, and the true
    description as the upper limit.
    """
    tests = facts.case.units.values()
    yield Bar(label=f"{facts.whose} description", hits=facts.hits, n=facts.headline_n, own=True)
    yield Bar(label="Guessing", hits=1, n=3, wins=facts.may_be_guessed or 3 * facts.hits <= facts.headline_n)
    for about in (*TELL_NOTHING, "truth"):
        read = [test.repaired for test in tests if test.about == about and test.repaired is not None]
        if not read:
            continue
        hits, is_limit = sum(read), about == "truth"
        wins = not is_limit and (hits * facts.headline_n >= facts.hits * len(read) or not facts.beats(about))
        yield Bar(label=JUDGED[about], hits=hits, n=len(read), wins=wins, limit=is_limit)


# The verdict in words


def in_its_words(facts: CaseFacts) -> str:
    """Return what the interpreter said, and what the function did then; an empty string if no short and true sentence
    says it.
    """
    outcome = judge(facts.case).outcome
    if not facts.described or outcome in ("failed", "waiting", "within the noise") or facts.case.truth is None:
        return ""
    happened = {"numeric": _points, "strings": _texts}.get(facts.category, _examples)(facts, outcome == "found")
    before = "before it saw a single output" if is_known_beforehand(facts) else ""
    early = f"{facts.who} said so {before}." if before else ""
    if not (happened or early):
        return ""
    return " ".join(filter(None, (f"{facts.who} said: {_ended(first_sentence(facts.described))}", early, happened)))


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "…")) else f"{sentence}."


def _points(facts: CaseFacts, is_found: bool) -> str:
    """Return in which stretches of test points code and function differ; an empty string if noise hides that."""
    if facts.floor or not any(given is not None for _, _, given in facts.points) or facts.not_run[0]:
        return ""
    agreed, of, _ = facts.agreement
    whose = f"{facts.whose} code"
    if agreed == of:
        return f"{whose} gives the function's value at all {of} test points." if is_found else ""
    if not agreed:
        return f"The function gives something else at each of {count_noun(of, 'test point')}."
    runs = _runs(facts)
    if len(runs) > _RUNS:
        return f"At {of - agreed} of {of} test points {whose.lower()} differs from the function."
    places = " and ".join(f"at {low:g}" if low == high else f"from {low:g} to {high:g}" for low, high in runs)
    return f"{places[0].upper()}{places[1:]} {whose.lower()} differs from the function."


def _runs(facts: CaseFacts) -> list[tuple[float, float]]:
    """Return the first and last point of each run of neighbouring test points at which code and function differ."""
    truth = facts.case.truth
    assert truth is not None
    bound = absolute_bound(truth.y)
    runs: list[tuple[float, float]] = []
    was_apart = False
    for x, y, given in sorted(zip(truth.x, truth.y, facts.given, strict=False), key=lambda point: point[0]):
        is_apart = y is not None and not agrees(y, given, bound)
        if is_apart:
            runs = [*runs[:-1], (runs[-1][0], x)] if was_apart else [*runs, (x, x)]
        was_apart = is_apart
    return runs


def _texts(facts: CaseFacts, is_found: bool) -> str:
    if facts.not_run[0] or not facts.is_scored:
        return ""
    wrong = next((one for one in facts.tests if one.repaired is not None and one.repaired != one.truth), None)
    if wrong is None:
        same = f"{facts.whose} code gives what the function gives, on all {count_noun(facts.headline_n, 'test text')}."
        return same if is_found and facts.hits == facts.headline_n else ""
    given, code, true = (cut(text) for text in (wrong.input, wrong.repaired or "", wrong.truth))
    return f"For “{given}” {facts.whose.lower()} code gives “{code}”; the function gives “{true}”."


def cut(text: str) -> str:
    """Shorten a text for quoting in a sentence."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _examples(facts: CaseFacts, is_found: bool) -> str:
    if not facts.is_scored or not facts.headline_n:
        return ""
    given = f"Given {facts.whose.lower()} description"
    right = f"the function's own example in {facts.hits} of {count_noun(facts.headline_n, 'test')}"
    return f"{given}, the evaluator picked {right}; guessing gets one in three."
