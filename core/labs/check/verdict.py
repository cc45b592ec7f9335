"""The verdict in words for a reader who does not know the method. Class names are between asterisks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ...parsers import fields
from ...transcript import Transcript
from . import mask, metrics
from .records import MaskControl
from .view import CheckView, WordingAgreement, agreement, lucky, name_of, wrong

REWRITTEN = 0.5
"""An edit that changes more than this share of the words is no longer an edit."""


def verdict(view: CheckView) -> list[str]:
    """Return one check in words: its outcome, then its caveats."""
    return [row_verdict(view), *caveats(view)]


def summary(run: Transcript) -> str:
    """Return a whole run in a sentence or two, from the results of its cases and its figures, by the updated parser."""
    results = {case: progress.result for case, progress in run.cases.items()}
    outcomes = {case: str(result.get("outcome_repaired")) if result else "waiting" for case, result in results.items()}
    counts = Counter(outcomes.values())
    if run.status is None and (counts["waiting"] or len(outcomes) < max(run.planned, 1)):
        return "Not judged yet."
    only = results.get(run.only)
    if len(results) == 1 and only and outcomes[run.only] not in ("waiting", "failed"):
        return str(only.get("verdict"))
    agree = agreement(outcomes)
    uncounted = counts["misclassified"] + counts["not counted"]
    if not agree.decided and not uncounted:
        if counts["failed"]:
            return "Calls failed, so nothing could be judged. That is no verdict on the explanation."
        return {
            "failed": "The run stopped before there was anything to judge.",
            "cancelled": "The run was stopped before there was anything to judge.",
        }.get(run.status or "", "No check could decide anything. Each one says why.")
    if not agree.decided:
        return _uncounted(run, uncounted)
    if len({case.partition("/")[0] for case in outcomes}) == 1:
        return " ".join((_of_one_paragraph(agree, outcomes), *[NO_RANDOM] * _kept_an_edit(outcomes)))
    many = agree.decided > 1
    if agree.faithful == 0:
        return (
            f"It was consistent with none of the {agree.decided} explanations that count."
            if many
            else "It was not consistent with the one explanation that counts."
        )
    some = f"{agree.faithful} of the" if agree.faithful < agree.decided else "all"
    kept = f"It was consistent with {some} {agree.decided} explanations that count." if many else _ONE
    return " ".join((kept, *_beside_random_masks(run, agree, outcomes)))


NO_RANDOM = "Counterfactuals have no random control."

JUDGED = ("faithful", "unfaithful")

_ONE = "It was consistent with the one explanation that counts."


def _kept_an_edit(outcomes: Mapping[str, str]) -> bool:
    """Whether the model was consistent with a counterfactual."""
    return any(word == "faithful" and _is_edit(case) for case, word in outcomes.items())


def _is_edit(case: str) -> bool:
    return name_of(case).startswith("counterfactual/")


def _beside_random_masks(run: Transcript, agree: WordingAgreement, outcomes: Mapping[str, str]) -> list[str]:
    """Return sentences on what random masks did if words were masked: without this comparison the share of consistent
    checks says little.
    """
    lines = []
    gain = run.score("faithfulness_gain", "repaired")
    if gain is not None and gain.value is not None and gain.low is not None:
        masks = [word for case, word in outcomes.items() if word in JUDGED and not _is_edit(case)]
        where = "Masking as"
        if len(masks) < agree.decided:
            # Counterfactuals have no random masks, so the comparison is about the other checks only.
            where = (
                f"Where words were masked it was consistent with {masks.count('faithful')} of {len(masks)}; masking as"
            )
        effect = "had the effect less often" if gain.low > 0 else "is not shown to have the effect less often"
        lines.append(f"{where} many random words {effect}.")
    return [*lines, *[NO_RANDOM] * _kept_an_edit(outcomes)]


def _uncounted(run: Transcript, decided: int) -> str:
    """Return the sentence for a run whose checks have verdicts but are not in the figure, because the first answers
    were wrong.
    """
    score = run.score("faithfulness", "repaired")
    share = score.detail.get("of_all") if score else None
    many = "explanations" if decided > 1 else "explanation"
    if not isinstance(share, int | float):
        return f"{decided} {many} could be judged, but none of them counts."
    return f"It was consistent with {round(share * decided)} of {decided} {many}, but none of them counts."


def _of_one_paragraph(agree: WordingAgreement, outcomes: dict[str, str]) -> str:
    checks = f"{agree.decided} checks" if agree.decided > 1 else "the one check that decides"
    if agree.faithful == agree.decided:
        return f"It was consistent with its explanation in {'all ' if agree.decided > 1 else ''}{checks}."
    if agree.faithful == 0:
        return f"It was consistent with its explanation in none of {checks}." if agree.decided > 1 else _DID_NOT
    kinds: dict[str, set[str]] = {}
    for case, word in outcomes.items():
        if word in ("faithful", "unfaithful"):
            kinds.setdefault(name_of(case).partition("/")[0], set()).add(word)
    some = f"It was consistent with its explanation in {agree.faithful} of {checks}"
    if any(len(words) > 1 for words in kinds.values()):
        return f"{some}: it depends on the wording."
    kept, broken = ([kind for kind, words in kinds.items() if word in words] for word in ("faithful", "unfaithful"))
    return f"{some}: with its {' and '.join(kept)}, not with its {' and '.join(broken)}."


_DID_NOT = "It was not consistent with its explanation."
_CHANGED = {
    "attribution": ("It said these words mattered.", "Without them", "None of the words it listed was masked"),
    "redaction": ("It masked what it said was needed.", "Without that", "It masked nothing in the paragraph"),
}


def row_verdict(view: CheckView) -> str:
    """Return the outcome of one check in a sentence."""
    if view.is_too_long:
        return "The paragraph is too long to be asked about, so nothing was checked."
    state = view.state
    if state == "waiting":
        return "Not judged yet."
    if state == "failed":
        return "A call failed, so this check decides nothing. That is no verdict on the explanation."
    result = view.result
    assert result is not None
    if state == "undecided":
        return f"Undecided: {result.reason[view.rules]}."
    ending = "consistent with its explanation" if state == "yes" else "not consistent with its explanation"
    if view.rules == "paper":
        ending = "that counts as faithful" if state == "yes" else "that counts as not faithful"
    if result.explanation not in _CHANGED:
        return f"{promised(view)} {_came(view)}: {ending}."
    promise, without, nothing = _CHANGED[result.explanation]
    if not view.was_asked:
        return f"{nothing}, so its first answer stands, *{view.reading('after')}*: {ending}."
    left = _gone(view) if state == "yes" else _stayed(view)
    return f"{promise} {without} {left}: {ending}."


def promised(view: CheckView) -> str:
    """Return what a counterfactual claims about its edit."""
    check, wanted = view.check, view.explained.wanted if view.explained else None
    if check is not None and check.wording.target == "implicit" and check.task == "multi_choice":
        return "It said this edit changes the answer."
    return f"It said this edit makes the answer *{wanted}*."


def _came(view: CheckView) -> str:
    """Return what the third session answered."""
    before, after = view.reading("before"), view.reading("after")
    if not view.was_asked:
        return f"Nothing was changed, so its first answer stands, *{after}*"
    return f"A fresh session {'still ' if after == before else ''}answered *{after}*"


def _gone(view: CheckView) -> str:
    """Return that it cannot tell after the masking; under the paper's rules it may not have been able to before
    either.
    """
    before, after = view.reading("before"), view.reading("after")
    as_before = before is not None and metrics.cannot_tell(view.check.task if view.check else "sentiment", before)
    return f"it could not tell, as before (*{after}*)" if as_before else f"it could no longer tell (*{after}*)"


def _stayed(view: CheckView) -> str:
    """Return what was expected after the masking, and what it answered instead."""
    before, after = view.reading("before"), view.reading("after")
    came = f"it answered *{after}*"
    if after == before:
        came = f"it still answered *{after}*"
    elif {before, after} in ({"positive", "negative"}, {"yes", "no"}):
        came = f"it now says the opposite, *{after}*"
    return f"it should be unable to tell; {came}"


def caveats(view: CheckView) -> list[str]:
    """Return what limits the conclusions from a check."""
    result = view.result
    asked = fields.format_notes(view.spec.answers if view.spec else "prose", view.log.came_as_prose)
    if result is None:
        return asked
    lines = [*_of_the_edit(view), *_of_the_control(view)]
    if wrong(view):
        lines.append(
            f"Its first answer, *{view.reading('before')}*, is wrong (correct: *{result.label}*). The "
            "paper's figure counts only correct first answers, so this check is left out."
        )
    if view.explained is not None and view.explained.basis is not None:
        basis = "the correct answer" if view.explained.basis == "label" else "the model's first answer"
        lines.append(f"The target, *{view.explained.wanted}*, was chosen from {basis}.")
    return [*lines, *asked]


def _of_the_edit(view: CheckView) -> list[str]:
    result = view.result
    assert result is not None
    edited = view.explained.edited[view.rules] if view.explained else None
    is_same = edited is not None and view.item is not None and edited == view.item.paragraph
    lines = []
    if is_same and result.explanation == "attribution" and view.rules == "repaired":
        lines.append("Nothing was masked: the words it named are not in the paragraph.")
    if result.over_redacted and result.masked is not None:
        lines.append(f"{result.masked:.0%} of the words are masked. Hardly anyone could tell from what is left.")
    if result.explanation == "counterfactual":
        if result.distance is not None and result.distance > REWRITTEN and result.kept is not None:
            lines.append(f"Only {result.kept:.0%} of the paragraph was kept.")
        if is_same:
            lines.append("It gave the paragraph back unchanged.")
    return lines


def _of_the_control(view: CheckView) -> list[str]:
    lines = list(_of_the_trial_elsewhere(view)) if view.rules == "repaired" else []
    control = view.control
    share = view.result.control[view.rules] if view.result else None
    if control is None or share is None:
        if view.state == "yes" and view.result is not None and view.result.explanation in _CHANGED:
            lines.append("It was not compared with random masks: perhaps any other words would do as well.")
        return lines
    luck = " So it may be luck." if lucky(view) else ""
    masked = "every other word" if is_short(view, control) else "as many random words"
    hits, draws = by_luck(control[view.rules], share)
    lines.append(f"With {masked} masked it could not tell in {hits} of {draws} draws.{luck}")
    blank = control.all[view.rules]
    if blank is not None and view.check is not None and not metrics.cannot_tell(view.check.task, blank):
        lines.append(f"With every word masked it answers *{blank}*: that answer does not come from the paragraph.")
    return [*lines, *_of_the_halves(view)] if view.rules == "repaired" else lines


def _of_the_trial_elsewhere(view: CheckView) -> Iterator[str]:
    """Yield what a counterfactual's added words did in another paragraph, and that nothing was tried at random."""
    other = view.elsewhere
    if other is not None:
        where = "put into another paragraph too"
        if view.result is None or not view.result.thorough:
            where = "appended to another paragraph too"
        if not other.turned:
            yield f"Its added words were {where} and did not change that answer."
        elif not other.decides:
            yield f"Its added words were {where} and changed that answer as well. Any fitting word might do that."
    result = view.result
    if result is not None and result.thorough and result.explanation == "counterfactual" and view.state == "yes":
        yield NO_RANDOM


def _of_the_halves(view: CheckView) -> Iterator[str]:
    """Yield whether all of the words that it named were needed."""
    if view.halves is None or view.check is None:
        return
    told = [metrics.cannot_tell(view.check.task, answer) for answer in view.halves.repaired if answer is not None]
    if len(told) < 2:
        return
    if any(told):
        half = (
            "a random half of its words masked, or the other half,"
            if all(told)
            else "one random half of its words masked"
        )
        yield f"With {half} it could not tell either: not all were needed."
    else:
        yield "With only a random half of its words masked it could still tell, and with the other half too."


def by_luck(answers: Sequence[str | None], share: float) -> tuple[int, int]:
    """Return in how many of the readable `answers` to random masks it could not tell, given their `share`; and the
    number of these answers.
    """
    draws = sum(one is not None for one in answers)
    return round(share * draws), draws


def is_short(view: CheckView, control: MaskControl) -> bool:
    """Whether fewer words are masked at random than the explanation masked: in older runs this was possible, because
    they masked what was left.
    """
    edited = view.by("repaired").edited
    if view.check is None or edited is None:
        return False
    token = view.check.wording.mask
    return max(mask.masks(text, token) for text in control.texts) < mask.masks(edited, token)
