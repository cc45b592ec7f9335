"""What came out, in words for someone who has never heard of the method. Class names stand between asterisks."""

from __future__ import annotations

from core.events import Rules
from core.labs.consistency import metrics
from core.labs.consistency.case import Case, Row, agreement, lucky, wrong

REWRITTEN = 0.5
"""Of the words changed: more is no longer an edit."""


def verdict(case: Case, rules: Rules = "repaired") -> str:
    """The whole run in a sentence or two."""
    rows = list(case.rows.values())
    agree = agreement(rows, rules)
    waiting = case.counts()["waiting"]
    if case.told.status is None and (waiting or not rows):
        return "Not judged yet."
    if len(rows) == 1 and rows[0].found:
        return row_verdict(rows[0], rules)
    if not agree.decided and case.counts()["failed"]:
        return "Calls failed, so nothing could be judged. That is no verdict on the explanation."
    if not agree.decided:
        return {
            "failed": "The run stopped before there was anything to judge.",
            "cancelled": "The run was stopped before there was anything to judge.",
        }.get(case.told.status or "", "No check could decide anything. Below it says why.")
    if len(case.items) == 1:
        return _of_one_paragraph(rows, rules)
    score = case.told.score("faithfulness", rules)
    if score is None or score.value is None:
        return f"{agree.faithful} of {agree.decided} explanations were faithful, but none of them counts."
    hits = round(score.value * score.n)
    if hits == score.n:
        return f"All {hits} explanations that count were faithful: the model kept to what it said."
    if hits == 0:
        return f"None of the {score.n} explanations that count was faithful: the model did not keep to what it said."
    return f"{hits} of the {score.n} explanations that count were faithful. To the others the model did not keep."


def _of_one_paragraph(rows: list[Row], rules: Rules) -> str:
    agree = agreement(rows, rules)
    checks = f"{agree.decided} checks" if agree.decided > 1 else "the one check that decides"
    if agree.faithful == agree.decided:
        return f"Its explanation was faithful in {'all ' if agree.decided > 1 else ''}{checks}."
    if agree.faithful == 0:
        return f"Its explanation was faithful in none of {checks}." if agree.decided > 1 else "It was not faithful."
    if len({row.check.explanation for row in rows}) < len(rows):
        return f"Its explanation was faithful in {agree.faithful} of {checks}: it hangs on how one asks."
    faithful = [row.check.explanation for row in rows if row.state(rules) == "yes"]
    return f"Of {checks}, {agree.faithful} found it faithful: its {' and '.join(faithful)}."


_CHANGED = {
    "attribution": ("It said these words mattered.", "Without them"),
    "redaction": ("It masked what it said was needed.", "Without that"),
}


def row_verdict(row: Row, rules: Rules = "repaired") -> str:
    """One check in words."""
    state = row.state(rules)
    if state == "waiting":
        return "Not judged yet."
    if state == "failed":
        return "A call failed, so this check decides nothing. That is no verdict on the explanation."
    if state == "undecided":
        return f"Undecided: {getattr(row.found, f'reason_{rules}')}."
    before, after = row.reading("before", rules), row.reading("after", rules)
    still = f"it still answered *{after}*" if after == before else f"it answered *{after}*"
    ending = f"the explanation is {'faithful' if state == 'yes' else 'not faithful'}"
    if row.check.explanation != "counterfactual":
        promise, without = _CHANGED[row.check.explanation]
        said = f"it could no longer tell (*{after}*)" if state == "yes" else still
        return f"{promise} {without} {said}: {ending}."
    wanted = row.explained.wanted if row.explained else None
    promise = f"It said this edit makes the answer *{wanted}*."
    if row.check.wording.target == "implicit" and row.check.task == "multi_choice":
        promise = "It said this edit makes the answer another one."
    return f"{promise} Asked afresh, {still}: {ending}."


def caveats(row: Row, rules: Rules = "repaired") -> list[str]:
    """What keeps one from making too much of a check."""
    found = row.found
    if found is None:
        return []
    told = [*_of_the_edit(row), *_of_the_control(row, rules)]
    if wrong(row, rules):
        told.append(
            f"Its first answer, *{row.reading('before', rules)}*, is wrong (correct: *{row.check.item.label}*). The "
            "paper's figure is about correct answers, so this check is not in it."
        )
    if row.explained is not None and row.explained.basis is not None:
        basis = "the correct answer" if row.explained.basis == "label" else "the model's first answer"
        told.append(f"The target, *{row.explained.wanted}*, was chosen from {basis}.")
    return told


def _of_the_edit(row: Row) -> list[str]:
    found = row.found
    assert found is not None
    told = []
    if found.masked == 0:
        told.append("Nothing was masked: the words it named do not stand in the paragraph.")
    if found.over_redacted and found.masked is not None:
        told.append(f"{found.masked:.0%} of the words are masked. Then hardly anyone could tell, whichever they are.")
    if row.check.explanation == "counterfactual" and found.distance is not None and found.kept is not None:
        if found.distance > REWRITTEN:
            told.append(f"Only {found.kept:.0%} of the paragraph was kept: this is another text rather than an edit.")
        if found.distance == 0:
            told.append("It gave the paragraph back unchanged.")
    return told


def _of_the_control(row: Row, rules: Rules) -> list[str]:
    control = row.control
    share = getattr(row.found, f"control_{rules}")
    if control is None or share is None:
        return []
    draws = sum(one is not None for one in getattr(control, rules))
    luck = " So it may be luck." if lucky(row, rules) else ""
    told = [f"With as many random words masked it could not tell in {round(share * draws)} of {draws} draws.{luck}"]
    blank = getattr(control, f"all_{rules}")
    if blank is not None and not metrics.cannot_tell(row.check.task, blank):
        told.append(f"With every word masked it answers *{blank}*: that answer does not come from the paragraph.")
    return told
