"""Whatever somebody sends as a bundle changes nothing and is refused with a reason, or it holds runs."""

import base64
import hashlib
import io
import json
import shutil
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from core import home
from core.journal import to_line
from core.runs import bundle, signatures
from core.runs.bundle import BundleError
from core.runs.library import about_path

RECORDED = sorted(home.recordings().glob("*.jsonl"))[0]
RUN, JOURNAL = RECORDED.stem, f"journals/{RECORDED.name}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The journals of a home that holds one run."""
    (tmp_path / "journals").mkdir()
    (tmp_path / "journals" / "own.jsonl").write_bytes(b"mine\n")
    return tmp_path / "journals"


def good() -> dict[str, bytes]:
    """The content of a bundle with one run."""
    written = io.BytesIO()
    bundle.write(written, [RUN], [home.recordings()], "Ann")
    with zipfile.ZipFile(written) as made:
        return {name: made.read(name) for name in made.namelist()}


def zipped(*parts: tuple[str | zipfile.ZipInfo, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", how) as made:
        for name, data in parts:
            made.writestr(name, data)
    return written.getvalue()


def manifest(**changed: object) -> bytes:
    told = json.loads(good()["manifest.json"])
    entry = {**told["journals"][0], **{name: value for name, value in changed.items() if name in told["journals"][0]}}
    return json.dumps({**told, "journals": [entry]} | {k: v for k, v in changed.items() if k not in entry}).encode()


def linked(name: str) -> zipfile.ZipInfo:
    one = zipfile.ZipInfo(name)
    one.external_attr = (stat.S_IFLNK | 0o777) << 16
    return one


def altered(old: bytes, new: bytes) -> bytes:
    return good()[JOURNAL].replace(old, new, 1)


def only(data: bytes, name: str = RUN) -> bytes:
    """A bundle of one journal that holds `data`, with a correct manifest."""
    told = manifest(name=name, bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    return zipped((f"journals/{name}.jsonl", data), ("manifest.json", told))


def encrypted() -> bytes:
    data = bytearray(zipped(*good().items()))
    for sign, at in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        data[data.find(sign) + at] |= 1
    return bytes(data)


def many(entries: int) -> bytes:
    """A zip directory of this number of journals that are not there."""
    one = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, 0, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(one) * entries, 0, 0)
    return one * entries + end


def many_of_64(entries: int) -> bytes:
    """The same, told of where the second kind of end says so, behind an end that says one."""
    one = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, 0, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    size = len(one) * entries
    end = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, entries, entries, size, 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, size, 1)
    return one * entries + end + locator + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(one), 0, 0)


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "not a zip": (lambda: b"hello", "damaged, or is not a zip file"),
    "empty": (lambda: b"", "damaged, or is not a zip file"),
    "truncated": (lambda: zipped(*good().items())[:-400], "damaged, or is not a zip file"),
    "half a journal": (lambda: zipped(*good().items()).replace(b"manifest", b"manifess"), "neither"),
    "a bit flipped": (lambda: flipped(zipped(*good().items())), "damaged, or is not a zip file"),
    "an empty zip": (lambda: zipped(), "not a bundle"),
    "no manifest": (lambda: zipped((JOURNAL, good()[JOURNAL])), "not a bundle"),
    "a manifest that is none": (lambda: zipped(("manifest.json", b"[" * 100_000)), "cannot be read"),
    "a manifest without end": (lambda: zipped(("manifest.json", b" " * (3 << 20))), "cannot be read"),
    "another kind of bundle": (lambda: zipped(("manifest.json", manifest(bundle=2))), "bundle"),
    "a wrong hash": (lambda: zipped((JOURNAL, good()[JOURNAL]), ("manifest.json", manifest(sha256="0"))), "altered"),
    "a wrong size": (lambda: zipped((JOURNAL, good()[JOURNAL]), ("manifest.json", manifest(bytes=1))), "altered"),
    "an altered journal": (lambda: zipped((JOURNAL, altered(b"a", b"b")), ("manifest.json", manifest())), "altered"),
    "a journal that is not listed": (lambda: zipped(*good().items(), ("journals/b.jsonl", b"{}\n")), "its contents"),
    "a listed one that is not there": (lambda: zipped(("manifest.json", manifest())), "its contents"),
    "up and out": (lambda: zipped(*good().items(), ("../../evil.jsonl", b"x")), "neither"),
    "out of the folder": (lambda: zipped(*good().items(), ("journals/../../evil.jsonl", b"x")), "neither"),
    "an absolute path": (lambda: zipped(*good().items(), ("/etc/cron.d/evil", b"x")), "neither"),
    "a path of Windows": (lambda: zipped(*good().items(), ("journals\\..\\evil.jsonl", b"x")), "neither"),
    "a drive": (lambda: zipped(*good().items(), ("C:evil.jsonl", b"x")), "neither"),
    "a name with a zero": (lambda: zeroed(zipped(*good().items())), "neither"),
    "a script for a name": (lambda: zipped(*good().items(), ("journals/<script>.jsonl", b"x")), "neither"),
    "a folder": (lambda: zipped(*good().items(), ("journals/a.jsonl/", b"")), "neither"),
    "a link": (lambda: zipped(*good().items(), (linked("journals/l.jsonl"), b"/etc/passwd")), "neither"),
    "a zip in it": (lambda: zipped(*good().items(), ("inner.zip", zipped(("a", b"b")))), "neither"),
    "who shares it": (lambda: zipped(*good().items(), (f"journals/{RUN}~~shared.jsonl", b"x")), "neither"),
    "names but for capitals": (lambda: zipped(("journals/A.jsonl", b""), ("journals/a.jsonl", b"")), "twice"),
    "encrypted": (encrypted, "encrypted"),
    "packed otherwise": (lambda: zipped(*good().items(), how=zipfile.ZIP_LZMA), "compressed by a method"),
    "a bomb": (lambda: zipped(*good().items(), ("journals/b.jsonl", bytes(5 << 20))), "larger than 4 MB"),
    "a million entries": (lambda: many(1_000_000), "more than 5 journals"),
    "a million entries in 64 bits": (lambda: many_of_64(1_000_000), "more than 5 journals"),
    "no journal": (lambda: only(b"<script>alert(1)</script>\n"), "does not begin a run"),
    "half a line": (lambda: only(b'{"kind":"started"'), "does not begin a run"),
    "a schema to come": (lambda: only(to_come()), "newer version"),
    "another run": (lambda: only(good()[JOURNAL], "another"), "another run"),
    "a device of Windows": (lambda: only(begun(run="CON"), "CON"), "neither"),
    "what is said of one": (lambda: only(begun(run="lpt1~ann", about="lpt1"), "lpt1~ann"), "neither"),
    "a run that is here": (lambda: only(own(), "own"), "already exists here, with other contents"),
}  # fmt: skip


def armored(blob: bytes) -> bytes:
    return b"-----BEGIN SSH SIGNATURE-----\n" + base64.encodebytes(blob) + b"-----END SSH SIGNATURE-----\n"


def sshsig(*parts: bytes, version: int = 1) -> bytes:
    """The blob of a signature: key, namespace, reserved, hash, signature."""
    return b"SSHSIG" + struct.pack(">I", version) + b"".join(struct.pack(">I", len(one)) + one for one in parts)


KEY = b"\0\0\0\x0bssh-ed25519\0\0\0 " + bytes(range(32))
SIGNED = b"\0\0\0\x0bssh-ed25519\0\0\0@" + bytes(64)
OURS = signatures.NAMESPACE.encode()

SIGNATURES: dict[str, bytes] = {
    "nothing": b"",
    "no signature": b"hello\n" * 100,
    "bytes": bytes(range(256)) * 64,
    "too long": armored(bytes(40_000)),
    "armour around nothing": armored(b""),
    "armour without end": armored(sshsig(KEY, OURS, b"", b"sha512", SIGNED))[:-30],
    "a length beyond the end": armored(b"SSHSIG\0\0\0\1\xff\xff\xff\xff"),
    "a version to come": armored(sshsig(KEY, OURS, b"", b"sha512", SIGNED, version=2)),
    "of zeros": armored(sshsig(KEY, OURS, b"", b"sha512", SIGNED)),
    "by no key": armored(sshsig(b"", OURS, b"", b"sha512", SIGNED)),
    "by a key of no kind": armored(sshsig(b"\0\0\0\4evil", OURS, b"", b"sha512", SIGNED)),
    "by a weak hash": armored(sshsig(KEY, OURS, b"", b"md5", SIGNED)),
    "for a namespace of options": armored(sshsig(KEY, b"-f /etc/passwd", b"", b"sha512", SIGNED)),
    "for one with a line of ours": armored(
        sshsig(KEY, OURS + b'" signature with x key SHA256:', b"", b"sha512", SIGNED)
    ),
}


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen, which checks signatures")
@pytest.mark.parametrize("name", SIGNATURES)
def test_a_hostile_signature_changes_nothing_and_says_why(name: str, folder: Path, tmp_path: Path) -> None:
    sent = tmp_path / "b.zip"
    sent.write_bytes(zipped(*good().items(), ("manifest.json.sig", SIGNATURES[name])))
    with pytest.raises(BundleError, match=r"signature is not valid: .{4}") as refused:
        bundle.import_path(sent, [folder])
    said = str(refused.value)
    assert len(said) < 500 and said.isprintable() and "/sig" not in said
    assert [path.name for path in folder.iterdir()] == ["own.jsonl"]


def flipped(data: bytes) -> bytes:
    return data[:500] + bytes([data[500] ^ 1]) + data[501:]


def zeroed(data: bytes) -> bytes:
    return data.replace(JOURNAL.encode(), JOURNAL.encode()[:-7] + b"\0" + JOURNAL.encode()[-6:])


def begun(**changed: object) -> bytes:
    first = next(iter(bundle.journal.read(RECORDED).events))  # type: ignore[attr-defined]
    return to_line(first.model_copy(update=changed), 1)


def own() -> bytes:
    return begun(run="own")


def to_come() -> bytes:
    return begun(version=99)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_bundle_changes_nothing_and_says_why(
    name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLAIN_BUNDLE_MB", "4")
    monkeypatch.setenv("EXPLAIN_BUNDLE_JOURNALS", "5")
    make, why = HOSTILE[name]
    sent = tmp_path / "sent" / "b.zip"
    sent.parent.mkdir()
    sent.write_bytes(make())
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(BundleError, match=why) as refused:
        bundle.import_path(sent, [folder])
    assert len(str(refused.value)) < 400 and str(tmp_path) not in str(refused.value)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["journals", "sent"]


def test_a_bundle_is_kept_as_it_was_with_whose_it_is(folder: Path, tmp_path: Path) -> None:
    sent = tmp_path / "b.zip"
    sent.write_bytes(zipped(*good().items()))
    taken = bundle.import_path(sent, [folder])
    assert (taken.runs, taken.same) == ([RUN], [])
    assert (folder / RECORDED.name).read_bytes() == RECORDED.read_bytes()
    [mark] = [
        event
        for event in bundle.journal.read(about_path(folder / RECORDED.name, "from")).events  # type: ignore[attr-defined]
        if event.kind == "recorded"
    ]
    assert mark.data == {"sender": "Ann"}
    assert bundle.import_path(sent, [folder])[:2] == ([], [RUN]), "the same bytes are passed over"
    assert bundle.import_path(sent, [tmp_path / "other", home.recordings()])[:2] == ([], [RUN]), (
        "a recording is here already"
    )


def test_time_runs_out_in_words(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLAIN_BUNDLE_SECONDS", "0")
    sent = tmp_path / "b.zip"
    sent.write_bytes(zipped(*good().items()))
    with pytest.raises(BundleError, match="more than 0 seconds"):
        bundle.import_path(sent, [folder])
    assert [path.name for path in folder.iterdir()] == ["own.jsonl"]


def test_a_folder_and_a_single_journal_are_named_by_what_they_hold(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "download (1).jsonl").write_bytes(RECORDED.read_bytes())
    (other / f"{RUN}~~shared.jsonl").write_bytes(b"x\n")
    (other / "guesses.jsonl").write_bytes(begun(run="gone~ann", about="gone"))
    taken = bundle.import_path(other, [folder])
    assert taken.runs == [RUN] and set(taken.passed_over) == {f"{RUN}~~shared.jsonl", "gone~ann"}
    (folder / RECORDED.name).unlink()
    about_path(folder / RECORDED.name, "from").unlink()
    assert bundle.import_path(other / "download (1).jsonl", [folder], "Bob\n<b>").runs == [RUN]
    mark = bundle.journal.read(about_path(folder / RECORDED.name, "from")).events[-1]  # type: ignore[attr-defined]
    assert mark.data == {"sender": "Bob <b>"}
