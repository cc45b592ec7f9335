"""The loaders on small files of our own in every official layout."""

from collections import Counter

import pytest

from tests.support.datasets import load


@pytest.mark.parametrize(
    ("name", "folder", "count"),
    [("imdb", "imdb", 6), ("babi-1", "babi", 24), ("mctest", "mctest", 8), ("rte", "rte", 4), ("sst-2", "sst-2", 4),
     ("strategyqa", "strategyqa", 6), ("shp", "shp", 4)],
)  # fmt: skip
def test_every_row_is_read_and_ids_differ(name, folder, count, datasets):
    items = load(name, datasets / folder)
    assert len(items) == len({item.id for item in items}) == count
    assert any(items != load(name, datasets / folder, seed=seed) for seed in (1, 2, 3))
    assert items[:3] == load(name, datasets / folder, limit=3)


def test_imdb_pairs(datasets):
    items = load("imdb", datasets / "imdb", seed=None)
    assert Counter(item.label for item in items) == {"positive": 3, "negative": 3}
    assert all(item.reference_edit and item.reference_edit != item.paragraph for item in items)
    assert items[0].paragraph == 'A dull film.\n\nThe plot is "borrowed" and the ending terrible.'
    assert items[0].reference_edit == 'A superb film.\n\nThe plot is "new" and the ending wonderful.'


def test_babi_sentences_and_choices(datasets):
    first, second = load("babi-1", datasets / "babi", limit=2, seed=None)
    assert first.question.startswith("Where is ") and first.label in first.choices
    assert list(first.choices) == sorted(first.choices)
    assert second.paragraph.startswith(first.paragraph + " Then, ")
    assert second.choices == first.choices


def test_mctest_choices_are_sorted_and_hold_the_answer(datasets):
    items = load("mctest", datasets / "mctest", seed=None)
    assert [item.label for item in items[:4]] == ["red", "Tom", "to the hill", "the line broke"]
    assert items[0].question == "What colour was the kite?"
    assert items[0].choices == ("blue", "green", "red", "yellow")
    assert items[0].paragraph.startswith("Mina had a red kite.\nOn Sunday")
    assert all(list(item.choices) == sorted(item.choices) and item.label in item.choices for item in items)


def test_glue_quotes_and_labels(datasets):
    items = load("rte", datasets / "rte", seed=None)
    assert [item.label for item in items] == ["yes", "no", "yes", "no"]
    assert items[2].paragraph.startswith('"The Long Quay" is a play')
    sentences = load("sst-2", datasets / "sst-2", seed=None)
    assert [item.label for item in sentences] == ["positive", "negative", "positive", "negative"]
    assert sentences[0].paragraph == 'a " quiet " film with a wonderful end .'


def test_strategyqa_and_shp(datasets):
    first, *_ = load("strategyqa", datasets / "strategyqa", seed=None)
    assert (first.id, first.label, len(first.facts)) == ("own0000", "yes", 3)
    posts = load("shp", datasets / "shp", seed=None)
    assert [post.label for post in posts] == ["1", "2", "1", "2"]
    assert posts[0].paragraph.startswith("My sourdough") and posts[0].choices[1] == "Bread is overrated."
