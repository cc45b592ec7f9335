"""A small file server on loopback, which can break connections and ignore parts of a request."""

import hashlib
import io
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FileServer:
    """Serves `files` by path. `cut_after`: the number of bytes after which the next answers break off. `requests`:
    method, path, Range.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut_after: list[int] = []
        self.takes_ranges = True
        self.says_length = True
        self.answers_head = True
        self.requests: list[tuple[str, str, str | None]] = []
        self.tokens: set[str | None] = set()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                if server.answers_head:
                    server.answer(self, is_head=True)
                else:
                    self.send_error(405)

            def do_GET(self) -> None:
                server.answer(self, is_head=False)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def gets(self) -> list[str | None]:
        """The requested ranges, in order; None for a whole file."""
        return [asked for method, _, asked in self.requests if method == "GET"]

    def answer(self, http: BaseHTTPRequestHandler, is_head: bool) -> None:
        asked = http.headers.get("Range")
        self.requests.append(("HEAD" if is_head else "GET", http.path, asked))
        self.tokens.add(http.headers.get("Authorization"))
        content = self.files.get(http.path)
        if content is None:
            http.send_error(404)
            return
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and self.takes_ranges else 0
        http.send_response(206 if start else 200)
        if start:
            http.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        http.send_header("ETag", f'"{hashlib.sha1(content, usedforsecurity=False).hexdigest()}"')
        if self.says_length:
            http.send_header("Content-Length", str(len(content) - start))
        http.end_headers()
        if is_head:
            return
        body = content[start:]
        if self.cut_after:
            body = body[: self.cut_after.pop(0)]
            http.wfile.write(body)
            http.wfile.flush()
            http.connection.shutdown(2)
        else:
            http.wfile.write(body)


def tarred(members: dict[str, bytes]) -> bytes:
    """A .tar.gz of these files."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as made:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
    return written.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    """A .zip of these files."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return written.getvalue()
