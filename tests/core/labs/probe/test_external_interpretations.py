"""Interpretations made elsewhere: the published layout, JSON, and files that are neither."""

import json
from pathlib import Path

import pytest

from core.labs.probe.commands import InterpretationsError, read


def result(folder: Path, **parts: str) -> None:
    folder.mkdir(parents=True)
    for name, text in parts.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")


def test_the_published_layout(tmp_path: Path) -> None:
    result(tmp_path / "numeric" / "f00001", description_txt="a line\n", domain_txt="all", code_py="def f(x): return x")
    result(tmp_path / "numeric" / "f00002", description_txt="another")
    (tmp_path / "numeric" / "scores.json").write_text("[]")
    interpretations = read(tmp_path / "numeric")
    assert [(one.name, one.category) for one in interpretations] == [("f00001", "numeric"), ("f00002", "numeric")]
    assert interpretations[0].given.description == "a line" and interpretations[0].given.code == "def f(x): return x"
    assert interpretations[1].given.code == ""
    assert read(tmp_path / "numeric" / "f00001") == interpretations[:1]


@pytest.mark.parametrize(
    ("name", "category"), [("neurons_entities_hints", "entities"), ("neurons_relations", "relations")]
)
def test_the_authors_names_of_categories(tmp_path: Path, name: str, category: str) -> None:
    result(tmp_path / name / "f00000", description_txt="birds")
    assert read(tmp_path / name)[0].category == category


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_json(tmp_path: Path, suffix: str) -> None:
    entries = [
        {"name": "f1", "description": "d", "code": "c", "category": "strings"},
        {"dir": "x/f2", "category": "strings"},
    ]
    path = tmp_path / f"all{suffix}"
    lines = "\n".join(json.dumps(entry) for entry in entries)
    path.write_text(json.dumps(entries) if suffix == ".json" else lines)
    assert [(one.name, one.category, one.given.code) for one in read(path)] == [
        ("f1", "strings", "c"),
        ("f2", "strings", ""),
    ]
    path.write_text(json.dumps({"f3": {"description": "d"}}))
    if suffix == ".json":
        assert read(path, "numeric")[0].name == "f3"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "neither a folder"),
        (lambda path: path.mkdir(), "holds no folder"),
        (lambda path: path.write_text("{"), "cannot be read"),
        (lambda path: path.write_text("[1]"), "entry 1 is not an object"),
        (lambda path: path.write_text('[{"name": "f1"}]'), "needs a name, and a category"),
        (lambda path: path.write_text("[]"), "no interpretation"),
        (lambda path: result(path / "f1", description_txt="x"), "is not a category"),
        (lambda path: path.write_bytes(b"[\xff]"), "cannot be read"),
        (lambda path: (result(path / "f1"), (path / "f1/code.py").write_bytes(b"\xff")), r"code\.py cannot be read"),
    ],
)
def test_what_holds_no_interpretations_says_so(tmp_path: Path, make, words: str) -> None:
    path = tmp_path / "results.json"
    make(path)
    with pytest.raises(InterpretationsError, match=words):
        read(path)
