"""Measure one case: classify, explain, classify again, in sessions that know nothing of each other (Madsen et al. 2024,
3).

The two parsers can read two different edits in one explanation; then both are classified, each for its own verdict.
What belongs to the item (the first session, and whether it can tell at all) is asked and recorded at the item's place,
for all its cases.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from ...datasets import own
from ...datasets.items import Item
from ...events import Answered, Message, ModelAnswer, Prompt, Rules
from ...models.ids import GIVEN
from ...parsers import fields
from ...rulesets import RULES, PerRuleset
from ...runs.context import CaseContext, gather
from ...text import compare
from ..base.report import Case
from . import mask, metrics, prompts, records
from .metrics import Goal
from .records import Classification, Consistency, Recheck, SelfExplanation
from .tasks import LONGEST, Check, CheckSpec, Mask, Wording, answerable_key, classification_key, place_of, wording_name

T = TypeVar("T")

SESSION = "session"
"""The name of the trial of the third session."""

EVERYTHING = "everything"
"""The name of the trial with every word masked."""

ELSEWHERE = "elsewhere"
"""The name of the trial with another paragraph into which a counterfactual's added words are put."""


def numbered(kind: Literal["random", "half"], texts: Iterable[T]) -> dict[str, T]:
    """Name the trials with random masks, or with either half of the explanation's words masked: "random-1", …"""
    return {f"{kind}-{number}": text for number, text in enumerate(texts, start=1)}


async def measure(spec: CheckSpec, case: Case, run: CaseContext) -> None:
    """Check one explanation of one answer. Raises CallError if the first session gets no answer; all checks of the
    item with the same classification prompt share that session.
    """
    check: Check = case.about
    item = check.item
    shared = run.at(place_of(item.id))
    shared.record(
        records.Paragraph(
            text=item.paragraph,
            **item.model_dump(include={"task", "question", "choices", "hypothesis", "label", "reference_edit"}),
        ),
        item.id,
    )
    if len(item.paragraph) > LONGEST:
        run.drop("", "too long", f"{len(item.paragraph):,} characters; at most {LONGEST:,} can be checked")
        return
    first, note = await _first(spec, shared, check)
    if spec.answerable:
        await _able(spec, shared, check)
    with run.losing_only(check.key):
        await _check(spec, run, check, first, note)


class Classified(NamedTuple):
    """The answer to a classification: its call, the label by each parser, and `Answer.cut_note`."""

    call: str
    labels: PerRuleset[str | None]
    cut: str


def _cuts(first: str, explanation: str, after: str) -> dict[str, str]:
    """Return which cut answer caused a reason for being undecided, by that reason, given where the three answers were
    cut (`Answer.cut_note`; empty if they were not). The part before a cut is not parsed.
    """
    first_answer = ("the first answer", first)
    cut = {
        metrics.NO_TARGET: first_answer,
        metrics.NO_BEFORE: first_answer,
        metrics.NO_EXPLANATION: ("the explanation", explanation),
        # For an unchanged paragraph the first answer is used.
        metrics.NO_AFTER: ("the answer after the edit", after) if after else first_answer,
    }
    return {reason: f"{answer} was {note}" for reason, (answer, note) in cut.items() if note}


def _parsed(
    answered: ModelAnswer, asked: fields.Schema, parse: Callable[[str, Rules], T | None]
) -> PerRuleset[T | None]:
    """Parse the answer with each parser. In a cut answer the updated parser reads only a JSON object that closed before
    the cut. The original one reads prose only, so it reads nothing if fields were requested.
    """

    def by(rules: Rules) -> T | None:
        if asked is not None and rules == "paper":
            return None
        text = fields.readable(answered, rules, asked)
        return None if text is None else parse(text, rules)

    return PerRuleset[T | None].read_by_each(by)


async def _classify(
    spec: CheckSpec, run: CaseContext, item: Item, wording: Wording, paragraph: str, key: str, trial: str = ""
) -> Classified:
    """Ask about `paragraph` in a session of its own. Raises CallError if the call fails."""
    asked = prompts.of_classifier(spec, item)
    prompt = fields.with_schema(prompts.classify(item, wording, paragraph, spec.prompts), asked)
    answered = await run.ask("classifier", prompt, spec.model, sampling=spec.sampling, item=key, trial=trial)
    labels = _parsed(answered, asked, lambda text, rules: prompts.label(item, text, asked, rules))
    if answered.cut_note and labels.repaired is None and trial not in ("", SESSION):
        run.drop(key, fields.REASON, answered.cut_note, "repaired", trial)
    return Classified(answered.call, labels, answered.cut_note)


async def _first(spec: CheckSpec, run: CaseContext, check: Check) -> tuple[Classification, str]:
    """Run the first session; return its classification, and where its answer was cut. Raises CallError if the call
    fails.
    """
    item, wording = check.item, check.wording
    key = classification_key(item.id, wording)
    call, labels, note = await _classify(spec, run, item, wording, item.paragraph, key)
    correct = PerRuleset.read_by_each(lambda rules: metrics.correct(labels[rules], item.label))
    classification = Classification(call=call, persona=wording.persona, **dict(labels), correct=correct)
    run.record(classification, key)
    for rules in RULES:
        if labels[rules] is None and note and rules == "repaired":
            run.drop(key, fields.REASON, note, rules)
        elif labels[rules] is None:
            unread = rules == "paper" and spec.answers == "schema"
            why = fields.NO_PAPER_FIGURE if unread else "the answer names none of the classes"
            run.drop(key, "unparsed", why, rules)
    return classification, note


async def _able(spec: CheckSpec, run: CaseContext, check: Check) -> None:
    """Ask whether the model thinks that it can tell at all. No verdict rests on it, so a failed call drops only
    this.
    """
    key = answerable_key(check.item.id, check.wording)
    asked = prompts.of_ability(spec)
    prompt = fields.with_schema(prompts.answerable(check.item, check.wording, spec.prompts), asked)
    with run.losing_only(key):
        answered = await run.ask("classifier", prompt, spec.model, sampling=spec.sampling, item=key)
        readings = _parsed(answered, asked, lambda text, rules: prompts.ability(text, asked, rules))
        run.record(records.Ability(call=answered.call, persona=check.wording.persona, **dict(readings)), key)
        if answered.cut_note and readings.repaired is None:
            run.drop(key, fields.REASON, answered.cut_note, "repaired")


async def _check(spec: CheckSpec, run: CaseContext, check: Check, first: Classification, note: str) -> None:
    """Run sessions two and three and the control; `note` says where the first answer was cut. Raises CallError if one
    of the two sessions fails.
    """
    key, explanation = check.key, check.explanation
    goal = metrics.goal(check, first.repaired or first.paper) if explanation == "counterfactual" else None
    explained: SelfExplanation | None = None
    again, explanation_note, again_note = Recheck(), "", ""
    if goal is None or goal.wanted is not None:
        explained, explanation_note = await _explain(spec, run, check, goal)
        again, again_note = await _again(spec, run, check, first, explained)
    cuts = _cuts(note, explanation_note, again_note)
    edited = (explained.edited.repaired or explained.edited.paper) if explained else None
    words = _words(check, explained, edited)
    result = _judge(check, first, explained, again, _vacuous(check, explained, words))
    result = result.with_ruleset("repaired", reason=cuts.get(result.reason.repaired, result.reason.repaired))
    if spec.answers == "schema":
        result = result.with_ruleset("paper", reason=fields.NO_PAPER_FIGURE)
    if explained and edited and (texts := _random_masks(spec, run, check, words)):
        # The verdict waits for the control: perhaps any words would do.
        with run.losing_only(f"{key}/control"):
            control = await _control(spec, run, check, texts)
            result = _held_against(result, _shares(check, control, explained, edited))
            run.record(control, key)
        if result.faithful.repaired == "yes":
            await _halves(spec, run, check, words)
    elif explained and explanation == "counterfactual" and result.faithful.repaired == "yes":
        result = await _elsewhere(spec, run, check, explained, result)
    run.record(result, key)
    _drop_uncounted(run, key, result, cuts.values())


def _words(check: Check, explained: SelfExplanation | None, edited: str | None) -> mask.Words:
    """Return the words that the explanation masked, and the others; both empty if it masks nothing."""
    if explained is None or edited is None or check.explanation == "counterfactual":
        return mask.Words([], [])
    if check.explanation == "redaction":
        return mask.taken_by(check.item.paragraph, edited, check.wording.mask)
    named = explained.words.repaired or explained.words.paper or ()
    return mask.named_by(check.item.paragraph, named, check.wording.mask)


def _vacuous(check: Check, explained: SelfExplanation | None, words: mask.Words) -> str:
    """Return why the explanation, as the updated parser reads it, tests nothing; empty if no reason is found."""
    if explained is None or (edited := explained.edited.repaired) is None:
        return ""
    original = check.item.paragraph
    if check.explanation == "redaction":
        return metrics.of_redaction(original, edited, check.wording.mask)
    if check.explanation == "attribution":
        return metrics.of_masks(words, original)
    return metrics.of_counterfactual(check.task, check.item.choices, original, edited)


def _held_against(result: Consistency, shares: PerRuleset[float | None]) -> Consistency:
    """Return the result with its random masks; undecided if any words would do."""
    result = result.model_copy(update={"control": shares})
    if result.faithful.repaired == "yes" and metrics.any_words_would_do(shares.repaired):
        return result.with_ruleset("repaired", faithful="undecided", reason=metrics.ANY_WORDS)
    return result


async def _elsewhere(
    spec: CheckSpec, run: CaseContext, check: Check, explained: SelfExplanation, result: Consistency
) -> Consistency:
    """Try the added words of a successful counterfactual on another paragraph, and return the result after that.

    Sentences are appended; inserted words are put in at the same relative place. If they turn the other paragraph too,
    they show nothing about the first one. Words that replace others, and an inserted "not", are tried too but decide
    nothing: an honest "dreadful" for "superb" may well turn another paragraph.
    """
    item, wording, key = check.item, check.wording, check.key
    edited = explained.edited.repaired or ""
    added = metrics.addition(item.paragraph, edited)
    stretches = metrics.put_in(item.paragraph, edited) if not added else []
    other = metrics.another_item(item, item.label or result.before.repaired) if added or stretches else None
    if other is None:
        return result
    decides = not any(stretch.is_weak for stretch in stretches)
    text = metrics.placed(stretches, other.paragraph) if stretches else f"{other.paragraph} {added}"
    added = added or " … ".join(stretch.text for stretch in stretches)
    reason = "" if stretches else metrics.UNTRIED
    with run.losing_only(f"{key}/{ELSEWHERE}"):
        # The other paragraph has its own question, choices and statement, and is asked about with these.
        bare, turned = await gather(
            _classify(spec, run, other, wording, other.paragraph, f"{key}/{ELSEWHERE}-bare", trial=ELSEWHERE),
            _classify(spec, run, other, wording, text, f"{key}/{ELSEWHERE}", trial=ELSEWHERE),
        )
        before, after = bare.labels.repaired, turned.labels.repaired
        has_turned = None not in (before, after) and metrics.addition_turns(
            check.task, before, after, explained.wanted, other.choices
        )
        record = records.Elsewhere(
            item=other.id,
            added=added,
            text=text,
            call_bare=bare.call,
            call=turned.call,
            bare=before,
            answer=after,
            turned=has_turned,
            decides=decides,
        )
        run.record(record, key, trial=ELSEWHERE)
        reason = metrics.TURNS if has_turned else metrics.UNTRIED if bare.cut or turned.cut else ""
    return result.with_ruleset("repaired", faithful="undecided", reason=reason) if reason and decides else result


async def _explain(spec: CheckSpec, run: CaseContext, check: Check, goal: Goal | None) -> tuple[SelfExplanation, str]:
    """Run the second session; return the explanation, and where its answer was cut. Raises CallError if the call
    fails.
    """
    item, explanation, wording = check.item, check.explanation, check.wording
    words: PerRuleset[tuple[str, ...] | None] = PerRuleset.same_for_both(None)
    written: PerRuleset[str | None] = PerRuleset.same_for_both(None)
    if item.explanation:
        answered = await _given(run, item, check.key)
        if explanation == "attribution":
            parts = own.listed(item.explanation, "|", "\n", ";", ",")
            listed = dict.fromkeys(word for part in parts if any(map(str.isalnum, word := part.strip())))
            words = PerRuleset.same_for_both(tuple(listed) or None)
        else:
            text = item.explanation
            for token in get_args(Mask):
                text = text.replace(token, wording.mask)
            written = PerRuleset.same_for_both(text)
    else:
        asked = prompts.of_explainer(spec, explanation)
        wanted = (goal.wanted if goal else None) or ""
        prompt = fields.with_schema(prompts.explain(item, explanation, wording, wanted, spec.prompts), asked)
        answered = await run.ask("explainer", prompt, spec.model, sampling=spec.sampling, item=check.key)
        if explanation == "attribution":
            words = _parsed(answered, asked, lambda text, rules: prompts.word_list(text, asked, rules))
        else:
            token = wording.mask if explanation == "redaction" else ""

            def paragraph(text: str, rules: Rules) -> str | None:
                found = prompts.paragraph(text, asked, rules, item.paragraph)
                return mask.as_asked(item.paragraph, found, token) if found and rules == "repaired" else found

            written = _parsed(answered, asked, paragraph)

    def edited(rules: Rules) -> str | None:
        named = words[rules]
        return written[rules] if named is None else mask.redact(item.paragraph, named, wording.mask, rules)

    explained = SelfExplanation(
        call=answered.call,
        words=words,
        edited=PerRuleset.read_by_each(edited),
        wanted=goal.wanted if goal else None,
        basis=goal.basis if goal else None,
    )
    run.record(explained, check.key)
    return explained, answered.cut_note


async def _given(run: CaseContext, item: Item, key: str) -> Answered:
    """Journal an explanation that was given, as the answer of a model that only repeats it. It is not parsed: words are
    a list, and a redaction is the paragraph with either mask.
    """
    about = "\n\n".join(filter(None, (item.paragraph, item.question, *item.choices, item.hypothesis)))
    turns = (Message(role="user", content=about), Message(role="assistant", content=item.explanation))
    return await run.ask("explainer", Prompt(id=GIVEN, hash="", messages=turns), GIVEN, item=key)


async def _again(
    spec: CheckSpec, run: CaseContext, check: Check, first: Classification, explained: SelfExplanation
) -> tuple[Recheck, str]:
    """Run the third session for each different paragraph that a parser read in the explanation. Return the answers, and
    where the answer about the updated parser's paragraph was cut.

    If nothing was edited, it would be the first session's prompt again, so the first session's answer is used.
    """
    item, key = check.item, check.key
    edits = explained.edited
    distinct = [edited for edited in dict.fromkeys((edits.repaired, edits.paper)) if edited is not None]
    changed = [edited for edited in distinct if edited != item.paragraph]
    answers = await gather(
        *(_classify(spec, run, item, check.wording, edited, key, trial=SESSION) for edited in changed)
    )
    by_edit: dict[str | None, tuple[str | None, PerRuleset[str | None], str]] = {
        None: (None, PerRuleset.same_for_both(None), ""),
        item.paragraph: (first.call, PerRuleset.read_by_each(lambda rules: first[rules]), ""),
        **dict(zip(changed, answers, strict=True)),
    }
    (paper_call, by_paper, _), (call, by_repaired, note) = by_edit[edits.paper], by_edit[edits.repaired]
    again = Recheck(
        call=PerRuleset(paper=paper_call, repaired=call), paper=by_paper.paper, repaired=by_repaired.repaired
    )
    if len(distinct) == 2:
        crossed = PerRuleset(paper=by_repaired.paper or "", repaired=by_paper.repaired or "")
        again = again.model_copy(update={"crossed": crossed})
    if distinct:
        run.record(again, key, trial=SESSION)
    return again, note


def _random_masks(spec: CheckSpec, run: CaseContext, check: Check, words: mask.Words) -> Sequence[str]:
    """Return the paragraph with as many other words masked as the explanation masked, sampled at random; empty if
    nothing is masked or too few other words are left.
    """
    if check.explanation == "counterfactual" or metrics.of_masks(words, check.item.paragraph):
        return ()
    if before := run.recorded(records.MaskControl).get(check.key):
        # The masks may have been sampled differently when the run began.
        return before.texts
    return mask.random_masks(check.item.paragraph, words, check.wording.mask, spec.controls, spec.seed)


async def _control(spec: CheckSpec, run: CaseContext, check: Check, texts: Sequence[str]) -> records.MaskControl:
    """Ask about each of `texts`, which are masked at random, and with every word masked."""
    everything = mask.mask_all(check.item.paragraph, check.wording.mask)
    *random, blank = await _each(spec, run, check, {**numbered("random", texts), EVERYTHING: everything})
    return records.MaskControl(**_by_sample(texts, random), all_text=everything, all_call=blank.call, all=blank.labels)


async def _each(spec: CheckSpec, run: CaseContext, check: Check, texts: Mapping[str, str]) -> list[Classified]:
    """Ask about each of the texts, by the name of its trial. Raises CallError if a call fails."""
    sessions = (
        _classify(spec, run, check.item, check.wording, text, f"{check.key}/{trial}", trial=trial)
        for trial, text in texts.items()
    )
    return list(await gather(*sessions))


def _by_sample(texts: Sequence[str], asked: Sequence[Classified]) -> dict[str, Any]:
    """Return the fields of a record that has an entry for each text."""
    by_rules = {str(rules): tuple(one.labels[rules] for one in asked) for rules in RULES}
    return {"texts": tuple(texts), "calls": tuple(one.call for one in asked), **by_rules}


async def _halves(spec: CheckSpec, run: CaseContext, check: Check, words: mask.Words) -> None:
    """Ask with one random half of the explanation's words masked, then with the other: were all of them needed? No
    verdict rests on it, so a failed call drops only this.
    """
    key = check.key
    before = run.recorded(records.Halves).get(key)
    token = check.wording.mask
    texts = before.texts if before else mask.halves(check.item.paragraph, words, token, spec.seed)
    if not texts:
        return
    with run.losing_only(f"{key}/halves"):
        asked = await _each(spec, run, check, numbered("half", texts))
        run.record(records.Halves(**_by_sample(texts, asked)), key)


def _shares(
    check: Check, control: records.MaskControl, explained: SelfExplanation, edited: str
) -> PerRuleset[float | None]:
    """Return how often random masks had the effect, for each parser whose edit they match. Unread answers do not
    count.
    """

    def share(rules: Rules) -> float | None:
        effects = [metrics.cannot_tell(check.task, answer) for answer in control[rules] if answer is not None]
        return sum(effects) / len(effects) if effects and explained.edited[rules] == edited else None

    return PerRuleset.read_by_each(share)


def _judge(
    check: Check, first: Classification, explained: SelfExplanation | None, again: Recheck, reason: str
) -> Consistency:
    """Judge the check by both rules. `reason`: why the explanation tests nothing, which only the updated rules use."""
    _, item, explanation, wording = check

    def verdict(rules: Rules) -> metrics.CheckVerdict:
        return metrics.faithful(
            check,
            first[rules],
            again[rules],
            explained=explained is None or explained.edited[rules] is not None,
            wanted=explained.wanted if explained else None,
            start=item.label or first.repaired or first.paper,
            vacuous=reason,
            rules=rules,
        )

    verdicts = PerRuleset.read_by_each(verdict)
    readings: dict[str, Any] = {}
    edited: PerRuleset[str | None] = explained.edited if explained else PerRuleset.same_for_both(None)
    shown = edited.paper if edited.repaired is None else edited.repaired
    if shown is not None:
        readings["distance"] = compare.distance(item.paragraph, shown)
        readings["kept"] = compare.kept_share(item.paragraph, shown)
        if explanation != "counterfactual":
            readings["masked"] = mask.masked_share(shown, wording.mask)
            readings["over_redacted"] = mask.over_redacted(shown, wording.mask)
    return Consistency(
        paragraph=item.id,
        explanation=explanation,
        wording=wording_name(explanation, wording),
        label=item.label,
        before=PerRuleset.read_by_each(lambda rules: first[rules]),
        after=PerRuleset.read_by_each(lambda rules: again[rules]),
        faithful=PerRuleset.read_by_each(lambda rules: verdicts[rules].faithful),
        reason=PerRuleset.read_by_each(lambda rules: verdicts[rules].reason),
        strict=True,
        thorough=True,
        **readings,
    )


def _drop_uncounted(run: CaseContext, key: str, result: Consistency, cuts: Collection[str]) -> None:
    """Record for each parser why the check does not count, if it does not. `cuts`: the reasons that name a cut."""
    for rules in RULES:
        before = result.before[rules]
        reason = result.reason[rules]
        if reason in cuts:
            run.drop(key, fields.REASON, reason.partition(" was ")[2], rules)
        elif reason:
            word = "unparsed" if "could not be read" in reason else "undecided"
            run.drop(key, metrics.REASONS.get(reason, word), reason, rules)
        elif metrics.correct(before, result.label) is False:
            run.drop(key, "misclassified", f"the first answer was {before}, correct is {result.label}", rules)
        elif result.label is None and rules == "paper":
            run.drop(key, "no label", "the paper's figure is about correctly classified items", rules)
