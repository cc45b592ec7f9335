"""Error messages come from `data/failures.toml`: every entry is used, and every use fills its slots."""

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from core import package_data
from core.events import CallError
from core.models import errors

MODELS = Path(errors.__file__).parent
FILES = [*MODELS.glob("*.py"), MODELS.parent / "datasets" / "get.py"]
FAILURES = package_data.table("failures")
TOLD = {"name", "status", "said"}
"""The slots that `**told` in `faults._of_status` fills."""


def raised() -> Iterator[tuple[str, set[str]]]:
    """Yield for each call of `failure` the entries that it may mean, and the slots that it fills."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("failure", "errors.failure"):
                filled = set[str]().union(*({word.arg} if word.arg else TOLD for word in node.keywords))
                for part in ast.walk(node.args[0]):
                    if isinstance(part, ast.Constant) and part.value in FAILURES:
                        yield part.value, filled
                    elif isinstance(part, ast.Name) and part.id == "name":
                        yield from ((name, filled) for name in ("not_on_hub", "account_wanted", "hub_failed"))


def test_every_entry_is_used_with_its_slots() -> None:
    used = list(raised())
    assert {name for name, _ in used} == set(FAILURES)
    for name, filled in used:
        words = FAILURES[name]["message"] + FAILURES[name]["hint"]
        assert {slot for _, slot, *_ in Formatter().parse(words) if slot} <= filled, name


@pytest.mark.parametrize("name", FAILURES)
def test_every_entry_is_an_error_of_ours_with_a_sentence_and_a_hint(name: str) -> None:
    assert issubclass(getattr(errors, FAILURES[name]["error"]), CallError)
    assert FAILURES[name]["message"] and FAILURES[name]["hint"]


def test_a_failure_is_told_in_the_words_of_what_happened() -> None:
    failure = errors.failure("too_many", name="lab", status=429, said=" It says: “{no} {slots}”", long="3 seconds")
    assert isinstance(failure, errors.RateLimitError) and failure.may_pass and failure.wait is None
    assert failure.message == "lab takes no more calls for now (HTTP 429). It says: “{no} {slots}”"
    assert failure.hint.startswith("Wait 3 seconds and try again, or set fewer concurrent calls")
