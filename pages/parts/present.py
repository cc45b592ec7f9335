"""Presenter mode: a run told to an audience one idea a screen, in large letters, by keyboard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import streamlit as st

from pages.parts.slides import Slide, against, strip
from pages.parts.tiles import LOOKS

LONG = 140
"""Characters. A longer heading is set in smaller letters."""

END = "end"
"""The place in the address that is the last screen, however many there are."""

_STYLE = """<style>
html {font-size: clamp(20px, 15px + 1.2vw, 40px)}
[data-testid="stHeader"] {display: none}
[data-testid="stMainBlockContainer"] {max-width: 39rem; padding: 1.2rem 1rem 3rem}
.st-key-slide h1 {font-size: 1.6rem; padding: 0}
.st-key-slide h3 {font-size: 1.2rem; padding: 0}
.st-key-slide [data-testid="stMarkdownContainer"], .st-key-slide :is(p, blockquote) {margin: 0}
.st-key-slide :is(p, li) {line-height: 1.35}
.st-key-slide blockquote {opacity: 1}
.st-key-slide blockquote p {font-size: 1.2rem}
.st-key-slide [data-testid="stPageLink"] * {white-space: normal}
.st-key-keys {position: fixed; bottom: 0; left: 0; right: 0; z-index: 99; padding: .3rem 1rem;
  backdrop-filter: blur(1rem)}
.st-key-keys, .st-key-keys * {font-size: max(13px, .5rem) !important}
.st-key-keys button {min-height: 0; padding: .1rem .4rem}
.st-key-space {display: none}
@media (prefers-reduced-motion: reduce) {* {animation: none !important; transition: none !important}}
</style>"""
"""All sizes of the page hang on that of the root: 30 pixels where the window is 1280 wide."""


def story(slides: Sequence[Slide], leave: Callable[[], None]) -> None:
    """Tell something that is no run."""
    st.html(_STYLE)
    deck(slides, "story", "", leave)


def deck(slides: Sequence[Slide], name: str, of: str, leave: Callable[[], None]) -> None:
    """The screen that the address names, and the keys. Guesses are kept in the session, under `name`."""
    guesses: dict[str, str] = st.session_state.setdefault("guesses", {}).setdefault(name, {})
    at = _place(len(slides))
    slide = slides[at - 1]
    is_guessing = st.session_state.get("guessing", True)
    left_out = {n for n, one in enumerate(slides, start=1) if one.question is not None and not is_guessing}
    before = max((n for n in range(1, at) if n not in left_out), default=1)
    after = min((n for n in range(at + 1, len(slides) + 1) if n not in left_out), default=at)

    def guess(value: str) -> None:
        assert slide.question is not None
        guesses[slide.question.trial] = value
        _go(after)

    with st.container(key="slide", gap="small"):
        _draw(slide)
        if slide.question is not None:
            _options(slide, guesses, guess)
        if slide.is_verdict:
            asked = [one.question for one in slides if one.question is not None]
            if compared := against(asked, guesses):
                st.markdown(f"**{compared}**")
        for way in slide.links:
            st.page_link(way.page, label=way.words, icon=way.icon, query_params=way.query)
        if slide.foot:
            st.markdown(f":gray[{slide.foot}]")
    has_questions = any(one.question is not None for one in slides)
    with st.container(horizontal=True, vertical_alignment="center", gap="xxsmall", key="keys"):
        st.caption(" · ".join(part for part in (of, f"{at} of {len(slides)}") if part))
        _key("Back", "Left", before, at == 1)
        _key("Next", "Right", after, at == after)
        _key("Next", "Space", after, at == after)
        _key("First", "Home", 1, at == 1)
        _key("Verdict" if name != "story" else "Last", "End", END, at == len(slides))
        if has_questions:
            words = "Without guessing" if is_guessing else "With guessing"
            st.button(words, shortcut="G", type="tertiary", key="guessing-turned", on_click=_turn_guessing)
        if st.button("Leave", shortcut="Esc", type="tertiary", key="leave"):
            leave()


def _draw(slide: Slide) -> None:
    if slide.lead:
        st.markdown(f":gray[{slide.lead}]")
    if slide.heading:
        (st.title if len(slide.heading) <= LONG else st.subheader)(slide.heading, anchor=False)
    for part in slide.body:
        st.markdown(part)
    if slide.is_waiting:
        st.markdown(":shimmer[Waiting for the model …]")
    if slide.mark is not None:
        st.markdown(LOOKS[slide.mark].badge(slide.words))
    if slide.tiles:
        st.markdown(strip(slide.tiles))


def _options(slide: Slide, guesses: dict[str, str], guess: Callable[[str], None]) -> None:
    assert slide.question is not None
    mine = guesses.get(slide.question.trial)
    with st.container(horizontal=True, key="options"):
        for number, (value, words) in enumerate(slide.question.options.items(), start=1):
            kind: Literal["primary", "secondary"] = "primary" if value == mine else "secondary"
            st.button(words, shortcut=str(number), type=kind, key=f"guess-{number}", on_click=guess, args=(value,))


def _key(words: str, key: str, to: int | str, is_off: bool) -> None:
    st.button(words, shortcut=key, type="tertiary", key=key.lower(), disabled=is_off, on_click=_go, args=(to,))


def _go(to: int | str) -> None:
    st.query_params["at"] = str(to)


def _turn_guessing() -> None:
    st.session_state["guessing"] = not st.session_state.get("guessing", True)


def _place(slides: int) -> int:
    """The screen that the address names, from 1; the last where there are not so many."""
    named = st.query_params.get("at", "1")
    if named == END:
        return slides
    # More digits than a number of screens ever has are no number.
    return min(max(int(named), 1), slides) if named.isdecimal() and len(named) < 10 else 1
