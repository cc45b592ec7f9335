"""A study file from somebody else may hold anything: the app answers soon, and in words."""

import time

import pytest

from core import entry
from core.studies.plan import LARGEST, StudyError, parse

ASK = 'lab = "ask"\nspec = { dataset = "world", model = "control/fickle" }\n'
AXIS = ", ".join(map(str, range(1, 1001)))

HOSTILE = {
    "huge": (b"#" * (LARGEST + 1), "larger than"),
    "bad UTF-8": (b'title = "\xff"', "line 1: this is not UTF-8 text"),
    "no TOML": (b"<script>alert(1)</script>", "this is not TOML"),
    "deep arrays": (b"title = " + b"[" * 100_000, "nested too deeply"),
    "deep keys": (b"a." * 120_000 + b"a = 1", "nested too deeply"),
    "a long number": (b"at_once = " + b"9" * 100_000, "this is not TOML"),
    "a grid of 10^9": (
        f"{ASK}grid = {{ seed = [{AXIS}], limit = [{AXIS}], votes = [{AXIS}] }}".encode(), "its grid makes more than"
    ),
    "a grid of 2^9000": (
        f"{ASK}[grid]\n".encode() + b"".join(b"a%d = [1, 2]\n" % n for n in range(9_000)), "its grid makes more than"
    ),
    "much that is left out": (ASK.encode() + b"[[exclude]]\nseed = 1\n" * 8_000, "at most 500 items"),
    "many headings": (ASK.encode() + b"".join(b"[[a%d]]\n" % n for n in range(20_000)), "a study has no such setting"),
    "NaN": (f"width = nan\n{ASK}".encode(), "line 1, width"),
    "NaN in a setting": (
        b'lab = "probe"\nspec = { model = "control/inventor", temperature = nan }', "temperature"
    ),
    "a name that leads elsewhere": (f'name = "../../etc/passwd"\n{ASK}'.encode(), "line 1, name"),
    "no lab": (b'lab = "../ask"\n', "there is no lab '../ask'"),
    "a table for a text": (ASK.replace('"world"', "{ a = { b = 1 } }").encode(), "dataset"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "said"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_answered_soon_and_in_words(content: bytes, said: str) -> None:
    began = time.thread_time()
    with pytest.raises(StudyError) as refused:
        parse("study.toml", content, entry.labs())
    assert said in str(refused.value) and len(str(refused.value)) < 1_000
    assert time.thread_time() - began < 3
