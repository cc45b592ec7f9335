"""Reads the header of a GGUF file, as far as it shows that the file is a model and how much memory it needs.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little endian).

The `gguf` package is not used: it reads the whole header with the vocabulary (0.19: 2 s and 190 MB for a model of 93
MB, where this takes under a millisecond), and 49 bytes that claim a list of 2^62 items keep it busy until memory is
full. Here the file may be anybody's: at most `_LONGEST_HEAD` is read, and only the requested fields are stored.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from .. import files
from .errors import failure

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _LIST = 8, 9
_LONGEST_HEAD = 1 << 25
"""The most bytes before the context length: names, a licence, at worst a vocabulary (some 10 MB)."""


def context(path: Path) -> int:
    """The number of tokens that the model was trained for.

    Raises ModelFileError if `path` does not exist, is not GGUF, or is cut off within its header.
    """
    try:
        if not path.exists():
            raise failure("no_file", path=path)
        with files.open_file(path) as file:
            if file.read(4) != b"GGUF":
                raise failure("no_gguf", path=path, why="is not a GGUF model (it does not begin with GGUF)")
            version, _tensors, fields = struct.unpack("<IQQ", file.read(20))
            if version not in (2, 3):
                raise failure("no_gguf", path=path, why=f"is a GGUF file of version {version}, which is not known here")
            head = _fields(_Bytes(file), fields)
    except files.FileError as error:
        raise failure("not_readable", why=error) from None
    except OSError as error:
        raise failure("not_readable", why=f"{path} cannot be read: {error.strerror}.") from None
    except (struct.error, KeyError, ValueError):
        raise failure("no_gguf", path=path, why="begins like a GGUF model, but its head is broken") from None
    tokens = head.get(f"{head.get('general.architecture')}.context_length")
    if not isinstance(tokens, int) or tokens < 1:
        raise failure("no_gguf", path=path, why="is a GGUF file, but not of a language model")
    return tokens


def thinks(path: Path) -> bool:
    """Whether the model's own chat template mentions thinking tags. False if the file has no template.

    Raises ModelFileError for a file that cannot be read.
    """
    try:
        with files.open_file(path) as file:
            head = file.read(_LONGEST_HEAD)
    except (files.FileError, OSError) as error:
        raise failure("not_readable", why=error) from None
    at = head.find(b"tokenizer.chat_template")
    if at < 0:
        return False
    at += len(b"tokenizer.chat_template") + 4
    (length,) = struct.unpack("<Q", head[at : at + 8].ljust(8, b"\0"))
    template = head[at + 8 : at + 8 + min(length, _LONGEST_HEAD)]
    return b"<think>" in template or b"[THINK]" in template


class _Bytes:
    """The rest of the file. Raises ValueError at its end, and after `_LONGEST_HEAD`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = _LONGEST_HEAD

    def take(self, count: int) -> bytes:
        self._left -= count
        if self._left < 0:
            raise ValueError("longer than any head")
        taken = self._file.read(count)
        if len(taken) < count:
            raise ValueError("the file ends within its head")
        return taken

    def number(self, kind: str) -> Any:
        return struct.unpack("<" + kind, self.take(struct.calcsize("<" + kind)))[0]

    def string(self) -> str:
        return self.take(self.number("Q")).decode("utf-8", errors="replace")


def _fields(data: _Bytes, count: int) -> dict[str, Any]:
    """The fields that are needed, up to the first context length; what follows (the vocabulary) is long and not
    needed.
    """
    head: dict[str, Any] = {}
    for _ in range(count):
        key = data.string()
        value = _value(data, data.number("I"))
        if key == "general.architecture":
            head[key] = value
        elif key.endswith(".context_length"):
            head[key] = value
            break
    return head


def _value(data: _Bytes, kind: int) -> Any:
    """A string or a number; a list is skipped, since none is needed, and gives None."""
    if kind == _STRING:
        return data.string()
    if kind == _LIST:
        inner, length = data.number("I"), data.number("Q")
        if inner == _STRING:
            for _ in range(length):
                data.take(data.number("Q"))
        else:  # a list of lists, which llama.cpp refuses too, is a KeyError
            data.take(length * struct.calcsize("<" + _NUMBERS[inner]))
        return None
    return data.number(_NUMBERS[kind])
