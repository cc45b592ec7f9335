"""docs/host.md lists the settings as they are."""

from __future__ import annotations

from pathlib import Path

from core import policy

DOC = Path(__file__).resolve().parents[1] / "docs" / "host.md"


def test_every_setting_and_limit_is_listed_as_it_is() -> None:
    rows = [line for line in DOC.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]

    def word(allowed: bool) -> str:
        return "yes" if allowed else "no"

    settings = [
        f"| `{one.variable}` | {one.allows} | {word(one.alone)} | {word(one.hosted)} |" for one in policy.SETTINGS
    ]
    limits = [
        f"| `{one.variable}` | {one.what} | {'any' if one.alone is None else one.alone} | {one.hosted} |"
        for one in policy.LIMITS
    ]
    assert rows == settings + limits
