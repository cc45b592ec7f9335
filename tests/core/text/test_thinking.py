"""Thinking is told apart from the answer in every form in which it comes as text."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.models.reply import Reply, up_to_stop
from core.text.reply import split, without_thinking

FORMS = {
    "<think>\nSparrows fly.\n\nSo do owls.\n</think>\n\nYes.": ("Sparrows fly.\n\nSo do owls.", "\n\nYes."),
    "Sparrows fly.\n\nSo no?\n</think>\n\nYes.": ("Sparrows fly.\n\nSo no?", "\n\nYes."),
    "[THINK]Sparrows fly.[/THINK]Yes.": ("Sparrows fly.", "Yes."),
    "<seed:think>Sparrows fly.</seed:think>Yes.": ("Sparrows fly.", "Yes."),
    "<|begin_of_thought|>Sparrows fly.<|end_of_thought|>Yes.": ("Sparrows fly.", "Yes."),
    "analysisSparrows fly. No?assistantfinalYes.": ("Sparrows fly. No?", "Yes."),
    "<|channel|>analysis<|message|>Sparrows fly.<|end|><|start|>assistant<|channel|>final<|message|>Yes.": (
        "Sparrows fly.<|end|><|start|>assistant", "Yes.",
    ),
    "<think>Sparrows": ("Sparrows", ""),
    "analysisSparrows fly, no?": ("Sparrows fly, no?", ""),
    "<|channel|>analysis<|message|>Sparrows": ("Sparrows", ""),
    "Analysis of sparrows: they fly. The assistant finally said yes.": (
        "", "Analysis of sparrows: they fly. The assistant finally said yes.",
    ),
    "": ("", ""),
}  # fmt: skip


@pytest.mark.parametrize("text", FORMS)
def test_each_form_is_split(text: str) -> None:
    parts = split(text)
    assert (parts.thinking, parts.answer) == FORMS[text]
    assert without_thinking(text) == parts.answer


@given(st.lists(st.sampled_from(["<think>", "</think>", "[THINK]", "assistantfinal", "a", " ", "\n"])).map("".join))
def test_the_pieces_of_an_answer_stand_in_the_text_in_order(text: str) -> None:
    spans = split(text).spans
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


@pytest.mark.parametrize("text", [text for text, (_, answer) in FORMS.items() if answer.endswith("Yes.")])
def test_a_stop_counts_only_outside_thinking(text: str) -> None:
    assert up_to_stop(f"{text}\n\nQuestion: another?", ("\n\n",)) == (text, True)
    assert up_to_stop(text, ("\n\n",)) == (text, False)


@pytest.mark.parametrize("text", FORMS)
@pytest.mark.parametrize("size", [1, 3, 400])
def test_however_it_is_cut_into_pieces_a_reply_gives_the_same(text: str, size: int) -> None:
    whole = f"{text}\n\nQuestion: another?"
    reply = Reply(("\n\n",), "unknown")
    shown = ""
    for at in range(0, len(whole), size):
        if reply.stopped:
            break
        shown += reply.add_chunk({"choices": [{"delta": {"content": whole[at : at + size]}}]})
    shown += reply.finish()
    assert reply.text == up_to_stop(whole, ("\n\n",))[0]
    thinking = reply.thinking()
    expected, answer = FORMS[text]
    # Without a closing mark all that follows is thinking.
    assert (thinking.text if thinking else "").startswith(expected)
    if answer and not text.startswith(("Sparrows", "analysis")):
        assert shown.strip() == answer.strip(), "thinking is not shown as the answer while it comes"
