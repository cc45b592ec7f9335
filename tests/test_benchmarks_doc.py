"""benchmarks/README.md says what each benchmark measures, and the table of mutants is up to date."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks"


def test_every_benchmark_has_its_line() -> None:
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    named = {line.split("`")[1] for line in lines if line.startswith("| `")}
    apart = {f"mutants/{path.name}" for path in FOLDER.glob("mutants/*.py")}
    assert named == {path.name for path in FOLDER.glob("*.py")} | apart


def test_the_table_of_mutants_names_files_and_tests_that_exist() -> None:
    table = tomllib.loads((FOLDER / "mutants" / "mutants.toml").read_text(encoding="utf-8"))["files"]
    named = {test.partition("[")[0] for tests in table.values() for test in tests}
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file in {one.partition("::")[0] for one in named}}
    tests = {one.partition("::")[::2] for one in named if "::" in one}
    assert [file for file in table if not (ROOT / file).is_file()] == []
    assert [test for test in tests if f"def {test[1]}(" not in texts[test[0]]] == []
