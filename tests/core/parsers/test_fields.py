"""Answers requested by their fields: which replies count as one, and which would need guessing and are prose."""

import json
import time

import pytest

from core.events import Message, Prompt, Sampling
from core.parsers import fields

WANTED = fields.schema(reasons="text", answer=("yes", "no"))


@pytest.mark.parametrize(
    "text",
    [
        '{"reasons": "Gold is heavy.", "answer": "no"}',
        ' {"answer": "no",\n\n "reasons": " Gold is heavy. "}\n',
        '<think>{"answer": "yes"}</think>{"reasons": "Gold is heavy.", "answer": "no"}',
        '```json\n{"reasons": "Gold is heavy.", "answer": "no"}\n```',
    ],
)
def test_an_object_of_the_fields_is_read_as_it_stands(text: str) -> None:
    assert fields.read(text, WANTED) == {"reasons": "Gold is heavy.", "answer": "no"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "Gold is heavy. So the answer is no.",
        'Here it is: {"reasons": "Gold is heavy.", "answer": "no"}',
        '{"reasons": "Gold is heavy.", "answer": "no"} Or is it?',
        '{"reasons": "Gold is heavy.", "answer": "no"}{"reasons": "It is not.", "answer": "yes"}',
        '{"reasons": "Gold is heavy.", "answer": "no", "answer": "yes"}',
        '{"reasons": "Gold is heavy.", "answer": "No"}',
        '{"reasons": "Gold is heavy.", "answer": "unsure"}',
        '{"reasons": ["Gold is heavy."], "answer": "no"}',
        '{"reasons": "Gold is heavy.", "answer": ["no"]}',
        '{"reasons": "Gold is heavy.", "answer": "no", "sure": true}',
        '{"answer": "no"}',
        '{"reasons": "Gold is hea',
        '["Gold is heavy.", "no"]',
        '{"reasons": 1, "answer": null}',
    ],
)
def test_anything_else_is_prose(text: str) -> None:
    assert fields.read(text, WANTED) is None


def test_a_list_holds_texts_and_half_characters_are_replaced() -> None:
    words = fields.schema(words="list")
    assert fields.read('{"words": ["superb", "\\ud800dull"]}', words) == {"words": ["superb", "?dull"]}
    assert fields.read('{"words": ["superb", 1]}', words) is None
    assert fields.read('{"words": "superb"}', words) is None


@pytest.mark.parametrize(
    "text", ["[" * 65_536, '{"a":' * 13_000, "9" * 65_536, "```json\n" * 8_000, '{"reasons": "' + "x" * 65_000]
)
def test_hostile_text_is_read_in_no_time(text: str) -> None:
    began = time.process_time()
    assert fields.read(text, WANTED) is None
    assert time.process_time() - began < 0.5


def test_the_prompt_says_the_fields_and_carries_the_schema() -> None:
    prompt = Prompt(id="p", hash="h", messages=(Message(role="user", content="Is gold {heavy}?"),))
    assert fields.with_schema(prompt, None) is prompt
    asked = fields.with_schema(prompt, WANTED)
    assert asked.json_schema == WANTED and list(asked.json_schema["properties"]) == ["reasons", "answer"]
    assert asked.messages[-1].content.startswith("Is gold {heavy}?\n\n")
    assert '"reasons" (text), "answer" ("yes" or "no")' in asked.messages[-1].content
    assert asked.json_schema["required"] == ["reasons", "answer"] and asked.json_schema["additionalProperties"] is False
    # A choice may contain anything.
    odd = fields.schema(label=('the "{fields}" {x}', "unknown"))
    assert json.dumps('the "{fields}" {x}') in fields.with_schema(prompt, odd).messages[-1].content


def test_an_object_has_room_and_is_not_cut_at_its_first_line_end() -> None:
    prompt = Prompt(id="p", hash="h", messages=(Message(role="user", content="Is gold heavy?"),))
    usual = Sampling(max_tokens=50, stop=("\n",))
    assert fields.sampling(usual, prompt) is usual
    with_room = fields.sampling(usual, fields.with_schema(prompt, WANTED))
    assert with_room.stop == () and with_room.max_tokens == 50 + fields.ROOM


def test_how_it_was_asked_and_what_came_as_prose_is_said() -> None:
    assert fields.format_notes("prose", 3) == []
    assert fields.format_notes("schema", 0) == [fields.OTHER_MEASURE]
    assert fields.format_notes("schema", 1)[1:] == ["1 of them came as prose and was read as prose."]
    assert fields.format_notes("schema", 3)[1:] == ["3 of them came as prose and were read as prose."]
