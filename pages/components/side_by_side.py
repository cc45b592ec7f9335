"""Several runs on the same questions: starting them, their tests as cells, and how the rows match."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st
from pydantic import ValidationError

from core import entry
from core.errors import ExplainError
from core.labs.base.declared import Comparability
from core.labs.base.lab import Lab
from core.labs.base.report import View
from core.labs.base.spec import Spec
from core.report.comparison_text import left_out
from core.scene import Bar, Mark, RunScene, Scene
from core.store import comparing
from core.store.comparing import TestedItem
from core.text.display import count_noun
from core.transcript import Transcript
from pages import addresses
from pages.components import lab_page, session, widgets
from pages.components.text import part_markdown, plain

# The outcome of a test as a mark, with the same colour and icon per state in every lab; and strips of marks.


class TileStyle(NamedTuple):
    """How a state looks: its words, colour and icon."""

    words: str
    colour: str
    icon: str

    def badge(self, words: str = "") -> str:
        """Return Markdown of the mark with its words, or with other words, also Markdown."""
        return f":{self.colour}-badge[{self.icon} {words or self.words}]"


LOOKS: dict[Mark, TileStyle] = {
    "kept": TileStyle("kept", "green", ":material/check_circle:"),
    "broken": TileStyle("broken", "red", ":material/cancel:"),
    "not settled": TileStyle("not settled", "gray", ":material/help:"),
    "in doubt": TileStyle("no verdict", "gray", ":material/contrast:"),
    "set aside": TileStyle("excluded", "gray", ":material/block:"),
    "unread": TileStyle("could not be read", "orange", ":material/visibility_off:"),
    "failed": TileStyle("failed", "orange", ":material/error:"),
    "stopped": TileStyle("not reached", "gray", ":material/pause_circle:"),
    "waiting": TileStyle("running", "gray", ":material/hourglass_empty:"),
    "sealed": TileStyle("sealed", "gray", ":material/lock:"),
}
"""No other part of the pages has its own colours for kept, broken or not settled."""

MOST_TILES = 60
"""Tiles in a strip; a line below it says if there are more."""


def anchor(number: int) -> None:
    """Mark the place to which the tile of that number leads."""
    # The margin keeps the place from being hidden by the bar at the top.
    st.html(f'<span id="row-{number}" style="scroll-margin-top: 5rem"></span>')


def strip(marks: Sequence[Mark], one: str, words: Mapping[Mark, str], key: str) -> None:
    """Draw a tile for each mark, numbered from 1, which leads to its `anchor`; below them, a legend. `one` is what a
    tile stands for, `words` are the lab's own for the marks; each strip on a page needs its own `key`.
    """
    if not marks:
        return
    linked = [f"[{LOOKS[mark].badge(str(number))}](#row-{number})" for number, mark in enumerate(marks, start=1)]
    counts = Counter(marks)
    legend = [
        f"{look.icon} {counts[mark]} {words.get(mark, look.words)}" for mark, look in LOOKS.items() if counts[mark]
    ]
    left = f" · the first {MOST_TILES} are shown" if len(marks) > MOST_TILES else ""
    with st.container(gap="xxsmall", key=key):
        st.markdown(" ".join(linked[:MOST_TILES]))
        st.caption(f"One tile per {one}: {' · '.join(legend)}{left}")


MOST = 3
"""Most runs side by side: with more, a column is too narrow for a sentence."""

SETTLED = ("kept", "broken", "not settled")
"""States that can be compared; in every other state there is nothing to compare."""


ANSWERS, EXPECTED, OUTCOMES = "the answers differ", "the predictions differ", "the outcome differs"


class SideCell(NamedTuple):
    """One test and its outcome in one run.

    `title` describes the test and `text` its outcome in a sentence, both as Markdown. `label` is the lab's own word for
    the state. `expected` is what the explanation led one to expect and `gave` is the answer, in words that are the same
    in every run; both are empty if a test has no such pair. `card` is the scene's card, if one is drawn.
    """

    tried: TestedItem
    title: str
    state: Mark
    text: str = ""
    label: str = ""
    expected: str = ""
    gave: str = ""
    card: str = ""


class SideRow(NamedTuple):
    """The same test in each run; None for a run without it."""

    cells: tuple[SideCell | None, ...]

    @property
    def there(self) -> list[SideCell]:
        """The cells of the runs that have the test."""
        return [cell for cell in self.cells if cell]

    @property
    def is_shared(self) -> bool:
        """Whether every run has the test."""
        return None not in self.cells

    @property
    def is_settled(self) -> bool:
        """Whether every run has an outcome that can be compared."""
        return self.is_shared and all(cell.state in SETTLED for cell in self.there)

    @property
    def is_answered(self) -> bool:
        """Whether the answer and the expectation are known in every run, even if the outcome is in doubt."""
        return self.is_shared and all(
            cell.expected and cell.gave and cell.state in (*SETTLED, "in doubt") for cell in self.there
        )

    @property
    def is_in_doubt(self) -> bool:
        """Whether the expectation is uncertain in any run."""
        return any(cell.state == "in doubt" for cell in self.there)

    @property
    def differs(self) -> list[str]:
        """What differs between the runs, in words. If answers and expectations are known in all runs: the answers, and
        the expectations unless they are in doubt. Otherwise the outcomes, such as kept in one and broken in another,
        which may differ for the same answer because the expectation differs.
        """
        values: dict[str, set[str]] = {}
        if self.is_answered:
            values[ANSWERS] = {cell.gave for cell in self.there}
            values[EXPECTED] = {"" if self.is_in_doubt else cell.expected for cell in self.there}
        elif self.is_settled:
            values[OUTCOMES] = {f"{cell.state} {cell.label}" for cell in self.there}
        return [what for what, each in values.items() if len(each) > 1]


def of_cards(lab: Lab, scene: Scene, view: View, tried: TestedItem, answers: bool) -> list[SideCell]:
    """Return the tests of a case as cells; `tried` identifies the case. The card that stands for the whole case is
    matched by the case alone.
    """
    found = []
    for card in scene.cards:
        trial = view.trials.get(card.id)
        about = (trial.about if trial else "") or next((part.text for part in card.parts), card.id)
        item = tried._replace(about="" if card.id == lab.listing.main_trial else about)
        cell = SideCell(item, plain(about), card.mark, card=card.id)
        if answers:
            cell = cell._replace(expected=card.expects[0].value if card.expects else "", gave=card.said)
        found.append(cell)
    return found


def of_plot(scene: Scene, tried: TestedItem) -> list[SideCell]:
    """Return the intervals of a plot as cells; they say more about a function than the few points that are cards."""
    stretches = [one for one in scene.plot.intervals if one.kind == "stretch"] if scene.plot else []
    about = [f"x from {one.low:.4g} to {one.high:.4g}" for one in stretches]
    return [
        SideCell(tried._replace(about=text), text, one.mark or "set aside")
        for text, one in zip(about, stretches, strict=True)
    ]


def of_tiles(run: RunScene, tried: Callable[[str, str], TestedItem], words: Mapping[str, str]) -> list[SideCell]:
    """Return the cases of a run as cells; `tried` identifies a case from its id and title, `words` are the lab's
    own.
    """
    cells = []
    for tile in run.tiles:
        label = "" if tile.outcome == "waiting" else plain(words.get(tile.outcome, tile.outcome))
        item, text = tried(tile.case, tile.title), part_markdown(tile.sentence)
        cells.append(SideCell(item, plain(tile.title), tile.mark, text, label))
    return cells


def aligned(columns: Sequence[Sequence[SideCell]], terms: Comparability | None = None) -> list[SideRow]:
    """Match the tests of the runs row by row, with `core.store.comparing`."""
    met = comparing.match_tests([[cell.tried for cell in column] for column in columns], terms)
    return [
        SideRow(tuple(None if at is None else column[at] for at, column in zip(places, columns, strict=True)))
        for places in met
    ]


def finding(rows: Sequence[SideRow], names: Sequence[str], one: str) -> tuple[str, list[str]]:
    """Return a headline and further sentences on the rows. The headline says on how many rows the answers agree and the
    expectations differ or, if these are not known, on how many the outcomes differ. The sentences explain which rows
    are not counted.
    """
    shared = [row for row in rows if row.is_shared]
    answered = [row for row in shared if row.is_answered]
    told = answered or [row for row in shared if row.is_settled]
    differ = Counter(part for row in told for part in row.differs)
    if not told:
        headline = f"No {one} has an outcome in every run."
    elif answered:
        agree = len(answered) - differ[ANSWERS]
        expected = _expectations(differ[EXPECTED], answered)
        headline = f"Their answers agree on {agree} of {count_noun(len(answered), one)}; {expected}"
    else:
        headline = f"They differ on {differ.total() or 'none'} of {count_noun(len(told), one)}."
    only = Counter(tuple(cell is not None for cell in row.cells) for row in rows if not row.is_shared)
    held = [([name for name, has in zip(names, there, strict=True) if has], n) for there, n in only.items()]
    more = [f"{len(shared)} shared by all runs."] if shared else []
    why = "excluded, without a verdict, unreadable, failed or unfinished in one"
    return headline, more + left_out(len(shared) - len(told), one, names, why, held)


def verdict_line(marks: Sequence[Mark], of_run: Mark | None, words: Mapping[Mark, str], one: str) -> str:
    """Return what a run's outcomes come to, in at most eight words. `of_run` is what the run's own verdict means,
    `words` the lab's for the marks, and `one` what a row is called.
    """
    if not marks:
        return f"No {one} has an outcome."
    if len(marks) == 1:
        word = _word(marks[0], words)
        return f"{word[:1].upper()}{word[1:]}."
    told: Mark = "kept" if {"kept", "broken"} & set(marks) else Counter(marks).most_common(1)[0][0]
    word = _word(told, words) if len(_word(told, words).split()) <= 4 else LOOKS[told].words
    unclear = "Unclear: " if told == "kept" and of_run not in ("kept", "broken") else ""
    return f"{unclear}{marks.count(told)} of {len(marks)} {word}."


def outcome_bars(columns: Sequence[Sequence[Mark]], words: Mapping[Mark, str]) -> list[tuple[Bar, ...]]:
    """Return for each run how many of the rows of all runs had which outcome: the same outcomes in the same order, over
    the same number of rows. None for a single row.
    """
    met = {mark for column in columns for mark in column}
    shown = [mark for mark in LOOKS if mark in met] if len(columns[0]) > 1 else []
    return [
        tuple(Bar(label=_word(mark, words), hits=column.count(mark), n=len(column), mark=mark) for mark in shown)
        for column in columns
    ]


def _word(mark: Mark, words: Mapping[Mark, str]) -> str:
    return words.get(mark, LOOKS[mark].words)


def _expectations(differ: int, answered: Sequence[SideRow]) -> str:
    """Return on how many rows the expectations differ, among those on which they are not in doubt."""
    doubtful = sum(row.is_in_doubt for row in answered)
    sure, what = len(answered) - doubtful, "what you could expect from their explanations"
    if not sure:
        return f"{what} is in doubt on each."
    if not doubtful:
        return f"{what} differs on {differ}." if differ else f"{what} agrees on each."
    told = f"differs on {differ} of {sure}" if differ else f"agrees on {sure}"
    return f"{what} {told}, and is in doubt on {doubtful}."


def told_apart(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return a name for each run. `lines` describes each run in parts; its name consists of the parts in which runs
    differ, or of all parts, and gets a number if that is not unique.
    """
    differ = [place for place, parts in enumerate(zip(*lines, strict=False)) if len(set(parts)) > 1]
    named = [[line[place] for place in differ if line[place]] or list(filter(None, line)) for line in lines]
    names = [" · ".join(parts) for parts in named]
    return [f"{name} ({number})" if names.count(name) > 1 else name for number, name in enumerate(names, start=1)]


# Starting runs to compare side by side: the same run again with another model or another way to explain.


def button(run_id: str, transcript: Transcript) -> None:
    """Offer to start runs to be compared with a finished run."""
    lab = entry.labs().get(transcript.started.lab) if transcript.started else None
    if lab is None or lab.hidden or session.run(run_id).active() or "model" not in lab.spec.model_fields:
        return
    words = "Side by side" if transcript.status == "completed" else "Ask another model"
    if st.button(words, icon=":material/view_column:", type="tertiary", key="side", on_click=_close_menu):
        try:
            spec = lab.spec.model_validate(transcript.started.spec if transcript.started else {})
        except ValidationError:
            st.warning("Its settings are those of another version, so it cannot be run again.")
        else:
            choose(lab, spec, run_id, transcript)


def _close_menu() -> None:
    """Close the run's menu, which would cover the dialog."""
    st.session_state["actions"] = False


@st.dialog("Side by side")
def choose(lab: Lab, spec: Spec, run_id: str, transcript: Transcript) -> None:
    """Let the visitor choose the other runs to start, one per model or way; then show all in columns."""
    page = lab_page.page_of(lab)
    st.markdown("Run it again with **another model** or **another way to explain**, and compare the runs row by row.")
    own = getattr(spec, "model", "")
    help = "Any model that can be asked here; an id that is not listed can be typed."
    others = widgets.pick_many("Other models", "one or two", f"side-models-{run_id}", help, lab, but=own)
    fields: list[dict[str, Any]] = [{"model": model} for model in others if model != own]
    if ways := page.ways(spec):
        chosen = st.pills("Or the same model, but", list(ways), selection_mode="multi", key="side-ways", wrap=True)
        fields += [ways[one] for one in chosen]
    if len(fields) >= MOST:
        st.warning(f"{MOST} fit side by side: choose two others at most.", icon=":material/edit:")
    pressed = st.button(
        f"Begin {len(fields)} {'run' if len(fields) == 1 else 'runs'}" if fields else "Begin",
        type="primary",
        icon=lab.icon,
        key="side-begin",
        disabled=not 0 < len(fields) < MOST,
    )
    if pressed:
        view = lab.view(transcript.case(transcript.only)) if transcript.planned == 1 else None
        begin(lab, (page.other(spec, one, run_id, view) for one in fields), run_id)


def begin(lab: Lab, specs: Iterable[Spec], *there: str) -> None:
    """Start a run for each specification and show them side by side, after the runs `there`. If one of them cannot
    begin, or cannot be made, no run begins and the reason is shown.
    """
    with session.reported(ExplainError, ValueError):
        all_specs = list(specs)
        for spec in all_specs:
            lab.check(spec)
            for model in spec.models:
                session.catalog().get(model)
        runs = [session.runs().start(lab.name, spec, session.catalog().get) for spec in all_specs]
        st.switch_page(addresses.SIDE, query_params={"runs": ",".join([*there, *runs])})


def first(lab: Lab) -> None:
    """Draw a button for the side-by-side runs that the lab offers to newcomers, if it has any."""
    sides = lab.robots.demo_comparison()
    if sides and st.button(sides.words, icon=":material/view_column:", key=f"sides-{lab.path}", help=sides.help):
        begin(lab, sides.specs)
