"""Files of a person's own: which items they give, what a broken row costs, and files that are meant to harm."""

import asyncio
import json
import random
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import entry, home, policy
from core.datasets import own
from core.datasets.items import BROKEN, DatasetError, Item, LeftOut, Loaded
from core.datasets.registry import require_items
from core.events import Asked, Event, Recorded
from core.labs.ask.lab import LAB as ASK
from core.labs.ask.tasks import AskSpec, cases
from core.labs.check.tasks import CheckSpec, items_of
from core.runs.engine import RunIO, RunRequest, execute

COLUMNS = {"question": "q", "answer": "gold"}
ROWS = [{"q": f"Is {n} a number?", "gold": "yes" if n % 2 else "no", "other": n} for n in range(12)]


def write(name: str, content: bytes | str) -> str:
    folder = home.home() / "datasets"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return f"file:{name}"


def as_csv(rows: list[dict], delimiter: str = ",") -> str:
    return "\r\n".join([delimiter.join(ROWS[0]), *(delimiter.join(map(str, row.values())) for row in rows)])


def as_jsonl(rows: list[dict]) -> str:
    return "\n".join(map(json.dumps, rows))


def read(name: str, limit: int | None = None, seed: int | None = 0, **columns: str) -> tuple[list[Item], list[LeftOut]]:
    rows, _, _ = own.read(name, "strategyqa", columns or COLUMNS, limit, seed)
    return [row for row in rows if isinstance(row, Item)], [row for row in rows if isinstance(row, LeftOut)]


def test_csv_jsonl_and_parquet_give_the_same_items_whichever_way_the_rows_lie() -> None:
    """Ids and the draw come from the content: not from the format, nor from where a row stands."""
    shuffled = random.Random(1).sample(ROWS, len(ROWS))
    files = [
        write("a.csv", as_csv(ROWS)),
        write("b.tsv", as_csv(shuffled, "\t")),
        write("c.csv", "\ufeff" + as_csv(shuffled, ";")),
        write("d.jsonl", as_jsonl(shuffled)),
    ]
    duckdb.read_csv(str(home.home() / "datasets" / "b.tsv")).write_parquet(str(home.home() / "datasets" / "e.parquet"))
    first, *others = [read(name, limit=5)[0] for name in [*files, "file:e.parquet"]]
    assert len(first) == 5 and all(one == first for one in others)
    assert read(files[0], limit=5, seed=1)[0] != first
    assert [item.question for item in read(files[0], seed=None)[0]] == [row["q"] for row in ROWS]
    assert {item.id for item in read(files[0], **COLUMNS, id="other")[0]} == {str(row["other"]) for row in ROWS}


@settings(max_examples=4)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=30), min_size=1, max_size=8))
def test_any_text_comes_through_json_and_its_id_stays_when_lines_change_places(texts: list[str]) -> None:
    asked = [f"? {text}" for text in texts]
    name = write("any.jsonl", as_jsonl([{"q": text} for text in asked]))
    ids = {item.question: item.id for item in read(name, question="q")[0]}
    assert set(ids) == {text.strip() for text in asked}
    name = write("any.jsonl", as_jsonl([{"q": text} for text in reversed(asked)]))
    assert {item.question: item.id for item in read(name, question="q")[0]} == ids


def test_a_broken_row_costs_one_item_and_names_its_line() -> None:
    lines = [
        b"\xef\xbb\xbfq;gold;other",
        b'"Is it\nblue?";yes;1',  # lines 2 and 3
        b"too;few",
        b'"Is ""it""?";no;2',
        b"",
        b"bad \xff byte;yes;3",
        b"one;too;many;cells",
        b"a nul \x00;perhaps;4",
        b";no;5",
        b"Is it last?;no;6",
        b"Is it last?;no;7",
    ]
    items, left = read(write("a.csv", b"\r\n".join(lines)), seed=None)
    assert [item.question for item in items] == ["Is it\nblue?", 'Is "it"?', "Is it last?"]
    assert [row.detail.partition(": ")[0] for row in left if row.reason == BROKEN] == [
        f"a.csv, line {line}" for line in (4, 7, 8, 9, 10)
    ]
    assert [row.rows for row in left if row.reason != BROKEN] == [1], "the same words again"
    lines = [b'{"q": "a", "gold": true}', b"", b'{"q": broken', b'{"q": "\xff"}', b"[1]"]
    lines += [b'{"q": "b", "gold": "perhaps"}', b"[" * 100_000, b'{"q": "c"}']
    items, left = read(write("a.jsonl", b"\n".join(lines)), seed=None)
    assert [(item.question, item.label) for item in items] == [("a", "yes"), ("c", None)]
    assert [row.detail.partition(": ")[0] for row in left] == [f"a.jsonl, line {line}" for line in (3, 4, 5, 6, 7)]


def test_every_lab_that_takes_data_sets_takes_such_a_file() -> None:
    write("a.csv", as_csv(ROWS) + "\n,no,12")
    spec = AskSpec(model="control/fickle", dataset="file:a.csv", columns=COLUMNS, limit=13)
    assert len(list(cases(spec))) == 12
    held = ASK.dataset_record(spec)
    assert isinstance(held, Loaded) and held.items == 12 and held.left_out == {BROKEN: 1}
    write("b.jsonl", as_jsonl([
        {"paragraph": "A. B.", "question": "Which?", "choices": ["x", "a"], "answer": "A"},
        {"paragraph": "A. B.", "question": "Who?", "choices": ["one", "one"], "answer": "one"},
    ]))  # fmt: skip
    (item,) = items_of(CheckSpec(model="control/honest", task="multi_choice", dataset="file:b.jsonl")).values()
    assert (item.choices, item.label) == (("a", "x"), "x")
    write("c.csv", "paragraph,hypothesis,answer\nIt rains.,It is wet.,entailment\nIt rains.,It is dry.,0\n")
    (item,) = items_of(CheckSpec(model="control/honest", task="entailment", dataset="file:c.csv")).values()
    assert item.label == "yes", "a 0 means yes in one collection and no in another, so it is broken"
    with pytest.raises(ValueError, match="Items for strategyqa have no 'paragraph'"):
        AskSpec(model="control/fickle", dataset="file:a.csv", columns={"paragraph": "q"})


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", b"", "names of the columns"),
        ("line.csv", b"q" * 3_000_000, "names of the columns"),
        ("utf16.csv", "q,gold\na,yes\n".encode("utf-16"), "not UTF-8"),
        ("twice.csv", b"q,q,gold\na,b,yes\n", "more than one column"),
        ("other.csv", b"x,gold\na,yes\n", "no column “q”"),
        ("wide.csv", b",".join(b"c%d" % n for n in range(100_000)) + b"\n", "more than 2,000 columns"),
        ("keys.jsonl", json.dumps({f"k{n}": n for n in range(100_000)}).encode(), "more than 2,000 columns"),
        ("no.parquet", b"PAR1 and nothing else PAR1", "cannot be read"),
        ("items.exe", b"MZ", "cannot be read as a table"),
        ("a*.csv", b"q,gold\na,yes\n", "must not contain"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_table_is_refused_in_words(name: str, content: bytes, said: str) -> None:
    began = time.monotonic()
    with pytest.raises(DatasetError, match=said):
        read(write(name, content))
    assert time.monotonic() - began < 60


def test_a_small_parquet_file_that_holds_a_huge_table_is_held_to_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "MEMORY_MB", 200)
    monkeypatch.setattr(own, "SECONDS", 10)
    write("bomb.parquet", b"")
    path = home.home() / "datasets" / "bomb.parquet"
    duckdb.execute(
        f"copy (select repeat('x', 30000000) as q, 'yes' as gold from range(40)) to '{path}' (compression zstd)"
    )
    assert path.stat().st_size < 2_000_000
    with pytest.raises(DatasetError, match="more memory than 200 MB"):
        read("file:bomb.parquet")


def test_a_quotation_mark_that_is_never_closed_is_told_of() -> None:
    items, left = read(write("open.csv", 'q,gold\na,yes\nb,"no\nc,yes\nd,no\n'), seed=None)
    assert [item.question for item in items] == ["a"]
    assert "open.csv, line 3: a quotation mark is never closed" in left[0].detail


def test_a_huge_line_costs_its_own_item() -> None:
    content = b"q,gold\na,yes\n" + b"x" * 40_000_000 + b",yes\n" + b"y" * 30_000 + b",no\nb,no\n"
    items, left = read(write("huge.csv", content), seed=None)
    assert [item.question for item in items] == ["a", "b"]
    assert [row.detail.partition(": ")[0] for row in left] == ["huge.csv, line 3", "huge.csv, line 4"]


def test_what_looks_like_a_formula_or_a_tag_is_text() -> None:
    items, _ = read(write("f.csv", 'q,gold\n"=HYPERLINK(""http://a"")",yes\n<script>alert(1)</script>,no\n'), seed=None)
    assert [item.question for item in items] == ['=HYPERLINK("http://a")', "<script>alert(1)</script>"]


def test_a_visitor_reaches_no_file_but_those_that_the_host_put_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "secret.csv"
    outside.write_text(as_csv(ROWS))
    assert read(f"file:{outside}")[0], "on the command line any file may be named"
    write("here.csv", as_csv(ROWS))
    (home.home() / "datasets" / "link.csv").symlink_to(outside)
    monkeypatch.setattr(policy, "is_hosted", lambda: True)
    assert read("file:here.csv")[0]
    for name in (str(outside), "../../secret.csv", "link.csv"):
        with pytest.raises(DatasetError, match=r"serves several people|cannot be read|no file"):
            read(f"file:{name}")
    with pytest.raises(DatasetError, match="only the host can fetch"):
        read("hf://owner/name/a.csv")


META = {"level": "hard", "by": {"name": "Ann"}}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_other_columns_are_kept_with_an_item_and_members_of_an_object_are_columns(kind: str) -> None:
    rows = [{"q": "Is it blue?", "gold": "yes", "domain": "colours", "meta": META, "empty": "", "n": 3}]
    if kind == "csv":
        cells = ["Is it blue?", "yes", "colours", json.dumps(META).replace('"', '""'), "", "3"]
        name = write("o.csv", ",".join(rows[0]) + "\n" + ",".join(f'"{cell}"' for cell in cells))
    else:
        name = write("o.jsonl", as_jsonl(rows))
    if kind == "parquet":
        duckdb.read_json(str(home.home() / "datasets" / "o.jsonl")).write_parquet(
            str(home.home() / "datasets" / "o.parquet")
        )
        name = "file:o.parquet"
    ((item,), left_out) = read(name)
    assert dict(item.extra) == {"domain": "colours", "meta.level": "hard", "meta.by.name": "Ann", "n": "3"}
    assert left_out == []
    kept = own.read(name, "strategyqa", COLUMNS, None, 0, keep=("domain",)).rows
    assert [dict(row.extra) for row in kept if isinstance(row, Item)] == [{"domain": "colours"}]
    with pytest.raises(DatasetError, match="no column “mood” to keep"):
        own.read(name, "strategyqa", COLUMNS, None, 0, keep=("mood",))


def test_long_cells_are_cut_and_of_very_many_columns_the_first_are_kept_and_the_others_counted() -> None:
    row = {"q": "Is it blue?", "gold": "yes", **{f"c{number}": "x" * 500 for number in range(60)}}
    name = write("wide.jsonl", as_jsonl([row]))
    drawn = own.read(name, "strategyqa", COLUMNS, None, 0)
    (item,) = drawn.rows
    assert isinstance(item, Item) and [key for key, _ in item.extra] == [f"c{number}" for number in range(50)]
    assert {len(text) for _, text in item.extra} == {301} and drawn.dropped == 10
    spec = AskSpec(model="control/fickle", task="strategyqa", dataset=name, columns=COLUMNS)
    assert isinstance(record := ASK.dataset_record(spec), Loaded) and "10 more columns are not kept" in record.summary()


def test_members_of_objects_that_are_too_many_are_counted_too() -> None:
    rows = [{"q": f"Is {n} odd?", "gold": "yes", "meta": {f"m{n}-{m}": m for m in range(30)}} for n in range(2)]
    drawn = own.read(write("members.jsonl", as_jsonl(rows)), "strategyqa", COLUMNS, None, None)
    names = [name for row in drawn.rows if isinstance(row, Item) for name, _ in row.extra]
    assert len(names) == 50 and drawn.dropped == 10


def test_a_file_that_cannot_be_read_stops_no_upload() -> None:
    write("a*.csv", "q,gold\na,yes\n")
    assert own.save_file("good.csv", b"q,gold\na,yes\n").dataset == "file:good.csv"
    assert own.save_file("other.csv", b"q,gold\nb,yes\n").dataset == "file:other.csv"


def test_of_two_rows_with_the_same_words_the_one_that_can_be_read_is_taken() -> None:
    rows = [{"q": "Is it blue?", "gold": answer} for answer in ("perhaps", "yes", "who knows")]
    for order in (rows, rows[::-1]):
        items, left_out = read(write("twice.jsonl", as_jsonl(order)))
        assert [item.label for item in items] == ["yes"] and [one.rows for one in left_out] == [2]


@pytest.mark.parametrize(
    ("encoding", "said"), [("utf-8", ""), ("cp1252", "Windows-1252"), ("utf-16", "UTF-16"), ("latin-1", "Windows-1252")]
)
def test_the_encoding_of_a_file_is_recognised(encoding: str, said: str) -> None:
    content = "q,gold\nIst die Straße grün?,yes\nHat der Käse Löcher?,no\n".encode(encoding)
    saved = own.save_file(f"{encoding}.csv", content)
    assert saved.encoding == said
    assert {item.question for item in read(saved.dataset)[0]} == {"Ist die Straße grün?", "Hat der Käse Löcher?"}
    assert own.save_file("the same.csv", content).dataset == saved.dataset


def test_a_few_bytes_that_are_not_utf_8_are_broken_rows_and_no_other_encoding() -> None:
    content = "q,gold\nIst die Straße grün?,yes\n".encode() + b"Is \xff it?,no\n"
    saved = own.save_file("one bad byte.csv", content)
    items, left_out = read(saved.dataset)
    assert saved.encoding == "" and [item.question for item in items] == ["Ist die Straße grün?"]
    assert [one.detail for one in left_out] == ["one bad byte.csv, line 3: this is not UTF-8 text"]


def test_a_file_in_another_encoding_that_is_named_by_its_path_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "latin.csv"
    file.write_bytes("q,gold\nIst die Straße grün?,yes\n".encode("cp1252"))
    with pytest.raises(DatasetError, match=r"UTF-8 text\. Save it as UTF-8, or upload it in the form"):
        require_items(read(f"file:{file}")[1], "file:latin.csv")


PARAGRAPH = {"paragraph": "q", "answer": "gold"}


@pytest.mark.parametrize(
    ("lab", "spec", "row"),
    [
        (
            "simulatability",
            AskSpec(model="control/fickle", dataset="file:k.jsonl", columns=COLUMNS),
            {"q": "Can a penguin fly?", "gold": "no"},
        ),
        (
            "consistency",
            CheckSpec(model="control/honest", task="sentiment", dataset="file:k.jsonl", columns=PARAGRAPH),
            {"q": "The film is wonderful. The plot is good.", "gold": "positive"},
        ),
    ],
)
def test_columns_are_journaled_with_the_case_and_never_reach_a_model(lab: str, spec: Any, row: dict[str, str]) -> None:
    write("k.jsonl", as_jsonl([{**row, "domain": "SECRET"}]))
    events: list[Event] = []
    run = RunRequest(entry.labs()[lab], spec, "r")
    asyncio.run(execute(run, RunIO(entry.catalog().get, events.append, live=False)))
    begun = [one.data for one in events if isinstance(one, Recorded) and one.record == "begun"]
    assert begun and all(one["columns"] == {"domain": "SECRET"} for one in begun)
    others = [one for one in events if not (isinstance(one, Recorded) and one.record == "begun")]
    assert any(isinstance(one, Asked) for one in others) and not any("SECRET" in repr(one) for one in others)


@pytest.mark.parametrize(
    ("title", "dataset", "shown"),
    [
        ("/home/ann/items.csv: at most 5 items", "file:/home/ann/items.csv", "items.csv: at most 5 items"),
        ("C:\\data\\items.csv: all 5 items", "file:C:\\data\\items.csv", "items.csv: all 5 items"),
        ("Birds, again", "file:/home/ann/items.csv", "Birds, again"),
        ("strategyqa: 5 items", "strategyqa", "strategyqa: 5 items"),
        ("hf://a/b/c.csv: 5 items", "hf://a/b/c.csv", "hf://a/b/c.csv: 5 items"),
        ("", "", ""),
    ],
)
def test_a_title_is_shown_without_the_folder_of_its_file(title: str, dataset: str, shown: str) -> None:
    assert own.title_without_folder(title, dataset) == shown
