"""Damage that can happen to a journal: on a disk, by a copy, by a person, by another version of the app."""

import random
import zlib
from collections.abc import Iterator


def damaged(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield 117 damaged forms of the journal `data`, each with what happened to it. Its first line is intact except in
    the last seven, with which no run can continue.
    """
    lines = data.splitlines(keepends=True)
    chance = random.Random(117)
    head, rest = lines[0], lines[1:]
    for number in range(30):
        cut = chance.randrange(len(head) + 1, len(data))
        yield f"torn {number}", data[:cut]
    for number in range(30):
        at = chance.randrange(len(head), len(data))
        yield f"flipped {number}", data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
    for number in range(20):
        twice = chance.sample(range(len(rest)), 3)
        yield f"doubled {number}", head + b"".join(line * (2 if k in twice else 1) for k, line in enumerate(rest))
    for number in range(20):
        moved = list(rest)
        for _ in range(4):
            a, b = chance.sample(range(len(moved)), 2)
            moved[a], moved[b] = moved[b], moved[a]
        yield f"moved {number}", head + b"".join(moved)
    for number in range(10):
        lost = chance.sample(range(len(rest)), 5)
        yield f"lost {number}", head + b"".join(line for k, line in enumerate(rest) if k not in lost)
    yield "headless", b"".join(rest)
    yield "empty", b""
    yield "zeros", b"\x00" * len(data)
    yield "no text", bytes(chance.randrange(256) for _ in range(4000)) + b"\n"
    yield "of the future", unsealed(head).replace(b'"schema":3', b'"schema":99') + b"".join(rest)
    yield "seed beyond counting", unsealed(head).replace(b'"seed":0', b'"seed":1' + b"0" * 5000) + b"".join(rest)
    yield "deep", head[:-2] + b',"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n" + b"".join(rest)


def unsealed(line: bytes) -> bytes:
    """The line without its number and checksum, as another program might write it."""
    return line[: line.rindex(b',"line":')] + b"}\n"


def sealed(line: bytes, number: int = 1) -> bytes:
    """`line`, a JSON object, with the number and the checksum of a journal line."""
    body = line[:-1] + b',"line":%d' % number
    return body + b',"sum":"%08x"}\n' % zlib.crc32(body)
