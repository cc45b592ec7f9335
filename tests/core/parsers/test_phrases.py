"""The tables of phrases: every pattern compiles, is used somewhere, and is written as the table's notation says."""

import re
from pathlib import Path
from types import ModuleType

import pytest

from core.labs.ask import parse
from core.labs.probe import claim_extraction
from core.package_data import sibling_toml
from core.parsers import statements
from core.text.patterns import Patterns

FILLED_BY_CODE = {"names": "a", "letters": "[a]", "mark": "-"}


@pytest.mark.parametrize(
    ("module", "name"), [(statements, "phrases"), (parse, "phrases"), (claim_extraction, "claims")]
)
def test_every_pattern_compiles_and_is_used(module: ModuleType, name: str) -> None:
    folder = Path(str(module.__file__)).parent
    table = sibling_toml(str(module.__file__), f"{name}.toml")
    code = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    asked = set(re.findall(r"\bRE\.([a-z_]+)", code))
    inner = set(re.findall(r"\{([a-z_]+)\}", "\n".join(table.values())))
    assert asked <= set(table)
    assert inner <= set(table) | set(FILLED_BY_CODE)
    assert set(table) <= asked | inner | set(re.findall(r"\"([a-z_]+)\"", code))
    for pattern in table:
        assert module.RE(pattern, **FILLED_BY_CODE).pattern


def test_a_line_is_an_alternative_and_only_named_groups_capture() -> None:
    table = Patterns({"answer": "yes\nno(pe|\n  t at all)?", "line": r"^(?P<said>{answer}|[(\]x(]\(){end}$"})
    said = table("line", end="!")
    assert [found["said"] for found in said.finditer("YES!\nnot at all!\n((!\nnop!")] == ["YES", "not at all", "(("]
    assert said.groups == 1
    assert table.answer is table.answer
