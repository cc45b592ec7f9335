"""A release: what it is made of, and what its check notices."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_requirements import ROOT, pins
from tools import release
from tools.release import ReleaseError

BIN = Path(sys.executable).parent
LOG = "# Changelog\n\n## 0.2.0 (2027-01-01)\n\n- New.\n\n## 0.1.0 (2026-11-26)\n\nFirst.\n"


def test_the_notes_are_the_section_of_the_version() -> None:
    assert release.notes(LOG, "0.2.0") == "# Explain Yourself 0.2.0\n\n- New.\n"
    assert release.notes(LOG, "0.1.0").endswith("\n\nFirst.\n")
    for other in ("0.3.0", "0.1", "1.0"):
        with pytest.raises(ReleaseError, match="says nothing about version"):
            release.notes(LOG, other)
    assert release.notes((ROOT / "CHANGELOG.md").read_text(), release.version())


def test_a_changed_missing_or_added_file_is_named(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    with pytest.raises(ReleaseError, match="no release"):
        release.check_sums(tmp_path)
    (tmp_path / release.SUMS).write_text(release.sums(tmp_path))
    release.check_sums(tmp_path)
    subprocess.run(["sha256sum", "--check", "--strict", release.SUMS], cwd=tmp_path, check=True, capture_output=True)
    with pytest.raises(ReleaseError, match="should have one wheel"):
        release.check(tmp_path, BIN)
    (tmp_path / "a").write_text("A")
    (tmp_path / "b").rename(tmp_path / "c")
    with pytest.raises(ReleaseError, match=r"sum: a, b, c\.$"):
        release.check_sums(tmp_path)


def test_a_lock_is_read_with_all_digests() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    found = release.pinned(lock)
    assert {name for name, _, _ in found} == set(pins("requirements.lock")) and len(found) == lock.count("--hash=")


@pytest.mark.thorough
def test_a_release_is_made_by_one_command_and_its_check_notices_changes(tmp_path: Path) -> None:
    """From a clone with the parts under test, so that it is a commit whatever else is changed here."""
    clone, python = tmp_path / "clone", tmp_path / "sbom" / "bin" / "python"
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
    subprocess.run([BIN / "uv", "venv", "-q", "--python", BIN / "python", tmp_path / "sbom"], check=True)
    install = [BIN / "uv", "pip", "install", "-q", "--no-deps", "--require-hashes", "--python", python]
    done = subprocess.run([*install, "-r", ROOT / "requirements-sbom.lock"], capture_output=True, text=True)
    if "dns error" in done.stderr or "not found in the package registry" in done.stderr:
        pytest.skip("uv has no access to an index")
    assert done.returncode == 0, done.stderr

    def run(order: str, folder: Path) -> subprocess.CompletedProcess[str]:
        command = [python, "tools/release.py", order, folder, BIN]
        return subprocess.run(command, cwd=clone, capture_output=True, text=True)

    (clone / "new.py").touch()
    assert "Commit these changes first" in run("make", tmp_path / "dist").stderr
    (clone / "new.py").unlink()
    made = run("make", tmp_path / "dist")
    assert made.returncode == 0 and "the wheel works" in made.stdout, made.stderr
    [folder] = (tmp_path / "dist").iterdir()
    assert "exists already" in run("make", tmp_path / "dist").stderr
    bill = json.loads((folder / release.SBOM).read_text())
    for changed, why in (
        (bill | {"components": bill["components"][1:]}, "differ in altair"),
        (bill | {"components": [{"type": "nothing"}]}, "no valid CycloneDX"),
    ):
        (folder / release.SBOM).write_text(json.dumps(changed))
        assert "with another sum: sbom.json" in run("check", folder).stderr
        (folder / release.SUMS).write_text(release.sums(folder))
        assert why in run("check", folder).stderr
