"""What came of a case, in words for someone who has never heard of the method.

Each sentence stands beside what must hold for it: of those that hold the first is said. The code and the words have a
verdict each, for code can be right where the words are not, and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from core.events import Rules
from core.labs.find.evaluate import SUCCESS, ZERO
from core.labs.find.facts import CHANCE, Facts
from core.labs.find.findings import Findings
from core.reading import fields
from core.statistics import LEVEL, MARGIN

Outcome = Literal[
    "found",
    "within the noise",
    "close",
    "missed",
    "not answered",
    "not runnable here",
    "not tested",
    "failed",
    "waiting",
]
"""found: right wherever it was tested; within the noise: as good as can be had; close: right in part; not answered:
there is no conclusion; not runnable here: the code wants what Python has and the sandbox has not; not tested: it could
not be held against the truth.
"""


class Judgement(NamedTuple):
    """What came of a case: one word, and a sentence or two for someone who has never heard of the method."""

    outcome: Outcome
    sentence: str


class Claim(NamedTuple):
    """A sentence with its outcome, and what must hold for it to be said."""

    outcome: Outcome
    holds: Callable[[Facts], bool]
    words: Callable[[Facts], str]


def judge(case: Findings, rules: Rules = "repaired") -> Judgement:
    """Word and sentence rest on the same conditions, so that a list and the case itself never disagree."""
    return judged(Facts(case, rules))


def judged(facts: Facts) -> Judgement:
    """The same, from facts that are there already."""
    case, rules = facts.case, facts.rules
    claims: tuple[Claim, ...] = UNFINISHED
    if case.spec is not None and case.score(case.headline, rules) is not None:
        by_category = {"numeric": NUMERIC, "strings": STRINGS}
        claims = (*UNREAD, *NO_CONCLUSION, *NOT_RUN, *by_category.get(case.spec.category, MODULES))
    claim = next(claim for claim in claims if claim.holds(facts))
    return Judgement(claim.outcome, f"{claim.words(facts)}{_left_out(facts)}")


def verdict(case: Findings, rules: Rules = "repaired") -> str:
    """What came out, in a sentence or two for someone who has never heard of the method."""
    return judge(case, rules).sentence


def solved(facts: Facts) -> bool:
    """Whether the leading figure is all that can be had: then what the checks do not find may well not be there."""
    return judged(facts).outcome in ("found", "within the noise")


# Not judged

UNFINISHED = (
    Claim(
        "failed",
        lambda f: f.case.log.status == "failed",
        lambda f: "The run stopped before there was anything to judge.",
    ),
    Claim("failed", lambda f: bool(f.lost), lambda f: f"There is nothing to judge: {f.lost}"),
    Claim(
        "waiting",
        lambda f: f.case.log.status == "cancelled",
        lambda f: "The run was stopped before there was anything to judge.",
    ),
    Claim("waiting", lambda f: True, lambda f: "Not judged yet."),
)


def _no_conclusion(f: Facts) -> str:
    sentence = (
        f"{f.who} gave no conclusion in the form that was asked for, so there is nothing to hold against the truth."
    )
    return f"{sentence} Its last message was cut off: it had used up its tokens." if f.cut_off else sentence


NO_CONCLUSION = (Claim("not answered", lambda f: not f.concluded, _no_conclusion),)


def _wanted(f: Facts) -> str:
    number, of = f.not_run
    where = f"at {number} of {of} test points" if f.is_numeric else f"on {number} of {of} test texts"
    return (
        f"{f.whose} code could not be run here {where}: it wants what Python has and our sandbox has not "
        f"({f.lacking}). Whether it is right is not known."
    )


UNREAD = (
    Claim(
        "not tested",
        lambda f: f.rules == "paper" and f.case.spec is not None and f.case.spec.answers == "schema",
        lambda f: f"By paper rules nothing can be tested: {fields.NO_PAPER_FIGURE}.",
    ),
)

NOT_RUN = (Claim("not runnable here", lambda f: bool(f.lacking), _wanted),)


def _left_out(f: Facts) -> str:
    """Of test texts on which the code could not be run, where others count."""
    number, of = f.not_run
    if f.is_numeric or f.lacking or not number or not f.is_scored:
        return ""
    return f" On {number} of {of} test texts it could not be run here; they do not count."


# Numbers


def _found(f: Facts) -> str:
    where = " where it has any" if f.agreement.of < f.test_points else ""
    points = f"all {f.agreement.of} test points{where}"
    return f"{f.who} found the function: the code gives its value at {points}, {f.agreement.within}."


def _as_good(f: Facts) -> str:
    more = f" No code could get below the limit of {SUCCESS:g}." if (f.floor or 0) >= SUCCESS else ""
    return (
        f"{f.whose} code is as good as the noise allows: the noise alone makes an error of {f.floor:.2g}, and the code "
        f"adds {f.excess:.1g} to it.{more}"
    )


def _error(f: Facts) -> str:
    if f.excess is None:
        return f"the code's error is {_share(f.error)}"
    return f"beyond the noise, the code's error is {_share(f.excess)}"


def _close(f: Facts) -> str:
    agreed, of, _ = f.agreement
    more = "" if f.excess is not None else f", and it gives the function's value at {agreed} of {of} test points"
    return f"{f.who} came close: {_error(f)}{more}."


def _missed(f: Facts) -> str:
    beyond = (f.floor or 0) >= SUCCESS
    more = f" The noise alone is larger than the limit of {SUCCESS:g}: nobody could get below it." if beyond else ""
    return f"{f.who} did not find the function: {_error(f)}.{more}"


def _right_elsewhere(f: Facts) -> str:
    were = "were" if f.who == "You" else "was"
    assert f.corrupted is not None
    return f"{f.who} {were} right everywhere but {interval(*f.corrupted)}, where the values are replaced."


def _cannot_be_scored(f: Facts) -> bool:
    """Whether the error is undefined for the function's sake."""
    of_the_function = f.rules == "paper" and f.reason("nmse").startswith("the function is")
    return f.error is None and (f.value("nmse_success") is None or of_the_function)


NUMERIC = (
    Claim("found", lambda f: f.error is not None and f.agreement.is_whole, _found),
    Claim(
        "not tested",
        lambda f: f.error is not None and f.is_drowned,
        lambda f: (
            f"The function cannot be told from its noise: zero everywhere would be as good as the noise allows. "
            f"{f.whose} code adds {f.excess:.1g} to the noise's own error of {f.floor:.2g}."
        ),
    ),
    Claim("within the noise", lambda f: f.error is not None and f.as_good_as_the_noise_allows, _as_good),
    Claim("close", lambda f: f.error is not None and f.off < SUCCESS and f.is_right_elsewhere, _right_elsewhere),
    Claim("close", lambda f: f.error is not None and f.off < SUCCESS, _close),
    Claim("missed", lambda f: f.error is not None, _missed),
    Claim(
        "not tested",
        _cannot_be_scored,
        lambda f: f"This function cannot be scored by a relative error: {f.reason('nmse')}.",
    ),
    Claim(
        "missed",
        lambda f: f.reason("nmse").startswith(ZERO),
        lambda f: (
            f"{f.who} did not find the function: it is zero on all test points, and the code gives something else."
        ),
    ),
    Claim(
        "missed",
        lambda f: 0 < f.without_number < len(f.points),
        lambda f: (
            f"{f.who} did not find the function: the code gives no number on {f.without_number} of "
            f"{len(f.points)} test points."
        ),
    ),
    Claim(
        "missed",
        lambda f: bool(f.points) and f.without_number == 0,
        lambda f: f"{f.who} did not find the function: the code's error is too large to be computed.",
    ),
    Claim(
        "not tested",
        lambda f: True,
        lambda f: (
            f"{f.who} gave no code that can be run on the test points, so the description could not be tested by it."
        ),
    ),
)


def _share(error: float | None) -> str:
    """A squared relative error as the relative error itself, in words."""
    share = (error or 0.0) ** 0.5
    if share >= 10:
        return f"{share:.3g} times the function's size"
    if share >= 0.1:
        return f"{share:.0%} of the function's size"
    return f"{share:.1%} of the function's size" if share >= 0.001 else "less than 0.1% of the function's size"


def interval(low: float | None, high: float | None) -> str:
    """For instance "between 8 and 18"; None is an open end."""
    if low is None:
        return f"below {high:g}" if high is not None else "everywhere"
    return f"above {low:g}" if high is None else f"between {low:g} and {high:g}"


# Texts


def _drawn_again(f: Facts) -> str:
    return (
        f"The function draws at random: drawn again, it agrees with itself on {f.ceiling:.0%} of the test texts. "
        f"{f.whose} code is right on {f.passed:.0%}{_control(f)}."
    )


def _control(f: Facts) -> str:
    return f" (giving every text back unchanged: on {f.unchanged})" if f.unchanged else ""


def _beats_doing_nothing(f: Facts) -> bool:
    """Whether what is right is more than giving every text back would be, by its interval."""
    return f.reach[0] > f.unchanged / f.counted


def _where_run(f: Facts) -> str:
    return " on which it could be run" if f.not_run[0] else ""


def _is_random(f: Facts) -> bool:
    return f.ceiling is not None and f.ceiling < 1


def _part(f: Facts) -> str:
    return f"{f.who} found part of it: the code is right on {f.hits} of {f.counted} test texts{_control(f)}."


STRINGS = (
    Claim(
        "not tested",
        lambda f: not f.is_scored,
        lambda f: f"There was nothing to test the code on: {f.reason('exact_match')}.",
    ),
    Claim(
        "not tested",
        lambda f: f.unchanged == f.counted,
        lambda f: (
            f"The function changes none of the {f.counted} test texts{_where_run(f)}, so they cannot tell it from "
            f"doing nothing. {f.whose} code is right on {f.hits}."
        ),
    ),
    Claim(
        "found",
        lambda f: f.hits == f.counted,
        lambda f: (
            f"{f.who} found the function: the code gives its output on all {f.counted} test texts{_where_run(f)}."
        ),
    ),
    Claim("missed", lambda f: _is_random(f) and f.hits == 0, _drawn_again),
    Claim(
        "found",
        lambda f: _is_random(f) and f.ceiling is not None and f.passed >= f.ceiling and _beats_doing_nothing(f),
        _drawn_again,
    ),
    Claim("close", lambda f: _is_random(f) and f.hits > f.unchanged, _drawn_again),
    Claim("missed", _is_random, _drawn_again),
    Claim(
        "missed",
        lambda f: f.hits == 0,
        lambda f: f"{f.who} did not find the function: the code is wrong on all {f.counted} test texts{_where_run(f)}.",
    ),
    Claim(
        "missed",
        lambda f: f.hits <= f.unchanged,
        lambda f: (
            f"{f.who} did not find the function: the code is right on {f.hits} of {f.counted} test texts, and "
            f"giving every text back unchanged is right on {f.unchanged}."
        ),
    ),
    Claim("close", lambda f: f.hits > f.unchanged, _part),
)


# Words and facts


def _picked(f: Facts) -> str:
    picked = f"From the description, the evaluator picked the function's own example in {f.hits} of {f.counted} tests"
    return picked if f.ceiling is None else f"{picked} (from the true description in {f.ceiling:.0%})"


def _reach(f: Facts) -> str:
    low, high = f.reach
    again = f" for {f.distinct} different examples" if f.distinct < f.counted else ""
    return f"95% interval{again} {low:.2f} to {high:.2f}"


MODULES = (
    Claim(
        "not tested",
        lambda f: not f.is_scored,
        lambda f: f"The description was not tested: {f.reason('unit_test')}.",
    ),
    Claim(
        "not tested",
        lambda f: f.may_be_guessed and f.truth_may_be_guessed,
        lambda f: (
            f"{_picked(f)}. Neither is distinguishable from guessing, which gives one third ({_reach(f)}): this "
            "evaluator cannot tell."
        ),
    ),
    Claim(
        "missed",
        lambda f: f.may_be_guessed,
        lambda f: f"{_picked(f)}. That is not distinguishable from guessing, which gives one third ({_reach(f)}).",
    ),
    Claim(
        "missed",
        lambda f: f.passed < CHANCE,
        lambda f: f"{_picked(f)}. That is worse than guessing, which gives one third ({_reach(f)}).",
    ),
    Claim(
        "not tested",
        lambda f: not f.beats_controls() and not f.beats_controls("truth"),
        lambda f: (
            f"{_picked(f)}. A description that tells nothing gets {f.control:.0%}, and not even the true one is "
            "shown to beat that: this evaluator cannot tell."
        ),
    ),
    Claim(
        "missed",
        lambda f: not f.beats_controls(),
        lambda f: (
            f"{_picked(f)}. A description that tells nothing gets {f.control:.0%}, and this one is not shown to tell "
            "more."
        ),
    ),
    Claim(
        "found",
        lambda f: f.tells_as_much_as_the_truth,
        lambda f: (
            f"{_picked(f)}. On these tests it tells as much as the true description, to within {MARGIN:.0%} of them "
            f"(one-sided, {LEVEL:.0%}; {_reach(f)})."
        ),
    ),
    Claim(
        "close",
        lambda f: f.passed > CHANCE,
        lambda f: (
            f"{_picked(f)}. That is more than guessing, which gives one third ({_reach(f)})"
            f"{'' if f.ceiling is None else '; not shown to tell as much as the true description'}."
        ),
    ),
)


# The words of who interpreted a function of numbers or texts


class Saying(NamedTuple):
    """A sentence about the description, and what must hold for it to be said."""

    holds: Callable[[Facts], bool]
    words: Callable[[Facts], str]


def of_words(case: Findings) -> str:
    """The verdict on the description, by its parts; empty where the description is what `verdict` is about, or where
    there is nothing yet.
    """
    facts = Facts(case)
    if case.truth is None or not facts.concluded or case.truth.category not in ("numeric", "strings"):
        return ""
    return next(saying.words(facts) for saying in WORDS if saying.holds(facts))


def _listed(parts: tuple[str, ...]) -> str:
    return f": {'; '.join(parts)}" if parts else ""


def _not_there(f: Facts) -> str:
    """What is named and is no part of the function."""
    return f" Named, and not there{_listed(f.parts.wrong)}." if f.parts.wrong else ""


WORDS = (
    Saying(lambda f: not f.described, lambda f: f"{f.whose} words: there are none, only code."),
    Saying(
        lambda f: f.parts.of == 0,
        lambda f: f"{f.whose} words: our checks cannot say whether they are right. Compare them with the function.",
    ),
    Saying(
        lambda f: f.parts.named == f.parts.of,
        lambda f: (
            f"{f.whose} words name {'all ' if f.parts.of > 1 else ''}{f.parts.of} "
            f"part{'s' if f.parts.of > 1 else ''} of the function{_listed(f.parts.present)}.{_not_there(f)}"
        ),
    ),
    Saying(
        lambda f: f.is_you,
        lambda f: (
            f"Your words: our checks find {f.parts.named} of the {f.parts.of} parts of the function named in them"
            f"{_listed(f.parts.present)}. That may be our reading: compare them with the function.{_not_there(f)}"
        ),
    ),
    Saying(
        lambda f: f.parts.named == 0,
        lambda f: f"{f.whose} words name no part of the function. Left out{_listed(f.parts.absent)}.{_not_there(f)}",
    ),
    Saying(
        lambda f: 0 < f.parts.named < f.parts.of,
        lambda f: (
            f"{f.whose} words name {f.parts.named} of the {f.parts.of} parts of the function"
            f"{_listed(f.parts.present)}. Left out{_listed(f.parts.absent)}.{_not_there(f)}"
        ),
    ),
)
