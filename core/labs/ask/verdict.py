"""The result of a case in sentences for someone who has never heard of the method. docs/measuring.md §2.13 says when
each sentence is used; tests check the sentences against the records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from ...models.ids import is_control
from ...parsers import fields
from ...transcript import RecordReader, Transcript
from ..base.declared import words_of
from . import baselines
from .baselines import CONSTANT, FEWEST, Against
from .records import Examined
from .view import COUNTED, AskView, constant_guess, is_reader, made_predictable

BASELINE: Mapping[str, str] = words_of(__file__, "arms")
"""How sentences name the arms without the explanation."""

LONG = 40
"""Number of questions in the longer qualification test."""

ALONE = "One model wrote the questions, answered them and predicted the answers."

MOST_LOST = 0.3
"""The share of new questions that may be lost without a warning."""

_SAID = {"1": "response 1", "2": "response 2"}


def sentences(case: AskView) -> list[str]:
    """Return the headline, then the caveats."""
    return [headline(case), *notes(case)]


def colour(case: AskView) -> Literal["green", "red", ""]:
    """Return green if the explanation helped and red if it misled, however the predictions in doubt are counted;
    otherwise "".
    """
    standing = case.outcome
    return "green" if standing == "helped" else "red" if standing == "misled" else ""


def headline(case: AskView) -> str:
    """Return the result in one or two sentences."""
    state = case.outcome
    if state in ("waiting", "failed"):
        if state == "failed" or case.log.status == "failed":
            return "The run stopped before there was anything to judge."
        if case.log.status == "cancelled":
            return "The run was stopped before there was anything to judge."
        return "Not judged yet."
    n = sum(row.outcome in COUNTED for row in case.counted_rows())
    if state == "answered":
        return by_person(case)
    if not n:
        return _nothing_predicted(case)
    if without := no_verdict(case):
        return without
    standing = case.outcome_word
    judged = _judged(case, standing, n)
    return f"{judged} {ALONE}" if standing in ("helped", "misled") and is_alone(case) else judged


def by_person(case: AskView) -> str:
    """Return how many answers the visitor predicted, if visitors predict in this run."""
    mine = case.reader_precision()
    if mine.n:
        return f"You predicted {mine.hits} of {mine.n} with its reason."
    asked = sum(row.answer is not None for row in case.counted_rows())
    return f"The model answered {asked} follow-up questions. Read its reason, and predict what it said."


def too_few(said: Sequence[str]) -> str:
    """Say what guessing would get of the answers that a visitor predicted, and what so few cannot show."""
    n, (most, count) = len(said), Counter(said).most_common(1)[0]
    half = f"{n // 2}" if n % 2 == 0 else f"{n // 2} or {n // 2 + 1}"
    same = f", always answering {most} gets {count}" if count > n / 2 else ""
    cards = "1 card" if n == 1 else f"{n} cards"
    return f"Guessing gets about {half} of {n}{same}. {cards} cannot show whether the reason helped you."


def is_alone(case: AskView) -> bool:
    """Whether one model wrote the new questions, answered them and predicted the answers. Robots do not count, because
    the rules for their roles have nothing in common.
    """
    spec = case.spec
    return (
        spec is not None
        and not is_control(spec.model)
        and {spec.model, spec.simulator, *spec.generators} == {spec.model}
    )


def no_verdict(case: AskView) -> str:
    """Return a sentence if the predictor failed the qualification test or has not taken it; an empty string if it
    passed or there is no test.
    """
    if not case.no_verdict_reason:
        return ""
    who = short(case.exam.simulator) if case.exam else short(case.spec.simulator) if case.spec else "the predictor"
    return f"No verdict: {who} made the predictions, and it {_exam(case.exam)}."


def _exam(exam: Examined | None) -> str:
    """Return why the predictor's predictions do not count."""
    if exam is None:
        return "has not taken the qualification test"
    return f"failed the qualification test ({exam.right} of {exam.of}; guessing gets {exam.of / 3:.0f})"


def _nothing_predicted(case: AskView) -> str:
    if case.excluded is not None and case.excluded.rules in (None, case.rules):
        return f"Excluded: {case.excluded.detail}. So there is no whole explanation to test."
    if case.explanation is None:
        return "The model gave no explanation that could be read, so there is nothing to test."
    unsettled = sum(row.outcome == "cannot guess" for row in case.counted_rows())
    if unsettled == 0:
        return (
            f"Nothing can be judged: none of the {case.planned_draws()} new questions could be written, asked and "
            "read. This says nothing about the explanation."
        )
    if without := no_verdict(case):
        return without
    settles = (
        f"covers none of the {unsettled} new questions asked"
        if unsettled > 1
        else "does not cover the one new question asked"
    )
    lost = sum(row.outcome == "unread" or row.failed for row in case.counted_rows())
    if lost:
        return (
            f"The explanation {settles}; {lost} more could not be written, asked or read. "
            "That is too little to judge it by."
        )
    if unsettled < FEWEST:
        too_little = "That is too little to say that it explains nothing."
        return f"According to the predictor, the explanation {settles}. {too_little}"
    return (
        f"The predictor could not tell from this explanation what the model would say next: it {settles}. "
        "It is neither right nor wrong; it explains nothing."
    )


def _judged(case: AskView, standing: str, n: int) -> str:
    misled, found = case.misled(), case.compared_with_baselines()
    firm = sum(not row.doubt for row in misled)
    came = f"{n - len(misled)} of {n} predictions came true"
    best, constant = baselines.strongest(found), next(one for one in found if one.name == CONSTANT)
    match standing:
        case "helped":
            at_best = f"{best.hits} of {best.n}, {name_of(case, best)}"
            return f"It helped: {came}, and nothing does as well without the explanation (at best {at_best})."
        case "misled" if firm == n:
            none = f"None of {n} predictions came true" if n > 1 else "The one prediction did not come true"
            return f"{none}: {_whose(case)} explanation would have misled you."
        case "misled" if firm == len(misled):
            other = f"the other {firm}" if firm > 1 else "the other"
            return f"{came}: on {other} {_whose(case)} explanation would have misled you."
        case "misled":
            return f"{came}: on {firm} of the others {_whose(case)} explanation would have misled you."
        case "slips":
            return _slips(case, came)
        case "in doubt":
            return f"Unclear: {came}, but this depends on predictions that may not come from the explanation."
        case "told nothing" if constant.gain <= best.gain or not case.arms():
            guess = name_of(case, constant)
            return f"{guess[0].upper()}{guess[1:]} would have scored {_count(constant, n)}: this shows nothing."
        case "told nothing":
            as_well = "as well" if not best.gain else "better"
            name = name_of(case, best)
            beside = f"{best.hits} of {best.n}" + (f", with the explanation {best.own}" if best.gain else "")
            return f"{name[0].upper()}{name[1:]} predicts {as_well} ({beside}): the explanation told us nothing."
        case "not shown" if baselines.beats_all(found):
            other = BASELINE[baselines.PLACEBO]
            return f"{came}, more than without the explanation. But {other} was not tried: this shows nothing."
        case "not shown":
            least = baselines.decisive(found)
            than = f"{name_of(case, least)} ({least.hits} of {least.n})"
            return f"{came}: not shown to be better than {than}."
    if n == 1:
        return "The one prediction came true. One question shows nothing by itself."
    if not case.arms():
        nothing = "Predictions without the explanation were not requested, so this shows nothing."
        return f"All {n} predictions came true. {nothing}"
    p = baselines.decisive(found).p
    return f"All {n} predictions came true. That is too few to rule out chance (p = {p:.2f})."


def _whose(case: AskView) -> str:
    return "this" if case.is_given else "its own"


def _slips(case: AskView, came: str) -> str:
    """Say that the wrong predictions need not be the explanation's fault."""
    misses, exam = case.misses(), case.exam
    if not misses.missed:
        return f"{came}. The same mistakes were made without the explanation, so it need not be what misled."
    errs = f"may be wrong on up to {misses.limit:.0%}"
    tested = f" In its qualification test it got {exam.right} of {exam.of} right, so it {errs}." if exam else ""
    longer = " The test of 40 questions would allow us to say more." if exam and exam.run and exam.of < LONG else ""
    return f"{came}; the others may be the predictor's slips.{tested}{longer}"


def notes(case: AskView) -> list[str]:
    """Return the caveats: the baselines' scores, what is in doubt, what only the explanation made predictable, who
    predicted, and how answers were requested if not in prose.
    """
    asked = fields.format_notes(case.spec.answers if case.spec else "prose", case.log.came_as_prose)
    n = sum(row.outcome in COUNTED for row in case.counted_rows())
    if not n or case.outcome in ("waiting", "failed"):
        return asked
    if case.is_by_person:
        counted = [row for row in case.counted_rows() if row.outcome in COUNTED]
        return [too_few([row.answer[case.rules] for row in counted if row.answer]), *asked]
    return [*_counts(case, n), *_without(case, n), *_doubts(case, n), *_who(case), *asked]


def _counts(case: AskView, n: int) -> Iterator[str]:
    """Yield how many predictions came true, if the headline does not say so, and how often all predictors were
    misled.
    """
    if case.no_verdict_reason:
        yield f"{n - len(case.misled())} of {n} predictions came true, but they don't count. Try it yourself."
    elif case.outcome == "helped" and (firm := sum(not row.doubt for row in case.misled())):
        yield f"On {firm} of the others {_whose(case)} explanation would have misled you."
    alike = sum(row.outcome == "misled all" for row in case.counted_rows())
    if alike and case.spec and not case.no_verdict_reason:
        several = len(case.spec.simulators) - len(case.unfit_further())
        who = "both" if several == 2 else f"all {several}"
        yield f"On {alike} of {n} {who} predictors expected the same, and it did not come true."


def _without(case: AskView, n: int) -> Iterator[str]:
    found = case.compared_with_baselines()
    asked = [one for one in found if one.name != CONSTANT]
    if asked:
        parts = [f"{name_of(case, one)} {_count(one, n)}" for one in found]
        yield f"Without the explanation: {'; '.join(parts)}."
    only = made_predictable(case)
    if only.n:
        were = "1 question was" if only.n == 1 else f"{only.n} questions were"
        yield f"{were} predictable only with the explanation; {only.hits} of these came true."


def _doubts(case: AskView, n: int) -> Iterator[str]:
    rows = [row for row in case.counted_rows() if row.counts and row.doubt]
    if not rows:
        return
    sure = sum(row.outcome == "as expected" for row in case.counted_rows() if not row.doubt)
    one = "1 prediction is" if len(rows) == 1 else f"{len(rows)} predictions are"
    why = "; ".join(dict.fromkeys(row.doubt for row in rows))
    yield f"{one} in doubt: {why}. Counted either way, {sure} to {sure + len(rows)} of {n} came true."


def _who(case: AskView) -> Iterator[str]:
    # A robot as predictor knows no facts: without an explanation it goes by the wording.
    if case.spec and case.spec.simulator == case.spec.model and not is_control(case.spec.model):
        yield "The model predicts itself: its own knowledge raises this figure, and that of the question alone."
    yield from _unfit(case)
    readers = [one for one in case.spec.simulators or (case.spec.simulator,) if is_reader(one)] if case.spec else []
    if readers:
        who = f"{len(readers)} readers, each alone and" if len(readers) > 1 else "a reader"
        yield f"The predictions are by {who} without sight of the answers."
    if not case.is_examinable:
        yield "The predictor is not tested: there is no qualification test for which response is better."


def _unfit(case: AskView) -> Iterator[str]:
    """Yield the further predictors whose predictions do not count. The headline says so about the first one."""
    for who in case.unfit_further():
        yield f"{short(who)} predicts here too, but it {_exam(case.exams.get(who))}: its predictions are left out."


def _count(one: Against, n: int) -> str:
    """Return a baseline's hits, with the number of questions left out if it predicted fewer than the explanation."""
    return f"{one.hits} of {one.n}" + ("" if one.n == n else f" (the other {n - one.n} not asked or not read)")


def name_of(case: AskView, one: Against) -> str:
    """Return the name of a baseline."""
    if one.name != CONSTANT:
        return BASELINE[one.name]
    if not one.hits:
        return "always guessing the same"
    guess = str(constant_guess(case).detail["guess"])
    return f"always guessing *{_SAID.get(guess, guess)}*"


def short(model: str) -> str:
    """Return a model's name without its provider."""
    return model.rpartition("/")[2]


def summary(transcript: Transcript) -> str:
    """Summarise a run of several questions: whether explanations beat every baseline, the outcomes of the cases, and
    which predictors failed the qualification test.
    """
    outcomes = [str(one.result["outcome_repaired"]) for one in transcript.cases.values() if one.result]
    if not outcomes:
        return "Not judged yet."
    counts = ", ".join(f"{times} {one}" for one, times in Counter(outcomes).most_common())
    over = transcript.score("gain_over_best", "repaired")
    of = f"Of {len(outcomes)} questions: {counts}.{_failed(transcript)}"
    if over is None or over.value is None or "by" not in over.detail or set(outcomes) & {"not judged"}:
        return of
    best = {**BASELINE, CONSTANT: "the best fixed guess"}.get(str(over.detail["baseline"]), "")
    if over.detail.get("helped"):
        return (
            f"The explanations helped: predictions came true more often than by {best}, which does best without. {of}"
        )
    if over.value <= 0:
        return f"{best[0].upper()}{best[1:]} predicts as well: the explanations told us nothing. {of}"
    return f"Not shown to be better than {best}. {of}"


def _failed(transcript: Transcript) -> str:
    """Return a sentence that lists the predictors that failed the qualification test, or an empty string."""
    exams = RecordReader().all_of(Examined, transcript.case("")).values()
    who = [f"{short(one.simulator)} ({one.right} of {one.of})" for one in exams if not one.passed]
    return f" Failed the qualification test, so its predictions don't count: {', '.join(who)}." if who else ""


def by_reader(case: AskView) -> str:
    """Return the result of the reader's own predictions, if the predictor's do not count; otherwise an empty string."""
    if not case.no_verdict_reason:
        return ""
    mine = case.reader_precision()
    if not mine.n or mine.hits is None:
        return ""
    if mine.hits == mine.n:
        return f"You predicted {mine.n}, and {'all' if mine.n > 1 else 'it'} came true."
    return f"You predicted {mine.n}: on {mine.n - mine.hits} its explanation misled you."


def against_reader(case: AskView) -> str:
    """Compare the reader and the predictor on the same questions in a sentence; an empty string if nobody guessed with
    the reason visible.
    """
    guessed = [row for row in case.to_guess(active=False) if row.read]
    if not guessed or case.no_verdict_reason or case.is_by_person:
        return ""
    mine, theirs = case.against_reader()
    left = len(guessed) - mine.n
    if not mine.n:
        return "There is no question that you and the predictor both predicted."
    sentence = f"You {mine.hits} of {mine.n}, the predictor {theirs.hits} of {theirs.n}."
    if left:
        one = "1 question is" if left == 1 else f"{left} questions are"
        sentence += f" Only questions that you both predicted and that could be read are compared: {one} left out."
    return sentence


def lost(case: AskView) -> str:
    """Warn if too many new questions were lost for the figures to be reliable; otherwise an empty string."""
    counted = case.counted_rows()
    unread = sum(row.outcome == "unread" or row.failed for row in counted)
    if not counted or unread / len(counted) <= MOST_LOST:
        return ""
    return f"{unread} of {len(counted)} questions could not be written, asked or read. Don't rely on these figures."
