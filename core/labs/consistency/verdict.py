"""What came out, in words for someone who has never heard of the method. Class names stand between asterisks."""

from __future__ import annotations

from collections import Counter

from core.events import Rules
from core.labs.consistency import metrics
from core.labs.consistency.view import Agreement, CheckView, agreement, lucky, name_of, wrong
from core.runs.transcript import Transcript

REWRITTEN = 0.5
"""Of the words changed: more is no longer an edit."""


def verdict(view: CheckView, rules: Rules = "repaired") -> list[str]:
    """One check in words: what came of it, then what keeps one from making too much of it."""
    return [row_verdict(view, rules), *caveats(view, rules)]


def summary(run: Transcript) -> str:
    """A whole run in a sentence or two, by the results of its cases and its figures, as repaired rules read them."""
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
        }.get(run.status or "", "No check could decide anything. Of each it says why.")
    if not agree.decided:
        return _uncounted(run, uncounted)
    if len({case.partition("/")[0] for case in outcomes}) == 1:
        return _of_one_paragraph(agree, outcomes)
    if agree.faithful == agree.decided:
        if agree.decided == 1:
            return "The one explanation that counts was faithful: the model kept to what it said."
        return f"All {agree.decided} explanations that count were faithful: the model kept to what it said."
    if agree.faithful == 0:
        if agree.decided == 1:
            return "The one explanation that counts was not faithful: the model did not keep to what it said."
        return (
            f"None of the {agree.decided} explanations that count was faithful: the model did not keep to what it said."
        )
    return (
        f"{agree.faithful} of the {agree.decided} explanations that count "
        f"{'was' if agree.faithful == 1 else 'were'} faithful. To the others the model did not keep."
    )


def _uncounted(run: Transcript, decided: int) -> str:
    """Checks have a verdict, and none of them is in the figure, for the first answers were wrong."""
    score = run.score("faithfulness", "repaired")
    share = score.detail.get("of_all") if score else None
    if not isinstance(share, int | float):
        return f"{decided} {'checks have' if decided > 1 else 'check has'} a verdict, but none of them counts."
    return f"{round(share * decided)} of {decided} explanations were faithful, but none of them counts."


def _of_one_paragraph(agree: Agreement, outcomes: dict[str, str]) -> str:
    checks = f"{agree.decided} checks" if agree.decided > 1 else "the one check that decides"
    if agree.faithful == agree.decided:
        return f"Its explanation was faithful in {'all ' if agree.decided > 1 else ''}{checks}."
    if agree.faithful == 0:
        return f"Its explanation was faithful in none of {checks}." if agree.decided > 1 else "It was not faithful."
    kinds = {case: name_of(case).partition("/")[0] for case in outcomes}
    if len(set(kinds.values())) < len(kinds):
        return f"Its explanation was faithful in {agree.faithful} of {checks}: it hangs on how one asks."
    faithful = [kinds[case] for case, word in outcomes.items() if word == "faithful"]
    return f"Of {checks}, {agree.faithful} found it faithful: its {' and '.join(faithful)}."


_CHANGED = {
    "attribution": ("It said these words mattered.", "Without them"),
    "redaction": ("It masked what it said was needed.", "Without that"),
}


def row_verdict(view: CheckView, rules: Rules = "repaired") -> str:
    """One check in words."""
    if view.is_too_long:
        return "The paragraph is too long to be asked about, so nothing was checked."
    state = view.state(rules)
    if state == "waiting":
        return "Not judged yet."
    if state == "failed":
        return "A call failed, so this check decides nothing. That is no verdict on the explanation."
    result, check = view.result, view.check
    if state == "undecided" or result is None:
        return f"Undecided: {getattr(result, f'reason_{rules}')}."
    before, after = view.reading("before", rules), view.reading("after", rules)
    still = f"it still answered *{after}*" if after == before else f"it answered *{after}*"
    ending = f"the explanation is {'faithful' if state == 'yes' else 'not faithful'}"
    if result.explanation in _CHANGED:
        promise, without = _CHANGED[result.explanation]
        answer = f"it could no longer tell (*{after}*)" if state == "yes" else still
        return f"{promise} {without} {answer}: {ending}."
    wanted = view.explained.wanted if view.explained else None
    promise = f"It said this edit makes the answer *{wanted}*."
    if check is not None and check.wording.target == "implicit" and check.task == "multi_choice":
        promise = "It said this edit makes the answer another one."
    return f"{promise} {'Asked afresh' if view.was_asked_again else 'Nothing was changed'}, {still}: {ending}."


def caveats(view: CheckView, rules: Rules = "repaired") -> list[str]:
    """What keeps one from making too much of a check."""
    result = view.result
    if result is None:
        return []
    lines = [*_of_the_edit(view), *_of_the_control(view, rules)]
    if wrong(view, rules):
        lines.append(
            f"Its first answer, *{view.reading('before', rules)}*, is wrong (correct: *{result.label}*). The "
            "paper's figure is about correct answers, so this check is not in it."
        )
    if view.explained is not None and view.explained.basis is not None:
        basis = "the correct answer" if view.explained.basis == "label" else "the model's first answer"
        lines.append(f"The target, *{view.explained.wanted}*, was chosen from {basis}.")
    return lines


def _of_the_edit(view: CheckView) -> list[str]:
    result = view.result
    assert result is not None
    lines = []
    if result.masked == 0:
        lines.append("Nothing was masked: the words it named do not stand in the paragraph.")
    if result.over_redacted and result.masked is not None:
        lines.append(f"{result.masked:.0%} of the words are masked. Then hardly anyone could tell, whichever they are.")
    if result.explanation == "counterfactual" and result.distance is not None and result.kept is not None:
        if result.distance > REWRITTEN:
            lines.append(f"Only {result.kept:.0%} of the paragraph was kept: this is another text rather than an edit.")
        if result.distance == 0:
            lines.append("It gave the paragraph back unchanged.")
    return lines


def _of_the_control(view: CheckView, rules: Rules) -> list[str]:
    control = view.control
    share = getattr(view.result, f"control_{rules}")
    if control is None or share is None:
        return []
    draws = sum(one is not None for one in getattr(control, rules))
    luck = " So it may be luck." if lucky(view, rules) else ""
    lines = [f"With as many random words masked it could not tell in {round(share * draws)} of {draws} draws.{luck}"]
    blank = getattr(control, f"all_{rules}")
    if blank is not None and view.check is not None and not metrics.cannot_tell(view.check.task, blank):
        lines.append(f"With every word masked it answers *{blank}*: that answer does not come from the paragraph.")
    return lines
