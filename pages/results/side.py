"""Side by side: two or three runs of one lab in columns, row against row. The address names them: `?runs=a,b,c`."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st
from pydantic import ValidationError

from core import entry
from core.lab.cases import View
from core.lab.lab import Lab, counted
from core.lab.spec import Spec
from core.people.looking import NoSuchRun
from core.store.matching import Tried
from core.text.diff import pieces
from core.transcript import Transcript
from pages import addresses
from pages.parts import live, rooms, session
from pages.parts.run import link_to, stopped
from pages.parts.side_by_side import MOST, Cell, Row, aligned, finding, of_trials, told_apart
from pages.parts.text import difference, emphasised, plain, shortened
from pages.parts.throttle import PACE
from pages.parts.tiles import LOOKS, State, Tile, anchor, strip

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
    """In what they part, and on how many rows; each run's verdict, tiles and explanation; the rows."""
    side, case = rooms.of(lab).side, st.query_params.get("case", "")
    shown = [one for one in columns if not one.trouble]
    names = dict(zip((one.run for one in shown), told_apart([_line(one, lab) for one in shown]), strict=True))
    rows = aligned([tests(one, lab, case) for one in shown], lab.judged)
    with st.container(border=True, gap="xsmall", key="parting"):
        headline, more = finding(rows, list(names.values()), side.one)
        if len(shown) < 2:
            headline, more = "There is nothing to set it beside.", []
        st.markdown(f"#### {plain(headline)}", anchors=False)
        if any(one.active for one in shown):
            more.append("Not all of it is done yet.")
        st.markdown(plain(" ".join(more)))
        specs = {one.run: one.spec for one in shown if one.spec}
        if len(specs) > 1 and (note := side.note(specs)):
            st.caption(note)
    for place, one in zip(st.columns(len(columns)), columns, strict=True):
        with place, st.container(border=True, height="stretch", gap="small", key=f"column-{one.run}"):
            if one.trouble:
                st.error(plain(str(one.trouble)), title=one.trouble.title, icon=":material/error:")
                st.caption(plain(one.run))
            else:
                shared = [row.cells[shown.index(one)] for row in rows if row.is_shared]
                _head(one, lab, names[one.run], shared, _before(one, shown, lab))
    _rows(rows, list(names.values()), shown, lab)


def tests(one: Column, lab: Lab, named: str) -> list[Cell]:
    """The rows of one run: the tests of a case, or of several cases each."""
    side, shown = rooms.of(lab).side, one.case(named)
    spec = one.state.started.spec if one.state.started else {}
    found = []
    for case, progress in one.state.cases.items():
        if shown in ("", case):
            view = lab.view(one.state.case(case)) if shown else None
            rows = side.tests or partial(of_trials, lab, one.state)
            cells = rows(view, _goes_on(one, case)) if view else [_case(one, case, lab)]
            settings = lab.facets(spec, case)
            found += [cell._replace(tried=Tried(cell.tried.about, progress.title, case, settings)) for cell in cells]
    return found


def _case(one: Column, case: str, lab: Lab) -> Cell:
    """One of several cases, in its lab's own word."""
    progress = one.state.cases[case]
    result = progress.result or {}
    outcome = str(result.get("outcome_repaired", "waiting"))
    state: State = lab.mark(outcome, one.state)
    if outcome == "waiting" and not one.active:
        state, outcome = "stopped", ""
    return Cell(Tried(), plain(progress.title), state, emphasised(str(result.get("verdict") or "")), outcome)


def _goes_on(one: Column, case: str) -> bool:
    return one.active and not one.state.cases[case].result


def _line(one: Column, lab: Lab) -> list[str]:
    """What tells the run from the others; before it has begun, that it has not."""
    spec = one.spec
    fork = one.state.started.forked_from if one.state.started else None
    edited = f"with call {fork.call} edited" if fork else ""
    return [*rooms.of(lab).line(spec)[1:], edited] if spec else ["not begun yet" if one.active else one.run]


def _head(one: Column, lab: Lab, name: str, shared: list[Cell | None], before: str | None) -> None:
    """What one run came to; of its explanation what differs from the one `before` is marked."""
    side, case = rooms.of(lab).side, one.case(st.query_params.get("case", ""))
    st.markdown(f"##### {plain(name)}", anchors=False)
    stopped(one.state)
    if one.active:
        share, text = rooms.of(lab).progress(one.state)
        st.progress(min(max(share, 0.0), 1.0), text=text)
    elif one.state.status is None:
        st.caption("Interrupted: the app stopped while it went on.")
    view: View | None = lab.view(one.state.case(case)) if case else None
    sentences = list(lab.verdict(view)) if view else [(lab.summary or counted)(one.state)]
    st.markdown(f"**{emphasised(sentences[0])}**" if sentences else "")
    for sentence in sentences[1:]:
        st.markdown(f":small[{emphasised(sentence)}]")
    tiles = [Tile(cell.state, f"row-{number}") for number, cell in enumerate(shared, start=1) if cell]
    strip(tiles, side.one, side.words, key=f"tiles-{one.run}")
    if view:
        with st.container(key=f"explanation-{one.run}"):
            if view.explanation is not None:
                st.markdown(
                    f"“{plain(view.explanation) if before is None else difference(pieces(before, view.explanation))}”"
                )
            elif _goes_on(one, case):
                st.skeleton(60)
            else:
                st.caption("There is no explanation.")
    page = addresses.CASE if lab.hidden else addresses.of_lab(lab)
    query = {"run": one.run, **({"case": case} if case and one.state.planned > 1 else {})}
    st.page_link(page, label="Open this run", icon=lab.icon, query_params=query)


def _before(one: Column, shown: list[Column], lab: Lab) -> str | None:
    """Of a fork, the explanation of the run that it was forked from, where that is beside it."""
    fork = one.state.started.forked_from if one.state.started else None
    first = next((other for other in shown if fork and other.run == fork.run), None)
    case = first.case(st.query_params.get("case", "")) if first else ""
    return lab.view(first.state.case(case)).explanation if first and case else None


def _rows(rows: list[Row], names: list[str], shown: list[Column], lab: Lab) -> None:
    """Each row in all columns; in what they part there is marked."""
    side = rooms.of(lab).side
    page = st.pagination(-(-len(rows) // ROWS), key="side-page") if len(rows) > ROWS else 1
    for number, row in list(enumerate(rows, start=1))[(page - 1) * ROWS : page * ROWS]:
        with st.container(border=True, gap="xxsmall", key=f"pair-{number}"):
            anchor(f"row-{number}")
            mark = f" :violet-badge[:material/call_split: {', and '.join(row.differs)}]" if row.differs else ""
            st.markdown(f"**{number}** {row.there[0].title}{mark}")
            for place, one, name, cell in zip(st.columns(len(names)), shown, names, row.cells, strict=True):
                with place:
                    if cell is None:
                        absent = "not yet" if one.active else f"not among its {side.one}s"
                        st.markdown(f":small[:gray[{plain(name)}: {absent}]]")
                        continue
                    words = cell.label or side.words.get(cell.state, "")
                    st.markdown(f"{LOOKS[cell.state].badge(plain(words))} :small[:gray[{plain(name)}]]  \n{cell.text}")
            _whole(row, shown)


def _whole(row: Row, shown: list[Column]) -> None:
    """Of several cases the way to one of them, row against row."""
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
