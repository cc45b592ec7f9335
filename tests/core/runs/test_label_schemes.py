"""A person's own label schemes: what the file may hold, and what is said about one that is wrong."""

import pytest

from core import home
from core.runs import labels
from core.runs.labels import EXAMPLE, Label, Scheme, SchemeError

WRONG = [
    ("[a]\nlabels = {x = 'q', y = 'w'\n", "labels.toml is not TOML", "line 2"),
    ("a = 1\n", "each scheme begins with its name in brackets", "line 1"),
    ("[a]\n[a.labels]\none = 'q'\ntwo = 'j'\n", "'two' has the key 'j', which the app uses", "line 4"),
    ("[a]\n[a.labels]\none = 'q'\ntwo = 'C'\n", "'two' has the key 'C', which the app uses", "line 4"),
    ("[a]\n[a.labels]\none = 'q'\ntwo = '7'\n", "choose one lower-case letter", "line 4"),
    ("[a]\n[a.labels]\none = 'q'\ntwo = ''\n", "choose one lower-case letter", "line 4"),
    (
        "[a]\nlabels = {one = 'q', two = 'w'}\n[b]\n[b.labels]\nbad = 'w'\nfine = 'z'\n",
        "already used for 'two'",
        "line 5",
    ),
    ("[a]\nlabels = {one = 'q'}\n", "at least 2", "line 2"),
    ("[a]\nseveral = 'maybe'\nlabels = {one = 'q', two = 'w'}\n", "valid boolean", "line 2"),
    ("[a]\nlabel = {one = 'q', two = 'w'}\n", "'label' is unknown", "line 2"),
    ("\n['a: b']\nlabels = {one = 'q', two = 'w'}\n", "'a: b' is not a valid name", "line 2"),
    ("[a]\nlabels = {one = 'q', two = 2}\n", "valid string", "line 2"),
    ("x" * 70_000, "too long", "labels.toml"),
]


@pytest.mark.parametrize(("text", "why", "place"), WRONG)
def test_a_wrong_file_is_refused_with_the_line(text: str, why: str, place: str) -> None:
    with pytest.raises(SchemeError) as refused:
        labels.read(text)
    assert why in str(refused.value) and place in str(refused.value) and "labels.toml" in str(refused.value)


def test_a_wrong_file_is_not_saved_over_a_good_one() -> None:
    assert labels.schemes() == ()
    (scheme,) = labels.save(EXAMPLE)
    assert scheme.labels == {"circular": "x", "vague": "v", "fine": "f"} and not scheme.several
    with pytest.raises(SchemeError):
        labels.save("[a]\n")
    assert labels.schemes() == (scheme,)
    (home.home() / "labels.toml").write_bytes(b"[a\xff]")
    with pytest.raises(SchemeError, match="not UTF-8"):
        labels.schemes()


def test_a_label_replaces_the_other_unless_several_are_allowed() -> None:
    one = Label(note="n").labelled("reason", "vague", several=False).labelled("reason", "fine", several=False)
    assert one.own == {"reason": ("fine",)} and one.note == "n"
    assert one.labelled("reason", "fine", several=False).own == {}, "pressed again, it is removed"
    both = one.labelled("reason", "vague", several=True)
    assert both.own == {"reason": ("fine", "vague")} and both.labelled("reason", "fine", True).own["reason"] == (
        "vague",
    )
    assert "own" not in Label(note="n").model_dump(mode="json"), "journals of before stay as they are"
    assert Scheme(name="a", labels={"x": "q", "y": "w"}).shown == "a"
