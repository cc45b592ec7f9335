"""Prompt templates: what their hash stands for, and how they are filled."""

import re
from pathlib import Path
from typing import Any

import pytest

from core.text import templates
from core.text.templates import Template, TemplateError, fill, load

FIRST, SECOND = {"question": "Can owls fly?", "answer": "yes"}, {"question": "Can moles fly?", "answer": "no"}


def template(**changes: Any) -> Template:
    fields = {
        "id": "own",
        "version": 1,
        "role": "explainer",
        "system": "Be brief.",
        "user": "Q: {question}",
        "assistant": "A: {answer}",
        "demonstrations": (FIRST, SECOND),
    }
    return Template.model_validate({**fields, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"system": "Be long."},
        {"user": "Question: {question}"},
        {"assistant": "Answer: {answer}"},
        {"ask": "Q: {question}?"},
        {"demonstrations": (FIRST,)},
        {"demonstrations": (SECOND, FIRST)},
        {"demonstrations": (FIRST, {**SECOND, "answer": "never"})},
        {"demonstrations": (FIRST, {**SECOND, "question": "Can a mole fly?"})},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_the_hash_changes_with_every_word_that_reaches_the_model(changes: dict[str, Any]) -> None:
    other = template(**changes)
    slots = {"question": "Can bats fly?"}
    assert other.render(**slots).messages != template().render(**slots).messages
    assert other.hash != template().hash
    assert other.render(**slots).hash == other.hash


@pytest.mark.parametrize("changes", [{"id": "other"}, {"version": 2}, {"role": "simulator"}])
def test_the_hash_does_not_change_with_names(changes: dict[str, Any]) -> None:
    assert template(**changes).hash == template().hash == template().hash.lower()
    assert len(template().hash) == 12


def test_a_rendered_prompt_shows_its_demonstrations_then_asks() -> None:
    asked = template(ask="Now: {question}").render(question="Can {bats} fly?")
    assert [(message.role, message.content) for message in asked.messages] == [
        ("system", "Be brief."),
        ("user", "Q: Can owls fly?"),
        ("assistant", "A: yes"),
        ("user", "Q: Can moles fly?"),
        ("assistant", "A: no"),
        ("user", "Now: Can {bats} fly?"),
    ]
    assert [message.role for message in template(system="", demonstrations=()).render(question="x").messages] == [
        "user"
    ]


def test_a_slot_without_a_value_is_named() -> None:
    assert fill("{a} and {b_2}, {A} and {}", {"a": "{b_2}", "b_2": "2"}) == "{b_2} and 2, {A} and {}"
    with pytest.raises(TemplateError, match=r"\{answer\}"):
        template(demonstrations=({"question": "x"},)).render(question="y")


@pytest.mark.parametrize(
    ("text", "words"),
    [(None, "no prompt template 'own'"), ("user = [", "own.toml cannot be used"), ('id = "own"', "own.toml cannot be")],
)
def test_a_file_that_is_no_template_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, words: str
) -> None:
    monkeypatch.setattr(templates, "PROMPTS", tmp_path)
    load.cache_clear()
    if text is not None:
        (tmp_path / "own.toml").write_text(text)
    with pytest.raises(TemplateError, match=words):
        load("own")


def test_no_shipped_prompt_has_two_marks_where_one_belongs() -> None:
    """A prompt of Probe once sent "which fact it gives,, and"."""
    paths = sorted(templates.PROMPTS.rglob("*.toml"))
    told = {path.name: re.findall(r"\S*[,;:]\s*[,;:.]\S*", path.read_text(encoding="utf-8")) for path in paths}
    assert len(told) > 20 and not {name: found for name, found in told.items() if found}
