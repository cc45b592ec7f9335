"""No sentence on a screen, on the command line or in the docs uses words that readers stumble over."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
STUMBLE = re.compile(
    r"\b(?:foretells?|foretold|anew|oftener|whoever|(?:what|that) (?:came|comes) of|of before|(?:is|are) had|a mail)\b",
    re.IGNORECASE,
)
NAMES = {"foretold"}
"""Fields on disk and variables, which are whole strings or names in braces."""


def sentences(path: Path) -> Iterator[str]:
    """Yield the texts of a file that a person may read: of Python all strings but docstrings, of TOML all values."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    elif path.suffix == ".toml":
        yield from values(tomllib.loads(text))
    else:
        tree = ast.parse(text)
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
                yield node.value


def values(value: Any) -> Iterator[str]:
    """All texts of a TOML value."""
    if isinstance(value, str):
        yield re.sub(r"\{[^{}]*\}", "", value)
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from values(one)


SCREENS = [path for part in ("core", "pages") for kind in ("py", "toml") for path in (ROOT / part).rglob(f"*.{kind}")]
DATA = [*(ROOT / "data").glob("*.toml"), *(ROOT / "data" / "lessons").glob("*.toml")]
DOCS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


@pytest.mark.parametrize("files", [SCREENS, DATA, DOCS], ids=["screens", "data", "docs"])
def test_no_sentence_uses_a_word_that_readers_stumble_over(files: list[Path]) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0]!r} in {text[max(match.start() - 40, 0) : match.end() + 40]!r}"
        for path in files
        for text in sentences(path)
        for match in STUMBLE.finditer(text)
        if text not in NAMES
    ]
    assert len(files) > 5 and found == []


def test_a_word_that_readers_stumble_over_is_found(tmp_path: Path) -> None:
    for name, text in (("a.py", 'print("Whoever reads")'), ("a.toml", 'a = ["read anew"]'), ("a.md", "It is had.")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert any(map(STUMBLE.search, sentences(tmp_path / name))), name
