"""Downloads, against a small server that speaks the hub's resolve route."""

import hashlib
import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from core import package_data
from core.models import download, errors
from core.models.download import Fetch, Fetches, HubFolder, HubModel
from tests.support.file_server import FileServer

FILE = b"GGUF" + bytes(range(256)) * 20_000
"""About 5 MB: five blocks and a bit."""

DIGEST = hashlib.sha256(FILE).hexdigest()


class Hub:
    """`https://hub/<repo>/resolve/main/<file>` redirects to another host's `/cdn/<file>`, as the real one does."""

    def __init__(self) -> None:
        self.file = FILE
        self.linked_etag: str | None = f'"{DIGEST}"'
        self.cut_after: list[int] = []  # bytes after which the next connections are cut
        self.status = 0
        self.linked_size: int | None = None  # another size than the file has
        self.ranges: list[str | None] = []
        self.tokens: list[tuple[str, str | None]] = []  # path and Authorization of each request
        self.takes_ranges = True
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                hub.answer(self)

            def do_GET(self) -> None:
                hub.answer(self)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.elsewhere = f"http://localhost:{self.server.server_address[1]}"

    def answer(self, http: BaseHTTPRequestHandler) -> None:
        self.tokens.append((http.path, http.headers.get("Authorization")))
        if http.path == "/ann/tiny-GGUF/resolve/main/tiny%20q4.gguf":
            if self.status:
                http.send_response(self.status)
                http.send_header("Content-Length", "0")
                http.end_headers()
                return
            http.send_response(302)
            http.send_header("Location", f"{self.elsewhere}/cdn/tiny")
            if self.linked_etag is not None:
                http.send_header("X-Linked-Etag", self.linked_etag)
            http.send_header("X-Linked-Size", str(self.linked_size or len(self.file)))
            http.send_header("Content-Length", "0")
            http.end_headers()
        elif http.path == "/cdn/tiny":
            self.send_bytes(http)
        else:
            http.send_error(404)

    def send_bytes(self, http: BaseHTTPRequestHandler) -> None:
        asked = http.headers.get("Range")
        self.ranges.append(asked)
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and self.takes_ranges else 0
        if start >= len(self.file):
            http.send_response(416)
            http.send_header("Content-Range", f"bytes */{len(self.file)}")
            http.send_header("Content-Length", "0")
            http.end_headers()
            return
        body = self.file[start:]
        http.send_response(206 if asked and self.takes_ranges else 200)
        if asked and self.takes_ranges:
            http.send_header("Content-Range", f"bytes {start}-{len(self.file) - 1}/{len(self.file)}")
        http.send_header("Content-Length", str(len(body)))
        http.send_header("ETag", '"of-the-cdn"')
        http.end_headers()
        if self.cut_after:
            body = body[: self.cut_after.pop(0)]
            http.wfile.write(body)
            http.wfile.flush()
            http.connection.shutdown(2)
            return
        http.wfile.write(body)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    hub = Hub()
    thread = threading.Thread(target=hub.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", hub.url + "/")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    yield hub
    hub.server.shutdown()
    hub.server.server_close()
    thread.join()


def model(sha256: str | None = DIGEST) -> HubModel:
    return HubModel(
        name="tiny",
        title="Tiny",
        licence="MIT",
        repo="ann/tiny-GGUF",
        file="tiny q4.gguf",
        size_bytes=len(FILE),
        sha256=sha256,
    )


def test_a_download_is_whole_checked_and_followed(hub: Hub, tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    done = download.download(model(), tmp_path / "models", lambda here, size: steps.append((here, size)))
    assert done == tmp_path / "models" / "tiny.gguf"
    assert done.read_bytes() == FILE
    assert list(done.parent.iterdir()) == [done]
    assert steps[0] == (0, len(FILE)) and steps[-1] == (len(FILE), len(FILE)) and len(steps) > 5
    assert steps == sorted(steps)


def test_without_a_digest_of_ours_the_hubs_is_taken_and_without_that_the_size(hub: Hub, tmp_path: Path) -> None:
    assert download.download(model(None), tmp_path / "a").read_bytes() == FILE
    hub.linked_etag = '"0123456789abcdef0123456789abcdef01234567"'  # of a small file: git's, not a sha256
    assert download.download(model(None), tmp_path / "b").read_bytes() == FILE
    hub.linked_etag = f'"{"0" * 64}"'
    with pytest.raises(errors.DownloadError, match="sha256"):
        download.download(model(None), tmp_path / "c")


def test_a_wrong_digest_is_reported_and_the_file_removed(hub: Hub, tmp_path: Path) -> None:
    hub.file = FILE[:-1] + b"?"
    with pytest.raises(errors.DownloadError, match=r"sha256 is .* instead of"):
        download.download(model(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_model_is_removed(hub: Hub, tmp_path: Path) -> None:
    hub.file = b"<html>" + FILE
    with pytest.raises(errors.DownloadError, match="not a GGUF model"):
        download.download(model(hashlib.sha256(hub.file).hexdigest()), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_cut_connection_is_taken_up_again(hub: Hub, tmp_path: Path) -> None:
    hub.cut_after = [2_000_000, 1_000_000]
    assert download.download(model(), tmp_path).read_bytes() == FILE
    assert hub.ranges[0] is None and all(asked and asked.startswith("bytes=") for asked in hub.ranges[1:])
    assert len(hub.ranges) == 3


def test_a_connection_that_is_always_cut_is_reported_and_what_came_is_kept(hub: Hub, tmp_path: Path) -> None:
    hub.cut_after = [1_500_000, 0, 0, 0, 0, 0]
    with pytest.raises(errors.DownloadError) as caught:
        download.download(model(), tmp_path)
    assert "goes on where it stopped" in caught.value.hint
    kept = (tmp_path / "tiny.gguf.part").stat().st_size
    assert 1_000_000 <= kept <= 1_500_000
    assert download.download(model(), tmp_path).read_bytes() == FILE
    assert hub.ranges[-1] == f"bytes={kept}-"


def test_a_server_that_passes_over_range_is_read_from_the_start(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(FILE[:3_000_000])
    hub.takes_ranges = False
    assert download.download(model(), tmp_path).read_bytes() == FILE


@pytest.mark.parametrize("extra", [b"", b"too much"])
def test_a_part_that_is_whole_or_too_long(hub: Hub, tmp_path: Path, extra: bytes) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(FILE + extra)
    assert download.download(model(), tmp_path).read_bytes() == FILE
    assert hub.ranges == ([None] if extra else [])


def test_stopping_keeps_what_came(hub: Hub, tmp_path: Path) -> None:
    def get(one: HubModel, progress: download.Progress) -> Path:
        def seen(here: int, size: int) -> None:
            progress(here, size)
            if here > 2_000_000 and (mine := fetches.get(one.name)):
                mine.stop.set()

        return download.download(one, tmp_path, seen)

    fetches: Fetches[HubModel] = Fetches(get)
    begun = fetches.start(model())
    wait_for(begun)
    assert isinstance(begun.failure, errors.DownloadStoppedError) and "stopped at 2 MB" in begun.failure.message
    assert (tmp_path / "tiny.gguf.part").stat().st_size > 2_000_000
    assert not (tmp_path / "tiny.gguf").exists()
    assert download.download(model(), tmp_path).read_bytes() == FILE
    assert len(hub.ranges) == 2


@pytest.mark.parametrize(
    ("status", "words"), [(404, "has no file ann/tiny-GGUF/tiny q4.gguf"), (401, "without an account"), (503, "503")]
)
def test_what_the_hub_refuses_is_reported(hub: Hub, tmp_path: Path, status: int, words: str) -> None:
    hub.status = status
    with pytest.raises(errors.DownloadError) as caught:
        download.download(model(), tmp_path)
    assert words in caught.value.message and caught.value.hint


def test_no_hub_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(errors.DownloadError, match=r"could not be fetched from http://127\.0\.0\.1:9"):
        download.download(model(), tmp_path)


def test_a_full_disk_is_reported_before_anything_is_written(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type(shutil.disk_usage(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 10**9, 10**6))
    with pytest.raises(errors.DiskFullError, match="needs"):
        download.download(model(), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("status", [401, 503])
def test_what_came_before_is_kept_when_the_hub_refuses(hub: Hub, tmp_path: Path, status: int) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(FILE[:3_000_000])
    hub.status = status
    with pytest.raises(errors.DownloadError):
        download.download(model(), tmp_path)
    hub.status = 0
    assert download.download(model(), tmp_path).read_bytes() == FILE
    assert hub.ranges == ["bytes=3000000-"]


def test_a_file_shorter_than_the_hub_names_is_reported_and_kept_a_longer_one_removed(hub: Hub, tmp_path: Path) -> None:
    hub.linked_size = len(FILE) + 100
    with pytest.raises(errors.DownloadError, match="before the file was whole"):
        download.download(model(), tmp_path)
    assert (tmp_path / "tiny.gguf.part").stat().st_size == len(FILE)
    hub.linked_size = len(FILE) - 100
    with pytest.raises(errors.DownloadError, match=f"has {len(FILE):,} bytes instead of {len(FILE) - 100:,}"):
        download.download(model(), tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []


def test_a_token_goes_to_the_hub_and_no_further(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    download.download(model(), tmp_path)
    assert {token for path, token in hub.tokens if "/resolve/" in path} == {"Bearer hf_secret"}
    assert {token for path, token in hub.tokens if path.startswith("/cdn/")} == {None}


def test_what_lies_in_the_hubs_cache_is_not_fetched_again(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = tmp_path / "cache" / "models--ann--tiny-GGUF"
    lies = repo / "snapshots" / ("a" * 40) / "tiny q4.gguf"
    lies.parent.mkdir(parents=True)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text("a" * 40)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))

    lies.write_bytes(FILE)
    steps: list[tuple[int, int]] = []
    done = download.download(model(), tmp_path / "a", lambda here, size: steps.append((here, size)))
    assert done.read_bytes() == FILE and lies.exists()
    assert hub.tokens == [] and steps == [(0, len(FILE)), (len(FILE), len(FILE))]

    lies.write_bytes(FILE[:-1] + b"?")  # another file of that size: the hub is asked
    assert download.download(model(), tmp_path / "b").read_bytes() == FILE
    assert hub.ranges == [None]


def test_offline_is_reported(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(errors.DownloadError, match="HF_HUB_OFFLINE is set"):
        download.download(model(), tmp_path)
    assert hub.tokens == []


def test_the_same_file_is_not_fetched_twice_at_once(hub: Hub, tmp_path: Path) -> None:
    fetches: Fetches[HubModel] = Fetches(lambda one, *rest: download.download(one, tmp_path, *rest))
    with ThreadPoolExecutor(8) as pool:
        begun = list(pool.map(fetches.start, [model()] * 8))
    assert all(fetch is begun[0] for fetch in begun)
    wait_for(begun[0])
    assert begun[0].downloaded is not None and begun[0].downloaded.read_bytes() == FILE and len(hub.ranges) == 1
    again = fetches.start(model())
    wait_for(again)
    assert fetches.get(model().name) is again is not begun[0], "once it is over it may be fetched again"


def wait_for(fetch: Fetch) -> None:
    while fetch.going:
        time.sleep(0.01)


def test_the_list_that_ships() -> None:
    models = download.downloadable()
    assert 5 <= len(models) <= 7
    assert len({entry.name for entry in models}) == len(models)
    assert [entry.size_bytes for entry in models] == sorted(entry.size_bytes for entry in models)
    for entry in models:
        assert entry.file.endswith(".gguf") and entry.repo.count("/") == 1 and entry.licence and entry.about
        assert entry.sha256 is None or len(bytes.fromhex(entry.sha256)) == 32


# Folders


def test_a_folder_of_the_hub_is_whole_checked_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"1_Pooling/config.json": b"{}", "model.safetensors": FILE, "vocab.txt": b"a\nb\n"}
    rows = [
        package_data.Weights("tiny", name, hashlib.sha256(content).hexdigest(), len(content))
        for name, content in files.items()
    ]
    monkeypatch.setattr(package_data, "weights_of", lambda name: rows)
    model, folder = HubFolder(name="tiny", title="Tiny", repo="ann/tiny", revision="e8c3"), tmp_path / "t"
    whole, steps = sum(map(len, files.values())), list[tuple[int, int]]()

    def stopping(done: int, size: int) -> None:
        steps.append((done, size))
        if done > 2 << 20:
            raise errors.failure("stopped", title="Tiny", mb=done / 1e6)

    with closing(FileServer()) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        at = {name: f"/ann/tiny/resolve/e8c3/{name}" for name in files}
        hub.files = {at[name]: content for name, content in files.items()}
        with pytest.raises(errors.DownloadStoppedError):
            download.download_folder(model, folder, stopping)
        kept = (folder / "model.safetensors.part").stat().st_size
        assert 0 < kept < len(FILE) and not (folder / "vocab.txt").exists()
        assert download.download_folder(model, folder, lambda *step: steps.append(step)) == folder
        there = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        assert there == files
        assert steps[-1] == (whole, whole) and {size for _, size in steps} == {whole}
        pooling, weights, vocabulary = at.values()
        asked = [(path, ranged) for _, path, ranged in hub.requests]
        assert asked == [(pooling, None), (weights, None), (weights, f"bytes={kept}-"), (vocabulary, None)]
        # A file that was damaged is downloaded again; one that is not what our list says is refused and removed.
        (folder / "vocab.txt").write_bytes(b"a\nc\n")
        download.download_folder(model, folder)
        assert (folder / "vocab.txt").read_bytes() == files["vocab.txt"]
        hub.files[at["vocab.txt"]] = b"a\nd\n"
        (folder / "vocab.txt").unlink()
        with pytest.raises(errors.DownloadError, match=r"Tiny.*sha256 is"):
            download.download_folder(model, folder)
        assert not list(folder.glob("vocab*"))
        del hub.files[at["vocab.txt"]]
        with pytest.raises(errors.DownloadError, match=r"ann/tiny/vocab\.txt"):
            download.download_folder(model, folder)
