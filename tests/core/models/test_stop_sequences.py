"""Stop sequences that the app applies itself."""

from hypothesis import example, given
from hypothesis import strategies as st

from core.models.reply import StopCutter

words = st.text(alphabet="ab\n", max_size=12)


@example(["ab", "\n"], ["b", "ab\n"])
@example(["aba"], ["aba", "b"])
@given(st.lists(words, max_size=8), st.lists(words, max_size=3))
def test_however_it_comes_the_text_before_the_first_stop_is_what_stays(pieces: list[str], stops: list[str]) -> None:
    cutter = StopCutter(tuple(stops))
    shown = "".join(cutter.feed(piece) for piece in pieces) + cutter.flush()
    whole = "".join(pieces)
    found = [(whole.find(stop) + len(stop), whole.find(stop)) for stop in stops if stop and stop in whole]
    assert shown == whole[: min(found)[1]] if found else shown == whole
    assert cutter.stopped == bool(found)


def test_nothing_is_held_back_that_cannot_become_a_stop() -> None:
    cutter = StopCutter(("\n\n",))
    assert [cutter.feed(piece) for piece in ("a", "b\n", "c", "\n", "\n", "d")] == ["a", "b", "\nc", "", "", ""]
