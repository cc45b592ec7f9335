"""White space that nobody would see has a sign where texts are compared letter by letter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.scene import Part
from core.text.display import directed, visible

SIGNS = "␠⍽⇥↵␍␌␋"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("dog", "dog"), ("a dog", "a dog"), (" dog", "␠dog"), ("dog ", "dog␠"), ("a  dog", "a␠␠dog"), ("", ""),
        (" ", "␠"), ("a\tdog\n", "a⇥dog↵"), ("a \ndog", "a␠↵dog"), ("a\u00a0dog", "a⍽dog"), ("a\r\nb", "a␍↵b"),
    ],
)  # fmt: skip
def test_what_would_not_be_seen_has_a_sign(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_what_turns_the_direction_of_writing_has_a_sign_in_every_text_of_a_case() -> None:
    turned = "It said \u202eoN\u202c, \u2067not\u2069 yes.\u200f"
    assert Part(text=turned).text == directed(turned) == "It said ⇆oN⇆, ⇆not⇆ yes.⇆"
    assert directed("שלום, العربية") == "שלום, العربية"


def test_where_a_letter_changed_every_space_has_one() -> None:
    assert visible("a b ", every=True) == "a␠b␠"


@given(st.text(alphabet="ab \t\n\r\u00a0"), st.text(alphabet="ab \t\n\r\u00a0"))
def test_different_texts_look_different(first: str, second: str) -> None:
    assert (visible(first) == visible(second)) is (first == second)
    shown = visible(first)
    assert shown.strip() == shown and "  " not in shown and not set(shown) & set("\t\n\r\u00a0")
