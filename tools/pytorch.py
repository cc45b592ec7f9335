"""Installs PyTorch's CPU build into the environment of the Python that runs this, and says what it does.

PyPI's build for Linux draws in 3 GB of CUDA. So there the CPU build comes from PyTorch's own index; where that is out
of reach, what pip would take instead is looked at first, and is refused if it wants CUDA, unless TORCH_ANY=1 is set.
On macOS and Windows PyPI's build is the CPU one. A build whose SHA-256 digest stands in no lock is refused in the same
way. Needs nothing but Python and pip.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

INDEX = "https://download.pytorch.org/whl/cpu"
ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "requirements.txt"
LOCKS = (ROOT / "requirements-torch.lock", ROOT / "requirements.lock")
"""Its own index's builds for Linux, and PyPI's."""

_PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
_CUDA = re.compile(r"(nvidia|cuda|triton)\b", re.IGNORECASE)


def pinned(requirements: Path = REQUIREMENTS) -> str:
    """The version of torch in requirements.txt. Raises ValueError where it is not pinned."""
    pin = re.search(r"^torch==(\S+)$", requirements.read_text(encoding="utf-8"), re.MULTILINE)
    if pin is None:
        raise ValueError(f"{requirements} pins no version of torch")
    return pin[1]


def known(locks: Iterable[Path] = LOCKS) -> set[str]:
    """The SHA-256 digests, in hex, of the builds of torch that the locks name."""
    entry = re.compile(r"^torch==\S+(?:\s*\\\n +--hash=sha256:[0-9a-f]{64})+", re.MULTILINE)
    entries = [found[0] for lock in locks if (found := entry.search(lock.read_text(encoding="utf-8")))]
    return set(re.findall(r"[0-9a-f]{64}", "".join(entries)))


def installed() -> str | None:
    """The version of torch that is installed, if one is."""
    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return None


def cuda_packages(requires: Iterable[str]) -> list[str]:
    """Those among a build's requirements (PEP 508) that bring CUDA, by name; a build for the CPU alone has none."""
    return sorted({re.split(r"[^\w.-]", one, maxsplit=1)[0] for one in requires if _CUDA.match(one)})


class Build(NamedTuple):
    """What pip would take for `wanted`: where it lies, its SHA-256 digest, and the CUDA packages it asks for."""

    wanted: str
    where: tuple[str, ...]
    address: str
    digest: str
    cuda: list[str]

    def install(self) -> int:
        """Take it as it is; one for CUDA with what it asks for, which stands in no lock."""
        options = () if self.cuda else ("--no-deps",)
        return subprocess.run([*_PIP, "install", "--quiet", *options, *self.where, self.wanted]).returncode

    def install_checked(self) -> int:
        """Take it alone, and only if what comes has the digest that was promised."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "requirements.txt"
            file.write_text(f"{self.wanted} --hash=sha256:{self.digest}\n", encoding="utf-8")
            checked = ["--no-deps", "--require-hashes", "-r", str(file)]
            return subprocess.run([*_PIP, "install", "--quiet", *self.where, *checked]).returncode


def offered(wanted: str, *where: str) -> Build:
    """The build that pip takes with the options `where`. Nothing is installed. Raises RuntimeError where it has none.

    pip is asked, for its settings (find-links, extra indexes) may lead it elsewhere than `where` does.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [*_PIP, "install", "--quiet", "--dry-run", "--no-deps", "--ignore-installed", "--report", str(report)]
        done = subprocess.run([*command, *where, wanted], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        build = json.loads(report.read_text(encoding="utf-8"))["install"][0]
    cuda = cuda_packages(build["metadata"].get("requires_dist", []))
    found = build["download_info"]
    archive = found.get("archive_info", {})
    # The second is what the pip of the first Pythons 3.11 writes.
    digest = archive.get("hashes", {}).get("sha256") or archive.get("hash", "").removeprefix("sha256=")
    return Build(wanted, where, unquote(found["url"]), digest, cuda)


def best(wanted: str, linux: bool) -> Build:
    """The CPU build wherever one can be had, else what there is. Raises RuntimeError where there is none."""
    if linux:
        print(f"{wanted}: looking for the CPU build at {INDEX}.", flush=True)
        try:
            build = offered(wanted, "--index-url", INDEX, "--retries", "0", "--timeout", "15")
        except RuntimeError:
            print("There is none for this Python, or the address is out of reach; asking pip what else it finds.")
        else:
            if not build.cuda:
                return build
    return offered(wanted)


def main() -> int:
    """Install the CPU build that the lock names, unless it is there."""
    version = pinned()
    wanted, here = f"torch=={version}", installed()
    if here is not None and here.split("+")[0] == version:
        print(f"PyTorch {here} is installed already.")
        return 0
    linux = sys.platform.startswith("linux")
    try:
        build = best(wanted, linux)
    except RuntimeError as error:
        print(f"{wanted} could not be had:\n{error}", file=sys.stderr)
        return 1
    unknown = build.digest not in known()
    if not (linux and build.cuda) and not unknown:
        print(f"{wanted}: installing the CPU build {build.address}", flush=True)
        return build.install_checked()
    if linux and build.cuda:
        print(f"{wanted}: all that pip finds is a CUDA build, {build.address}; it draws in about 3 GB.", flush=True)
    if unknown:
        print(f"{wanted}: no lock knows {build.address} (sha256 {build.digest or 'not told'}).", flush=True)
    if os.environ.get("TORCH_ANY") == "1":
        print("TORCH_ANY=1 is set, so it is taken.", flush=True)
        return build.install()
    print(
        f"It was NOT installed. Try again when {INDEX} can be reached, or install a CPU wheel of {wanted} by\n"
        f"    {sys.executable} -m pip install --no-deps FILE.whl\n"
        "or set TORCH_ANY=1 to take what pip finds.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
