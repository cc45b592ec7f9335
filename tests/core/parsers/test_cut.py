"""What is parsed of an answer that was cut, and how an ending is recognised from the server's reply."""

import pytest

from core.events import LONGEST_ANSWER, Answered, ModelAnswer, Usage, ending_of, from_json
from core.parsers.fields import readable

SCHEMA = {"type": "object"}


@pytest.mark.parametrize(
    ("reason", "ending"),
    [
        *[(word, "complete") for word in ("stop", "end_turn", "eos_token", "stop_sequence", "tool_calls", "STOP")],
        *[(word, "cut") for word in ("length", "MAX_TOKENS", "max_output_tokens", "model_context_window_exceeded")],
        *[(word, "filtered") for word in ("content_filter", "SAFETY", "content_filter: RECITATION", "refusal")],
        *[(word, "failed") for word in ("error", "network_error", "insufficient_system_resource", "cancelled")],
        *[(word, "unknown") for word in (None, "", "null", "something new")],
    ],
)
def test_how_an_answer_ended(reason: str | None, ending: str) -> None:
    assert ending_of(reason) == ending


def test_a_journal_without_the_field_says_it_by_its_finish_reason() -> None:
    line = b'{"kind": "answered", "run": "r", "call": "c", "role": "x", "model": "m", "text": "A", "seconds": 1, '
    for reason, ended in (("length", "cut"), ("stop", "complete")):
        event = from_json(line + f'"finish_reason": "{reason}"}}'.encode())
        assert isinstance(event, Answered) and event.ended == ended
    fixed = from_json(line + b'"finish_reason": "length", "logprobs": [{"token": "1"}]}')
    assert isinstance(fixed, Answered) and fixed.ended == "complete", "the tokens that were asked for are there"


def test_the_original_parser_reads_what_was_cut_and_the_updated_one_only_what_was_complete() -> None:
    cut = ModelAnswer(text="Can an emu fly?\nIt will likely say", ended="cut")
    assert readable(cut, "paper") == cut.text and readable(cut, "repaired") is None
    assert readable(cut, "repaired", lines=True) == "Can an emu fly?"
    assert readable(ModelAnswer(text="Can an emu", ended="cut"), "repaired", lines=True) is None
    closed = ModelAnswer(text='```json\n{"answer": "yes"}\n``', ended="cut")
    assert readable(closed, "repaired", SCHEMA) == closed.text
    assert readable(ModelAnswer(text='{"answer": "ye', ended="cut"), "repaired", SCHEMA) is None
    assert readable(ModelAnswer(text="<think>So yes.\nI would", ended="cut"), "repaired", lines=True) is None
    for ended in ("complete", "unknown"):
        assert readable(ModelAnswer(text="A", ended=ended), "repaired") == "A"  # type: ignore[arg-type]


def test_where_it_was_cut_is_told() -> None:
    assert ModelAnswer(text="A", ended="cut", usage=Usage(completion_tokens=1200)).cut_note == "cut at 1,200 tokens"
    assert ModelAnswer(text="A", ended="cut", sent={"max_completion_tokens": 50}).cut_note == "cut at 50 tokens"
    assert ModelAnswer(text="A" * LONGEST_ANSWER, ended="cut").cut_note == "cut at 65,536 characters"
    assert (
        ModelAnswer(text="A", ended="cut").cut_note == "cut before it was complete"
        and ModelAnswer(text="A").cut_note == ""
    )
