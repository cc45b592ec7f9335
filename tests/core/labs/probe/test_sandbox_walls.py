"""The sandbox's second wall: real code, past the interpreter, in the process beside the app and in its worker."""

import ctypes
import errno
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from core.sandbox import sandbox
from core.sandbox.process import OSLimits
from core.sandbox.sandbox import evaluate

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the walls are Linux's")

ROOT = Path(__file__).resolve().parents[4]
LANDLOCK = ctypes.CDLL(None).syscall(444, None, 0, 1) if sys.platform == "linux" else 0
"""The kernel's version of Landlock; below 1 if it has none."""

DEEDS = """
import json, os, socket, sys

def result(deed):
    try:
        deed()
    except OSError as error:
        return error.errno
    return 0

def connect(port):
    with socket.socket() as one:
        one.connect(("127.0.0.1", port))

def send(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"x", ("127.0.0.1", port))

def put(path, text):
    with open(path, "w") as file:
        file.write(text)

def all_of(secret, port):
    return {
        "read": result(lambda: open(secret).close()),
        "list": result(lambda: os.listdir(os.path.dirname(secret))),
        "write": result(lambda: put(secret + ".new", "x")),
        "connect": result(lambda: connect(int(port))),
        "send": result(lambda: send(int(port))),
        "code": result(lambda: open(os.__file__).close()),
    }
"""

WORKER = (
    DEEDS
    + """
print("ready", flush=True)
input()
print(json.dumps(all_of(*sys.argv[1:])))
"""
)

BESIDE = (
    DEEDS
    + """
import subprocess
from core.sandbox import process
before = all_of(*sys.argv[2:])
said = process.raise_walls()
worker = subprocess.Popen([sys.executable, "-c", *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
assert worker.stdout.readline() == b"ready\\n"
process.bound_workers(bounded := set())
assert bounded == {worker.pid}
found = json.loads(worker.communicate(b"go\\n")[0])
print(json.dumps([said._asdict(), before, all_of(*sys.argv[2:]), found]))
"""
)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "journal.jsonl"
    path.write_text("a person's question", encoding="utf-8")
    return path


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_behind_the_walls_nothing_is_written_and_a_worker_opens_nothing(secret: Path, port: int) -> None:
    command = [sys.executable, "-c", BESIDE, WORKER, str(secret), str(port)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    said, before, beside, worker = json.loads(done.stdout)
    assert said["files"] is (LANDLOCK >= 1) and said["tcp"] is (LANDLOCK >= 4) and not any(before.values())
    # What is said is what is found by trying.
    assert said["rights"] and said["writing"] and beside["code"] == 0
    assert beside["write"] == (errno.EACCES if said["files"] else errno.EFBIG)
    assert beside["read"] == beside["list"] == (errno.EACCES if said["files"] else 0)
    assert beside["connect"] == (errno.EACCES if said["tcp"] else errno.ENETUNREACH if said["network"] else 0)
    assert beside["send"] == (errno.ENETUNREACH if said["network"] else 0)
    # Not even the code's own files, and no socket.
    assert set(worker.values()) == {errno.EMFILE}


def worker_of(process: sandbox._Process) -> psutil.Process:
    [worker] = psutil.Process(process._process.pid).children()
    return worker


def test_a_worker_is_bounded_before_its_first_program() -> None:
    assert evaluate("def f(x):\n    return x", [1.0]).values == (1.0,)
    worker = worker_of(sandbox._free[-1])
    told = Path(f"/proc/{worker.pid}/limits").read_text()
    limits = {line[:26].strip(): line[26:].split()[:2] for line in told.splitlines()[1:]}
    for name in ("Max file size", "Max open files", "Max processes", "Max core file size"):
        assert limits[name] == ["0", "0"], name
    assert "unlimited" not in limits["Max address space"] + limits["Max cpu time"]
    assert "NoNewPrivs:\t1" in Path(f"/proc/{worker.pid}/status").read_text()


def test_what_the_app_says_of_the_walls_is_what_the_system_says() -> None:
    said = sandbox.walls()
    process = psutil.Process(sandbox._free[-1]._process.pid)
    for one in (process, worker_of(sandbox._free[-1])):
        status = Path(f"/proc/{one.pid}/status").read_text()
        assert said.rights is ("NoNewPrivs:\t1" in status)
        network = Path(f"/proc/{one.pid}/ns/net").readlink()
        assert said.network is (network != Path("/proc/self/ns/net").readlink())
        assert os.geteuid() == 0 or "CapEff:\t0000000000000000" in status, "no rights in an account of its own either"
    assert said.writing and said.workers and said.files is (LANDLOCK >= 1) and said.tcp is (LANDLOCK >= 4)
    assert [holds for holds, _ in said.described].count(False) == [*said].count(False) - (said.network and not said.tcp)


def test_where_nothing_is_known_to_hold_only_the_interpreter_does() -> None:
    assert [holds for holds, _ in OSLimits().described] == [True] + [False] * 6


@pytest.mark.skipif(shutil.which("gdb") is None, reason="needs gdb, to carry out code in another program")
def test_the_worker_itself_can_open_no_file(secret: Path) -> None:
    """A debugger makes the worker try, as an attacker's code in it would."""
    assert evaluate("def f(x):\n    return x", [1.0]).values == (1.0,)
    worker = worker_of(sandbox._free[-1])
    more = "{(unsigned long)4096, (unsigned long)4096}"
    deeds = [
        f'(int)open("{secret}", 0)',
        f'(int)open("{secret}.new", 66, 384)',
        "(int)socket(2, 1, 0)",
        # Root may raise a limit again; Landlock still applies then.
        f"(int)setrlimit(7, (unsigned long[2]){more})",
        f'(int)open("{secret}", 0)',
    ]
    steps = [part for deed in deeds for part in ("-ex", f"print {deed}")]
    command = ["gdb", "-batch", "-nx", "-p", str(worker.pid), *steps]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    said = [int(number) for number in re.findall(r"^\$\d+ = (-?\d+)", done.stdout, re.MULTILINE)]
    if len(said) < 3:
        pytest.skip(f"gdb may not attach here: {done.stderr[-200:]}")
    assert said[:3] == [-1, -1, -1]
    if LANDLOCK >= 1:
        assert said[4:] in ([-1], [])
    assert not secret.with_name(f"{secret.name}.new").exists()
    assert evaluate("def f(x):\n    return x + 1", [1.0]).values == (2.0,), "it works on all the same"
