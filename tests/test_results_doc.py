"""docs/results.md shows what the journals of the example study show. This command writes its tables again:

python -m tests.test_results_doc
"""

import re
import subprocess
import zipfile
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

import pytest

from core import entry, home
from core.runs.library import EXAMPLE_STUDY
from core.studies import plan, tables
from core.studies.plan import Study
from core.studies.run_status import is_completed
from core.studies.table_cells import Row
from pages import labs
from pages.study.results import called

ROOT = Path(__file__).resolve().parents[1]
DOC = ROOT / "docs" / "results.md"
labs.register()
BLOCK = re.compile(r"(?<=<!-- table: )(\w+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)


def study() -> Study:
    return plan.read(ROOT / "studies" / f"{EXAMPLE_STUDY}.toml", entry.labs())


def folder() -> Path:
    unpacked = home.unpacked_folder(home.recordings())
    assert unpacked is not None
    return unpacked


def written(text: str) -> str:
    """The document with the tables of the study as they are now."""
    made = markdown(study(), folder())
    return BLOCK.sub(lambda block: f"{block[1]}{block[2]}{made[block[1]]}", text)


def markdown(study: Study, journals: Path) -> dict[str, str]:
    """The study's tables by title: a line for each row, a column for each figure."""
    known = entry.labs()
    cells = tables.rows(study, known, tables.measured(study, known, journals))
    wanted = [cell for cell in cells if cell["table"].partition(": ")[0] in {one.title for one in study.tables}]
    wanted = [cell for cell in wanted if not cell["table"].endswith(tables.DIFFERENCES)]
    return {title: _table(list(some)) for title, some in groupby(wanted, lambda cell: cell["table"].partition(": ")[0])}


def _table(cells: list[Row]) -> str:
    figures = list(dict.fromkeys(cell["column"] for cell in cells))
    lines: dict[str, dict[str, str]] = {}
    for cell in cells:
        lines.setdefault(called(cell["row"]), {})[cell["column"]] = _value(cell)
    head = ["", *(figure.lower() for figure in figures)]
    rows = [[name, *(row.get(figure, "–") for figure in figures)] for name, row in lines.items()]
    lines_of = "".join(f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *rows))
    return f"\n{lines_of}\n"


def _value(cell: Mapping[str, object]) -> str:
    if cell["value"] is None:
        return f"undefined, 0 of {cell['of']}"
    between = "" if cell["low"] is None else f" ({cell['low']:.2f} to {cell['high']:.2f})"
    return f"{cell['value']:.2f}{between}, {cell['n']} of {cell['of']}".replace("-", "−")


@pytest.fixture
def unpacked_before(own_home: Path, recorded: Path) -> None:
    """Read the archives where they were unpacked for all tests."""
    own_home.mkdir(parents=True)
    (own_home / "unpacked").symlink_to(recorded / "unpacked")


def test_every_run_of_the_study_is_in_the_archive_and_complete(unpacked_before: None) -> None:
    runs = {f"{run.id}.jsonl" for run in study().runs}
    with zipfile.ZipFile(home.recordings() / home.UNPACKED / f"{EXAMPLE_STUDY}.zip") as archive:
        assert runs == home.archived_journals(archive).keys()
    assert all(is_completed(folder() / run) for run in runs)
    text = "".join((folder() / run).read_text(encoding="utf-8") for run in runs)
    assert not re.search(r"/(home|tmp|work|root)/", text), "nothing of the machine that it was made on"


def test_the_document_shows_the_tables_of_the_study(unpacked_before: None) -> None:
    text = DOC.read_text(encoding="utf-8")
    assert len(BLOCK.findall(text)) == len(study().tables)
    assert written(text) == text, "write it again: python -m tests.test_results_doc"


def test_every_figure_in_its_sentences_is_in_a_table() -> None:
    text = DOC.read_text(encoding="utf-8")
    shown = set(re.findall(r"\d\.\d\d", "".join(block[0] for block in BLOCK.finditer(text))))
    said = set(re.findall(r"\d\.\d\d", BLOCK.sub("", text)))
    assert said <= shown


def test_its_command_copies_the_study_for_a_model_of_ones_own(tmp_path: Path) -> None:
    (command,) = re.findall(r"(?<=^    )sed .*", DOC.read_text(encoding="utf-8"), re.MULTILINE)
    subprocess.run(command.replace("my-example", f"{tmp_path}/my-example"), shell=True, cwd=ROOT, check=True)
    copied = plan.read(tmp_path / "my-example.toml", entry.labs())
    assert len(copied.runs) == len(study().runs)
    for run in copied.runs:
        roles = getattr(run.spec, "roles", {})
        asked = {getattr(run.spec, "model", ""), *(model for models in roles.values() for model in models)}
        assert asked == {"openai/gpt-5-mini"} and getattr(run.spec, "exam", True)


if __name__ == "__main__":
    DOC.write_text(written(DOC.read_text(encoding="utf-8")), encoding="utf-8")
