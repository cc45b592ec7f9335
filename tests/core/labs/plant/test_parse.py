"""Replies in the form of today's chat models: the answer, the reasons beside it, and the text in thinking tags."""

import pytest

from core.labs.plant import measure, prompts
from core.labs.plant.tasks import Cue, Order, PlantSpec, Task, shipped

WHY = "Pigs have short legs. They swim well."


def read(text: str, task: Task = "strategyqa", order: Order = "reasons first", cue: Cue = "key") -> measure.Read:
    spec = PlantSpec(model="control/admits", task=task, order=order, cue=cue)
    return measure.parse_reply(spec, shipped(task)[0], text, prompts.is_lettered(spec))


@pytest.mark.parametrize(
    "text",
    [
        f"{WHY}\nAnswer: yes",
        f"{WHY}\n\n**Answer:** yes",
        f"{WHY}\n\n**Answer: Yes.**",
        f"{WHY}\nFinal answer: yes",
        f"{WHY}\n\n### Answer: yes",
        f"{WHY}\n> Answer: yes\n",
        f"{WHY}\nAnswer: yes<|im_end|>",
        f"<think>Do they? No.</think>{WHY}\nAnswer: yes",
        f"<reasoning>{WHY}</reasoning>\nAnswer: yes",
        f"{WHY}\nAnswer: yes\n\nQuestion: Can cows fly?\nAnswer: no",
    ],
)
def test_reasons_first(text: str) -> None:
    found = read(text)
    assert (found.answer, found.reasons) == ("yes", WHY)


@pytest.mark.parametrize(
    "text",
    [
        f"Answer: no\n{WHY}",
        f"**Answer:** No.\n\n{WHY}",
        f"Answer: no\n\n{WHY}\n<|eot_id|>",
        f"<think>\nAnswer: yes?\n</think>\n\nAnswer: no\n{WHY}",
    ],
)
def test_answer_first(text: str) -> None:
    found = read(text, order="answer first")
    assert (found.answer, found.reasons) == ("no", WHY)


def test_of_several_answer_lines_the_one_that_was_asked_for_counts() -> None:
    text = "Answer: yes\nOn second thought they do not.\nAnswer: no"
    last, first = read(text), read(text, order="answer first")
    assert (last.answer, first.answer) == ("no", "yes")
    assert last.reasons == "Answer: yes\nOn second thought they do not."
    assert first.reasons == "On second thought they do not.\nAnswer: no"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Yes, for pigs have lungs.", "yes"),
        ("Pigs have lungs. So the answer is no.", "no"),
        ("Pigs have lungs.", None),
        ("", None),
        ("I cannot answer that.", None),
        ("Answer: maybe", None),
        ("Answer: yes or no", None),
    ],
)
def test_without_an_answer_line_it_is_read_wherever_it_stands_and_all_of_it_is_reasons(
    text: str, answer: str | None
) -> None:
    found = read(text)
    assert found.answer == answer
    assert found.reasons == ("" if text.startswith("Answer:") else text)


ITEM = shipped("multi_choice")[0]


@pytest.mark.parametrize(
    "line",
    ["Answer: (b)", "Answer: b", "**Answer:** (b) hallway", "Answer: hallway", "Answer: The hallway.", "Answer: B)"],
)
def test_lettered(line: str) -> None:
    assert ITEM.choices.index("hallway") == 1
    found = read(f"He went there last.\n{line}", task="multi_choice")
    assert (found.answer, found.reasons) == ("hallway", "He went there last.")


def test_a_letter_that_is_none_of_the_options_is_no_answer() -> None:
    assert read("He went there last.\nAnswer: (f)", task="multi_choice").answer is None


@pytest.mark.parametrize(("line", "answer"), [("(a)", "yes"), ("(b)", "no"), ("(b) no", "no"), ("no", "no")])
def test_beside_a_pattern_yes_and_no_have_letters(line: str, answer: str) -> None:
    assert read(f"{WHY}\nAnswer: {line}", cue="pattern").answer == answer


@pytest.mark.parametrize(
    ("task", "line", "answer"),
    [
        ("sentiment", "positive", "positive"),
        ("sentiment", "**Negative.**", "negative"),
        ("sentiment", "neutral", None),
        ("entailment", "yes", "yes"),
        ("entailment", "no", "no"),
    ],
)
def test_labels(task: Task, line: str, answer: str | None) -> None:
    assert read(f"It says so.\nAnswer: {line}", task=task).answer == answer


@pytest.mark.parametrize(
    ("text", "thought"),
    [
        (f"<think>The key says yes.</think>{WHY}\nAnswer: yes", "The key says yes."),
        (f"The key says yes.</think>\n{WHY}\nAnswer: yes", "The key says yes."),
        ("<think>The key says yes.", "The key says yes."),
        (f"{WHY}\nAnswer: yes", ""),
    ],
)
def test_thinking_is_kept_apart(text: str, thought: str) -> None:
    found = read(text)
    assert found.thought == thought and "key" not in found.reasons
