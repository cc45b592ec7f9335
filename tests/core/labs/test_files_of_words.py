"""The words that lie in files beside modules: none is left over, and each field is asked by them."""

import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core import entry
from core.labs.base.spec import Sampled, SpecFields, knobs

CORE = Path(entry.__file__).parent


def asked(kind: type[SpecFields] = SpecFields) -> Iterator[type[SpecFields]]:
    for one in kind.__subclasses__():
        yield one
        yield from asked(one)


def tables(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", sorted(CORE.rglob("fields.toml")), ids=lambda file: file.parent.name)
def test_every_table_is_of_a_class_beside_it(file: Path) -> None:
    beside = {one.__name__: one for one in asked() if Path(inspect.getfile(one)).parent == file.parent}
    for name, fields in tables(file).items():
        for field, words in fields.items():
            if field == "form":
                grouped = {one for group in words.values() for one in group} - {"source"}
                assert grouped <= beside[name].model_fields.keys()
                continue
            found = beside[name].model_fields[field]
            told = {"title": found.title, "description": found.description}
            assert {key: told[key] for key in told if key in words}.items() <= words.items()


def test_a_class_has_the_words_of_those_it_is_made_of() -> None:
    assert knobs(Sampled)["top_p"].title == "Top-p"
    assert all(
        knobs(lab.spec)["top_p"].title == "Top-p" for lab in entry.labs().values() if issubclass(lab.spec, Sampled)
    )


@pytest.mark.parametrize("file", sorted(CORE.rglob("words.toml")), ids=lambda file: file.parent.name)
def test_all_words_are_used(file: Path) -> None:
    code = "".join(module.read_text(encoding="utf-8") for module in file.parent.glob("*.py"))
    named = re.findall(r'words_of\(__file__, "(\w+)"\)', code)
    # A choice of a form may be called by a table of the lab.
    if (fields := file.with_name("fields.toml")).exists():
        named += re.findall(r'^names = "(\w+)"', fields.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(named) == tables(file).keys()


SENTENCES = {
    "simulatability": ["headlines"],
    "consistency": ["headlines", "in_its_words"],
    "plant": ["headlines", "in_its_words"],
}
"""The tables of sentences that a lab's report fills in, by the lab's name."""


@pytest.mark.parametrize("lab", SENTENCES)
def test_what_a_sentence_is_filled_in_with_is_a_property_of_the_report(lab: str) -> None:
    report = entry.labs()[lab].report
    words = tables(Path(inspect.getfile(report)).with_name("words.toml"))
    known = {*dir(report), *(name for one in report.__mro__ for name in vars(one).get("__annotations__", ()))}
    for table in SENTENCES[lab]:
        for sentence in words[table].values():
            assert set(re.findall(r"\{(\w+)", sentence)) <= known, sentence
