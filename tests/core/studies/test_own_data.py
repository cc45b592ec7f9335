"""Studies over a person's own files: an edited file makes only its own runs new; broken rows are reported."""

import asyncio
from pathlib import Path

import pytest

from core import entry, home
from core.__main__ import main
from core.studies.execute import Making
from core.studies.plan import read
from tests.core.studies.test_study import printed, written

STUDY = """
lab = "check"
spec = { controls = 0, model = "control/honest-lexicon", explanations = ["attribution"] }
grid = { dataset = ["file:a.csv", "file:b.csv", ""], seed = [1, 2] }
"""


def write(name: str, *rows: str) -> None:
    folder = home.home() / "datasets"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("\n".join(["paragraph,answer", *rows]))


@pytest.mark.thorough
def test_an_edited_file_is_asked_about_anew_and_broken_rows_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = [f"A great film no. {n}.,perhaps {n}" for n in range(12)]
    write("a.csv", "A great film.,positive", "A terrible film.,negative", *broken)
    write("b.csv", "A great film.,positive", "An awful film.,negative")
    file = written(tmp_path, STUDY)
    told = ["Broken rows, each of which costs an item: 12.", "  a.csv, line 4: the answer “perhaps 0” is not one of"]
    [plan] = printed(capsys, "plan", file)
    assert (
        plan["broken"][0] == told[0]
        and plan["broken"][1].startswith(told[1])
        and plan["broken"][-1] == "  … and 2 more."
    )
    assert main(["study", "run", file]) == 0
    for command in ("run", "table"):
        capsys.readouterr()
        assert main(["study", command, file]) == 0
        assert capsys.readouterr().err.splitlines() == plan["broken"]
    assert printed(capsys, "status", file)[0]["broken"] == plan["broken"]
    # One row has a different label and the same id.
    before = read(Path(file), entry.labs())
    write("a.csv", "A great film.,negative", "A terrible film.,negative")
    assert before.changed == ["file:a.csv"]
    after = read(Path(file), entry.labs())
    new = {run.spec.dataset for run in after.runs if run.id not in {one.id for one in before.runs}}  # type: ignore[attr-defined]
    assert new == {"file:a.csv"}
    [plan] = printed(capsys, "plan", file)
    assert (plan["completed"], plan["made_of_other"], plan["broken"]) == (plan["runs"] - 2, 2, [])
    # A run read before the edit is not made under a name that no longer fits.
    stale = before.runs[0]
    (home.journals() / f"{stale.id}.jsonl").unlink()
    outcome = asyncio.run(Making(before, entry.labs(), entry.catalog().get, home.journals()).run_all([stale]))
    assert "file:a.csv was changed" in outcome.failed[stale.id] and not outcome.completed
