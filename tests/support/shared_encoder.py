"""The sentence encoder of one test session: the real one, started once for all workers, at a port of this machine.

Run as a script with that port, this file replaces `core.text.embed_process` in a worker: it passes requests on to the
encoder, and its answers back.
"""

# Nothing of the project is imported at the top: an app that a test starts runs this file before it can find any.

import json
import shutil
import socket
import sys
import threading
from pathlib import Path


def serve() -> int:
    """Serve the encoder at a free port, each connection as `core.text.embed_process` does, and return the port."""
    from core.text.embed import encoder

    def answer(connection: socket.socket) -> None:
        with connection:
            width = encoder().encode([]).shape[1]
            connection.sendall(json.dumps({"width": width}).encode() + b"\n")
            for line in connection.makefile("rb"):
                connection.sendall(encoder().encode(json.loads(line)).tobytes())

    def listen() -> None:
        while True:
            threading.Thread(target=answer, args=(listening.accept()[0],), daemon=True).start()

    listening = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=listen, daemon=True).start()
    return int(listening.getsockname()[1])


def installed(folder: Path, port: int) -> str:
    """Write a module into `folder`, used for nothing else, that makes an app use the encoder at `port`. Returns the
    value for `PYTHONPATH`.
    """
    (folder / "sitecustomize.py").write_text(
        "import runpy, sys\n"
        "if any(one.endswith('core.text.embed_process') for one in sys.orig_argv):\n"
        f"    sys.argv = ['', '{port}']\n"
        f"    runpy.run_path({__file__!r}, run_name='__main__')\n"
        "    sys.exit(0)\n",
        encoding="utf-8",
    )
    return str(folder)


def relay(port: int) -> None:
    """Relay between standard input and output and the shared encoder, until standard input ends."""
    connection = socket.create_connection(("127.0.0.1", port))

    def hand_on() -> None:
        with open(0, "rb", 0) as said:
            shutil.copyfileobj(said, connection.makefile("wb", 0))
        connection.shutdown(socket.SHUT_WR)

    threading.Thread(target=hand_on, daemon=True).start()
    with open(1, "wb", 0) as answers:
        shutil.copyfileobj(connection.makefile("rb", 0), answers)


if __name__ == "__main__":
    relay(int(sys.argv[1]))
