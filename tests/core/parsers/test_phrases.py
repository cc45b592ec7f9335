"""The table of phrases: every pattern compiles, is used somewhere, and is written as the table's notation says."""

from __future__ import annotations

import re
from pathlib import Path

import core.parsers
from core.package_data import sibling_toml
from core.parsers.phrases import RE
from core.text.patterns import Patterns

FOLDER = Path(core.parsers.__file__).parent
TABLE = sibling_toml(str(FOLDER / "phrases.py"), "phrases.toml")
FILLED_BY_CODE = {"names": "a", "letters": "[a]", "mark": "-"}


def test_every_pattern_compiles_and_is_used() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py"))
    asked = set(re.findall(r"\bRE\.([a-z_]+)", code)) | set(re.findall(r"\"([a-z_]+)\"", code))
    inner = set(re.findall(r"\{([a-z_]+)\}", "\n".join(TABLE.values())))
    assert set(re.findall(r"\bRE\.([a-z_]+)", code)) <= set(TABLE)
    assert inner <= set(TABLE) | set(FILLED_BY_CODE)
    assert set(TABLE) <= asked | inner
    for name in TABLE:
        RE(name, **FILLED_BY_CODE)


def test_a_line_is_an_alternative_and_only_named_groups_capture() -> None:
    table = Patterns({"answer": "yes\nno(pe|\n  t at all)?", "line": r"^(?P<said>{answer}|[(\]x(]\(){end}$"})
    said = table("line", end="!")
    assert [found["said"] for found in said.finditer("YES!\nnot at all!\n((!\nnop!")] == ["YES", "not at all", "(("]
    assert said.groups == 1
    assert table.answer is table.answer
