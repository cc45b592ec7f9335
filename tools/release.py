"""Makes a release, or checks one: `python tools/release.py make|check FOLDER BIN`.

A release is a folder with the wheel, a bill of materials (CycloneDX), notes from CHANGELOG.md, and the SHA-256 sums of
these. It runs in the environment of `make sbom`; BIN holds a Python with hatchling, and uv.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUMS = "SHA256SUMS"
NOTES = "NOTES.md"
SBOM = "sbom.json"
ANSWERED = "precision"
"""What the command line prints when a robot was asked."""


class ReleaseError(Exception):
    """A release cannot be made, or is not what it says. The message says why."""


def version() -> str:
    """Return the version in pyproject.toml. Raises ReleaseError if CITATION.cff has another one."""
    declared: str = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    if f"\nversion: {declared}\n" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8"):
        raise ReleaseError(f"pyproject.toml has version {declared}, and CITATION.cff another one.")
    return declared


def notes(changelog: str, of: str) -> str:
    """Return the section of a changelog about a version. Raises ReleaseError if it has none, or an empty one."""
    found = re.search(rf"^## {re.escape(of)} \(\d{{4}}-\d\d-\d\d\)\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if found is None or not found[1].strip():
        raise ReleaseError(f"CHANGELOG.md says nothing about version {of}: it needs a section “## {of} (YYYY-MM-DD)”.")
    return f"# Explain Yourself {of}\n\n{found[1].strip()}\n"


def sums(folder: Path) -> str:
    """Return the SHA-256 sum of each file in the folder, as sha256sum writes them."""
    files = sorted(path for path in folder.iterdir() if path.name != SUMS)
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


def pinned(lock: str) -> set[tuple[str, str, str]]:
    """Return name, version and one SHA-256 digest of each file of each package in a lock."""
    packages = re.findall(r"^([\w.-]+)==([^\s;]+)(.*\n(?: .*\n)*)", lock, re.M)
    return {(name, of, digest) for name, of, more in packages for digest in re.findall(r"sha256:(\w+)", more)}


def make(folder: Path, bin: Path) -> None:
    """Write a release into a new folder. Raises ReleaseError if the folder exists or a part cannot be made."""
    said = notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version())
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise ReleaseError(f"{folder} exists already. Delete it, or raise the version in pyproject.toml.") from None
    _run(bin / "python", "-m", "hatchling", "build", "-t", "wheel", "-d", folder.resolve())
    cyclonedx = Path(sys.executable).with_name("cyclonedx-py")
    about = ("--pyproject", "pyproject.toml", "--mc-type", "application", "--output-reproducible")
    _run(cyclonedx, "requirements", *about, "-o", folder.resolve() / SBOM, "requirements.lock")
    (folder / NOTES).write_text(said, encoding="utf-8")
    (folder / SUMS).write_text(sums(folder), encoding="utf-8")


def check(folder: Path, bin: Path) -> None:
    """Check sums, bill of materials and wheel of a release, and use the wheel in an empty environment. Raises
    ReleaseError if something is not as it says.
    """
    check_sums(folder)
    held, wheels = sorted(path.name for path in folder.iterdir()), list(folder.glob("*.whl"))
    if len(wheels) != 1 or not {NOTES, SBOM}.issubset(held):
        raise ReleaseError(f"{folder} should have one wheel, {NOTES} and {SBOM}; it has {', '.join(held)}.")
    [wheel] = wheels
    with zipfile.ZipFile(wheel) as file:
        [metadata] = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
        built = str(message_from_bytes(file.read(metadata))["Version"])
        lock = file.read("explain_yourself/requirements.lock").decode()
    heading = (folder / NOTES).read_text(encoding="utf-8").partition("\n")[0]
    if heading != f"# Explain Yourself {built}":
        raise ReleaseError(f"The wheel has version {built}, and the notes begin with “{heading}”.")
    check_bill((folder / SBOM).read_text(encoding="utf-8"), pinned(lock), built)
    check_wheel(wheel, bin)


def check_sums(folder: Path) -> None:
    """Raises ReleaseError if a file is missing, is not listed, or has another sum."""
    try:
        listed = (folder / SUMS).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ReleaseError(f"{folder} holds no {SUMS}, so it is no release.") from None
    if differ := {line.split("  ")[-1] for line in set(listed.splitlines()) ^ set(sums(folder).splitlines())}:
        raise ReleaseError(f"Missing, not listed in {SUMS}, or with another sum: {', '.join(sorted(differ))}.")


def check_bill(bill: str, packages: set[tuple[str, str, str]], of: str) -> None:
    """Raises ReleaseError if the text is no valid CycloneDX, is about another version, or lists other packages,
    versions or digests than those.
    """
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    told = json.loads(bill)
    if fault := JsonStrictValidator(SchemaVersion.from_version(told["specVersion"])).validate_str(bill):
        raise ReleaseError(f"{SBOM} is no valid CycloneDX: {fault}")
    if told["metadata"]["component"]["version"] != of:
        raise ReleaseError(f"{SBOM} is not about version {of}.")
    listed = {
        (one["name"], one["version"], digest["content"])
        for one in told["components"]
        for reference in one.get("externalReferences", ())
        for digest in reference.get("hashes", ())
    }
    if differ := {name for name, _, _ in listed ^ packages}:
        raise ReleaseError(f"{SBOM} and the lock in the wheel differ in {', '.join(sorted(differ))}.")


def check_wheel(wheel: Path, bin: Path) -> None:
    """Install a wheel into an empty environment, from wheels alone, and ask a robot. Raises ReleaseError."""
    with tempfile.TemporaryDirectory() as place:
        env = Path(place) / "env"
        _run(bin / "uv", "venv", "--quiet", "--python", bin / "python", env)
        _run(bin / "uv", "pip", "install", "--quiet", "--only-binary", ":all:", "--python", env, wheel.resolve())
        ask = ("ask", "Can a penguin fly?", "--model", "control/fickle")
        if ANSWERED not in _run(env / "bin" / "explain-yourself", *ask, home=place):
            raise ReleaseError(f"The wheel is installed, but its command line printed no {ANSWERED}.")


def _run(program: Path, *arguments: object, home: str = "") -> str:
    """Run a program in the root, or in `home` as its own; return what it printed. Raises ReleaseError if it fails."""
    settings = {"EXPLAIN_HOME": f"{home}/home"} if home else {}
    command = [str(program), *map(str, arguments)]
    done = subprocess.run(
        command, cwd=home or ROOT, env={**os.environ, **settings}, capture_output=True, text=True, encoding="utf-8"
    )
    if done.returncode:
        raise ReleaseError(f"{' '.join(command)} failed:\n{done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def main() -> int:
    """Make a release from a clean checkout and check it, or check one; 1 if that fails."""
    order, folder, bin = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]).absolute()
    try:
        if order == "make":
            folder = folder / f"explain-yourself-{version()}"
            if changed := _run(Path("git"), "status", "--porcelain"):
                raise ReleaseError(f"Commit these changes first, so that the release is a commit:\n{changed.rstrip()}")
            make(folder, bin)
        check(folder, bin)
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{folder}: the sums are right, the bill of materials is valid and complete, and the wheel works.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
