"""Every wording of every session, message by message, against `prompts_expected.toml`."""

import tomllib
from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from core.datasets.items import Item
from core.labs.check import prompts
from core.labs.check.tasks import EXPLANATIONS, TASKS, Mask, Persona, Target, Wording, every_wording, shipped
from core.text.templates import PROMPTS, load

EXPECTED = tomllib.loads((Path(__file__).parent / "prompts_expected.toml").read_text())

ITEMS = {
    "sentiment": Item(id="s", task="sentiment", paragraph="A {good} film.", label="positive"),
    "multi_choice": Item(
        id="m", task="multi_choice", paragraph="Ann left.", question="Who left?", choices=("Ann", "Ben"), label="Ann"
    ),
    "entailment": Item(id="e", task="entailment", paragraph="Ann left.", hypothesis="Ann is out.", label="yes"),
}
WANTED = {"sentiment": ["negative"], "multi_choice": ["Ben"], "entailment": ["no", "yes"]}


def every_prompt():
    for task, item in ITEMS.items():
        for persona in get_args(Persona):
            for mask, short in product(get_args(Mask), (False, True)):
                yield prompts.explain(item, "redaction", Wording(persona=persona, mask=mask, short=short))
            for mask, mask_sentence in product(get_args(Mask), (True, False)):
                yield prompts.classify(item, Wording(persona=persona, mask=mask, mask_sentence=mask_sentence))
            for target, wanted in product(get_args(Target), WANTED[task]):
                yield prompts.explain(item, "counterfactual", Wording(persona=persona, target=target), wanted)
            for options in (False, True):
                yield prompts.answerable(item, Wording(persona=persona, options=options))
            yield prompts.explain(item, "attribution", Wording(persona=persona))


def test_every_message():
    prompts = {}
    for prompt in every_prompt():
        (message,) = prompt.messages
        assert message.role == "user"
        key = f"{prompt.id} {prompt.slots['mask']}" if prompt.slots["session"] == "redaction" else prompt.id
        assert prompts.setdefault(key, message.content) == message.content
    assert prompts == EXPECTED


def test_one_wording_one_hash():
    hashes = {}
    for prompt in every_prompt():
        assert hashes.setdefault(prompt.id, prompt.hash) == prompt.hash
    assert len(set(hashes.values())) == len(hashes)


def test_the_files_are_plain_templates_without_demonstrations():
    for path in (PROMPTS / "consistency").glob("*.toml"):
        template = load(f"consistency/{path.stem}")
        assert template.id == f"consistency-{path.stem}"
        assert template.demonstrations == ()
        assert template.role in {"classifier", "explainer"}
    assert len(list((PROMPTS / "consistency").glob("*.toml"))) == len(TASKS) * len(prompts.SESSIONS)


def test_before_and_after_differ_in_the_paragraph_alone():
    item = ITEMS["multi_choice"]
    before, after = prompts.classify(item, Wording()), prompts.classify(item, Wording(), "[REDACTED] left.")
    assert (before.id, before.hash) == (after.id, after.hash)
    assert after.messages[0].content == before.messages[0].content.replace("Ann left.", "[REDACTED] left.")
    assert prompts.classify(item, Wording(), "").slots["paragraph"] == ""


def test_slots_are_those_of_the_table():
    table = {line.split("|")[1].strip() for line in prompts.__doc__.splitlines() if line.startswith("| ")} - {"slot"}
    seen = {slot for prompt in every_prompt() for slot in prompt.slots}
    assert seen == table
    open_ended = prompts.explain(ITEMS["sentiment"], "counterfactual", Wording(target="implicit"), "negative")
    assert "wanted" not in open_ended.slots
    assert prompts.classify(ITEMS["multi_choice"], Wording()).slots["choices"] == "Ann\nBen"


def test_words_of_a_wording_may_also_be_answers():
    item = Item(id="x", task="multi_choice", paragraph="p", question="Who?", choices=("explicit", "human", "you"))
    assert '"you"' in prompts.explain(item, "counterfactual", Wording(), "you").messages[0].content
    alone = item.model_copy(update={"choices": ("you",)})
    assert 'either a) "you", or b) "unknown"' in prompts.classify(alone, Wording()).messages[0].content


@pytest.mark.parametrize("explanation", EXPLANATIONS)
def test_every_wording_of_the_paper(explanation):
    wordings = every_wording(explanation)
    assert len(wordings) == len(set(wordings)) == 6
    assert wordings[0] == Wording()


@pytest.mark.parametrize("task", TASKS)
def test_shipped_items(task):
    items = shipped(task)
    labels = [item.label for item in items]
    assert len(items) == len({item.id for item in items}) == len({item.paragraph for item in items}) == 20
    if task == "multi_choice":
        assert all(item.label in item.choices and list(item.choices) == sorted(item.choices) for item in items)
        places = [item.choices.index(item.label) for item in items]
        assert all(places.count(place) >= 6 for place in (0, 1, 2))
    else:
        assert sorted(labels) == sorted(set(labels)) * 10 or labels.count(labels[0]) == 10
