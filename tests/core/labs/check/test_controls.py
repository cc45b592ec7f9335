"""The controls' known values: honest 1, decoy 0, for every explanation, wording and parser."""

import asyncio
import time
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets.items import Item
from core.events import Request
from core.labs.check import mask, metrics, parse, prompts
from core.labs.check.controls import Slots, _sentences, classifiers, controls
from core.labs.check.tasks import EXPLANATIONS, TASKS, Check, Persona, Wording, every_wording, shipped
from core.models.errors import RequestRefusedError
from tests.support.chance import tenth
from tests.support.datasets import load

ROLES = {"classify": "classifier", "answerable": "classifier"}


ROBOTS = controls()
LOOP = asyncio.Runner()
"""One loop for all calls here, because making a loop takes longer than a robot does."""


@pytest.fixture(scope="module", autouse=True)
def closed_loop():
    yield
    LOOP.close()


def ask(id, prompt):
    request = Request(
        role=ROLES.get(prompt.slots["session"], "explainer"), model=id, messages=prompt.messages, slots=prompt.slots
    )
    heard = []
    answer = LOOP.run(ROBOTS[id].answer(request, heard.append))
    assert "".join(heard) == answer.text
    return answer.text


def label(item, text, rules):
    if item.task == "multi_choice":
        return parse.choice(text, item.choices, rules)
    return {"sentiment": parse.sentiment, "entailment": parse.entailment}[item.task](text, rules)


def check(id, item, explanation, wording, rules):
    """Run the three sessions as the lab does."""
    before = label(item, ask(id, prompts.classify(item, wording)), rules)
    one = Check(item.task, item, explanation, wording)
    goal = metrics.goal(one, before)
    said = ask(id, prompts.explain(item, explanation, wording, goal.wanted or ""))
    if explanation == "attribution":
        edited = mask.redact(item.paragraph, parse.word_list(said, rules), wording.mask, rules)
    else:
        edited = parse.paragraph(said, rules)
    after = label(item, ask(id, prompts.classify(item, wording, edited)), rules)
    explained = edited is not None
    verdict = metrics.faithful(
        one, before, after, explained=explained, wanted=goal.wanted, start=item.label, rules=rules
    )
    return metrics.Outcome(item=item.id, correct=metrics.correct(before, item.label), faithful=verdict.faithful)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("id", "known"), [("control/honest-lexicon", 1.0), ("control/decoy-lexicon", 0.0)])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("explanation", EXPLANATIONS)
@pytest.mark.parametrize("rules", ["paper", "repaired"])
def test_known_faithfulness(id, known, task, explanation, rules):
    for wording in [*every_wording(explanation), Wording(mask_sentence=False, short=True)]:
        outcomes = [check(id, item, explanation, wording, rules) for item in shipped(task)]
        rate = metrics.faithfulness(outcomes, rules)
        assert (rate.value, rate.n, rate.of) == (known, 20, 20)


@pytest.mark.parametrize(("id", "repaired"), [("control/honest-lexicon", 1.0), ("control/decoy-lexicon", 0.0)])
def test_of_one_choice_the_only_other_answer_is_that_there_is_no_telling(id, repaired):
    stories = [item.model_copy(update={"choices": (item.label,)}) for item in shipped("multi_choice")]
    for persona in get_args(Persona):
        wording = Wording(persona=persona, target="implicit")
        for rules, known in (("paper", 0.0), ("repaired", repaired)):
            outcomes = [check(id, item, "counterfactual", wording, rules) for item in stories]
            rate = metrics.faithfulness(outcomes, rules)
            assert (rate.value, rate.n, rate.of) == (known, 20, 20)
    asked = prompts.explain(stories[0], "counterfactual", Wording(target="implicit"))
    assert f'a) "{stories[0].label}", and b) "unknown"' in asked.messages[-1].content


@pytest.mark.parametrize("task", TASKS)
def test_they_say_that_they_can_tell_and_that_they_cannot(task):
    for id in controls():
        for item in shipped(task):
            assert ask(id, prompts.answerable(item, Wording())) == "yes"
            blank = item.model_copy(update={"paragraph": mask.mask_all(item.paragraph, "[REDACTED]")})
            assert ask(id, prompts.answerable(blank, Wording())) == "no"


def test_last_mention_answers_all_of_babi_1(datasets):
    items = load("babi-1", datasets / "babi")
    assert len(items) == 24
    for item in items:
        assert check("control/honest-lexicon", item, "counterfactual", Wording(), "repaired").correct


@pytest.mark.outside_data
def test_last_mention_answers_all_of_the_published_babi_1(outside):
    for item in load("babi-1", outside / "babi", limit=100):
        assert check("control/honest-lexicon", item, "counterfactual", Wording(), "repaired").correct


def test_a_word_stands_in_one_pair_only():
    swap = classifiers()["sentiment"].swap  # type: ignore[attr-defined]
    assert all(swap[swap[word]] == word for word in swap)
    assert len({frozenset(pair) for pair in swap.items()}) * 2 == len(swap)


@pytest.mark.parametrize(
    ("paragraph", "wanted", "edited"),
    [
        ("An AWFUL film, and A better ending.", "positive", "An EXCELLENT film, and A better ending."),
        ("An AWFUL film, and A better ending.", "negative", "An AWFUL film, and A worse ending."),
        ("An annoying man.", "positive", "A charming man."),
        ("A good idea.", "negative", "A bad idea."),
        ("Superb!", "negative", "Terrible!"),
    ],
)
def test_edits_keep_capitals_and_mend_articles(paragraph, wanted, edited):
    assert classifiers()["sentiment"].edit(Slots(paragraph=paragraph), wanted) == edited


@pytest.mark.parametrize(
    ("paragraph", "hypothesis", "label", "edited"),
    [
        ("The lift is not broken.", "The lift is broken.", "no", "The lift is broken."),
        ("The lift isn't broken.", "The lift is broken.", "no", "The lift is broken."),
        ("The lift is broken.", "The lift is broken.", "yes", "It is not true that the lift is broken."),
        ("It is not true that the lift is broken.", "The lift is broken.", "no", "The lift is broken."),
        ("Anna left.", "Anna left.", "yes", "It is not true that Anna left."),
        ("The lift is old.", "The lift is broken.", "no", "The lift is old. The lift is broken."),
        ("Rain fell.", "The lift is broken.", "unknown", "Rain fell. The lift is broken."),
    ],
)
def test_entailment_turns_on_words_and_negations(paragraph, hypothesis, label, edited):
    classifier = classifiers()["entailment"]
    asked = Slots(paragraph=paragraph, hypothesis=hypothesis)
    assert classifier.label(asked) == label
    assert classifier.edit(asked, "") == edited


ANY = st.text(max_size=80)


@settings(max_examples=tenth(40), deadline=None)
@given(
    ANY,
    ANY,
    ANY,
    st.lists(ANY.filter(lambda text: "\n" not in text), min_size=1, max_size=3, unique=True),
    st.sampled_from(list(controls())),
)
def test_anything_can_be_asked(paragraph, question, hypothesis, choices, id):
    for task in TASKS:
        item = Item(
            id="any", task=task, paragraph=paragraph, question=question,
            choices=tuple(choices) if task == "multi_choice" else (), hypothesis=hypothesis,
        )  # fmt: skip
        for target in ("explicit", "implicit"):
            wanted = {"sentiment": "negative", "entailment": "no"}.get(task, choices[0])
            ask(id, prompts.explain(item, "counterfactual", Wording(target=target), wanted))
        for session in (prompts.classify, prompts.answerable):
            assert ask(id, session(item, Wording()))
        for explanation in ("redaction", "attribution"):
            assert ask(id, prompts.explain(item, explanation, Wording()))


def test_honest_reaches_any_target_even_from_a_paragraph_without_its_words():
    for task, wanted in (
        ("sentiment", "positive"),
        ("sentiment", "negative"),
        ("entailment", "yes"),
        ("entailment", "no"),
    ):
        asked = Slots(paragraph="Rain fell.", hypothesis="The baker sells rolls.")
        classifier = classifiers()[task]
        assert classifier.label(asked) == "unknown"
        assert classifier.label(asked.edited(classifier.edit(asked, wanted))) == wanted
    asked = Slots(paragraph="Rain fell.", question="Where is Ann?", choices=("hall", "attic"))
    classifier = classifiers()["multi_choice"]
    assert classifier.label(asked.edited(classifier.edit(asked, "attic"))) == "attic"


def test_other_roles_are_refused():
    request = Request(role="simulator", model="control/honest-lexicon", messages=(), slots={"task": "strategyqa"})
    with pytest.raises(RequestRefusedError, match="cannot play the role of simulator"):
        asyncio.run(controls()["control/honest-lexicon"].answer(request, lambda text: None))


def test_a_paragraph_of_full_stops_is_cut_into_sentences_in_linear_time():
    start = time.process_time()
    assert _sentences("A film. " + "." * 200_000 + "x") == [(0, "A film."), (8, "." * 200_000 + "x")]
    assert time.process_time() - start < 2
