"""The loaders on parts of the real data sets, where they are present."""

from collections import Counter

import pytest

from tests.support.datasets import load

pytestmark = pytest.mark.outside_data


@pytest.mark.parametrize(
    ("name", "folder", "count"),
    [("imdb", "imdb", 245), ("babi-1", "babi", 500), ("mctest", "mctest", 120), ("rte", "rte", 139),
     ("strategyqa", "strategyqa", 120), ("shp", "shp", 18)],
)  # fmt: skip
def test_every_row_is_read_and_ids_differ(name, folder, count, outside):
    items = load(name, outside / folder)
    assert len(items) == len({item.id for item in items}) == count
    assert items != load(name, outside / folder, seed=1)
    assert items[:5] == load(name, outside / folder, limit=5)


def test_imdb_pairs(outside):
    items = load("imdb", outside / "imdb", seed=None)
    assert Counter(item.label for item in items) == {"positive": 123, "negative": 122}
    assert all(item.reference_edit and item.reference_edit != item.paragraph for item in items)
    assert "<br" not in items[0].paragraph
    assert "\n\nImplausible plot." in items[0].paragraph
    assert "Incredible plot." in items[0].reference_edit


def test_babi_sentences_and_choices(outside):
    first, second = load("babi-1", outside / "babi", limit=2, seed=None)
    assert first.paragraph == "John travelled to the hallway. Then, Mary journeyed to the bathroom."
    assert (first.question, first.label) == ("Where is John?", "hallway")
    assert first.choices == second.choices == ("bathroom", "hallway", "kitchen")
    assert second.paragraph.startswith(first.paragraph + " Then, ")


def test_mctest_choices_are_sorted_and_hold_the_answer(outside):
    items = load("mctest", outside / "mctest", seed=None)
    assert items[0].question == "Who was having a birthday?"
    assert items[0].label == "Jessie Bear"
    assert all(list(item.choices) == sorted(item.choices) and item.label in item.choices for item in items)
    assert not any("\\newline" in item.paragraph for item in items)


def test_rte_quotes_and_labels(outside):
    items = load("rte", outside / "rte", seed=None)
    assert (items[0].label, items[1].label) == ("no", "yes")
    assert items[137].paragraph.startswith('"It\'s Only a Play" is')
