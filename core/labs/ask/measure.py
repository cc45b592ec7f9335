"""Measure one case: explain, vary, simulate, answer. Chen et al. 2023, sections 3 and 4."""

from collections.abc import Mapping
from typing import Any

from ...events import Answered, CallError, Message, Prompt
from ...models.ids import GIVEN
from ...parsers import fields
from ...rulesets import RULES, PerRuleset
from ...runs.context import CaseContext
from ..base.report import Case
from . import parse, prompts
from .counterfactuals import Tested, UnderTest, ask_tested, given, one_after_another, pooled, run_trial
from .records import OPPOSITE, Counterfactual, Examined, Explanation, OtherExplanation
from .tasks import AskSpec, Starter, another, another_case


async def measure(spec: AskSpec, case: Case, run: CaseContext) -> None:
    """Test one explanation. Raises CallError if the starter question gets no answer.

    Generator and simulator see what the run's parser (`spec.rules`) extracted.
    """
    for item, examined in run.at("").recorded(Examined).items():
        # Recorded in each case so that each case is complete by itself.
        run.record(examined, item)
    question: Starter = case.about
    starter = await _explain(spec, question, run)
    if starter is None:
        return
    if starter.explanation[spec.rules] is None:
        run.drop("starter", "unparsed", "there is no explanation to read in the model's answer")
        return

    for number, text in enumerate(spec.extra, start=1):
        run.record(Counterfactual(text=text, origin="hand"), f"hand-{number:02}", trial=f"hand-{number:02}")
    by_hand = {item: one for item, one in run.recorded(Counterfactual).items() if one.origin == "hand"}

    under_test = UnderTest(spec, question, run, starter)

    async def hand(item: str, counterfactual: Counterfactual) -> None:
        await run_trial(under_test, item, counterfactual)
        run.drop(item, "added by hand", "chosen after reading the explanation, so shown and not counted", trial=item)

    if "swapped" in spec.arms:
        await _explain_another(spec, case, run)
    draw = given if spec.given else pooled if spec.rules == "paper" else one_after_another
    tested = await draw(under_test)
    await run.map_items(by_hand, hand)
    _drop_uncounted(run, dict(sorted(tested.items())))


async def _explain(spec: AskSpec, question: Starter, run: CaseContext) -> Explanation | None:
    """Ask for the answer to the starter question and its explanation. With the method `forced`, first ask for the
    model's own answer, to make it defend the opposite. An answer that was cut off excludes the case for the updated
    parser; returns None if the case is excluded for the parser of this run.
    """
    if question.given:
        starter = Explanation(**await _given(spec, run, question, question.given, "starter"))
        run.record(starter, "starter")
        return starter
    force = None
    if spec.method == "forced":
        prompt = prompts.explain(spec, question.slots)
        natural = await ask_tested(spec, run, "explainer", prompt, "natural")
        if spec.explained_by == "answer" and _is_excluded(spec, run, prompt, natural):
            return None
        text = fields.readable(natural, spec.rules, prompt.json_schema)
        chosen = parse.answer(text, "posthoc", spec.task, spec.rules, prompt.json_schema)
        if chosen == "neither":
            raise CallError(
                "The model gave no answer that could be read, so there is no opposite answer to make it defend.",
                "Try another question, or another way to explain.",
            )
        force = OPPOSITE[chosen]
    prompt = prompts.explain(spec, question.slots, force)
    answered = await ask_tested(spec, run, "explainer", prompt, "starter")
    starter = Explanation(**_explanation(spec, question, prompt, answered, force))
    run.record(starter, "starter")
    return None if _is_excluded(spec, run, prompt, answered) else starter


async def _given(
    spec: AskSpec, run: CaseContext, question: Starter, given: tuple[str, str], item: str
) -> dict[str, Any]:
    """Journal an explanation that was `given`, as the answer to its question of a model that only repeats it. Return
    its fields; nothing of it has to be parsed.
    """
    words, said = given
    asked = Message(role="user", content="\n\n".join(question.slots.values()))
    told = Message(role="assistant", content=f"{words}\nAnswer: {said}")
    prompt = Prompt(id=GIVEN, hash="", messages=(asked, told), slots=question.slots)
    answered = await run.ask("explainer", prompt, GIVEN, item=item)
    text = parse.with_answer(words, said, spec.method, spec.task)
    return {
        **_about(spec, question, answered),
        "answer": PerRuleset.same_for_both(said),
        "explanation": PerRuleset.same_for_both(text),
    }


def _about(spec: AskSpec, question: Starter, answered: Answered) -> dict[str, Any]:
    """Return the fields of an explanation that do not depend on what is read in it."""
    about = {"call": answered.call, "task": spec.task, "method": spec.method, "gold": question.gold}
    return {**about, **question.slots}


HIDDEN = "thinking not shown"
"""The reason in the `dropped` event of a case whose thinking should be its explanation but cannot be read."""


def _why_hidden(answered: Answered) -> str:
    """Return why the model's thinking cannot be used as its explanation; an empty string if it can."""
    thinking = answered.thinking
    if thinking is None:
        return "its thinking is not shown: it gave none"
    if thinking.kind == "raw" and thinking.text.strip():
        return ""
    return f"its thinking is not shown: {'only a summary is' if thinking.kind == 'summary' else 'it is hidden'}"


def _is_excluded(spec: AskSpec, run: CaseContext, prompt: Prompt, answered: Answered) -> bool:
    """Drop the case if its first answer was cut off (for the updated parser), or if its thinking should be the
    explanation but is not shown (for both parsers). Return whether that ends the case.
    """
    if spec.explained_by == "reasoning" and (hidden := _why_hidden(answered)):
        run.drop("", HIDDEN, hidden)
        return True
    if fields.readable(answered, "repaired", prompt.json_schema) is not None:
        return False
    run.drop("", fields.REASON, f"its first answer was {answered.cut_note}", "repaired")
    return spec.rules == "repaired"


def _explanation(
    spec: AskSpec, question: Starter, prompt: Prompt, answered: Answered, force: str | None = None
) -> dict[str, Any]:
    """Return the fields of an explanation; the answer is the forced one, if there is one."""
    # With the method `forced`, the first reply justifies the model's own answer.
    method = "posthoc" if spec.method == "forced" and force is None else spec.method
    asked, how = prompt.json_schema, (method, spec.task)
    text = PerRuleset.read_by_each(lambda rules: fields.readable(answered, rules, asked))
    answer = PerRuleset.read_by_each(lambda rules: force or parse.answer(text[rules], *how, rules, asked))
    if spec.explained_by == "answer":
        explanation = PerRuleset.read_by_each(lambda rules: parse.explanation(text[rules], *how, rules, asked))
    else:
        explanation = PerRuleset.read_by_each(lambda rules: _thought(spec, answered, answer[rules]))
    return {**_about(spec, question, answered), "answer": answer, "explanation": explanation}


def _thought(spec: AskSpec, answered: Answered, answer: str) -> str | None:
    """Return the model's thinking in place of the reasons in its answer; None if it cannot be read."""
    if _why_hidden(answered) or answered.thinking is None:
        return None
    return parse.with_answer(answered.thinking.text.strip(), answer, spec.method, spec.task)


async def _explain_another(spec: AskSpec, case: Case, run: CaseContext) -> None:
    """Ask for the model's explanation of another question, for the arm `swapped`. If there is none, the arm is dropped.

    If the other question is a case of the same run, the two cases share the call, and whichever comes first makes it.
    """
    about = another_case(spec, case, run.id)
    if about is None and not spec.is_given:
        about = another(spec, case.about, f"{spec.seed}|{run.case}")
    if about is None:
        run.drop("swapped", "nothing to swap", "every other question shares a word with this one")
        return
    if about.given:
        run.record(OtherExplanation(**await _given(spec, run, about, about.given, "swapped")), "swapped")
        return
    try:
        prompt = prompts.explain(spec, about.slots)
        answered = await ask_tested(spec, run, "explainer", prompt, "swapped")
    except CallError as failure:
        run.drop("swapped", "error", failure.message)
        return
    other = OtherExplanation(**_explanation(spec, about, prompt, answered))
    if other.explanation[spec.rules] is None and answered.cut_note:
        run.drop("swapped", fields.REASON, f"its answer to the other question was {answered.cut_note}")
    elif not parse.has_words(parse.only_reasons(other.explanation[spec.rules] or "", spec.task)):
        run.drop("swapped", "unparsed", "there are no reasons beside the answer in the model's answer")
    else:
        run.record(other, "swapped")


def _drop_uncounted(run: CaseContext, tested: Mapping[str, Tested]) -> None:
    """Record, for each parser, why a counterfactual does not count towards precision."""
    for item, (counterfactual, simulation, answer, is_cut) in tested.items():
        for rules in RULES:
            if not counterfactual[rules] or (is_cut and rules == "repaired"):
                continue
            expected, said = simulation[rules] if simulation else "", answer[rules]
            if expected == "unknown":
                run.drop(item, "not simulatable", "the simulator cannot guess from this explanation", rules, trial=item)
            elif expected == "neither":
                run.drop(item, "unparsed", "the simulator's answer could not be read", rules, trial=item)
            elif said == "neither" and rules == "repaired":
                run.drop(item, "unparsed", "the model's answer could not be read", rules, trial=item)
