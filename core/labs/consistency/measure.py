"""One case: classify, explain, classify again, in sessions that know nothing of each other (Madsen et al. 2024, 3).

The two readings of an explanation can give two edited paragraphs; then each is classified, for each reading's verdict.
What belongs to the item (the first session, and whether it can tell at all) is asked and recorded there, for all cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.datasets.items import Item
from core.events import Answered, CallFailed, Rules
from core.lab.cases import Case
from core.lab.spec import RULES
from core.labs.consistency import fielded, mask, metrics, prompts, vacuous
from core.labs.consistency.metrics import Goal
from core.labs.consistency.records import (
    Ability,
    Classification,
    Consistency,
    Elsewhere,
    MaskControl,
    Paragraph,
    Recheck,
    SelfExplanation,
)
from core.labs.consistency.tasks import (
    LONGEST,
    Check,
    CheckSpec,
    Wording,
    answerable_key,
    classification_key,
    place_of,
    wording_name,
)
from core.reading import fields
from core.runs.run import Run, together
from core.text import diff
from core.transcript import name_of

SESSION = "session"
"""The trial of the third session."""

EVERYTHING = "everything"
"""The trial with every word masked."""

ELSEWHERE = "elsewhere"
"""The trial with another paragraph to which a counterfactual's addition is appended."""


def random_mask(number: int) -> str:
    """The trial of the `number`-th random mask, from 1."""
    return f"random-{number}"


async def measure(spec: CheckSpec, case: Case, run: Run) -> None:
    """Check one explanation of one answer. Raises CallFailed where the first session, of all the item's checks that
    classify in the same words, gets no answer.
    """
    check: Check = case.about
    item = check.item
    shared = run.at(place_of(item.id))
    shared.record(
        Paragraph(
            text=item.paragraph,
            **item.model_dump(include={"task", "question", "choices", "hypothesis", "label", "reference_edit"}),
        ),
        item.id,
    )
    if len(item.paragraph) > LONGEST:
        run.drop("", "too long", f"{len(item.paragraph):,} characters; at most {LONGEST:,} can be checked")
        return
    first = await _first(spec, shared, check)
    if spec.answerable:
        await _able(spec, shared, check)
    try:
        await _check(spec, run, check, first)
    except CallFailed as failure:
        run.drop(check.key, "error", failure.message)


async def _classify(
    spec: CheckSpec, run: Run, item: Item, wording: Wording, paragraph: str, key: str, trial: str = ""
) -> Answered:
    """The answer to the question about `paragraph`, asked in a session of its own. Raises CallFailed."""
    prompt = fields.asked(prompts.classify(item, wording, paragraph), fielded.of_classifier(spec, item))
    return await run.ask("classifier", prompt, spec.model, sampling=spec.sampling, item=key, trial=trial)


def _label(spec: CheckSpec, item: Item, text: str, rules: Rules) -> str | None:
    return fielded.label(item, text, fielded.of_classifier(spec, item), rules)


async def _first(spec: CheckSpec, run: Run, check: Check) -> Classification:
    item, wording = check.item, check.wording
    key = classification_key(item.id, wording)
    answered = await _classify(spec, run, item, wording, item.paragraph, key)
    readings: dict[str, Any] = {}
    for rules in RULES:
        readings[rules] = _label(spec, item, answered.text, rules)
        readings[f"correct_{rules}"] = metrics.correct(readings[rules], item.label)
    classification = Classification(call=answered.call, persona=wording.persona, **readings)
    run.record(classification, key)
    for rules in RULES:
        if readings[rules] is None:
            unread = rules == "paper" and spec.answers == "schema"
            why = fields.NO_PAPER_FIGURE if unread else "the answer names none of the classes"
            run.drop(key, "unparsed", why, rules)
    return classification


async def _able(spec: CheckSpec, run: Run, check: Check) -> None:
    """Whether it thinks that it can tell at all. No verdict rests on it, so a failed call drops only this."""
    key = answerable_key(check.item.id, check.wording)
    asked = fielded.of_ability(spec)
    prompt = fields.asked(prompts.answerable(check.item, check.wording), asked)
    try:
        answered = await run.ask("classifier", prompt, spec.model, sampling=spec.sampling, item=key)
    except CallFailed as failure:
        run.drop(key, "error", failure.message)
        return
    readings = {rules: fielded.ability(answered.text, asked, rules) for rules in RULES}
    run.record(Ability(call=answered.call, persona=check.wording.persona, **readings), key)


async def _check(spec: CheckSpec, run: Run, check: Check, first: Classification) -> None:
    """Sessions two and three, and the control. Raises CallFailed where one of the two sessions fails."""
    key, explanation = check.key, check.explanation
    goal = _goal(check, first)
    if explanation == "counterfactual" and goal is not None and goal.wanted is None:
        explained = None
        again = Recheck()
    else:
        explained = await _explain(spec, run, check, goal)
        again = await _again(spec, run, check, first, explained)
    strict = _is_strict(run)
    edited = (explained.edited_repaired or explained.edited_paper) if explained else None
    words = _words(check, explained, edited)
    reason = _vacuous(check, explained, words) if strict else ""
    result = _judge(check, first, goal, explained, again, reason, strict)
    if spec.answers == "schema":
        result = result.model_copy(update={"reason_paper": fields.NO_PAPER_FIGURE})
    if explained and edited and (texts := _random_masks(spec, run, check, words, strict)):
        # The verdict waits for the control: it may be that any words would do.
        try:
            control = await _control(spec, run, check, texts)
        except CallFailed as failure:
            run.drop(f"{key}/control", "error", failure.message)
        else:
            result = _held_against(result, _shares(check, control, explained, edited))
            run.record(control, key)
    elif strict and explained and explanation == "counterfactual" and result.faithful_repaired == "yes":
        result = await _elsewhere(spec, run, check, first, explained, result)
    run.record(result, key)
    _drop_uncounted(run, key, result)


def _is_strict(run: Run) -> bool:
    """Whether the run is judged by rules that call undecided what tests nothing: an older one goes on as it began."""
    named = name_of(Consistency)
    for place in run.session.state.places.values():
        for event in place.records.values():
            if event.record == named:
                return bool(event.data.get("strict"))
    return True


def _words(check: Check, explained: SelfExplanation | None, edited: str | None) -> mask.Words:
    """The words that the explanation masked, and the others; none of either where it masks nothing."""
    if explained is None or edited is None or check.explanation == "counterfactual":
        return mask.Words([], [])
    if check.explanation == "redaction":
        return mask.taken_by(check.item.paragraph, edited, check.wording.mask)
    named = explained.words_repaired or explained.words_paper or ()
    return mask.named_by(check.item.paragraph, named, check.wording.mask)


def _vacuous(check: Check, explained: SelfExplanation | None, words: mask.Words) -> str:
    """Why the explanation, as repaired rules read it, tests nothing; empty where it may."""
    if explained is None or (edited := explained.edited_repaired) is None:
        return ""
    original = check.item.paragraph
    if check.explanation == "redaction":
        return vacuous.of_redaction(original, edited, check.wording.mask)
    if check.explanation == "attribution":
        return vacuous.of_masks(words)
    return vacuous.of_counterfactual(check.task, check.item.choices, original, edited)


def _held_against(result: Consistency, shares: dict[str, float | None]) -> Consistency:
    """The result beside its random masks, by which it is undecided where any words would do."""
    result = result.model_copy(update=shares)
    by_any = metrics.any_words_would_do(result.control_repaired)
    if result.strict and result.faithful_repaired == "yes" and by_any:
        result = result.model_copy(update={"faithful_repaired": "undecided", "reason_repaired": vacuous.ANY_WORDS})
    return result


async def _elsewhere(
    spec: CheckSpec, run: Run, check: Check, first: Classification, explained: SelfExplanation, result: Consistency
) -> Consistency:
    """The result of a counterfactual that worked, after what it added was tried on another paragraph."""
    item, wording, key = check.item, check.wording, check.key
    added = vacuous.addition(item.paragraph, explained.edited_repaired or "")
    other = vacuous.another(item, item.label or first.repaired) if added else None
    if other is None:
        return result
    text = f"{other.paragraph} {added}"
    reason = ""
    try:
        # The other paragraph is one of another question, choices and statement: it is asked as itself.
        bare, turned = await together(
            _classify(spec, run, other, wording, other.paragraph, f"{key}/{ELSEWHERE}-bare", trial=ELSEWHERE),
            _classify(spec, run, other, wording, text, f"{key}/{ELSEWHERE}", trial=ELSEWHERE),
        )
    except CallFailed as failure:
        run.drop(f"{key}/{ELSEWHERE}", "error", failure.message)
        reason = vacuous.UNTRIED
    else:
        before, after = (_label(spec, other, answered.text, "repaired") for answered in (bare, turned))
        has_turned = vacuous.turned(check.task, before, after, explained.wanted, other.choices)
        record = Elsewhere(
            item=other.id, added=added, text=text, call_bare=bare.call, call=turned.call, bare=before, answer=after,
            turned=has_turned,
        )  # fmt: skip
        run.record(record, key, trial=ELSEWHERE)
        reason = vacuous.TURNS if has_turned else ""
    if not reason:
        return result
    return result.model_copy(update={"faithful_repaired": "undecided", "reason_repaired": reason})


def _goal(check: Check, first: Classification) -> Goal | None:
    if check.explanation != "counterfactual":
        return None
    item = check.item
    return metrics.goal(check.task, item.label, first.repaired or first.paper, item.choices, check.wording.target)


async def _explain(spec: CheckSpec, run: Run, check: Check, goal: Goal | None) -> SelfExplanation:
    item, explanation, wording = check.item, check.explanation, check.wording
    if explanation == "counterfactual":
        prompt = prompts.counterfactual(item, wording, (goal.wanted if goal else None) or "")
    else:
        prompt = (prompts.redaction if explanation == "redaction" else prompts.attribution)(item, wording)
    asked = fielded.of_explainer(spec, explanation)
    prompt = fields.asked(prompt, asked)
    answered = await run.ask("explainer", prompt, spec.model, sampling=spec.sampling, item=check.key)
    readings: dict[str, Any] = {}
    for rules in RULES:
        if explanation == "attribution":
            words = fielded.word_list(answered.text, asked, rules)
            readings[f"words_{rules}"] = tuple(words) if words else None
            edited = mask.redact(item.paragraph, words, wording.mask, rules) if words else None
        else:
            edited = fielded.paragraph(answered.text, asked, rules)
        readings[f"edited_{rules}"] = edited
    if goal is not None:
        readings |= {"wanted": goal.wanted, "basis": goal.basis}
    explained = SelfExplanation(call=answered.call, **readings)
    run.record(explained, check.key)
    return explained


async def _again(spec: CheckSpec, run: Run, check: Check, first: Classification, explained: SelfExplanation) -> Recheck:
    """The third session, for each reading of the explanation that gives a paragraph of its own.

    Where nothing was edited it would be asked the first session's prompt again, so the first session stands for it.
    """
    item, key = check.item, check.key
    edits: dict[Rules, str] = {
        rules: edited for rules in RULES if (edited := getattr(explained, f"edited_{rules}")) is not None
    }
    distinct = list(dict.fromkeys(edits.values()))[::-1]
    changed = [edited for edited in distinct if edited != item.paragraph]
    answers = await together(
        *(_classify(spec, run, item, check.wording, edited, key, trial=SESSION) for edited in changed)
    )
    by_edit = {
        edited: (answered.call, {rules: _label(spec, item, answered.text, rules) for rules in RULES})
        for edited, answered in zip(changed, answers, strict=True)
    }
    by_edit[item.paragraph] = (first.call, {rules: getattr(first, rules) for rules in RULES})
    readings: dict[str, str | None] = {}
    for rules, edited in edits.items():
        call, labels = by_edit[edited]
        readings |= {f"call_{rules}": call, rules: labels[rules]}
    if len(distinct) == 2:
        crossed: dict[Rules, Rules] = {"paper": "repaired", "repaired": "paper"}
        for rules, other in crossed.items():
            readings[f"crossed_{rules}"] = by_edit[edits[other]][1][rules] or ""
    again = Recheck(**readings)
    if readings:
        run.record(again, key, trial=SESSION)
    return again


def _random_masks(spec: CheckSpec, run: Run, check: Check, words: mask.Words, strict: bool) -> Sequence[str]:
    """The paragraph with as many other words masked as the explanation's own, drawn at random; none without a mask, and
    none where not as many other words are left.
    """
    if check.explanation == "counterfactual" or (strict and not words.leave_enough):
        return ()
    if before := run.recorded(MaskControl).get(check.key):
        # Masks may have been drawn otherwise when the run began.
        return before.texts
    return mask.random_masks(check.item.paragraph, words, check.wording.mask, spec.controls, spec.seed)


async def _control(spec: CheckSpec, run: Run, check: Check, texts: Sequence[str]) -> MaskControl:
    """What the model answers to each of `texts`, which are masked at random; and with every word masked."""
    item, wording, key = check.item, check.wording, check.key
    everything = mask.mask_all(item.paragraph, wording.mask)
    masked = {random_mask(number): text for number, text in enumerate(texts, start=1)} | {EVERYTHING: everything}
    *random, blank = await together(
        *(_classify(spec, run, item, wording, text, f"{key}/{trial}", trial=trial) for trial, text in masked.items())
    )
    readings: dict[str, Any] = {}
    for rules in RULES:
        readings[rules] = tuple(_label(spec, item, answered.text, rules) for answered in random)
        readings[f"all_{rules}"] = _label(spec, item, blank.text, rules)
    return MaskControl(
        texts=tuple(texts),
        calls=tuple(answered.call for answered in random),
        all_text=everything,
        all_call=blank.call,
        **readings,
    )


def _shares(check: Check, control: MaskControl, explained: SelfExplanation, edited: str) -> dict[str, float | None]:
    """How often random masks had the effect, under each rules whose edit they match. Unread answers do not count."""
    shares: dict[str, float | None] = {}
    for rules in RULES:
        read = [answer for answer in getattr(control, rules) if answer is not None]
        matches = getattr(explained, f"edited_{rules}") == edited
        effects = [metrics.cannot_tell(check.task, answer) for answer in read]
        shares[f"control_{rules}"] = sum(effects) / len(effects) if effects and matches else None
    return shares


def _judge(
    check: Check,
    first: Classification,
    goal: Goal | None,
    explained: SelfExplanation | None,
    again: Recheck,
    reason: str,
    strict: bool,
) -> Consistency:
    """The check by both rules. `reason`: why the explanation tests nothing, by repaired ones."""
    task, item, explanation, wording = check
    readings: dict[str, Any] = {}
    for rules in RULES:
        before, after = getattr(first, rules), getattr(again, rules)
        edited = explained and getattr(explained, f"edited_{rules}")
        verdict = metrics.faithful(
            task,
            explanation,
            before,
            after,
            explained=explained is None or edited is not None,
            wanted=goal.wanted if goal else None,
            start=item.label or first.repaired or first.paper,
            choices=item.choices,
            target=wording.target,
            vacuous=reason,
            rules=rules,
        )
        readings |= {
            f"before_{rules}": before,
            f"after_{rules}": after,
            f"faithful_{rules}": verdict.faithful,
            f"reason_{rules}": verdict.reason,
        }
    shown = explained and (
        explained.edited_repaired if explained.edited_repaired is not None else explained.edited_paper
    )
    if isinstance(shown, str):
        readings |= {"distance": diff.distance(item.paragraph, shown), "kept": diff.kept(item.paragraph, shown)}
        if explanation != "counterfactual":
            readings["masked"] = mask.masked_share(shown, wording.mask)
            readings["over_redacted"] = mask.over_redacted(shown, wording.mask)
    return Consistency(
        paragraph=item.id,
        explanation=explanation,
        wording=wording_name(explanation, wording),
        label=item.label,
        strict=strict,
        **readings,
    )


def _drop_uncounted(run: Run, key: str, result: Consistency) -> None:
    """Say of a check that does not count, under either rules, why not."""
    for rules in RULES:
        before = getattr(result, f"before_{rules}")
        if reason := getattr(result, f"reason_{rules}"):
            word = "unparsed" if "could not be read" in reason else "undecided"
            run.drop(key, vacuous.REASONS.get(reason, word), reason, rules)
        elif metrics.correct(before, result.label) is False:
            run.drop(key, "misclassified", f"the first answer was {before}, correct is {result.label}", rules)
        elif result.label is None and rules == "paper":
            run.drop(key, "no label", "the paper's figure is about correctly classified items", rules)
