"""The commands in docs/game.md make what the text says, and its list of options is complete."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.__main__ import main
from core.report.game.pack import read
from tools import make_pack

ROOT = Path(__file__).resolve().parents[1]
DOC = (ROOT / "docs" / "game.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"^```\n(.*?)^```", DOC, re.DOTALL | re.MULTILINE) for line in block.splitlines()
]


def test_its_commands_make_and_check_packs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    # Arguments are written by a run's own model: tests/core/rooms/test_arguments.py asks one.
    made_here = [line for line in COMMANDS if line != "python -m core pack argue RUN"]
    assert len(made_here) == len(COMMANDS) - 1 == 6
    for line in made_here:
        python, m, module, *arguments = shlex.split(line)
        assert (python, m) == ("python", "-m")
        if module == "tools.make_pack":
            assert CliRunner().invoke(make_pack.main, arguments).exit_code == 0, line
        else:
            assert (module, arguments[0]) == ("core", "pack") and main(arguments) == 0, line
    made = {path.stem: read(path) for path in tmp_path.glob("*.json")}
    assert {name: pack.kind for name, pack in made.items()} == {
        "first-cards": "ask", "as-it-came": "ask", "one-whisper": "plant"
    }  # fmt: skip
    assert made["as-it-came"].as_it_came and len(made["as-it-came"].cards) == 4
    assert "first-cards.json: 2 cards, as in the journals" in capsys.readouterr().out


def test_it_lists_the_options_that_there_are() -> None:
    listed = set(re.findall(r"^\| `(--[a-z-]+)", DOC, re.MULTILINE))
    taken = {name for one in make_pack.main.params for name in one.opts if name.startswith("--")}
    assert listed == taken - {"--output"}
