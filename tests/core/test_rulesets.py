"""A value from both parsers is one value in the program and two fields wherever it is written."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field, ValidationError
from pydantic_core import to_json

from core.entry import LABS
from core.events import Frozen
from core.labs.base.report import Result, Trial
from core.rulesets import FlatRecord, HasRulesets, PerRuleset, columns_of

RECORDS: dict[str, type[Frozen]] = {
    f"{lab.name}.{record.__name__}": record for lab in LABS for record in (*lab.records, *lab.supporting_records)
} | {"every.Trial": Trial, "every.Result": Result}

DATA = Path(__file__).parents[1] / "data"

BEFORE = [json.loads(line) for line in (DATA / "records_before.jsonl").read_text("utf-8").splitlines()]
"""Records with random values: the given fields, and the line that was written when each of these fields was two."""


def test_every_record_of_both_rules_is_among_those_of_before() -> None:
    by_rules = {name for name, record in RECORDS.items() if issubclass(record, FlatRecord | HasRulesets)}
    assert by_rules <= {one["record"] for one in BEFORE} <= by_rules | {"simulatability.Examined"}


@pytest.mark.parametrize("name", sorted({one["record"] for one in BEFORE}))
def test_a_record_is_written_as_before_and_read_again(name: str) -> None:
    for before in (one for one in BEFORE if one["record"] == name):
        record = RECORDS[name].model_validate(before["given"])
        assert record.model_dump_json() == before["line"]
        assert json.dumps(record.model_dump(mode="json")) == json.dumps(json.loads(before["line"]))
        assert RECORDS[name].model_validate_json(before["line"]) == record


@pytest.mark.parametrize("name", sorted(name for name, record in RECORDS.items() if issubclass(record, FlatRecord)))
@settings(max_examples=20)
@given(data=st.data())
def test_any_record_is_written_flat_and_read_again(name: str, data: st.DataObject) -> None:
    kind = RECORDS[name]
    fields = {column: st.from_type(annotation) for column, annotation in columns_of(kind).items()}
    drawn = data.draw(st.fixed_dictionaries(fields))
    record = kind.model_validate(drawn)
    written = json.loads(record.model_dump_json())
    expected = json.loads(to_json(drawn, inf_nan_mode="null"))
    assert list(written.items()) == [(column, expected[column]) for column in fields if column in written]
    assert not any(drawn[column] for column in drawn.keys() - written.keys())
    # Compared as text, because NaN does not equal itself.
    assert repr(kind.model_validate(record.model_dump())) == repr(record)


class Heard(FlatRecord, HasRulesets[int]):
    word: PerRuleset[str]
    loud: PerRuleset[bool] = PerRuleset(paper=True, repaired=False)
    echo: PerRuleset[str] = Field(default=PerRuleset.same_for_both(""), exclude_if=lambda echo: not echo)
    paper: int = 1
    repaired: int = 2


def test_a_value_is_looked_up_by_rules() -> None:
    heard = Heard(word=PerRuleset.read_by_each(lambda rules: rules.upper()))
    assert (heard.word["paper"], heard.word["repaired"], heard["paper"], heard["repaired"]) == (
        "PAPER",
        "REPAIRED",
        1,
        2,
    )


def test_what_is_not_given_by_one_of_the_rules_is_the_default_by_these() -> None:
    heard = Heard.model_validate({"word_paper": "a", "word_repaired": "b", "loud_repaired": True, "echo_paper": "x"})
    assert heard.loud == PerRuleset.same_for_both(True)
    assert heard.model_dump() == {
        **{"word_paper": "a", "word_repaired": "b", "loud_paper": True, "loud_repaired": True, "echo_paper": "x"},
        **{"paper": 1, "repaired": 2},
    }


@pytest.mark.parametrize("word", [{}, {"word_paper": "a"}, {"word_paper": "a", "word_repaired": 3}, {"word": "a"}])
def test_what_lacks_a_reading_is_no_record(word: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Heard.model_validate(word)


@pytest.mark.parametrize("stray", ["a", 5, None, {"paper": "c"}, ["paper"]])
def test_a_stray_field_of_the_whole_name_is_passed_over(stray: object) -> None:
    heard = Heard.model_validate({"word": stray, "word_paper": "a", "word_repaired": "b"})
    assert heard.word == PerRuleset(paper="a", repaired="b")


def test_values_are_made_what_the_field_holds() -> None:
    assert Heard(
        word=PerRuleset.same_for_both("a"), loud=PerRuleset.same_for_both("yes")
    ).loud == PerRuleset.same_for_both(True)


def test_another_value_by_one_of_the_rules() -> None:
    changed = Heard(word=PerRuleset.same_for_both("a")).with_ruleset("paper", word="b", loud=False)
    assert changed.word == PerRuleset(paper="b", repaired="a") and changed.loud == PerRuleset.same_for_both(False)
    assert changed.model_dump()["word_paper"] == "b"


def test_columns_are_the_fields_as_they_are_written() -> None:
    assert columns_of(Heard) == {
        **{"word_paper": str, "word_repaired": str, "loud_paper": bool, "loud_repaired": bool},
        **{"echo_paper": str, "echo_repaired": str, "paper": int, "repaired": int},
    }
