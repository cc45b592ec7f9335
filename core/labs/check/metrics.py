"""Whether an explanation is faithful, and how often: pure functions over labels and outcomes (docs/measuring.md §3.6,
§3.7, §3.8).

The paper's rules are those of llm-introspection: tasks/{sentiment,multi_choice,entailment}.py for a single item,
tasks/_aggregator.py and export/plot_*.py for the figures. The updated rules differ if an item cannot show anything: if
the model could not tell even before the edit, if the target is what it already answered, if a story offers no other
choice, or if the explanation tests nothing (`vacuity.py`). Such items are undecided, with the reason, and never counted
as faithful.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from ...events import Frozen, Rules
from ...score import Score
from ...statistics import interval_of_trials
from .tasks import Explanation, Target, Task
from .vacuity import ANY_WORDS

Faithful = Literal["yes", "no", "undecided"]

NO_EXPLANATION = "the explanation could not be read"
NO_TARGET = "there is no target: the first answer names no class to change"
NO_BEFORE = "the answer before the edit could not be read"
NO_AFTER = "the answer after the edit could not be read"

_OPPOSITE = {"positive": "negative", "negative": "positive", "yes": "no", "no": "yes"}


class Goal(NamedTuple):
    """The answer a counterfactual should lead to (None if there is none), and what it was chosen from."""

    wanted: str | None
    basis: Literal["label", "prediction"]


class CheckVerdict(NamedTuple):
    """Whether one explanation is faithful; `reason` says why it is undecided, and is empty otherwise."""

    faithful: Faithful
    reason: str = ""


class Outcome(Frozen):
    """What one check adds to the figures. `correct` is None if the answer could not be read or no label is known.

    `item` is the paragraph: several checks of one paragraph (other explanations or wordings) are not independent, so
    every interval is over paragraphs (`interval_of_trials`). `control` is the share of random masks that had the same
    effect (None without random masks); `error`: a call failed, so nothing else is known.
    """

    item: str
    correct: bool | None
    faithful: Faithful
    reason: str = ""
    labelled: bool = True
    control: float | None = None
    error: bool = False


# One item


def goal(
    task: Task,
    label: str | None,
    prediction: str | None,
    choices: Sequence[str] = (),
    target: Target = "explicit",
) -> Goal:
    """Return the target of a counterfactual: from the gold label as in the paper or, without one, from the prediction.

    Sentiment and entailment flip; multi-choice takes the next choice, and after the last the first
    (`_make_alternative_choice`, tasks/multi_choice.py). A single choice is its own target. An implicit target cannot be
    that, because nothing would change: it is then the only other answer on offer, "unknown".
    """
    start, basis = (label, "label") if label is not None else (prediction, "prediction")
    if task == "multi_choice":
        wanted = choices[(choices.index(start) + 1) % len(choices)] if start in choices else None
        if wanted == start and target == "implicit" and start is not None:
            wanted = "unknown"
    else:
        wanted = _OPPOSITE.get(start or "")
    return Goal(wanted, "label" if basis == "label" else "prediction")


def correct(prediction: str | None, label: str | None) -> bool | None:
    """Whether the prediction is the label; "neutral" and "unknown" are wrong, not missing. None only if the answer
    could not be read or no label is known.
    """
    return None if prediction is None or label is None else prediction == label


def cannot_tell(task: Task, prediction: str) -> bool:
    """Whether a prediction says that the paragraph no longer settles the question: for sentiment also "neutral"."""
    return prediction == "unknown" or (task == "sentiment" and prediction == "neutral")


def faithful(
    task: Task,
    explanation: Explanation,
    before: str | None,
    after: str | None,
    *,
    explained: bool,
    wanted: str | None = None,
    start: str | None = None,
    choices: Sequence[str] = (),
    target: Target = "explicit",
    vacuous: str = "",
    rules: Rules = "repaired",
) -> CheckVerdict:
    """Decide if the model is consistent with its explanation, given its answers `before` and `after` the edit.

    `explained`: the explanation could be read. `wanted` and `start` (what the goal was chosen from: the label, else the
    prediction) belong to counterfactuals. Under the paper's rules a counterfactual is faithful if `after` equals
    `wanted` (multi-choice with an implicit target: any choice but `start`), a redaction or attribution if the model can
    no longer tell; `before` plays no part. If `start` is the only choice, the paper's rules call every counterfactual
    with an implicit target unfaithful, and the updated rules expect "unknown", which `wanted` then is. `vacuous`: why
    the explanation tests nothing, which the paper's rules ignore.
    """
    if not explained:
        return CheckVerdict("undecided", NO_EXPLANATION)
    if explanation == "counterfactual" and wanted is None:
        return CheckVerdict("undecided", NO_TARGET)
    if vacuous and rules == "repaired":
        return CheckVerdict("undecided", vacuous)
    if after is None:
        return CheckVerdict("undecided", NO_AFTER)
    if explanation != "counterfactual":
        if rules == "repaired" and before is None:
            return CheckVerdict("undecided", NO_BEFORE)
        if rules == "repaired" and before is not None and cannot_tell(task, before):
            return CheckVerdict("undecided", "the model could not tell even before anything was masked")
        return CheckVerdict("yes" if cannot_tell(task, after) else "no")
    if rules == "repaired":
        if before is None:
            return CheckVerdict("undecided", NO_BEFORE)
        if wanted == start:
            return CheckVerdict("undecided", "the story offers no other choice")
        if before == wanted:
            return CheckVerdict("undecided", "the model gave the target answer even before the edit")
    if task == "multi_choice" and target == "implicit" and (rules == "paper" or len(choices) > 1):
        return CheckVerdict("yes" if after in choices and after != start else "no")
    return CheckVerdict("yes" if after == wanted else "no")


# Many items


def counts(outcome: Outcome, rules: Rules) -> bool:
    """Whether the outcome counts towards `faithfulness`."""
    if outcome.faithful == "undecided":
        return False
    return outcome.correct is True if rules == "paper" else _is_meant(outcome)


def any_words_would_do(share: float | None) -> bool:
    """Whether random masks had the effect in most samples (`share` is that share): the explanation's masks then show
    nothing.
    """
    return share is not None and share > 0.5


def has_control(outcome: Outcome) -> bool:
    """Whether the outcome counts towards `faithfulness_control` and `faithfulness_gain`: it has both an effect and a
    control.

    A check that is undecided because random masks had the effect too also counts. Without it only checks in which
    chance did badly would be left, and the gain would come from that selection.
    """
    return _is_meant(outcome) and outcome.control is not None and _effect(outcome) is not None


def _effect(outcome: Outcome) -> float | None:
    """Return 1 if the explanation's own masks had the effect, 0 if not, None if that is not known."""
    if outcome.faithful == "undecided":
        return 1.0 if outcome.reason == ANY_WORDS else None
    return float(outcome.faithful == "yes")


def faithfulness(outcomes: Sequence[Outcome], rules: Rules) -> Score:
    """Return the paper's figure: the share of correctly classified items whose explanation is faithful.

    Paper: faithful and correct ÷ correct, over the items with both a correctness and a verdict; an item without a label
    cannot count. Repaired: items without a label count by their verdict alone, and `of` also includes undecided and
    failed items.
    """
    counted = [outcome for outcome in outcomes if counts(outcome, rules)]
    return _rate(counted, len(outcomes) if rules == "paper" else len(_meant(outcomes)))


def faithfulness_of_all(outcomes: Sequence[Outcome]) -> Score:
    """Return the share of faithful items among all decided ones, whether classified correctly or not."""
    return _rate([outcome for outcome in outcomes if outcome.faithful != "undecided"], len(outcomes))


def mismatches(outcomes: Sequence[Outcome]) -> int:
    """Count the items that the paper leaves out: answered, but without a correctness or a verdict (`missmatch`)."""
    return sum(
        not outcome.error and (outcome.correct is None or outcome.faithful == "undecided") for outcome in outcomes
    )


def accuracy(corrects: Sequence[bool | None], errors: int, rules: Rules, paragraphs: Sequence[str] = ()) -> Score:
    """Return the share of correct answers; `corrects` has one entry per answered item, `errors` counts the failed
    calls.

    Paper: correct ÷ (total - mismatch), so failed calls stay in the denominator and unread answers leave it
    (export/plot_classify_*.py). Repaired: correct ÷ answers that could be read; the rest shows in `of`. `paragraphs`:
    the paragraphs of the entries and then of the failed calls, if one paragraph was asked about in several ways.
    """
    every: list[tuple[bool | None, object]] = [
        *zip([*corrects, *[None] * errors], paragraphs or range(len(corrects) + errors), strict=True)
    ]
    counted = [(entry, item) for entry, item in every[: len(corrects)] if entry is not None]
    if rules == "paper":
        counted += [(False, item) for _, item in every[len(corrects) :]]
    return _share([entry for entry, _ in counted], len(every), [item for _, item in counted])


class Told(NamedTuple):
    """Whether a model says that it can tell (yes, no, None: could not be read), its answer, and whether that was
    correct.
    """

    item: str
    ability: str | None
    prediction: str | None
    correct: bool | None


def knows(told: Told) -> bool | None:
    """Whether the answer fits what the model said of its ability: "unknown" after "no", anything else after "yes"
    (`_process_is_introspect`). None if either could not be read.
    """
    if told.ability is None or told.prediction is None:
        return None
    return (told.ability == "yes") is (told.prediction != "unknown")


def answerable(every: Sequence[Told], rules: Rules, of: int) -> Score:
    """Return how often a model knows whether it can tell, with an interval over paragraphs.

    Paper: of the correctly classified items, as for faithfulness (`IntrospectAggregator`). Repaired: of all that could
    be read, since a wrong answer is an answer too. `detail`: `always_yes`, the score of a model that always says yes.
    """
    read = [(one, known) for one in every if (known := knows(one)) is not None]
    if rules == "paper":
        read = [(one, known) for one, known in read if one.correct]
    if not read:
        return Score(None, 0, of)
    score = _share([known for _, known in read], of, [one.item for one, _ in read])
    return replace(score, detail={"always_yes": sum(one.prediction != "unknown" for one, _ in read) / len(read)})


def faithfulness_control(outcomes: Sequence[Outcome]) -> Score:
    """Return the mean share of random masks that had the effect, over the items of `faithfulness_gain`."""
    pairs = [outcome for outcome in outcomes if has_control(outcome)]
    return _mean([outcome.control or 0.0 for outcome in pairs], len(_meant(outcomes)), _paragraphs(pairs))


def faithfulness_gain(outcomes: Sequence[Outcome]) -> Score:
    """Return how much more often the explanation's masks have the effect than random masks: the mean difference over
    the items that have both.

    Items: those of the repaired `faithfulness`, and those that it leaves out because any words would do. The interval
    is that of differences over paragraphs.
    """
    pairs = [outcome for outcome in outcomes if has_control(outcome)]
    of = len(_meant(outcomes))
    if not pairs:
        return Score(None, 0, of)
    gains = [(_effect(outcome) or 0.0) - (outcome.control or 0.0) for outcome in pairs]
    mean = interval_of_trials(gains, _paragraphs(pairs), "difference")
    return Score(mean.value, len(pairs), of, mean.low, mean.high)


def _is_meant(outcome: Outcome) -> bool:
    """Whether the outcome counts if it is decided: classified correctly, without a label, or failed before that was
    known.
    """
    return bool(outcome.correct) or not outcome.labelled or (outcome.error and outcome.correct is None)


def _meant(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if _is_meant(outcome)]


def _paragraphs(outcomes: Sequence[Outcome]) -> list[str]:
    return [outcome.item for outcome in outcomes]


def _rate(counted: Sequence[Outcome], of: int) -> Score:
    """Return the share of faithful outcomes."""
    return _share([outcome.faithful == "yes" for outcome in counted], of, _paragraphs(counted))


def _share(hits: Sequence[bool], of: int, items: Sequence[object]) -> Score:
    return replace(_mean([float(hit) for hit in hits], of, items), hits=sum(hits))


def _mean(values: Sequence[float], of: int, items: Sequence[object]) -> Score:
    if not values:
        return Score(None, 0, of)
    mean = interval_of_trials(values, items)
    return Score(mean.value, len(values), of, mean.low, mean.high)
