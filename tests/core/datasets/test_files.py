"""Official layouts in small, and broken files: every problem names its file and line."""

import json
import re

import pytest

from core import files
from core.datasets.items import BROKEN, DatasetError, LeftOut
from core.datasets.loaders import NOT_BELOW, NOT_BEST, NOT_DRAWN, TOO_LONG, json_rows
from core.datasets.registry import DATASETS, describe, find
from core.labs.ask.tasks import AskSpec
from tests.support.datasets import load


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


STORY = (
    "1 John went to the hall.\n2 Where is John? \thall\t1\n"
    "1 Ann ran to the attic.\n2 Ann ran to the hall.\n3 Where is Ann?\thall\t2\n"
)
MCTEST = "\t".join(["s.0", "Author: x", "A tale.\\newlineThe end.", *["one: Who?", "b", "a", "d", "c"] * 4]) + "\n"


def test_imdb_folders(tmp_path):
    for part in ("train", "test"):
        for label in ("pos", "neg"):
            for number in (0, 2, 10, 1, 3):
                write(
                    tmp_path / "aclImdb" / part / label / f"{number}_7.txt", f"{part} {label} {number}<br /><br />end"
                )
    items = load("imdb", tmp_path, seed=None)
    assert [item.id for item in items[:5]] == [f"imdb-test-neg-{number}_7" for number in (0, 1, 2, 3, 10)]
    assert items[0].paragraph == "test neg 0\n\nend"
    assert [len(load("imdb", tmp_path, split)) for split in ("train", "valid", "test")] == [8, 2, 10]


def test_imdb_table_without_pairs(tmp_path):
    path = write(tmp_path / "test.tsv", 'Sentiment\tText\nPositive\t"A ""good"" one"\nNegative\tbad\n')
    items = load("imdb", path, seed=None)
    assert [(item.paragraph, item.label, item.reference_edit) for item in items] == [
        ('A "good" one', "positive", None),
        ("bad", "negative", None),
    ]


def test_glue_in_its_own_form_keeps_quotes(tmp_path):
    write(
        tmp_path / "dev.tsv",
        'index\tsentence1\tsentence2\tlabel\n0\t"He left," she said.\tHe left.\tentailment\n1\ta\tb\tnot_entailment\n',
    )
    write(tmp_path / "train.tsv", "index\tsentence1\tsentence2\tlabel\n" + "0\ta\tb\tentailment\n" * 10)
    items = load("rte", tmp_path, seed=None)
    assert (items[0].paragraph, items[0].hypothesis, items[0].label) == ('"He left," she said.', "He left.", "yes")
    assert [len(load("rte", tmp_path, split)) for split in ("train", "valid", "test")] == [8, 2, 2]
    sst = write(tmp_path / "sst" / "dev.tsv", "sentence\tlabel\nit 's a charming film \t1\ndull .\t0\n")
    assert [item.label for item in load("SST2", sst, seed=None)] == ["positive", "negative"]


def test_babi_and_mctest_layouts(tmp_path):
    write(tmp_path / "tasks_1-20_v1-2/en-10k/qa2_two-supporting-facts_test.txt", STORY)
    items = load("babi-2", tmp_path, seed=None)
    assert [item.choices for item in items] == [("hall",), ("hall",)]
    assert items[1].paragraph == "Ann ran to the attic. Then, Ann ran to the hall."
    write(tmp_path / "mc160.test.tsv", MCTEST.replace("\n", "\r\n"))
    write(tmp_path / "mc160.test.ans", "A\tB\tC\tD\r\n")
    items = load("mctest", tmp_path, seed=None)
    assert [item.label for item in items] == ["b", "a", "d", "c"]
    assert items[0].choices == ("a", "b", "c", "d")
    assert (items[0].question, items[0].paragraph) == ("Who?", "A tale.\nThe end.")


@pytest.mark.parametrize("before", ["", "\n", " \n", "\r\n \t"])
def test_an_array_may_begin_anywhere(tmp_path, before):
    path = write(tmp_path / "d.json", before + '[\n{"a": 1},\n\n{"a": 2}]')
    first = before.count("\n") + 2
    assert json_rows(path) == [(first, {"a": 1}), (first + 2, {"a": 2})]


def test_shp_votes_and_strategyqa(tmp_path):
    row = {"history": "h", "human_ref_A": "a", "human_ref_B": "b"}
    path = write(tmp_path / "test.json", "\n".join(json.dumps(row | {"labels": vote}) for vote in (1, 0)) + "\n")
    assert [item.label for item in load("shp", path, seed=None)] == ["1", "2"]
    path = write(
        tmp_path / "dev.json", json.dumps([{"qid": "q", "question": "Is it?", "answer": True, "facts": ["f"]}])
    )
    (item,) = load("strategyqa", path)
    assert (item.id, item.label, item.facts) == ("q", "yes", ("f",))


def pair(post, number, a, b, label=1, **more):
    """An official row: the post, and the scores of its two responses."""
    ids = {"post_id": post, "c_root_id_A": f"{number}a", "c_root_id_B": f"{number}b"}
    texts = {"history": f"About {post}?", "human_ref_A": f"A {number}", "human_ref_B": f"B {number}"}
    return ids | texts | {"score_A": a, "score_B": b, "labels": label} | more


def test_shp_reads_every_domain_and_counts_what_the_papers_filters_leave_out(tmp_path):
    cooks = [pair("p", 1, 9, 1), pair("p", 2, 9, 2), pair("p", 3, 9, 7), pair("p", 4, 9, 8), pair("p", 5, 8, 1)]
    laws = [pair("q", 6, 3, 3), pair("r", 7, 1, 5, 0), pair("r", 8, 4, 5, 0, human_ref_A="x" * 5_000)]
    laws += [pair("s", 9, 5, 1, human_ref_A="x" * 5_000), pair("s", 10, 5, 2)]
    for domain, rows in (("cooks_test", cooks), ("laws_test", laws)):
        write(tmp_path / domain / "test.json", "\n".join(map(json.dumps, rows)) + "\n{broken\n")
    spec = AskSpec(task="shp", dataset="shp", path=str(tmp_path), model="control/fickle")
    items, held = spec.chosen_items()
    # Of p the best has 9: below the median of 1, 2, 7, 8 are the first two, of which one is drawn. q has one pair
    # alone, r's better is 1 against 4, and what is left of s is too long.
    assert len(items) == 2 and {item.paragraph for item in items} == {"About p?", "About r?"}
    assert {item.label for item in items} == {"1", "2"}
    assert held.items == 2 and held.left_out == {
        **{NOT_BEST: 1, NOT_BELOW: 2 + 1 + 1 + 1, NOT_DRAWN: 1, TOO_LONG: 1, BROKEN: 2}
    }
    assert [told.rpartition("/")[2].partition(":")[0] for told in held.broken] == ["test.json, line 6"] * 2
    write(tmp_path / "cooks_test/test.json", "\n".join(map(json.dumps, reversed(cooks))))
    assert {item.id for item in spec.chosen_items()[0]} == {item.id for item in items}


@pytest.mark.parametrize(
    ("name", "file", "text", "said"),
    [
        ("imdb", "t.tsv", "Sentiment\tText\nPositive\tok\nGood\tbad\n", "line 3"),
        ("imdb", "t.tsv", "Sentiment\tText\nPositive\tok\nPositive\n", "line 3"),
        ("imdb", "t.tsv", 'Sentiment\tText\nPositive\t"never closed\n', "line 2"),
        ("imdb", "t.tsv", "Sentiment\tText\nPositive\t \n", "line 2"),
        ("imdb", "t.tsv", "Review\tText\nPositive\tok\n", "line 1"),
        ("imdb", "t.tsv", "Sentiment\tText\tbatch_id\n" + "Positive\tok\t1\n" * 3, "line 4"),
        ("imdb", "t.tsv", b"Sentiment\tText\nPositive\t\xff\n", "line 2"),
        ("sst-2", "d.tsv", "sentence\tlabel\nfine\t1\nfine\t2\n", "line 3"),
        ("sst-2", "d.tsv", "", "empty"),
        ("rte", "d.tsv", "index\tsentence1\tsentence2\tlabel\n0\ta\t\tentailment\n", "line 2"),
        ("rte", "d.tsv", "index\tsentence1\tsentence2\n0\ta\tb\n", "no column “label”"),
        ("babi-1", "qa1.txt", "1 John left.\n3 Where is he?\thome\t1\n", "line 2"),
        ("babi-1", "qa1.txt", "1 John left.\n2 Where is he?\t\t1\n", "line 2"),
        ("babi-1", "qa1.txt", "1 Where is he?\thome\t1\n", "line 1"),
        ("babi-1", "qa1.txt", "John left.\n", "line 1"),
        ("babi-1", "qa1.txt", "1 John left.\n\n2 He ran.\n", "line 2"),
        ("babi-1", "qa1.txt", "1 John left.\n", "no question"),
        ("strategyqa", "d.json", '[\n {"qid": "a", "question": "b", "answer": true},\n {"qid": "c"}\n]', "line 3"),
        ("strategyqa", "d.json", '[\n {"qid": "a", "question": "b", "answer": "yes"}\n]', "line 2"),
        ("strategyqa", "d.json", '[\n {"qid": "a",\n "question"}\n]', "line 3"),
        ("strategyqa", "d.json", '[{"qid": "a", "question": "b", "answer": true}', "line 1"),
        ("strategyqa", "d.json", "[" * 100_000, "line 1"),
        ("strategyqa", "d.json", "[]", "no items"),
        ("shp", "d.jsonl", '{"history": "h", "human_ref_A": "a", "human_ref_B": "b"}\n{"history": "h"}\n', "line 2"),
        ("shp", "d.jsonl", '{"history": "h", "human_ref_A": "a", "human_ref_B": "b", "labels": 3}\n', "line 1"),
        ("shp", "d.jsonl", "not json\n", "line 1"),
    ],
)  # fmt: skip
def test_a_broken_row_is_named(tmp_path, name, file, text, said):
    path = write(tmp_path / file, text)
    assert any(file in one and said in one for one in problems(name, path)), problems(name, path)


def problems(name, path):
    """What is said of the file's broken rows; of a file that cannot be used, why."""
    try:
        load(name, path)
    except DatasetError as error:
        return [str(error)]
    return [row.detail for row in find(name).read(path, None) if isinstance(row, LeftOut)]


@pytest.mark.parametrize(
    ("story", "answers", "said"),
    [
        (MCTEST, None, "t.ans is missing"),
        (MCTEST, "A\tB\tC\tD\nA\tB\tC\tD\n", "2 lines"),
        (MCTEST, "A\tB\tC\tE\n", "t.ans, line 1"),
        (MCTEST.replace("\tc\n", "\n"), "A\tB\tC\tD\n", "t.tsv, line 1"),
        (MCTEST.replace("\td\tc\n", "\t\tc\n"), "A\tB\tC\tD\n", "question 4"),
    ],
)
def test_broken_mctest(tmp_path, story, answers, said):
    path = write(tmp_path / "t.tsv", story)
    if answers:
        write(tmp_path / "t.ans", answers)
    assert any(said in one for one in problems("mctest", path))


def test_what_is_not_there_says_where_it_can_be_had(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path))
    with pytest.raises(DatasetError, match=r"gluebenchmark\.com.*dev\.tsv"):
        load("rte")
    write(tmp_path / "datasets/rte/train.tsv", "index\tsentence1\tsentence2\tlabel\n" + "0\ta\tb\tentailment\n" * 5)
    assert len(load("rte")) == 1  # the last fifth of train: nothing else is there
    write(tmp_path / "datasets/babi/qa3_x_test.txt", STORY)
    assert len(load("babi-3")) == 2
    with pytest.raises(DatasetError, match="no file for the split “test”"):
        load("rte", split="test")
    with pytest.raises(DatasetError, match="Did you mean imdb"):
        find("imbd")


def test_every_dataset_describes_itself():
    rows = describe()
    assert [row["name"] for row in rows] == [dataset.name for dataset in DATASETS]
    assert all(all(row.values()) for row in rows)


def test_shp_is_cleaned_as_its_authors_clean_it(tmp_path):
    row = {
        "human_ref_A": "a  b",
        "human_ref_B": " c\n\n d ",
        "history": "Why  is it , so ? I said : 'no' . It 's  late !",
    }
    [item] = load("shp", write(tmp_path / "test.json", json.dumps(row)))
    # A comma loses both of its spaces, and so does a quotation mark the one before it.
    assert item.paragraph == "Why is it,so? I said:'no'. It's late!"
    assert item.choices == ("a b", "c\n\n d")


def test_a_data_set_of_which_nothing_is_left_says_what_each_filter_took(tmp_path):
    rows = [pair(f"p{number}", number, 9, 1) for number in range(60)]
    rows += [pair("q", number, 9 - number, 1) for number in range(12)]
    path = write(tmp_path / "test.json", "\n".join(map(json.dumps, rows)) + "\n")
    with pytest.raises(DatasetError, match=re.escape(f"holds no items. 72 of 72 rows left out: 11 ({NOT_BEST}), 61 (")):
        load("shp", path)
    write(path, "\n".join(map(json.dumps, [*rows, pair("r", 1, 9, 1), pair("r", 2, 9, 3)])))
    spec = AskSpec(task="shp", dataset="shp", path=str(path), model="control/fickle")
    assert spec.chosen_items()[1].summary() == (
        f"shp: 1 to draw from. 73 of 74 rows left out: 11 ({NOT_BEST}), 62 ({NOT_BELOW})."
    )


def test_files_are_read_once_until_one_of_them_changes(tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(files, "read_bytes", lambda path, limit: read.append(path.name) or path.read_bytes())
    place = tmp_path / "test"
    for label in ("pos", "neg"):
        write(place / label / "0_7.txt", label)
    assert [item.paragraph for item in load("imdb", tmp_path, seed=None)] == ["neg", "pos"]
    assert len(load("imdb", tmp_path)) == 2 and read == ["0_7.txt"] * 2
    # Changed in its place, added, and taken away.
    write(place / "pos" / "0_7.txt", "better")
    assert [item.paragraph for item in load("imdb", tmp_path, seed=None)] == ["neg", "better"]
    write(place / "pos" / "1_9.txt", "more")
    assert len(load("imdb", tmp_path)) == 3
    (place / "pos" / "1_9.txt").unlink()
    assert len(load("imdb", tmp_path)) == 2
    stories = write(tmp_path / "mc500.test.tsv", MCTEST)
    answers = write(tmp_path / "mc500.test.ans", "A\tB\tC\tD\n")
    assert load("mctest", stories, seed=None)[0].label == "b"
    write(answers, "B\tB\tC\tDD\n")
    with pytest.raises(DatasetError):
        load("mctest", stories)
