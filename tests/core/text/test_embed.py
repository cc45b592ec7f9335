"""The sentence encoder: by path, without a network, one for the process."""

import shutil
import sys
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from core import optional, package_data
from core.__main__ import main
from core.labs.ask.lab import LAB
from core.labs.ask.tasks import AskSpec
from core.labs.base.spec import BadInputError
from core.runs.context import TOLERANCE
from core.text import embed
from tests.support.file_server import FileServer
from tests.support.waiting import until

SHARED = embed.COMMAND

REFUSING = """
import runpy, socket
def refuse(*_):
    raise AssertionError("the encoder asked for the network")
socket.socket.connect = socket.getaddrinfo = refuse
runpy.run_module("core.text.embed_process", run_name="__main__", alter_sys=True)
"""


@pytest.fixture(scope="module")
def refusing():
    """An encoder is started where every connection is refused."""
    patch = pytest.MonkeyPatch()
    patch.setattr(embed, "COMMAND", [sys.executable, "-c", REFUSING])
    patch.setattr(embed, "_started", {})
    yield
    for made in embed._started.values():
        made._model._process.kill()
        made._model._process.wait()
    patch.undo()


@pytest.fixture
def encoder(refusing):
    """One that is alive, whichever test ended another before."""
    return embed.encoder()


def test_vectors_have_length_one_and_mean_something(encoder):
    vectors = encoder.encode(["How do I log in?", "I forgot my password.", "The cat sleeps."])
    assert vectors.shape[0] == 3
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


def test_it_is_named_and_there_is_one(encoder):
    assert encoder.name in (embed.PAPER, embed.SMALL)
    assert embed.encoder() is encoder


def test_nothing_gives_an_empty_array_of_the_same_width(encoder):
    assert encoder.encode([]).shape == (0, encoder.encode(["a"]).shape[1])


def test_order_and_repeats_are_kept(encoder):
    vectors = encoder.encode(["a dog", "a cat", "a dog"])
    assert np.array_equal(vectors[0], vectors[2])
    assert not np.array_equal(vectors[0], vectors[1])


class Counting:
    """A model that counts what it encodes."""

    alive = True

    def __init__(self):
        self.encoded = []

    def get_embedding_dimension(self):
        return 2

    def encode(self, texts):
        self.encoded += texts
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)


def test_what_was_encoded_is_remembered_and_the_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(embed, "REMEMBERED", 3)
    model = Counting()
    encoder = embed.Encoder("counting", model)
    encoder.encode(["a", "bb", "a"])
    encoder.encode(["a"])
    assert model.encoded == ["a", "bb"]
    assert encoder.encode(["c" * n for n in range(1, 6)])[:, 0].tolist() == [1, 2, 3, 4, 5]
    encoder.encode(["ccccc"])
    assert len(model.encoded) == 7
    encoder.encode(["a"])
    assert len(model.encoded) == 8


def test_threads_may_share_it():
    model = Counting()
    encoder = embed.Encoder("counting", model)
    results = {}

    def work(name):
        results[name] = [encoder.encode([f"{name}-{n % 5}", "same"]).shape for n in range(50)]

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(shape == (2, 2) for shapes in results.values() for shape in shapes)
    assert len(model.encoded) == 21


def test_a_half_downloaded_paper_encoder_is_passed_over(tmp_path, monkeypatch):
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: str(tmp_path))
    assert embed._paper_folder() is None
    (tmp_path / "modules.json").write_text("[]")
    (tmp_path / "model.safetensors").write_text("")
    assert embed._paper_folder() == tmp_path


def test_the_encoder_that_ships_is_not_loaded_with_a_changed_byte(tmp_path, monkeypatch):
    copied = Path(shutil.copytree(embed._small_folder(), tmp_path / "model"))
    assert package_data.altered(embed.SMALL_PACKAGE, copied) is None
    weights = bytearray((copied / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copied / "model.safetensors").write_bytes(weights)
    monkeypatch.setattr(embed, "COMMAND", [sys.executable, "-m", "core.text.embed_process"])
    monkeypatch.setattr(embed, "_started", {})
    monkeypatch.setattr(embed, "_paper_folder", lambda: None)
    monkeypatch.setattr(embed, "_small_folder", lambda: copied)
    encoder = embed.encoder()
    with pytest.raises(embed.NoEncoderError, match=r"model\.safetensors is not the one that belongs to it"):
        encoder.encode(["a"])
    assert encoder._model._process.wait(timeout=60) == 0


@pytest.mark.thorough
def test_the_papers_encoder_is_downloaded_verified_and_loaded_by_name(tmp_path, monkeypatch):
    """The real download, check and process, with the small encoder's files in place of the paper's."""
    small = embed._small_folder()
    listed = [
        one._replace(size_bytes=(small / one.name).stat().st_size)
        for one in package_data.weights_of(embed.SMALL_PACKAGE)
    ]
    for module in (optional, package_data):
        monkeypatch.setattr(module, "weights_of", lambda name: listed)
    monkeypatch.setattr(embed, "_started", {})
    monkeypatch.setattr(embed, "_paper_folder", lambda: None)
    with pytest.raises(embed.NoEncoderError, match=r"is not on this machine: .*setup paper-encoder"):
        embed.encoder(embed.PAPER)
    with closing(FileServer()) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        at = f"/sentence-transformers/{embed.PAPER}/resolve/e8c3b32edf5434bc2275fc9bab85f82640a19130"
        hub.files = {f"{at}/{one.name}": (small / one.name).read_bytes() for one in listed}
        assert main(["setup", embed.PAPER_PART]) == 0
    folder = optional.files_folder(embed.PAPER)
    assert optional.is_installed(embed.PAPER_PART) and embed._files_of(embed.PAPER) == (folder, embed.PAPER)
    # The process finds the digests by name, and these files are the small encoder's.
    monkeypatch.setattr(embed, "_files_of", lambda name: (folder, embed.SMALL_PACKAGE))
    monkeypatch.setattr(embed, "COMMAND", [sys.executable, "-m", "core.text.embed_process"])
    by_default = embed.encoder()
    assert by_default.name == embed.PAPER and by_default is embed.encoder(embed.PAPER)
    try:
        assert by_default.encode(["How do I log in?"]).shape == (1, 384)
    finally:
        by_default._model._process.kill()
        by_default._model._process.wait()


def test_the_encoder_is_a_setting_that_old_specifications_do_not_have():
    spec = AskSpec(question="Can a penguin fly?", model="control/fickle")
    assert "encoder" not in spec.model_dump(mode="json") and spec.encoder == embed.AUTO
    named = spec.model_copy(update={"encoder": embed.PAPER})
    assert named.model_dump(mode="json")["encoder"] == embed.PAPER
    if embed.missing(embed.PAPER):
        with pytest.raises(BadInputError, match="all-mpnet-base-v2 is not on this machine"):
            LAB.check(named)


def test_a_process_that_died_is_started_again(monkeypatch):
    # What starts is what all other tests start (tests/support/shared_encoder.py): here that it starts is what matters.
    monkeypatch.setattr(embed, "COMMAND", SHARED)
    monkeypatch.setattr(embed, "_started", {})
    encoder = embed.encoder()
    encoder.encode(["before"])
    encoder._model._process.kill()
    encoder._model._process.wait()
    assert not encoder.alive
    with pytest.raises(embed.NoEncoderError, match="stopped"):
        encoder.encode(["something new"])
    again = embed.encoder()
    assert again is not encoder and again.alive
    again._model._process.kill()
    again._model._process.wait()


def test_what_threads_want_while_it_is_busy_is_encoded_in_one_go():
    batches, busy, go_on = [], threading.Event(), threading.Event()

    class Slow(Counting):
        def encode(self, texts):
            batches.append(list(texts))
            busy.set()
            assert go_on.wait(10)
            return super().encode(texts)

    encoder = embed.Encoder("slow", Slow())
    shapes = {}
    threads = [
        threading.Thread(target=lambda name=name: shapes.update({name: encoder.encode([name, "same"]).shape}))
        for name in ("a", "bb", "ccc", "dddd")
    ]
    threads[0].start()
    assert busy.wait(10)
    for thread in threads[1:]:
        thread.start()
    until(lambda: encoder._callers >= 3)
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert [sorted(batch) for batch in batches] == [["a", "same"], ["bb", "ccc", "dddd"]]
    assert len(shapes) == 4 and set(shapes.values()) == {(2, 2)}


def test_threads_that_were_served_together_are_served_together_again(monkeypatch):
    monkeypatch.setattr(embed, "GATHERING", 1.0)
    batches, busy, go_on = [], threading.Event(), threading.Event()

    class Slow(Counting):
        def encode(self, texts):
            batches.append(len(texts))
            busy.set()
            assert go_on.wait(10)
            return super().encode(texts)

    encoder = embed.Encoder("slow", Slow())
    threads = [
        threading.Thread(target=lambda name=name: [encoder.encode([f"{name}{n}"]) for n in range(3)]) for name in "abc"
    ]
    threads[0].start()
    assert busy.wait(10)
    for thread in threads[1:]:
        thread.start()
    until(lambda: encoder._callers >= 2)
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert batches == [1, 3, 3, 2]


def test_texts_that_could_not_be_encoded_are_tried_again():
    class Broken(Counting):
        def encode(self, texts):
            if not self.encoded:
                self.encoded.append("failed")
                raise embed.NoEncoderError("stopped")
            return super().encode(texts)

    encoder = embed.Encoder("broken", Broken())
    with pytest.raises(embed.NoEncoderError, match="stopped"):
        encoder.encode(["a", "bb"])
    assert encoder.encode(["a"]).tolist() == [[1, 1]]


def turned(degrees):
    return np.array([[np.cos(np.radians(one)), np.sin(np.radians(one))] for one in degrees], dtype=np.float32)


def test_likeness_is_the_cosine_to_six_decimals_whatever_machine_adds():
    vectors = turned([0, 0, 60, 90, 180])
    alike = embed.likeness(vectors, vectors[:1])
    assert alike.shape == (5, 1) and alike.dtype == np.float64
    assert alike[:, 0].tolist() == [1, 1, 0.5, 0, -1] and not np.signbit(alike[3, 0])
    draw = np.random.default_rng(0)
    many = draw.normal(size=(40, 384))
    many = (many / np.linalg.norm(many, axis=1, keepdims=True)).astype(np.float32)
    alike, order = embed.likeness(many, many), draw.permutation(384)
    # More than the order of a sum can change, on any processor.
    off = many + draw.uniform(-1e-13, 1e-13, many.shape)
    raw, otherwise = (one.astype(float) @ one.astype(float).T for one in (many, off))
    assert np.abs(alike - raw).max() <= 0.51e-6 and np.array_equal(alike, np.round(alike, embed.DIGITS))
    assert not np.array_equal(raw, otherwise) and np.array_equal(embed.likeness(off, off), alike)
    assert np.array_equal(embed.likeness(many[:, order], many[:, order]), alike)
    assert np.array_equal(embed.likeness(many[::-1], many)[::-1], alike)


@pytest.mark.thorough
def test_with_two_threads_and_each_text_by_itself_likeness_differs_by_less_than_is_news(monkeypatch):
    """As on a machine with more processors, and where others want vectors at the same moment."""
    texts = [f"{a} {b}?" for a in ("Can a penguin", "Did the old man from Naples ever") for b in ("fly", "see the sea")]
    two = "import os, runpy\nos.cpu_count = lambda: 3\nrunpy.run_module('core.text.embed_process', run_name='__main__')"
    started = []
    try:
        for command in (SHARED, [sys.executable, "-c", two]):
            monkeypatch.setattr(embed, "COMMAND", command)
            monkeypatch.setattr(embed, "_started", {})
            started.append(embed.encoder())
        here = embed.likeness(*[started[0].encode(texts)] * 2)
        there = embed.likeness(*[np.concatenate([started[1].encode([text]) for text in texts])] * 2)
    finally:
        for one in started:
            one._model._process.kill()
            one._model._process.wait()
    assert np.abs(here - there).max() < 2.1e-6 < TOLERANCE
