"""docs/models.md has a section for each provider with its address, and its examples are valid."""

import re
import tomllib
from pathlib import Path

from core.models import capabilities, settings
from core.models.settings import MOST_EXTRAS, PRESETS, EndpointConfig, Price

ROOT = Path(__file__).resolve().parents[1]
DOC = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n\n(.*?)(?=^## |\Z)", DOC, re.DOTALL | re.MULTILINE))
TABLES = [tomllib.loads(block) for block in re.findall(r"^```toml\n(.*?)^```", DOC, re.DOTALL | re.MULTILINE)]


def test_every_provider_has_a_section_with_its_address_and_what_was_tried() -> None:
    for preset in PRESETS.values():
        section = SECTIONS[preset.title]
        assert preset.base_url in section, preset.title
        assert "Tried: " in section or "Not tried" in section, preset.title


def test_its_endpoints_and_prices_are_taken_as_they_stand() -> None:
    endpoints = {name: table for tables in TABLES for name, table in tables.get("endpoints", {}).items()}
    assert endpoints
    for name, table in endpoints.items():
        assert EndpointConfig.model_validate({**table, "name": name}).known_server() is PRESETS[name]
    assert [Price.model_validate(price).date for tables in TABLES for price in tables.get("price", [])]


def test_the_example_of_secrets_is_taken_as_it_stands() -> None:
    text = (ROOT / ".streamlit" / "secrets.toml.example").read_text(encoding="utf-8")
    for name, table in tomllib.loads(text)["endpoints"].items():
        config = EndpointConfig.model_validate({**table, "name": name, "preset": name})
        assert config.known_server() is PRESETS[name]


def test_numbers_are_those_of_the_code() -> None:
    assert MOST_EXTRAS == 8 and "At most eight extra query values and eight extra headers" in DOC
    assert f"at most {settings.LONGEST_EXTRA:,} characters" in " ".join(DOC.split())
    assert "at most six small" in " ".join(DOC.split()) and "capabilities.json" in DOC and capabilities.MOST_KEPT
