"""Starts `python -m …` by forking a process that has imported the app, which saves two seconds of imports. The command
runs in a process of its own, with its own environment, output, signals and exit code. A real start is left to tests
that are about it.
"""

import atexit
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
IMPORTED = ("core.__main__", "duckdb", "nltk.stem", "openai", "pandas", "scipy.stats", "streamlit.web.cli", "uvicorn")
"""What is imported once. None of these reads the environment or starts a thread when it is imported."""

_WIDTH = 8
"""Of each number that the processes tell each other, in bytes."""


class Forked:
    """`python -m MODULE ARGUMENT…` in the project's folder, with the part of `subprocess.Popen`'s interface that tests
    use. Standard input is empty.
    """

    def __init__(
        self, *command: str, env: Mapping[str, str], stdout: IO[Any] | None = None, stderr: IO[Any] | None = None
    ) -> None:
        self._ended, told = socket.socketpair()
        self.returncode: int | None = None
        with told, open(os.devnull, "wb") as nothing:
            request = json.dumps([command, dict(env)]).encode()
            _server().sendall(len(request).to_bytes(_WIDTH, "big"))
            files = [(output or nothing).fileno() for output in (stdout, stderr)] + [told.fileno()]
            socket.send_fds(_server(), [request[:1]], files)
            _server().sendall(request[1:])
        self.pid = int.from_bytes(self._ended.recv(_WIDTH, socket.MSG_WAITALL), "big")

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        try:
            return self.wait(0)
        except BlockingIOError:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit code. Raises TimeoutError if it is not there in time, BlockingIOError for no time."""
        if self.returncode is None:
            self._ended.settimeout(timeout)
            self.returncode = os.waitstatus_to_exitcode(int.from_bytes(self._ended.recv(_WIDTH), "big"))
            self._ended.close()
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def run(*command: str, env: Mapping[str, str]) -> str:
    """Run the command to its end and return its output. Raises AssertionError if it fails."""
    with TemporaryFile() as printed, TemporaryFile() as told:
        code = Forked(*command, env=env, stdout=printed, stderr=told).wait(timeout=300)
        printed.seek(0), told.seek(0)
        assert code == 0, told.read().decode()
        return printed.read().decode()


@cache
def _server() -> socket.socket:
    """The process that forks, started once for this process and ended with it."""
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", __name__, str(theirs.fileno())]
    started = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    theirs.close()
    atexit.register(started.wait)
    atexit.register(ours.close)
    return ours


def _serve(requests: socket.socket) -> None:
    """Fork for each request, until the other side closes."""
    for name in IMPORTED:
        import_module(name)
    del sys.modules["core.__main__"]  # runpy imports it once more, as `__main__`
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while head := requests.recv(_WIDTH, socket.MSG_WAITALL):
        first, files, *_ = socket.recv_fds(requests, 1, 3)
        command, environment = json.loads(first + requests.recv(int.from_bytes(head, "big") - 1, socket.MSG_WAITALL))
        if not os.fork():
            requests.close()
            return _watch(command, environment, files)
        for file in files:
            os.close(file)


def _watch(command: list[str], environment: dict[str, str], files: list[int]) -> None:
    """Start the command, say its process id, wait for its end and say how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *outputs, told = files
    if not (pid := os.fork()):
        os.close(told)
        for place, file in enumerate(outputs, start=1):
            os.dup2(file, place)
            os.close(file)
        return _become(command, environment)
    with socket.socket(fileno=told) as listener:
        listener.sendall(pid.to_bytes(_WIDTH, "big"))
        # Ctrl-C at a terminal reaches all of these; each ends with the one that it waits for.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        listener.sendall(os.waitpid(pid, 0)[1].to_bytes(_WIDTH, "big"))
    os._exit(0)


def _become(command: list[str], environment: dict[str, str]) -> None:
    """Be the command's process; its end is the end of this one."""
    os.environ.clear()
    os.environ.update(environment)
    sys.path[1:1] = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.argv = command
    runpy.run_module(command[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
