"""Downloading data sets, against a server on loopback that stands for a mirror."""

import io
import json
import os
import resource
import shutil
import types
from collections.abc import Iterator

import pytest
from huggingface_hub import file_download

from core import home
from core.__main__ import main
from core.datasets import get, registry
from core.datasets.registry import Source, mirrored, sources
from core.events import CallError
from core.labs.probe.functions.numeric import load_numeric
from core.labs.probe.functions.synthesis import load_strings
from core.lease import Lease
from core.models.errors import DiskFullError, DownloadError, DownloadStoppedError, failure
from tests.conftest import SETS
from tests.support.datasets import load
from tests.support.file_server import FileServer, tarred, zipped

BABI = (SETS / "babi" / "qa1_single-supporting-fact_test.txt").read_bytes()
TARRED = "/babi/tasks_1-20_v1-2.tar.gz"
NOISE = os.urandom(3_000_000)
"""Of a file that the loaders do not want: it makes an archive long."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    server = FileServer()
    monkeypatch.setenv("EXPLAIN_DATA_MIRROR", server.url + "/")
    # The library waits a second before it tries again.
    monkeypatch.setattr(file_download, "time", types.SimpleNamespace(sleep=lambda seconds: None))
    yield server
    server.close()


def source(name: str) -> Source:
    return next(one for one in sources() if one.name == name)


def babi(more: bytes = b"") -> bytes:
    folder = "tasks_1-20_v1-2/en-10k"
    stories = {f"{folder}/qa{number}_a_{part}.txt": BABI for number in (1, 2, 3) for part in ("test", "train")}
    return tarred({"tasks_1-20_v1-2/README": more + NOISE, "tasks_1-20_v1-2/en/qa1_a_test.txt": b"other", **stories})


def set_of(path: str) -> bytes:
    return (SETS / path).read_bytes()


def test_every_source_lands_where_its_loaders_read(server: FileServer) -> None:
    server.files = {f"/shp/{one.to}": set_of("shp/test.json") for one in source("shp").files}
    server.files[TARRED] = babi()
    server.files["/rte/RTE.zip"] = zipped(
        {"RTE/train.tsv": set_of("rte/dev.tsv"), "RTE/dev.tsv": set_of("rte/dev.tsv"), "__MACOSX/RTE/._dev.tsv": b"x"}
    )
    stories = {f"MCTest/mc160.{part}.tsv": set_of("mctest/mc160.dev.tsv") for part in ("train", "dev", "test")}
    answers = {f"MCTest/mc160.{part}.ans": set_of("mctest/mc160.dev.ans") for part in ("train", "dev")}
    server.files["/mctest/MCTest.zip"] = zipped({"MCTest/": b"", **stories, **answers})
    server.files["/mctest/MCTestAnswers.zip"] = zipped({"a/mc160.test.ans": set_of("mctest/mc160.dev.ans")})
    reviews = {f"aclImdb/{part}/{label}/{n}_9.txt": b"A film." for part in ("test", "train") for label in ("pos", "neg")
               for n in range(3)}  # fmt: skip
    server.files["/imdb/aclImdb_v1.tar.gz"] = tarred({**reviews, "aclImdb/train/unsup/0_0.txt": b"unread"})
    find = {
        f"find-dataset/{one.relative_to(SETS / 'find')}": one.read_bytes() for one in (SETS / "find").rglob("*.json")
    }
    server.files["/find/FIND-dataset.zip"] = zipped({**find, "find-dataset/numeric/f00999/mlp_approx_model.pt": b"x"})
    for name in ("shp", "babi", "rte", "mctest", "imdb", "find"):
        folder = get.get(source(name))
        assert folder == home.home() / "datasets" / name
        for dataset in source(name).datasets:
            assert load(dataset)
    files = {one.name for one in (home.home() / "datasets" / "imdb").rglob("*.txt")}
    assert "0_0.txt" not in files, "what no loader reads is not unpacked"
    assert load_numeric(source("find").folder) and load_strings(source("find").folder)
    assert [one.name for one in (home.home() / "downloads").iterdir()] == ["pins.json"], "nothing is left behind"


def own(to: str = "dev.json") -> Source:
    """StrategyQA's source as if nobody knew the digest of its file."""
    strategyqa = source("strategyqa")
    return strategyqa._replace(files=(strategyqa.files[0]._replace(sha256=None, bytes=None, to=to),))


def test_a_broken_connection_is_resumed(server: FileServer) -> None:
    server.files[TARRED] = whole = babi()
    server.cut_after = [1_500_000, *[0] * 5]
    steps: list[tuple[int, int]] = []
    with pytest.raises(DownloadError, match="could not be fetched") as caught:
        get.get(source("babi"))
    assert "goes on where it stopped" in caught.value.hint and not source("babi").is_here
    (part,) = (home.home() / "downloads" / "babi").iterdir()
    kept = part.stat().st_size
    assert 1_000_000 <= kept <= 1_500_000
    server.requests.clear()
    get.get(source("babi"), lambda done, size: steps.append((done, size)))
    assert server.gets() == [f"bytes={kept}-"] and steps[0] == (kept, len(whole)) and steps[-1] == (len(whole),) * 2
    assert load("babi-1")


def test_a_file_that_changed_on_the_server_is_not_resumed(server: FileServer) -> None:
    server.files[TARRED] = babi()
    server.cut_after = [1_500_000, *[0] * 5]
    with pytest.raises(DownloadError):
        get.get(source("babi"))
    server.files[TARRED] = babi(b"2")
    server.requests.clear()
    get.get(source("babi"))
    assert server.gets() == [None]


def test_a_server_without_ranges_is_read_from_the_start(server: FileServer) -> None:
    server.files[TARRED] = whole = babi()
    server.takes_ranges = False
    server.cut_after = [1_500_000]
    get.get(source("babi"))
    assert len(server.gets()) == 2 and load("babi-1")
    assert next(iter(get.pins().values()))["bytes"] == len(whole)


@pytest.mark.parametrize("answers_head", [True, False])
def test_a_server_that_says_no_length(server: FileServer, answers_head: bool) -> None:
    server.files["/strategyqa/dev.json"] = set_of("strategyqa/dev.json")
    server.says_length, server.answers_head = False, answers_head
    assert get.list_files(own())[0].size is None
    get.get(own())
    assert load("strategyqa")


def test_a_server_that_never_ends_is_left(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.files[TARRED] = babi()
    server.says_length = False
    monkeypatch.setattr(get, "MOST_BYTES", 2_000_000)
    with pytest.raises(DownloadError, match="more than it should ever take"):
        get.get(source("babi"))


def test_a_known_digest_is_held_to(server: FileServer) -> None:
    size = source("strategyqa").files[0].bytes
    assert size is not None
    server.files = {"/strategyqa/dev.json": b"[]", "/strategyqa/train.json": b"[]"}
    with pytest.raises(DownloadError, match=r"has 2 bytes instead of 424,195 \(computed from the official file"):
        get.get(source("strategyqa"))
    assert server.gets() == [], "it is refused before it is downloaded"
    one, other = source("strategyqa").files
    server.files["/strategyqa/dev.json"] = b" " * size
    server.files["/strategyqa/train.json"] = b" " * (other.bytes or 0)
    with pytest.raises(DownloadError, match=rf"instead of {one.sha256} \(computed from the official file") as caught:
        get.get(source("strategyqa"))
    assert "Nothing was changed" in caught.value.message
    assert not source("strategyqa").is_here and not get.pins()
    assert not list((home.home() / "downloads" / "strategyqa").iterdir())


def test_an_unknown_digest_is_recorded_and_another_file_refused_later(server: FileServer) -> None:
    server.files[TARRED] = first = babi()
    assert get.list_files(source("babi"))[0].digest == "unknown: recorded at the first download"
    folder = get.get(source("babi"))
    address = source("babi").files[0].url
    assert get.pins()[address]["bytes"] == len(first) and get.pins()[address]["from"] == f"{server.url}{TARRED}"
    assert "recorded here on 20" in get.list_files(source("babi"))[0].digest

    shutil.rmtree(folder)
    get.get(source("babi"))  # the same file again
    shutil.rmtree(folder)
    server.files[TARRED] = bytearray(first[:-1]) + b"?"
    with pytest.raises(DownloadError, match=r"has the sha256 .* instead of .* \(recorded here on") as caught:
        get.get(source("babi"))
    assert "pins.json" in caught.value.hint and not folder.exists()
    server.files[TARRED] = babi(b"longer")
    with pytest.raises(DownloadError, match="bytes instead of"):
        get.get(source("babi"))
    (home.home() / "downloads" / "pins.json").write_text("{}")
    get.get(source("babi"))
    assert load("babi-1")


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', '{"a": {"sha256": "x"}}', "[" * 100_000], ids=range(5))
def test_broken_pins_are_reported(server: FileServer, text: str) -> None:
    server.files[TARRED] = babi()
    (home.home() / "downloads").mkdir()
    (home.home() / "downloads" / "pins.json").write_text(text)
    with pytest.raises(DownloadError, match="cannot be read"):
        get.get(source("babi"))


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"<html>Not found</html>", "neither a .zip nor a .tar.gz"),
        (tarred({"README": b"x"}), "holds no tasks_1-20_v1-2/en-10k"),
        (tarred({"../../evil/tasks_1-20_v1-2/en-10k/qa1_a_test.txt": BABI}), "leads elsewhere"),
        (babi()[:2_000_000], "damaged or cut short"),
        (tarred({f"tasks_1-20_v1-2/en-10k/qa{n}_a_test.txt": b"<html>" for n in (1, 2, 3)}), "is not the right file"),
    ],
    ids=["page", "another archive", "path", "cut", "another content"],
)
def test_what_is_no_data_set_is_removed_and_not_recorded(server: FileServer, sent: bytes, words: str) -> None:
    server.files[TARRED] = sent
    with pytest.raises(DownloadError, match=words):
        get.get(source("babi"))
    assert not source("babi").is_here and not get.pins()
    assert not [one for one in (home.home() / "downloads").rglob("*") if one.is_file()]
    server.files[TARRED] = babi()
    get.get(source("babi"))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, a disk without room")
def test_a_full_disk_while_downloading(server: FileServer) -> None:
    server.files[TARRED] = babi()
    (expected,) = get.list_files(source("babi"))
    place = home.home() / "downloads" / "babi"
    place.mkdir(parents=True)
    part = place / get._part(expected)
    part.symlink_to("/dev/full")
    with pytest.raises(DiskFullError, match=r"could not be written to .*No space left on device") as caught:
        get.get(source("babi"))
    assert "goes on where it stopped" in caught.value.hint
    part.unlink()
    get.get(source("babi"))


def test_a_full_disk_while_unpacking_keeps_the_archive(server: FileServer) -> None:
    """The largest file that this process may write stands for the disk."""
    server.files["/rte/RTE.zip"] = zipped({"RTE/train.tsv": b"\t" * 3_000_000, "RTE/dev.tsv": set_of("rte/dev.tsv")})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    try:
        with pytest.raises(DiskFullError, match="could not be written"):
            get.get(source("rte"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not source("rte").is_here
    server.requests.clear()
    get.get(source("rte"))
    assert server.gets() == [] and load("rte")


def test_too_little_room_is_said_before_anything_is_written(
    server: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files[TARRED] = babi()
    usage = type(shutil.disk_usage(home.home()))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 10**9, 10**6))
    with pytest.raises(DiskFullError, match="bAbI needs"):
        get.get(source("babi"))
    assert server.gets() == []


def test_stopping_keeps_what_came(server: FileServer) -> None:
    server.files[TARRED] = babi()

    def stopping(done: int, size: int) -> None:
        if done > 1 << 20:
            raise failure("stopped", title="bAbI", mb=done / 1e6)

    with pytest.raises(DownloadStoppedError, match="bAbI was stopped"):
        get.get(source("babi"), stopping)
    get.get(source("babi"))
    assert server.gets()[1] is not None


def test_two_do_not_download_the_same(server: FileServer) -> None:
    server.files[TARRED] = babi()
    lease = Lease(home.home() / "downloads" / "babi.lease")
    with pytest.raises(DownloadError, match=r"downloaded already, by process"):
        get.get(source("babi"))
    lease.release()
    get.get(source("babi"))


def test_what_is_there_is_left_alone(server: FileServer) -> None:
    source("babi").folder.mkdir(parents=True)
    get.get(source("babi"))
    assert server.requests == [] and not list(source("babi").folder.iterdir())


def test_a_token_goes_to_no_mirror(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    server.files[TARRED] = babi()
    get.get(source("babi"))
    assert server.tokens == {None}


def test_a_missing_file_and_a_server_that_is_gone(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DownloadError, match=r"has no file babi/tasks_1-20_v1-2\.tar\.gz \(HTTP 404\)") as caught:
        get.get(source("babi"))
    assert "$EXPLAIN_HOME/datasets/babi" in caught.value.hint
    for mirror in ("http://127.0.0.1:9", "no address", "ftp://127.0.0.1"):
        monkeypatch.setenv("EXPLAIN_DATA_MIRROR", mirror)
        with pytest.raises(CallError, match="could not be fetched"):
            get.get(source("babi"))


def test_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    babi, rte = source("babi"), source("rte")
    assert mirrored(babi, babi.files[0]) == babi.files[0].url
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example/")
    assert mirrored(babi, babi.files[0]).startswith("https://hub.example/datasets/facebook/babi_qa/resolve/")
    assert mirrored(rte, rte.files[0]) == rte.files[0].url
    monkeypatch.setenv("EXPLAIN_DATA_MIRROR", "https://mirror.example/data")
    assert mirrored(rte, rte.files[0]) == "https://mirror.example/data/rte/RTE.zip"
    shp = source("shp")
    assert mirrored(shp, shp.files[0]) == "https://mirror.example/data/shp/askacademia/test.json"


def test_the_table() -> None:
    assert [one.name for one in sources()] == ["strategyqa", "shp", "babi", "rte", "mctest", "imdb", "find"]
    assert len(source("shp").files) == 36
    for one in sources():
        assert one.licence and one.page.startswith("https://")
        assert one.tried or one.about_address.endswith("not verified")
        assert all(registry.find(dataset).name == dataset for dataset in one.datasets)
        for file in one.files:
            assert file.url.startswith("https://") and bool(file.keep) != bool(file.to)
            assert bool(file.keep) == file.url.endswith((".zip", ".tar.gz"))
            assert (file.sha256 is None) == (file.bytes is None) and (file.sha256 is None or one.tried)
            assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32


def test_the_command_says_what_it_will_do_and_asks(
    server: FileServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files[TARRED] = whole = babi()
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert main(["data", "get", "babi"]) == 2
    printed = capsys.readouterr().out
    assert f"{server.url}{TARRED}" in printed and "CC BY 3.0" in printed and "not verified" in printed
    assert f": {len(whole) / 1e6:.1f} MB, sha256 unknown: recorded at the first download" in printed
    assert server.gets() == [] and not source("babi").is_here

    assert main(["data", "get", "babi", "--yes"]) == 0
    printed, progress = capsys.readouterr()
    assert f"bAbI is in {source('babi').folder}" in printed and f"of {len(whole) / 1e6:.1f} MB" in progress
    assert main(["data", "get", "babi"]) == 0 and "is already here" in capsys.readouterr().out
    assert main(["data"]) == 0
    listed = capsys.readouterr().out
    assert "babi        here " in listed and "find        not here" in listed
    assert main(["data", "get", "rte", "--yes"]) == 2 and "has no file" in capsys.readouterr().err


def test_a_data_set_that_is_missing_names_the_command() -> None:
    with pytest.raises(registry.DatasetError, match="python -m core data get mctest"):  # type: ignore[attr-defined]
        load("mctest")
    with pytest.raises(registry.DatasetError, match="Get it from https://gluebenchmark"):  # type: ignore[attr-defined]
        load("sst-2")


def test_a_pin_is_whole_json(server: FileServer) -> None:
    server.files["/strategyqa/dev.json"] = set_of("strategyqa/dev.json")
    get.get(own())
    held = json.loads((home.home() / "downloads" / "pins.json").read_text())
    assert set(next(iter(held.values()))) == {"sha256", "bytes", "from", "recorded"}
