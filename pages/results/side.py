"""Side by side: two or three runs of one lab in columns, row against row. The address names them: `?runs=a,b,c`."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import streamlit as st
from pydantic import ValidationError

from core import entry
from core.lab.lab import Lab, counted
from core.lab.spec import Spec
from core.models.ids import is_control
from core.people.looking import NoSuchRun
from core.scene import Emphasis, Scene, marked
from core.store.matching import Tried
from core.telling import run_scene, scenes
from core.text.diff import pieces
from core.transcript import Transcript
from pages import addresses
from pages.parts import live, rooms, session
from pages.parts.models import short
from pages.parts.run import link_to, stopped
from pages.parts.side_by_side import MOST, Cell, Row, aligned, finding, of_cards, of_plot, of_tiles, told_apart
from pages.parts.text import emphasised, plain, shortened
from pages.parts.throttle import PACE
from pages.parts.tiles import LOOKS, Tile, anchor, strip
from pages.stage.mount import stage

ROWS = 25
"""Rows on a page."""


@dataclass(frozen=True)
class Column:
    """One run: as far as it has come, and whether it goes on; or why it cannot be shown."""

    run: str
    state: Transcript
    active: bool = False
    trouble: NoSuchRun | None = None

    @property
    def lab(self) -> Lab | None:
        """Whose run it is; a run's name tells, before the journal does."""
        return next((lab for name, lab in entry.labs().items() if f"-{name}-" in self.run), None)

    @property
    def spec(self) -> Spec | None:
        """What it was started with; None before it has begun, and where that cannot be read."""
        try:
            return self.lab.spec.model_validate(self.state.started.spec) if self.lab and self.state.started else None
        except ValidationError:
            return None

    def case(self, named: str) -> str:
        """The one case that is shown: the one `named`, or the only one; empty where all are."""
        return named if named in self.state.cases else "" if self.state.planned > 1 else self.state.only


def column(run: str) -> Column:
    """A run that the address names."""
    try:
        return Column(run, *live.look(run))
    except NoSuchRun as error:
        return Column(run, Transcript(), trouble=error)


def watched(columns: list[Column], lab: Lab) -> None:
    """Draw the columns, again and again while one of the runs goes on; one look for all of them."""
    began = any(one.active for one in columns)
    watches = {one.run: live.follow(one.run, one.state) for one in columns if one.active}
    drawn = time.monotonic()
    begun = [one.state.started is not None for one in columns]

    @st.fragment(run_every=PACE.seconds(live.SECONDS) if began else None)
    def looked() -> None:
        now = []
        for one in columns:
            if one.run in watches:
                # Asked first: a run that ends meanwhile is looked at once more.
                active = session.run(one.run).active()
                watches[one.run].look()
                one = replace(one, state=watches[one.run].transcript, active=active)
            now.append(one)
        if [one.state.started is not None for one in now] != begun:
            # What is asked is said above.
            st.rerun()
        with PACE.drawing(session.tab()):
            draw(now, lab)
        live.end(began, any(one.active for one in now), drawn)

    looked()


def draw(columns: list[Column], lab: Lab) -> None:
    """In what they part, and on how many rows; then one case of each on the stage, or the cases of all as a list."""
    shown = [one for one in columns if not one.trouble]
    for one in columns:
        if one.trouble:
            st.error(plain(f"{one.run}: {one.trouble}"), title=one.trouble.title, icon=":material/error:")
    case = st.query_params.get("case", "")
    is_list = any(one.state.planned > 1 and not one.case(case) for one in shown)
    (_listed if is_list else _on_stage)(shown, lab)


def _parting(rows: list[Row], shown: list[Column], names: list[str], lab: Lab, one: str) -> None:
    """In what they part, of tests or cases that are called `one`."""
    with st.container(border=True, gap="xsmall", key="parting"):
        headline, more = finding(rows, names, one)
        if len(shown) < 2:
            headline, more = "There is nothing to set it beside.", []
        st.markdown(f"#### {plain(headline)}", anchors=False)
        if any(one.active for one in shown):
            more.append("Not all of it is done yet.")
        st.markdown(plain(" ".join(more)))
        specs = {one.run: one.spec for one in shown if one.spec}
        if len(specs) > 1 and (note := rooms.of(lab).side.note(specs)):
            st.caption(note)


def _on_stage(shown: list[Column], lab: Lab) -> None:
    """One case of each run, row against row."""
    cases = [one.case(st.query_params.get("case", "")) for one in shown]
    made = [scenes.of_case(lab, one.state, case, one.active) for one, case in zip(shown, cases, strict=True)]
    tried = [_tried(one, lab, case) for one, case in zip(shown, cases, strict=True)]
    views = [lab.view(one.state.case(case)) for one, case in zip(shown, cases, strict=True)]
    answers = rooms.of(lab).side.answers
    each = [of_cards(lab, *one, answers) for one in zip(made, views, tried, strict=True)]
    rows = told = aligned(each, lab.judged)
    one_is, stretches = made[0].one, [of_plot(*one) for one in zip(made, tried, strict=True)]
    if lab.principal:
        whole = [[cell for cell in _cases(one, lab) if cell.tried.case == case]
                 for one, case in zip(shown, cases, strict=True)]  # fmt: skip
        told = aligned(whole, lab.judged)
    elif any(stretches):
        one_is, told = "interval", aligned(stretches, lab.judged)
    names = _speakers(shown, lab)
    _parting(told, shown, names, lab, one_is)
    present, at = st.query_params.get("present"), st.query_params.get("at", "1")
    stage(
        "tell" if present else "beside",
        [_against(scene, one, made) for scene, one in zip(made, shown, strict=True)],
        f"stage-{'-'.join(one.run for one in shown)}-{cases[0]}",
        rows=[([cell and cell.card for cell in row.cells], ", and ".join(row.differs)) for row in rows],
        names=names,
        place=int(at) - 1 if at.isdecimal() and len(at) < 4 else 0,
    )
    for place, one, case, name in zip(st.columns(len(shown)), shown, cases, names, strict=True):
        with place:
            _way(one, lab, name, case)


def _against(scene: Scene, one: Column, made: list[Scene]) -> Scene:
    """Of a fork, with what differs from the explanation of the run that it was forked from, where that is beside it."""
    fork = one.state.started.forked_from if one.state.started else None
    first = next((other.claim for other in made if fork and other.run == fork.run), None)
    if first is None or scene.claim is None:
        return scene
    emphasis: dict[str, Emphasis | None] = {"added": "added", "removed": "struck", "same": None}
    before, after = ("\n".join(part.text for part in claim.parts) for claim in (first, scene.claim))
    part = marked((piece.text, emphasis[piece.op]) for piece in pieces(before, after))
    return scene.model_copy(update={"claim": scene.claim.model_copy(update={"parts": (part,)})})


def _listed(shown: list[Column], lab: Lab) -> None:
    """The cases of each run, row against row."""
    names = _names(shown, lab)
    rows = aligned([_cases(one, lab) for one in shown], lab.judged)
    _parting(rows, shown, names, lab, lab.in_runs.one)
    for place, one, name in zip(st.columns(len(shown)), shown, names, strict=True):
        with place, st.container(border=True, height="stretch", gap="small", key=f"column-{one.run}"):
            _head(one, lab, name, [row.cells[shown.index(one)] for row in rows if row.is_shared])
    _rows(rows, names, shown, lab)


def _cases(one: Column, lab: Lab) -> list[Cell]:
    run = run_scene.of_run(lab, one.state, one.active)
    return of_tiles(run, lambda case, title: _tried(one, lab, case), lab.words)


def _tried(one: Column, lab: Lab, case: str) -> Tried:
    """Which case it is, and of what settings."""
    spec, known = one.state.started.spec if one.state.started else {}, one.state.cases.get(case)
    return Tried("", known.title if known else "", case, lab.facets(spec, case))


def _names(shown: list[Column], lab: Lab) -> list[str]:
    """What tells the runs from one another."""
    return told_apart([_line(one, lab) for one in shown])


def _speakers(shown: list[Column], lab: Lab) -> list[str]:
    """The same, with who it is; the name of a robot is part of the end."""
    models = [getattr(one.spec, "model", "") for one in shown]
    robots = list(dict.fromkeys(filter(is_control, models)))
    who = [f"Robot {'ABC'[robots.index(one)]}" if one in robots else short(one) for one in models]
    lines = [[whose if part == short(model) else part for part in _line(one, lab)]
             for one, model, whose in zip(shown, models, who, strict=True)]  # fmt: skip
    names = told_apart(lines)
    return [name if whose in name or not one.spec else f"{whose}, {name}"
            for name, whose, one in zip(names, who, shown, strict=True)]  # fmt: skip


def _line(one: Column, lab: Lab) -> list[str]:
    """What tells the run from the others; before it has begun, that it has not."""
    spec = one.spec
    fork = one.state.started.forked_from if one.state.started else None
    edited = f"with call {fork.call} edited" if fork else ""
    return [*rooms.of(lab).line(spec)[1:], edited] if spec else ["not begun yet" if one.active else one.run]


def _head(one: Column, lab: Lab, name: str, shared: list[Cell | None]) -> None:
    """What a run of several cases came to."""
    st.markdown(f"##### {plain(name)}", anchors=False)
    stopped(one.state)
    if one.active:
        share, text = rooms.of(lab).progress(one.state)
        st.progress(min(max(share, 0.0), 1.0), text=text)
    elif one.state.status is None:
        st.caption("Interrupted: the app stopped while it went on.")
    st.markdown(f"**{emphasised((lab.summary or counted)(one.state))}**")
    tiles = [Tile(cell.state, f"row-{number}") for number, cell in enumerate(shared, start=1) if cell]
    strip(tiles, lab.in_runs.one, dict(lab.in_runs.words.items()), key=f"tiles-{one.run}")
    _way(one, lab, "", "")


def _way(one: Column, lab: Lab, name: str, case: str) -> None:
    """The way to one of the runs."""
    page = addresses.CASE if lab.hidden else addresses.of_lab(lab)
    query = {"run": one.run, **({"case": case} if case and one.state.planned > 1 else {})}
    label = f"Open this run: {plain(name)}" if name else "Open this run"
    st.page_link(page, label=label, icon=lab.icon, query_params=query)


def _rows(rows: list[Row], names: list[str], shown: list[Column], lab: Lab) -> None:
    """Each row in all columns; in what they part there is marked."""
    page = st.pagination(-(-len(rows) // ROWS), key="side-page") if len(rows) > ROWS else 1
    for number, row in list(enumerate(rows, start=1))[(page - 1) * ROWS : page * ROWS]:
        with st.container(border=True, gap="xxsmall", key=f"pair-{number}"):
            anchor(f"row-{number}")
            mark = f" :violet-badge[:material/call_split: {', and '.join(row.differs)}]" if row.differs else ""
            st.markdown(f"**{number}** {row.there[0].title}{mark}")
            for place, one, name, cell in zip(st.columns(len(names)), shown, names, row.cells, strict=True):
                with place:
                    if cell is None:
                        absent = "not yet" if one.active else f"not among its {lab.in_runs.one}s"
                        st.markdown(f":small[:gray[{plain(name)}: {absent}]]")
                        continue
                    look = LOOKS[cell.state]
                    st.markdown(f"{look.badge(cell.label or look.words)} :small[:gray[{plain(name)}]]  \n{cell.text}")
            _whole(row, shown)


def _whole(row: Row, shown: list[Column]) -> None:
    """The way to one of the cases, row against row."""
    cases = {cell.tried.case for cell in row.there}
    are_several = all(one.state.planned > 1 for one in shown) and not st.query_params.get("case")
    if are_several and row.is_shared and len(cases) == 1:
        query = {"runs": ",".join(one.run for one in shown), "case": cases.pop()}
        st.page_link(addresses.SIDE, label="Open it side by side", icon=":material/unfold_more:", query_params=query)


def main(runs: list[str]) -> None:
    """The runs, where they can be set side by side."""
    columns = [column(run) for run in runs]
    shown = [one for one in columns if not one.trouble]
    labs = list(dict.fromkeys(one.lab.name for one in shown if one.lab))
    if len(labs) > 1:
        titles = [entry.labs()[name].title for name in labs]
        why = "Different questions are asked there, so there are no rows that could meet."
        st.error(
            f"One of them is a run of {' and one of '.join(titles)}. {why}",
            title="These cannot be set side by side", icon=":material/error:",
        )  # fmt: skip
        for one in shown:
            st.page_link(addresses.CASE, label=plain(one.run), query_params={"run": one.run})
        return
    if not labs:
        for one in columns:
            st.error(plain(f"{one.run}: {one.trouble or 'no lab of this app made it.'}"), icon=":material/error:")
        return
    lab = entry.labs()[labs[0]]
    about = list(dict.fromkeys(rooms.of(lab).line(one.spec)[0] for one in shown if one.spec))
    case = st.query_params.get("case", "")
    if cases := {one.state.cases[case].title for one in shown if one.state.planned > 1 and case in one.state.cases}:
        about = sorted(cases)
    with st.container(horizontal=True, vertical_alignment="center", key="line"):
        st.markdown(f"### {lab.icon} {plain(shortened(' | '.join(about) or lab.title))}", anchors=False)
        named = {name: st.query_params[name] for name in ("runs", "case") if st.query_params.get(name)}
        link_to([one.run for one in shown], named)
        st.page_link(
            addresses.COMPARE, label="Compare", icon=":material/balance:",
            query_params={"runs": ",".join(one.run for one in shown)},
            help="By how much they differ, and whether that is more than chance.",
        )  # fmt: skip
        active = [one.run for one in shown if one.active and session.run(one.run).here()]
        mine = [run for run in active if session.runs().owns(run)]
        if mine and st.button("Cancel", icon=":material/stop_circle:", key="cancel"):
            for run in mine:
                session.own(run).cancel()
            st.rerun()
    if cases:
        query = {"runs": ",".join(runs)}
        st.page_link(addresses.SIDE, label="All of these runs", icon=":material/arrow_back:", query_params=query)
    if len(about) > 1:
        st.warning("They are not about the same: rows meet only where the same was asked.", icon=":material/warning:")
    watched(columns, lab)


named = [run.strip() for run in st.query_params.get("runs", "").split(",") if run.strip()]
different = list(dict.fromkeys(named))
if len(different) < 2:
    st.title("Side by side", anchor=False)
    st.info(
        "The address names two or three runs here. Open a run that is over and press *Side by side*.",
        icon=":material/info:",
    )
    st.page_link(addresses.BROWSE, label="Browse the runs", icon=":material/table_rows:")
elif len(different) > MOST:
    st.error(f"{len(different)} runs are named; {MOST} fit side by side.", icon=":material/error:")
else:
    main(different)
