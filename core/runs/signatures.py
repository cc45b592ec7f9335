"""Signatures of bundles, made and checked by OpenSSH's `ssh-keygen -Y`: it finds keys in files, agents and devices, and
a file of allowed signers says whose key is whose, and whether it has expired or is revoked.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from ..errors import ExplainError
from ..policy import child_environment
from ..text.display import one_line

NAMESPACE = "explain-yourself"
"""What our signatures are for: one made for any other purpose is not valid."""

LONGEST_SIGNATURE = 32 * 1024
"""The most bytes of a signature; one of the longest RSA key has 8,000."""

_CHECK_SECONDS = 20.0
"""Seconds that a check may take."""

_SIGN_SECONDS = 300.0
"""Seconds for making a signature: a person may have to type a passphrase, or to touch a device."""

_MOST_NAMES = 5
"""How many of the names that the file of allowed signers gives a key are tried."""

_GOOD = re.compile(rf'Good "{NAMESPACE}" signature with [\w.@-]{{1,80}} key (SHA256:[A-Za-z0-9+/]{{43}})\s*')
_KEY_VARIABLES = ("SSH_", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "TERM")
"""How the names of the variables begin with which ssh-keygen reaches an agent, or asks for a passphrase."""


class NotSignedError(ExplainError, ValueError):
    """No signature was made; the message says why."""


class SignatureError(ExplainError, ValueError):
    """The signature does not belong to the data; the message says why."""


class Signature(NamedTuple):
    """Who signed: the key's fingerprint, and its name if the reader's file of allowed signers lists it. Both are empty
    if nobody signed, or if `why` says that the signature could not be checked.
    """

    key: str = ""
    name: str = ""
    why: str = ""

    @property
    def by(self) -> str:
        """The signer in words; an empty string if unknown."""
        return self.key and f"{self.key} ({self.name or 'a key that allowed_signers does not list'})"

    @property
    def words(self) -> str:
        """The result in words: the signer, why it could not be checked, or that there is no signature."""
        return f"signed by {self.by}" if self.key else self.why or "not signed"


def sign(data: bytes, key: Path) -> bytes:
    """Return a signature of `data` by the key in the file `key`; if that is a public key, the agent signs. ssh-keygen
    itself asks for a passphrase, at the terminal. Raises NotSignedError.
    """
    reaching = {name: value for name, value in os.environ.items() if name.upper().startswith(_KEY_VARIABLES)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data"
        path.write_bytes(data)
        command = ["ssh-keygen", "-q", "-Y", "sign", "-n", NAMESPACE, "-f", str(key), str(path)]
        try:
            done = subprocess.run(  # noqa: S603  no shell; the only argument from a person is their key's file
                command, env=child_environment() | reaching, capture_output=True, timeout=_SIGN_SECONDS, check=False
            )
            if done.returncode == 0:
                return path.with_name("data.sig").read_bytes()
        except FileNotFoundError:
            raise NotSignedError(
                "Signing needs ssh-keygen, which comes with OpenSSH. It is not installed here."
            ) from None
        except subprocess.TimeoutExpired:
            raise NotSignedError("ssh-keygen waited too long for a passphrase or a device.") from None
    raise NotSignedError(f"ssh-keygen could not sign with {key}: {_complaint(done.stderr)}")


def verify(data: bytes, signature: bytes, allowed: Path) -> Signature:
    """Return who signed `data`; the `signature` may come from anybody. `allowed` is the reader's file of allowed
    signers, which need not exist. Raises SignatureError if it is not a signature of `data`.
    """
    if len(signature) > LONGEST_SIGNATURE:
        raise SignatureError(f"it is longer than {LONGEST_SIGNATURE:,} bytes")
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sig"
            path.write_bytes(signature)
            done = _ssh_keygen(["check-novalidate", "-n", NAMESPACE, "-s", str(path)], data)
            good = _GOOD.fullmatch(done.stdout.decode("utf-8", "replace"))
            if done.returncode != 0 or good is None:
                raise SignatureError(_complaint(done.stderr.replace(bytes(path), b"it")))
            return Signature(good[1], _signer(data, path, allowed) if allowed.is_file() else "")
    except FileNotFoundError:
        return Signature(why="signed; to check by whom, install ssh-keygen, which comes with OpenSSH")
    except subprocess.TimeoutExpired:
        raise SignatureError("checking it took too long") from None


def _signer(data: bytes, signature: Path, allowed: Path) -> str:
    """The signer's name; an empty string if the file lists none for whom the signature is valid."""
    found = _ssh_keygen(["find-principals", "-s", str(signature), "-f", str(allowed)], b"")
    for name in found.stdout.decode("utf-8", "replace").splitlines()[:_MOST_NAMES]:
        command = ["verify", "-n", NAMESPACE, "-s", str(signature), "-f", str(allowed), "-I", name]
        if _ssh_keygen(command, data).returncode == 0:
            return name
    return ""


def _ssh_keygen(arguments: list[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
    """Run `ssh-keygen -Y` with these arguments. Raises FileNotFoundError and TimeoutExpired."""
    command = ["ssh-keygen", "-Y", *arguments]
    return subprocess.run(  # noqa: S603  no shell; foreign data are only in our own file and on standard input
        command, env=child_environment(), input=data, capture_output=True, timeout=_CHECK_SECONDS, check=False
    )


def _complaint(said: bytes) -> str:
    """ssh-keygen's complaint in one line."""
    return one_line(said[:2000].decode("utf-8", "replace").replace("@", " "), 300) or "it gave no reason"
