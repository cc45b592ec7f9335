"""The game as a file: of a pack that ships or of one's own, with a policy that lets nothing else run or load."""

import re
from pathlib import Path

import pytest

from core.__main__ import main
from core.report import standalone_html
from core.report.game.pack import GamePackError, load_pack, pack_text


def test_the_command_writes_a_file_that_asks_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "talk.html"
    assert main(["game", "-o", str(file)]) == 0
    assert f"{len(load_pack('first').cards)} cards of first written to {file}" in capsys.readouterr().out
    text = file.read_text(encoding="utf-8")
    policy = re.search(r'Policy" content="([^"]*)"', text)
    scripts = re.findall(r"<script type=\"module\">(.*?)</script>", text, re.DOTALL)
    assert policy and len(scripts) == 1 and standalone_html.digest(scripts[0]) in policy[1]
    assert "connect-src" not in policy[1] and len(text) < 250_000
    assert main(["game", "-o", str(file)]) != 0, "a file that is there stays"


def test_a_pack_of_one_s_own_is_played_and_what_is_none_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, file = tmp_path / "mine.json", tmp_path / "mine.html"
    own.write_text(pack_text(load_pack("robots").model_copy(update={"name": "mine", "title": "Of one's own"})))
    assert main(["game", "--pack", str(own), "-o", str(file)]) == 0
    assert "<title>Of one&#39;s own</title>" in file.read_text()
    own.write_text("{")
    for name in (str(own), "nothing", str(tmp_path / "none.json")):
        assert main(["game", "--pack", name, "-o", str(tmp_path / "other.html")]) != 0
        assert "pack" in capsys.readouterr().err.lower()
    assert not (tmp_path / "other.html").exists()


def test_the_app_serves_the_same_with_its_ways_on() -> None:
    assert (
        standalone_html.of_app("")
        == standalone_html.of_app("first")
        == standalone_html.game_html(load_pack("first"), in_app=True)
    )
    with pytest.raises(GamePackError, match=r"There are: .*first"):
        standalone_html.of_app("../first")
