"""The head of a GGUF file, as far as it is needed to know that it is a model and how much memory it wants.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little endian).
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from core.models.errors import BadModelFile

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _LIST = 8, 9
_LONGEST_STRING = 1 << 24
_HINT = "Choose a file that ends in .gguf and holds a chat model; if it was downloaded, fetch it again."


class Head(NamedTuple):
    """`context` is the number of tokens the model was trained for."""

    name: str
    context: int


def head(path: Path) -> Head:
    """Raises BadModelFile where `path` is missing, is not GGUF, or is cut off within its head."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
            if magic != b"GGUF":
                raise BadModelFile(f"{path} is not a GGUF model (it does not begin with GGUF).", _HINT)
            version, _tensors, fields = struct.unpack("<IQQ", file.read(20))
            if version not in (2, 3):
                raise BadModelFile(f"{path} is a GGUF file of version {version}, which is not known here.", _HINT)
            found = _fields(file, fields)
    except FileNotFoundError:
        raise BadModelFile(f"There is no file {path}.", "Check the path.") from None
    except OSError as error:
        raise BadModelFile(f"{path} cannot be read: {error.strerror}.", "Check the path and its permissions.") from None
    except (struct.error, KeyError, ValueError):
        raise BadModelFile(f"{path} begins like a GGUF model, but its head is broken.", _HINT) from None
    context = found.get(f"{found.get('general.architecture')}.context_length")
    if not isinstance(context, int) or context < 1:
        raise BadModelFile(f"{path} is a GGUF file, but not of a language model.", _HINT)
    return Head(str(found.get("general.name") or path.stem), context)


def _fields(file: BinaryIO, count: int) -> dict[str, Any]:
    """Fields up to the first context length and name; what comes behind (the vocabulary) is long and not needed."""
    found: dict[str, Any] = {}
    for _ in range(count):
        key = _string(file)
        found[key] = _value(file, *struct.unpack("<I", file.read(4)))
        if key.endswith(".context_length"):
            break
    return found


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _string(file)
    if kind == _LIST:
        inner, length = struct.unpack("<IQ", file.read(12))
        return [_value(file, inner) for _ in range(length)]
    pattern = "<" + _NUMBERS[kind]
    return struct.unpack(pattern, file.read(struct.calcsize(pattern)))[0]


def _string(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > _LONGEST_STRING:
        raise ValueError("a string longer than any in a head")
    return file.read(length).decode("utf-8", errors="replace")
