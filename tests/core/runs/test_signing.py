"""Signed bundles, with real keys, checked against OpenSSH itself."""

import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from core import entry, home
from core.__main__ import main
from core.package_data import ROOT
from core.runs import bundle, signatures, verify
from core.runs.bundle import BundleError
from core.runs.signatures import NotSignedError, Signature

RECORDED = next(path for path in sorted(home.recordings().glob("*.jsonl")) if "-simulatability-" not in path.stem)

STUDY = """
[[part]]
lab = "check"
spec = { controls = 0, task = "sentiment", explanations = ["attribution"], model = "control/dial-lexicon-0.0" }
"""

needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")


def key(path: Path, passphrase: str = "") -> Path:
    """A new Ed25519 key in the file `path`."""
    made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", "", "-f", str(path)]
    subprocess.run(made, check=True, timeout=60)
    return path


def fingerprint(path: Path) -> str:
    told = subprocess.run(["ssh-keygen", "-l", "-f", str(path)], check=True, timeout=60, capture_output=True, text=True)
    return told.stdout.split()[1]


def signed_by(path: Path, target: Path) -> Path:
    with target.open("wb") as file:
        bundle.write(file, [RECORDED.stem], [home.recordings()], "Ann", key=path)
    return target


def listed(path: Path, name: str, options: str = "") -> None:
    """Add the key to the reader's file under `name`."""
    public = path.with_name(f"{path.name}.pub").read_text()
    (home.home() / "allowed_signers").write_text(f"{name} {options} {public}")


def take(sent: Path) -> Signature:
    return bundle.import_path(sent, [home.journals()]).signed


def repacked(sent: Path, change: Callable[[str, bytes], bytes]) -> Path:
    """The bundle with other contents."""
    target = sent.with_name("repacked.zip")
    with zipfile.ZipFile(sent) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return target


@pytest.mark.thorough
@needs_ssh
def test_a_signed_bundle_says_by_whom_wherever_its_runs_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ann, file, sent = key(tmp_path / "ann"), str(tmp_path / "study.toml"), str(tmp_path / "sent.zip")
    Path(file).write_text(STUDY, encoding="utf-8")
    assert main(["study", "run", file]) == 0
    assert main(["export", sent, "--sender", "Ann", "--sign", str(ann)]) == 0

    monkeypatch.setenv("EXPLAIN_HOME", str(tmp_path / "fresh"))
    capsys.readouterr()
    assert main(["import", sent]) == 0
    signer = f"signed by {fingerprint(ann)} (a key that allowed_signers does not list)"
    assert f"imported, {signer}\n" in capsys.readouterr().out
    assert main(["study", "table", file]) == 0
    assert f"imported from Ann, {signer}" in capsys.readouterr().out
    assert main(["methods"]) == 0
    assert f"Signed by their senders' keys: {fingerprint(ann)}" in capsys.readouterr().out


@needs_ssh
def test_whose_key_it_is_says_the_readers_own_file(tmp_path: Path) -> None:
    ann = key(tmp_path / "ann")
    sent = signed_by(ann, tmp_path / "sent.zip")
    listed(key(tmp_path / "other"), "other@example.org")
    assert take(sent) == (fingerprint(ann), "", "")
    listed(ann, "ann@example.org,*@example.org")
    assert take(sent).words == f"signed by {fingerprint(ann)} (ann@example.org)"
    listed(ann, "ann@example.org", 'namespaces="git"')
    assert take(sent).name == "", "she is listed for something else"
    listed(ann, "ann@example.org", 'valid-before="20200101"')
    assert take(sent).name == "", "no longer"


@needs_ssh
def test_openssh_itself_can_check_it(tmp_path: Path) -> None:
    ann = key(tmp_path / "ann")
    listed(ann, "ann@example.org")
    with zipfile.ZipFile(signed_by(ann, tmp_path / "sent.zip")) as sent:
        sent.extractall(tmp_path)
    [command] = re.findall(r"`(ssh-keygen -Y verify .*)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8"))
    command = command.replace("NAME", "ann@example.org")
    command = command.replace("allowed_signers", str(home.home() / "allowed_signers"))
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, timeout=60, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@needs_ssh
def test_a_signature_of_something_else_is_refused(tmp_path: Path) -> None:
    ann = key(tmp_path / "ann")
    sent = signed_by(ann, tmp_path / "sent.zip")
    altered = repacked(sent, lambda name, data: data.replace(b'"Ann"', b'"Bob"') if name == "manifest.json" else data)
    with pytest.raises(BundleError, match="signature is not valid"):
        take(altered)
    journal = repacked(sent, lambda name, data: data + b"\n" if name.endswith(".jsonl") else data)
    with pytest.raises(BundleError, match="does not match the manifest"):
        take(journal)

    with zipfile.ZipFile(sent) as read:
        (tmp_path / "told").write_bytes(read.read("manifest.json"))
    other = ["ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", str(ann), str(tmp_path / "told")]
    subprocess.run(other, check=True, timeout=60)
    for_git = (tmp_path / "told.sig").read_bytes()
    with pytest.raises(BundleError, match="signature is not valid"):
        take(repacked(sent, lambda name, data: for_git if name.endswith(".sig") else data))
    assert not list(home.journals().glob("*")), "nothing was kept"


@needs_ssh
def test_what_cannot_sign_is_a_sentence_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SSH_ASKPASS", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    (home.journals() / RECORDED.name).write_bytes(RECORDED.read_bytes())
    (tmp_path / "none").write_text("no key")
    (tmp_path / "none").chmod(0o600)
    assert main(["export", str(tmp_path / "a.zip"), "--sign", str(tmp_path / "none")]) == 2
    assert "could not sign" in capsys.readouterr().err
    assert not list(tmp_path.glob("*a.zip*"))


def test_without_ssh_keygen_both_ends_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotSignedError, match="not installed here"):
        signatures.sign(b"x", tmp_path / "key")
    found = signatures.verify(b"x", b"x", tmp_path / "none")
    assert not found.key and found.words.startswith("signed; to check by whom")


def test_nobody_signed(tmp_path: Path) -> None:
    with (tmp_path / "sent.zip").open("wb") as file:
        bundle.write(file, [RECORDED.stem], [home.recordings()])
    taken = bundle.import_path(tmp_path / "sent.zip", [home.journals()])
    assert taken.signed.words == "not signed"
    entry.score_again(taken)
    origin = verify.origin(home.journals(), RECORDED.stem)
    assert origin is not None and origin.words == "imported from sent.zip"
