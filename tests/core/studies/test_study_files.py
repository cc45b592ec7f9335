"""Studies that are begun with a file elsewhere are listed beside those of the home."""

from pathlib import Path

from core.studies.study_files import SHIPPED, files, list_study, own_folder


def test_a_file_elsewhere_is_listed_once_and_followed(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "mine.toml"
    file.write_text('title = "Mine"\n')
    for _ in range(2):
        list_study(home, file, "Mine")
    assert files(home)["mine"].read_text() == 'title = "Mine"\n'
    file.write_text('title = "Changed"\n')
    list_study(home, file, "Changed")
    assert [path.name for path in own_folder(home).iterdir()] == ["mine.toml"]
    assert files(home)["mine"].read_text() == 'title = "Changed"\n'
    other = tmp_path / "elsewhere" / "mine.toml"
    other.parent.mkdir()
    other.write_text('title = "Another"\n')
    list_study(home, other, "Another")
    assert files(home)["mine-2"].read_text() == 'title = "Another"\n'
    odd = tmp_path / "a file.toml"
    odd.write_text("")
    list_study(home, odd, "Odd: one")
    assert "odd-one" in files(home)
    file.unlink()
    assert "mine" not in files(home) and "mine-2" in files(home)
    list_study(home, other, "Another")
    assert len([*own_folder(home).iterdir()]) == 3


def test_studies_of_the_app_and_of_the_home_are_listed_as_they_are(tmp_path: Path) -> None:
    shipped = next(SHIPPED.glob("*.toml"))
    list_study(tmp_path, shipped, "shipped")
    own_folder(tmp_path).mkdir()
    (own_folder(tmp_path) / "own.toml").write_text("")
    list_study(tmp_path, own_folder(tmp_path) / "own.toml", "own")
    assert [path.name for path in own_folder(tmp_path).iterdir()] == ["own.toml"]
    assert not (own_folder(tmp_path) / "own.toml").is_symlink()
