"""Runs that came with the app: their cards, where they come from, and a button to ask the same question oneself; and
the import of runs from elsewhere.
"""

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

import streamlit as st

from core import entry, home, journal, policy
from core.labs.base.lab import Lab
from core.labs.base.spec import Spec
from core.models import local
from core.report.game import pack
from core.report.standalone_html import FIRST
from core.report.viewer_assets import viewer_style
from core.runs import bundle
from core.runs.library import EXAMPLE_STUDY, Recording, list_recordings
from core.transcript import Transcript
from pages import addresses
from pages.components import session
from pages.components.text import plain, shortened
from pages.components.throttle import waits

# Cards that are links, as a Streamlit component, and the links to games and to a class.


_HERE = Path(__file__).parent

RECORDINGS = list_recordings(home.recordings())
"""The runs that came with the app."""


class LinkCard(NamedTuple):
    """A card that leads `to` an address of this app. Each of the `lines` is an HTML element's name and its text;
    `picture` is an SVG of ours above them.
    """

    to: str
    lines: Sequence[tuple[str, str]]
    picture: str = ""


@cache
def _component() -> Any:
    style, script = ((_HERE / f"link_cards.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    html = '<div class="place"><nav></nav></div>'
    return st.components.v2.component("link_cards", html=html, css=viewer_style("base.css") + style, js=script)


def link_cards(kind: Literal["doors", "stories"], label: str, cards: Sequence[LinkCard]) -> str:
    """Draw the cards as a navigation with this label, in the style of their kind. Return, once, the address of the card
    that was clicked, else an empty string.
    """
    data = {"kind": kind, "label": label, "cards": [card._asdict() for card in cards]}
    chosen = _component()(data=data, key=kind, on_chosen_change=lambda: None).chosen
    return chosen if chosen in {card.to for card in cards} else ""


# Links to the games of a lab, packs of recorded cards that need no model, and to a class.


def links(lab: Lab) -> None:
    """Draw a line of links to the lab's games; nothing if it has none."""
    packs = [one for path in pack.shipped_packs() if (one := pack.load_pack(path.stem)).kind == lab.path]
    packs.sort(key=lambda one: one.name != FIRST)
    if packs:
        class_of = " ([for a class](/wall?pack={}))" if session.visitor().takes_part else ""
        named = " · ".join(f"[{plain(one.title)}](/play?pack={one.name}){class_of.format(one.name)}" for one in packs)
        with st.container(key=f"games-{lab.path}"):
            st.markdown(f":gray[Play it as a game:] {named}")


def to_a_class(words: str = "Present to a class", **cards: str) -> None:
    """Draw the link to a room with the cards of a `run` or of a `pack`, for those who may open one."""
    if session.visitor().takes_part:
        st.link_button(words, f"/wall?{urlencode(cards)}", icon=":material/groups:", type="tertiary")


def lab_of(one: Recording) -> Lab:
    """Return the lab that made the recording."""
    return _begun(one.run)[0]


def title(one: Recording) -> str:
    """Return what was asked, shortened, without a hint at the outcome."""
    spec = _begun(one.run)[1]
    return one.title or shortened(str(getattr(spec, "question", "") or getattr(spec, "title", "")))


@cache
def _begun(run: str) -> tuple[Lab, Spec]:
    """Return the lab and the specification of a recording, from its first line."""
    started = journal.first_event(home.recordings() / f"{run}.jsonl")
    assert started is not None
    lab = entry.labs()[started.lab]
    return lab, lab.spec.model_validate(started.spec)


def about_all() -> str:
    """Return a description of the recordings."""
    return (
        f"Recorded from {RECORDINGS.model} ({RECORDINGS.quantisation}, {RECORDINGS.licence}) on {RECORDINGS.cores} "
        "cores, and unedited. We picked these stories because they are instructive: examples, not evidence."
    )


def note(run_id: str, transcript: Transcript) -> None:
    """Say where a recording comes from, and that it was selected; nothing for any other run."""
    one, started = RECORDINGS.named(run_id), transcript.started
    if started is None or not session.run(run_id).is_recording():
        return
    if started.study == EXAMPLE_STUDY:
        st.caption(":material/school: **From the example study that comes with the app.**")
    if one is None:
        return
    lab, here = entry.labs()[started.lab], len(RECORDINGS.of_lab(started.lab))
    which = (
        f"Of {one.of} such runs of {lab.title} that were begun, {here} were chosen for what they show"
        if one.of > here
        else f"All {here} such runs of {lab.title} that were begun are among the recordings"
    )
    st.caption(
        f":material/smart_display: **A recording. {plain(one.twist)}** Made on "
        f"{started.at:%d %B %Y} with {plain(RECORDINGS.model)} ({plain(RECORDINGS.quantisation)}, "
        f"{RECORDINGS.licence}) on {RECORDINGS.cores} cores, by version {plain(started.app)} of this app, and not "
        f"changed since. {which}: an example, not evidence."
    )


def ask_it_yourself(run_id: str, transcript: Transcript) -> None:
    """Offer to repeat a recorded run with the largest installed model that fits this machine, and estimate the time;
    nothing for any other run.
    """
    if transcript.started is None or not session.run(run_id).is_recording():
        return
    lab = entry.labs()[transcript.started.lab]
    answers = [call.answered for call in transcript.calls.values() if call.answered]
    tokens = sum(answer.usage.completion_tokens or 0 for answer in answers)
    best = local.largest_installed(session.catalog().models_folder, local.memory())
    if best is None or not tokens:
        return

    def time(model: local.Fitting) -> str:
        minutes = local.seconds(model, tokens, RECORDINGS.rate, RECORDINGS.size) / 60
        return "less than a minute" if minutes < 1 else f"about {math.ceil(minutes)} minutes"

    with st.container(key="ask-it-yourself"):
        with st.container(horizontal=True, vertical_alignment="center"):
            asked = st.button("Ask it yourself", icon=lab.icon, key="ask-yourself")
            st.page_link(addresses.MODELS, label="Other models", icon=":material/memory:")
        if asked:
            _ask(lab, transcript, best.id)
        words = f"With {plain(best.id)}, the largest on this machine that fits its memory: {time(best)}"
        larger = local.largest_downloadable(local.memory())
        if larger is not None and larger.size > best.size:
            words += f". {plain(larger.id)} would fit too ({larger.size / 1e9:.1f} GB to download): {time(larger)}"
        st.caption(f"{words}, for as many words on {RECORDINGS.cores} cores with little else to do.")


def _ask(lab: Lab, transcript: Transcript, model: str) -> None:
    """Start the same run with another model, in every role that the recorded one had."""
    assert transcript.started is not None
    recorded = transcript.started.spec
    spec = {name: model if value == recorded.get("model") else value for name, value in recorded.items()}
    if run := session.begin(lab, lab.spec.model_validate(spec)):
        st.switch_page(addresses.of_lab(lab), query_params={"run": run})


# The recordings as cards: what the model said, large, and what became of it in one line.


STORIES = RECORDINGS.recording
"""All stories, in the order in which they are shown."""


def address(one: Recording) -> str:
    """Return the address of a story."""
    return f"/stories?{urlencode({'run': one.run})}"


def story_cards(stories: Sequence[Recording]) -> None:
    """Draw a card for each of these stories; a click presents it."""
    cards = []
    for one in stories:
        lines = (("em", lab_of(one).title), ("small", title(one)), ("q", one.quote), ("strong", one.twist))
        cards.append(LinkCard(address(one), lines))
    chosen = link_cards("stories", "Stories", cards)
    for one in stories:
        if address(one) == chosen:
            st.switch_page(addresses.STORIES, query_params={"run": one.run})


# Importing runs made elsewhere through the browser.


def upload() -> None:
    """Draw a field for a bundle or a journal, and report what was imported. In a hosted app only the host may import,
    because a file says who owns its runs, and other visitors could forge that.
    """
    may = session.runs().may_all
    session.takes_files(may)
    if not may:
        st.caption("Here only the host can import runs. Your runs are those that you start.")
        return
    most = min(session.FILE_MB, policy.limit("bundle_mb") or 0)
    with st.form("upload", border=False, clear_on_submit=True):
        file = st.file_uploader(
            "A bundle (.zip) or a journal (.jsonl)", type=["zip", "jsonl"], max_upload_size=most, key="upload-file"
        )
        sender = st.text_input(
            "Whose runs are they?", key="upload-sender", max_chars=80, placeholder="as the bundle says"
        )
        if not st.form_submit_button("Import", icon=":material/upload:", key="upload-go"):
            return
    if file is None:
        st.warning("Choose a file first.", icon=":material/upload_file:")
        return
    folders = (home.journals(), home.recordings())
    try:
        with waits("Checking every journal …"):
            taken = bundle.import_file(file, file.name, folders, sender)
        with waits("Scoring them again from their raw answers …"):
            scored = entry.score_again(taken)
    except bundle.BundleError as refused:
        st.error(plain(str(refused)), title="Nothing was imported", icon=":material/error:")
        return
    entry.keeper().wake()
    sentence = f"{len(taken.runs)} imported, {len(taken.same)} here already; {plain(taken.signed.words)}."
    st.success(sentence, icon=":material/check:")
    for run in taken.runs:
        if run not in scored:
            st.caption(f"{plain(run)} was not scored again, for lack of time.")
        elif scored[run].why or scored[run].differ:
            st.warning(f"{plain(run)}. {plain(scored[run].sentence)}", icon=":material/rule:")
    for name, why in taken.passed_over.items():
        st.caption(f"{plain(name)} was skipped: {plain(why)}.")
