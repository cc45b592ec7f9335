"""Prices: those that ship, those in the home, and that every study that ships can give its cost."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core import home, package_data
from core.models import settings
from core.models.errors import EndpointSettingError
from core.models.ids import is_free
from core.models.settings import price_of

STUDIES = Path(__file__).resolve().parents[3] / "studies"
_ID = re.compile(r"[a-z][\w.-]*/[\w./:-]+")


@pytest.fixture(autouse=True)
def read_again() -> Iterator[None]:
    """Read the prices again, because each test has a home of its own."""
    for made in (settings.prices, settings.price_of):
        made.cache_clear()
    yield
    for made in (settings.prices, settings.price_of):
        made.cache_clear()


def ids_in(value: Any) -> Iterator[str]:
    """Yield the values of a study file that look like a model's id."""
    if isinstance(value, str) and _ID.fullmatch(value):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from ids_in(one)


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_model_of_a_study_has_a_price_or_is_listed_without(path: Path) -> None:
    unpriced = package_data.table("models")["unpriced"]
    for id in ids_in(tomllib.loads(path.read_text(encoding="utf-8"))):
        # Nobody is paid for a prediction by a reader.
        if not is_free(id) and not id.startswith("reader/"):
            assert (price_of(id) is None) is (id in unpriced), id


def test_a_study_s_models_are_found() -> None:
    (study,) = [path for path in STUDIES.glob("*.toml") if path.stem == "chen_table4"]
    assert {"openai/gpt-4o", "openai/gpt-4o-mini"} <= set(ids_in(tomllib.loads(study.read_text(encoding="utf-8"))))


def test_every_price_carries_its_date_and_source() -> None:
    for price in settings.prices().values():
        assert price.date.year >= 2024 and price.source and 0 < price.prompt <= price.completion


def test_a_file_in_the_home_replaces_and_adds_prices() -> None:
    (home.home() / "prices.toml").write_text(
        '[[price]]\nmodel = "openai/gpt-4.1"\nprompt = 1.5\ncompletion = 6\ndate = 2026-11-01\nverified = true\n'
        '[[price]]\nmodel = "anthropic/claude-opus-4-8"\nprompt = 5\ncompletion = 25\ndate = 2026-11-01\n'
    )
    changed, added = price_of("openai/gpt-4.1"), price_of("anthropic/claude-opus-4-8")
    assert changed is not None and (changed.prompt, changed.verified, str(changed.date)) == (1.5, True, "2026-11-01")
    assert added is not None and added.cost_of(1_000_000, 1_000_000) == 30
    assert price_of("openai/gpt-4.1-mini") is not None, "the others are as they shipped"


@pytest.mark.parametrize("text", ["[[price]", '[[price]]\nmodel = "a/b"\nprompt = "much"\n', "price = 3\n", "\xff"])
def test_a_file_that_cannot_be_read_is_said(text: str) -> None:
    (home.home() / "prices.toml").write_text(text, encoding="latin-1")
    with pytest.raises(EndpointSettingError, match=r"prices\.toml cannot be read") as caught:
        price_of("openai/gpt-4.1")
    assert "docs/models.md" in caught.value.hint
