"""The run: classify, explain, classify again, in sessions that know nothing of each other (Madsen et al. 2024, 3).

The two readings of an explanation can give two edited paragraphs; then each is classified, for each reading's verdict.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from core.datasets.items import DatasetError, Item
from core.events import Answered, CallFailed, Message, Rules
from core.labs.consistency import mask, metrics, parse, prompts
from core.labs.consistency.metrics import Goal, Outcome, Rate
from core.labs.consistency.records import (
    Ability,
    Classification,
    Consistency,
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
    checks_of,
    classification_key,
    items_of,
    wording_name,
)
from core.runs.run import Lab, Run, together
from core.text import diff

RULES: tuple[Rules, ...] = ("paper", "repaired")


class BadDataset(CallFailed):
    """The run's dataset cannot be read."""


class Sessions:
    """One run's classifications: each prompt is asked once, also where several checks want it at the same time."""

    def __init__(self, spec: CheckSpec, run: Run) -> None:
        self._spec = spec
        self._run = run
        self._asked: dict[tuple[Message, ...], asyncio.Task[Answered]] = {}

    async def classify(self, item: Item, wording: Wording, paragraph: str, key: str) -> Answered:
        """The answer to the question about `paragraph`. Raises CallFailed."""
        prompt = prompts.classify(item, wording, paragraph)
        if prompt.messages not in self._asked:
            self._asked[prompt.messages] = asyncio.ensure_future(
                self._run.ask("classifier", prompt, self._spec.model, sampling=self._spec.sampling, item=key)
            )
        return await self._asked[prompt.messages]


async def measure(spec: CheckSpec, run: Run) -> None:
    """Check every item's answers against their explanations.

    Raises BadDataset, and CallFailed where not one first session gets an answer.
    """
    try:
        found = await asyncio.to_thread(items_of, spec)
    except DatasetError as error:
        raise BadDataset(str(error), "Mend the file, or name another path.") from error
    items: dict[str, Item] = {}
    for id, item in found.items():
        run.record(
            Paragraph(
                text=item.paragraph,
                **item.model_dump(include={"task", "question", "choices", "hypothesis", "label", "reference_edit"}),
            ),
            id,
        )
        if len(item.paragraph) > LONGEST:
            run.drop(id, "too long", f"{len(item.paragraph):,} characters; at most {LONGEST:,} can be checked")
        else:
            items[id] = item
    sessions = Sessions(spec, run)
    checks = checks_of(spec, items)

    failures: list[CallFailed] = []

    async def first(key: str, check: Check) -> Classification:
        try:
            return await _first(spec, run, sessions, key, check)
        except CallFailed as failure:
            failures.append(failure)
            raise

    async def able(key: str, check: Check) -> None:
        await _able(spec, run, key, check)

    async def one(key: str, check: Check) -> dict[Rules, Outcome]:
        return await _check(spec, run, sessions, key, check, firsts[classification_key(check.item.id, check.wording)])

    planned = {classification_key(check.item.id, check.wording): check for check in checks.values()}
    firsts = await run.each(planned, first)
    if failures and not firsts:
        raise failures[0]
    if spec.answerable:
        await run.each({answerable_key(check.item.id, check.wording): check for check in checks.values()}, able)
    ready: dict[str, Check] = {}
    for key, check in checks.items():
        if classification_key(check.item.id, check.wording) in firsts:
            ready[key] = check
        else:
            run.drop(key, "error", "the first session failed")
    outcomes = await run.each(ready, one)
    for key, check in checks.items():
        if key not in outcomes:
            outcomes[key] = _failed(check, firsts.get(classification_key(check.item.id, check.wording)))
    _score(run, spec, checks, outcomes, firsts, len(planned))


def label(item: Item, text: str, rules: Rules) -> str | None:
    """The class in a classification's raw text; None where it cannot be read."""
    if item.task == "multi_choice":
        return parse.choice(text, item.choices, rules)
    return parse.sentiment(text, rules) if item.task == "sentiment" else parse.entailment(text, rules)


async def _first(spec: CheckSpec, run: Run, sessions: Sessions, key: str, check: Check) -> Classification:
    item, wording = check.item, check.wording
    answered = await sessions.classify(item, wording, item.paragraph, key)
    readings: dict[str, Any] = {}
    for rules in RULES:
        readings[rules] = label(item, answered.text, rules)
        readings[f"correct_{rules}"] = metrics.correct(readings[rules], item.label)
    classification = Classification(call=answered.call, persona=wording.persona, **readings)
    run.record(classification, key)
    for rules in RULES:
        if readings[rules] is None:
            run.drop(key, "unparsed", "the answer names none of the classes", rules)
    return classification


async def _able(spec: CheckSpec, run: Run, key: str, check: Check) -> None:
    prompt = prompts.answerable(check.item, check.wording)
    answered = await run.ask("classifier", prompt, spec.model, sampling=spec.sampling, item=key)
    said = {rules: parse.ability(answered.text, rules) for rules in RULES}
    run.record(Ability(call=answered.call, persona=check.wording.persona, **said), key)


async def _check(
    spec: CheckSpec, run: Run, sessions: Sessions, key: str, check: Check, first: Classification
) -> dict[Rules, Outcome]:
    """Sessions two and three of one check, and its control. Raises CallFailed where one of the sessions fails."""
    explanation = check.explanation
    goal = _goal(check, first)
    if explanation == "counterfactual" and goal is not None and goal.wanted is None:
        explained = None
        again = Recheck()
    else:
        explained = await _explain(spec, run, key, check, goal)
        again = await _again(run, sessions, key, check, explained)
    found = _judge(check, first, goal, explained, again)
    run.record(found, key)
    edited = explained and (explained.edited_repaired or explained.edited_paper)
    if explained and edited and explanation != "counterfactual" and spec.controls:
        try:
            control = await _control(spec, sessions, key, check, explained, edited)
        except CallFailed as failure:
            run.drop(f"{key}/control", "error", failure.message)
        else:
            found = found.model_copy(update=_shares(check, control, explained, edited))
            run.record(found, key)
            run.record(control, key)
    _tell_drops(run, key, found)
    return {rules: _outcome(found, rules) for rules in RULES}


def _goal(check: Check, first: Classification) -> Goal | None:
    if check.explanation != "counterfactual":
        return None
    item = check.item
    return metrics.goal(check.task, item.label, first.repaired or first.paper, item.choices)


async def _explain(spec: CheckSpec, run: Run, key: str, check: Check, goal: Goal | None) -> SelfExplanation:
    item, explanation, wording = check.item, check.explanation, check.wording
    if explanation == "counterfactual":
        prompt = prompts.counterfactual(item, wording, (goal.wanted if goal else None) or "")
    else:
        prompt = (prompts.redaction if explanation == "redaction" else prompts.attribution)(item, wording)
    answered = await run.ask("explainer", prompt, spec.model, sampling=spec.sampling, item=key)
    readings: dict[str, Any] = {}
    for rules in RULES:
        if explanation == "attribution":
            words = parse.word_list(answered.text, rules)
            readings[f"words_{rules}"] = tuple(words) if words else None
            edited = mask.redact(item.paragraph, words, wording.mask, rules) if words else None
        else:
            edited = parse.paragraph(answered.text, rules)
        readings[f"edited_{rules}"] = edited
    if goal is not None:
        readings |= {"wanted": goal.wanted, "basis": goal.basis}
    explained = SelfExplanation(call=answered.call, **readings)
    run.record(explained, key)
    return explained


async def _again(run: Run, sessions: Sessions, key: str, check: Check, explained: SelfExplanation) -> Recheck:
    """The third session, for each reading of the explanation that gives a paragraph of its own."""
    edits = {rules: edited for rules in RULES if (edited := getattr(explained, f"edited_{rules}")) is not None}
    distinct = list(dict.fromkeys(edits.values()))
    answers = await together(
        *(sessions.classify(check.item, check.wording, edited, key) for edited in reversed(distinct))
    )
    by_edit = dict(zip(reversed(distinct), answers, strict=True))
    readings: dict[str, str | None] = {}
    for rules, edited in edits.items():
        readings[f"call_{rules}"] = by_edit[edited].call
        readings[rules] = label(check.item, by_edit[edited].text, rules)
    again = Recheck(**readings)
    if readings:
        run.record(again, key)
    return again


async def _control(
    spec: CheckSpec, sessions: Sessions, key: str, check: Check, explained: SelfExplanation, edited: str
) -> MaskControl:
    """What random masks do, as many and of like length as the explanation's own; and masks on every word."""
    item, explanation, wording = check.item, check.explanation, check.wording
    words = explained.words_repaired or explained.words_paper or ()
    texts = [
        mask.matched_random(item.paragraph, words, wording.mask, seed)
        if explanation == "attribution"
        else mask.matched_random_redaction(item.paragraph, edited, wording.mask, seed)
        for seed in range(spec.seed, spec.seed + spec.controls)
    ]
    everything = mask.mask_all(item.paragraph, wording.mask)
    *random, blank = await together(
        *(sessions.classify(item, wording, text, f"{key}/random-{n}") for n, text in enumerate(texts, start=1)),
        sessions.classify(item, wording, everything, f"{key}/everything"),
    )
    readings: dict[str, Any] = {}
    for rules in RULES:
        readings[rules] = tuple(label(item, answered.text, rules) for answered in random)
        readings[f"all_{rules}"] = label(item, blank.text, rules)
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
        said = [one for one in getattr(control, rules) if one is not None]
        matches = getattr(explained, f"edited_{rules}") == edited
        effects = [metrics.cannot_tell(check.task, one) for one in said]
        shares[f"control_{rules}"] = sum(effects) / len(effects) if effects and matches else None
    return shares


def _judge(
    check: Check, first: Classification, goal: Goal | None, explained: SelfExplanation | None, again: Recheck
) -> Consistency:
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
        **readings,
    )


def _tell_drops(run: Run, key: str, found: Consistency) -> None:
    """Say of a check that does not count, under either rules, why not."""
    for rules in RULES:
        before = getattr(found, f"before_{rules}")
        if reason := getattr(found, f"reason_{rules}"):
            run.drop(key, "unparsed" if "could not be read" in reason else "undecided", reason, rules)
        elif metrics.correct(before, found.label) is False:
            run.drop(key, "misclassified", f"the first answer was {before}, correct is {found.label}", rules)
        elif found.label is None and rules == "paper":
            run.drop(key, "no label", "the paper's figure is about correctly classified items", rules)


def _outcome(found: Consistency, rules: Rules) -> Outcome:
    return Outcome(
        item=found.paragraph,
        correct=metrics.correct(getattr(found, f"before_{rules}"), found.label),
        faithful=getattr(found, f"faithful_{rules}"),
        reason=getattr(found, f"reason_{rules}"),
        labelled=found.label is not None,
        control=getattr(found, f"control_{rules}"),
    )


def _failed(check: Check, first: Classification | None) -> dict[Rules, Outcome]:
    return {
        rules: Outcome(
            item=check.item.id,
            correct=getattr(first, f"correct_{rules}") if first else None,
            faithful="undecided",
            reason="a call failed",
            labelled=check.item.label is not None,
            error=True,
        )
        for rules in RULES
    }


def _score(
    run: Run,
    spec: CheckSpec,
    checks: Mapping[str, Check],
    outcomes: Mapping[str, Mapping[Rules, Outcome]],
    firsts: Mapping[str, Classification],
    asked: int,
) -> None:
    """All figures of the whole run, then those of each explanation and wording, where there are several."""
    labelled = [one for one in firsts.values() if one.correct_repaired is not None or one.correct_paper is not None]
    groups: dict[str, list[str]] = {"": list(checks)}
    for key, check in checks.items():
        for group in (check.explanation, f"{check.explanation}/{wording_name(check.explanation, check.wording)}"):
            groups.setdefault(group, []).append(key)
    paragraphs = len({check.item.id for check in checks.values()})
    for rules in RULES:
        corrects = [getattr(one, f"correct_{rules}") for one in firsts.values()]
        rate = metrics.accuracy(corrects, asked - len(firsts), rules, paragraphs)
        _publish(run, "accuracy", rate, rules, "", {"labelled": len(labelled)})
        told: set[tuple[str, ...]] = set()
        for group, keys in groups.items():
            if tuple(keys) in told:
                # One explanation, or one wording of it: the same checks as the larger group.
                continue
            told.add(tuple(keys))
            _score_group(run, spec, group, [(checks[key], outcomes[key][rules]) for key in keys], rules)


def _score_group(run: Run, spec: CheckSpec, group: str, checks: Sequence[tuple[Check, Outcome]], rules: Rules) -> None:
    all = [outcome for _, outcome in checks]
    masked = [outcome for check, outcome in checks if check.explanation != "counterfactual"]
    everyone = metrics.faithfulness_of_all(all)
    detail: dict[str, Any] = {"of_all": everyone.value, "of_all_n": everyone.n}
    if rules == "paper":
        detail["mismatches"] = metrics.mismatches(all)
    _publish(run, "faithfulness", metrics.faithfulness(all, rules), rules, group, detail)
    control = {"random_masks": spec.controls}
    _publish(run, "faithfulness_control", metrics.faithfulness_control(masked), rules, group, control)
    _publish(run, "faithfulness_gain", metrics.faithfulness_gain(masked), rules, group, control)


def _publish(run: Run, metric: str, rate: Rate, rules: Rules, group: str, detail: dict[str, Any]) -> None:
    run.score(
        metric, rate.value, n=rate.n, of=rate.of, low=rate.low, high=rate.high, rules=rules, item=group, detail=detail
    )


LAB = Lab("consistency", CheckSpec, measure, prompts.hashes)
