"""Files on the hub, against a small server that speaks its resolve route."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from core import home
from core.datasets import own
from core.datasets.items import LARGEST, DatasetError
from core.labs.ask.tasks import AskSpec, cases

FILE = b"question,answer\nCan a penguin fly?,no\nCan an eagle fly?,yes\n"
NAMED = "hf://ann/birds/data/test set.csv"


class Hub:
    """`/datasets/ann/birds/resolve/main/…`, and how often its file was given out."""

    def __init__(self) -> None:
        self.given = 0
        self.size = len(FILE)
        self.status = 200
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                known = self.path == "/datasets/ann/birds/resolve/main/data/test%20set.csv"
                self.send_response(hub.status if known else 404)
                for name, value in (("ETag", '"abc"'), ("X-Repo-Commit", "c" * 40), ("Content-Length", str(hub.size))):
                    self.send_header(name, value)
                self.end_headers()

            def do_GET(self) -> None:
                hub.given += "/resolve/" in self.path
                self.do_HEAD()
                self.wfile.write(FILE)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The hub that is asked."""
    served = Hub()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{served.server.server_port}")
    yield served
    served.server.shutdown()
    served.server.server_close()


def test_a_file_is_fetched_once_and_asked_like_any_other(server: Hub) -> None:
    spec = AskSpec(model="control/fickle", dataset=NAMED)
    assert sorted(case.title for case in cases(spec)) == ["Can a penguin fly?", "Can an eagle fly?"]
    assert len(list(cases(spec))) == 2 and server.given == 1
    assert (home.home() / "datasets/hub/ann/birds/data/test set.csv").read_bytes() == FILE


@pytest.mark.parametrize(
    ("dataset", "size", "status", "said"),
    [
        ("hf://ann/birds/other.csv", 1, 200, "has no such file"),
        (NAMED, LARGEST + 1, 200, "at most 512 MB are fetched"),
        (NAMED, 1, 401, "HF_TOKEN"),
        (NAMED, 1, 500, "HTTP 500"),
        ("hf://ann/../birds/a.csv", 1, 200, "is no file on the hub"),
    ],
)
def test_what_cannot_be_fetched_says_why(server: Hub, dataset: str, size: int, status: int, said: str) -> None:
    server.size, server.status = size, status
    with pytest.raises(DatasetError, match=said):
        own.fetched(dataset)
    assert not server.given


def test_without_a_network_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(DatasetError, match=r"cannot be reached.*datasets"):
        own.fetched(NAMED)
