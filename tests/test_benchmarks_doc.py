"""benchmarks/README.md says what each benchmark measures."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


def test_every_benchmark_has_its_line() -> None:
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    named = {line.split("`")[1] for line in lines if line.startswith("| `")}
    apart = {f"mutants/{path.name}" for path in FOLDER.glob("mutants/*.py")}
    assert named == {path.name for path in FOLDER.glob("*.py")} | apart
