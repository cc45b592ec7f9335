"""Side by side: two or three runs of one lab in columns, row by row. The address names them: `?runs=a,b,c`."""

import streamlit as st

from core import entry
from core.labs.base.lab import Lab
from core.models.ids import is_control
from core.report import run_scene
from core.runs.library import RunNotFoundError
from core.scene import Emphasis, Part, Scene, with_spans
from core.store.comparing import TestedItem
from core.text.compare import pieces
from pages import addresses
from pages.components import lab_page, run_view, session, side_by_side
from pages.components.run import link_to, stopped
from pages.components.run_view import Shown
from pages.components.text import emphasised, plain, shortened
from pages.components.throttle import PACE
from pages.components.widgets import short
from pages.viewer.component import Staging, stage

ROWS = 25
"""Rows on a page."""


def draw(shown: list[Shown], lab: Lab) -> None:
    """Draw one case of each run on the stage, or the list of all cases; above it, what differs and on how many rows."""
    case = st.query_params.get("case", "")
    is_list = any(one.are_several and case not in one.state.cases for one in shown)
    (_listed if is_list else _on_stage)(shown, lab)


def _parting(rows: list[side_by_side.SideRow], shown: list[Shown], names: list[str], lab: Lab, one: str) -> None:
    """Say what differs between the runs; `one` is what a test or case is called."""
    with st.container(border=True, gap="xsmall", key="parting"):
        headline, more = side_by_side.finding(rows, names, one)
        if len(shown) < 2:
            headline, more = "There is nothing to compare it with.", []
        elif any(one.active for one in shown):
            # Single cases are not drawn again until all runs are done, so an interim count would become outdated.
            is_old = not any(one.are_several for one in shown)
            headline, more = ("The comparison appears once all are done.", []) if is_old else (headline, more)
            more.append("Some runs are not done yet.")
        st.markdown(f"#### {plain(headline)}", anchors=False)
        st.markdown(plain(" ".join(more)))
        specs = {one.run: one.spec for one in shown if one.spec}
        if len(specs) > 1 and (note := lab_page.page_of(lab).note(specs)):
            st.caption(note)


def _on_stage(shown: list[Shown], lab: Lab) -> None:
    """Draw one case of each run, row by row."""
    made = [one.scene() for one in shown]
    tried = [_tried(one, lab, one.case) for one in shown]
    views = [one.view for one in shown]
    answers = lab_page.page_of(lab).compares_answers
    each = [side_by_side.of_cards(lab, *one, answers) for one in zip(made, views, tried, strict=True)]
    rows = told = side_by_side.aligned(each, lab.listing.comparability)
    one_is, stretches = made[0].one, [side_by_side.of_plot(*one) for one in zip(made, tried, strict=True)]
    if lab.listing.main_trial:
        whole = [[cell for cell in _cases(one, lab) if cell.tried.case == one.case] for one in shown]
        told = side_by_side.aligned(whole, lab.listing.comparability)
    elif any(stretches):
        one_is, told = "interval", side_by_side.aligned(stretches, lab.listing.comparability)
    names = _speakers(shown, lab)
    _parting(told, shown, names, lab, one_is)
    drawn = [_against(scene, one, made) for scene, one in zip(made, shown, strict=True)]
    if len(shown) > 1 and not any(one.active for one in shown):
        drawn = _in_short(drawn, told, one_is)
    met = [([cell and cell.card for cell in row.cells], ", and ".join(row.differs)) for row in rows]
    stage(
        "tell" if st.query_params.get("present") else "beside",
        drawn,
        f"stage-{'-'.join(one.run for one in shown)}-{shown[0].case}",
        [one.follow() for one in shown],
        Staging(place=run_view.screen_number(), rows=met, names=names),
    )
    for place, one, name in zip(st.columns(len(shown)), shown, names, strict=True):
        with place:
            _way(one, name, one.case)


def _in_short(made: list[Scene], rows: list[side_by_side.SideRow], one: str) -> list[Scene]:
    """Return the scenes with a verdict of one line each, and bars over the rows of all runs. If no row is in all of
    them, each line is about the run's own rows. What the verdict says otherwise follows below.
    """
    met = [row for row in rows if row.is_shared] or rows
    marks = [[cell.state for row in met if (cell := row.cells[at])] for at in range(len(made))]
    bars = side_by_side.outcome_bars(marks, made[0].words) if met and met[0].is_shared else [()] * len(made)
    found = []
    for scene, own, drawn in zip(made, marks, bars, strict=True):
        if (verdict := scene.verdict) is not None:
            line = Part(text=side_by_side.verdict_line(own, verdict.mark, scene.words, one))
            doubt = (Part(text=verdict.doubt),) if verdict.doubt else ()
            more = (verdict.headline, *doubt, *verdict.more)
            verdict = verdict.model_copy(update={"headline": line, "bars": drawn, "doubt": "", "more": more})
        found.append(scene.model_copy(update={"verdict": verdict}))
    return found


def _against(scene: Scene, one: Shown, made: list[Scene]) -> Scene:
    """Return the scene with the possible actions. If it is a fork of a run shown beside it, its explanation is marked
    with the differences from that run's.
    """
    if one.active:
        scene = scene.model_copy(update={"actions": tuple(one.actions())})
    fork = one.state.started.forked_from if one.state.started else None
    first = next((other.claim for other in made if fork and other.run == fork.run), None)
    if first is None or scene.claim is None:
        return scene
    emphasis: dict[str, Emphasis | None] = {"added": "added", "removed": "struck", "same": None}
    before, after = ("\n".join(part.text for part in claim.parts) for claim in (first, scene.claim))
    part = with_spans((piece.text, emphasis[piece.op]) for piece in pieces(before, after))
    return scene.model_copy(update={"claim": scene.claim.model_copy(update={"parts": (part,)})})


def _listed(shown: list[Shown], lab: Lab) -> None:
    """List the cases of each run, row by row."""
    names = side_by_side.told_apart([_line(one, lab) for one in shown])
    rows = side_by_side.aligned([_cases(one, lab) for one in shown], lab.listing.comparability)
    _parting(rows, shown, names, lab, lab.run_summary.case_noun)
    if going := [(one, name) for one, name in zip(shown, names, strict=True) if one.active]:
        run_view.far_on_stage([one for one, _ in going], [name for _, name in going])
    for place, one, name in zip(st.columns(len(shown)), shown, names, strict=True):
        with place, st.container(border=True, height="stretch", gap="small", key=f"column-{one.run}"):
            _head(one, lab, name, [row.there[shown.index(one)] for row in rows if row.is_shared])
    _rows(rows, names, shown, lab)


def _cases(one: Shown, lab: Lab) -> list[side_by_side.SideCell]:
    run = run_scene.of_run(lab, one.state, one.active)
    return side_by_side.of_tiles(run, lambda case, title: _tried(one, lab, case), lab.report.words)


def _tried(one: Shown, lab: Lab, case: str) -> TestedItem:
    """Identify a case, with its settings, for matching."""
    spec, known = one.state.started.spec if one.state.started else {}, one.state.cases.get(case)
    return TestedItem("", known.title if known else "", case, lab.facets(spec, case))


def _speakers(shown: list[Shown], lab: Lab) -> list[str]:
    """Return names for the runs: who answers, and what distinguishes the runs. A robot's own name would reveal the end,
    so robots are lettered.
    """
    models = [getattr(one.spec, "model", "") for one in shown]
    robots = list(dict.fromkeys(filter(is_control, models)))
    who = [f"Robot {'ABC'[robots.index(one)]}" if one in robots else short(one) for one in models]
    lines = [
        [whose if part == short(model) else part for part in _line(one, lab)]
        for one, model, whose in zip(shown, models, who, strict=True)
    ]
    names = side_by_side.told_apart(lines)
    return [
        name if whose in name or not one.spec else f"{whose}, {name}"
        for name, whose, one in zip(names, who, shown, strict=True)
    ]


def _line(one: Shown, lab: Lab) -> list[str]:
    """Return what distinguishes the run from the others, or that it has not begun yet."""
    spec = one.spec
    fork = one.state.started.forked_from if one.state.started else None
    edited = f"with call {fork.call} edited" if fork else ""
    return [*lab_page.page_of(lab).line(spec)[1:], edited] if spec else ["not begun yet" if one.active else one.run]


def _head(one: Shown, lab: Lab, name: str, shared: list[side_by_side.SideCell]) -> None:
    """Draw the result of a run with several cases."""
    st.markdown(f"##### {plain(name)}", anchors=False)
    if not one.active:
        stopped(one.state)
        if one.state.status is None:
            st.caption("Interrupted: the app stopped during the run.")
    marks, noun, words = [cell.state for cell in shared], lab.run_summary.case_noun, lab.run_summary.words
    if not one.active:
        told = run_scene.of_run(lab, one.state, one.active).verdict.mark
        st.markdown(f"#### {plain(side_by_side.verdict_line(marks, told, words, noun))}", anchors=False)
    side_by_side.strip(marks, noun, words, f"tiles-{one.run}")
    st.markdown(emphasised(lab.summary(one.state)))
    _way(one)


def _way(one: Shown, name: str = "", case: str = "") -> None:
    """Link to one of the runs."""
    lab = one.lab
    page = addresses.CASE if lab.hidden else addresses.of_lab(lab)
    query = {"run": one.run, **({"case": case} if case and one.are_several else {})}
    label = f"Open this run: {plain(name)}" if name else "Open this run"
    st.page_link(page, label=label, icon=lab.icon, query_params=query)


def _rows(rows: list[side_by_side.SideRow], names: list[str], shown: list[Shown], lab: Lab) -> None:
    """Draw each row across all columns, and mark what differs."""
    page = st.pagination(-(-len(rows) // ROWS), key="side-page") if len(rows) > ROWS else 1
    for number, row in list(enumerate(rows, start=1))[(page - 1) * ROWS : page * ROWS]:
        with st.container(border=True, gap="xxsmall", key=f"pair-{number}"):
            side_by_side.anchor(number)
            mark = f" :violet-badge[:material/call_split: {', and '.join(row.differs)}]" if row.differs else ""
            st.markdown(f"**{number}** {row.there[0].title}{mark}")
            for place, one, name, cell in zip(st.columns(len(names)), shown, names, row.cells, strict=True):
                with place:
                    if cell is None:
                        absent = "not yet" if one.active else f"not among its {lab.run_summary.case_noun}s"
                        st.markdown(f":small[:gray[{plain(name)}: {absent}]]")
                        continue
                    look = side_by_side.LOOKS[cell.state]
                    st.markdown(f"{look.badge(cell.label or look.words)} :small[:gray[{plain(name)}]]  \n{cell.text}")
            _whole(row, shown)


def _whole(row: side_by_side.SideRow, shown: list[Shown]) -> None:
    """Link to the row's case, side by side."""
    cases = {cell.tried.case for cell in row.there}
    are_several = all(one.are_several for one in shown) and not st.query_params.get("case")
    if are_several and row.is_shared and len(cases) == 1:
        query = {"runs": ",".join(one.run for one in shown), "case": cases.pop()}
        st.page_link(addresses.SIDE, label="Open it side by side", icon=":material/unfold_more:", query_params=query)


def load_side(run: str) -> Shown | None:
    """Return a run that the address names; None if no lab made it. Its name contains the lab, even before the journal
    exists. Raises RunNotFoundError.
    """
    lab = next((lab for name, lab in entry.labs().items() if f"-{name}-" in run), None)
    state, active = run_view.load_run(run)
    return Shown(lab, run, state, active) if lab else None


def main(runs: list[str]) -> None:
    """Draw the runs, or say why they cannot be compared side by side."""
    shown: list[Shown] = []
    for run in runs:
        try:
            if (found := load_side(run)) is not None:
                shown.append(found)
            else:
                st.error(plain(f"{run}: no lab of this app made it."), icon=":material/error:")
        except RunNotFoundError as error:
            st.error(plain(f"{run}: {error}"), title=error.title, icon=":material/error:")
    labs = list(dict.fromkeys(one.lab.name for one in shown))
    if len(labs) > 1:
        titles = [entry.labs()[name].title for name in labs]
        why = "They ask different questions, so no rows can be matched."
        st.error(
            f"One of them is a run of {' and one of '.join(titles)}. {why}",
            title="These cannot be compared side by side",
            icon=":material/error:",
        )
        for one in shown:
            st.page_link(addresses.CASE, label=plain(one.run), query_params={"run": one.run})
    elif labs:
        _beside(shown)


def _beside(shown: list[Shown]) -> None:
    """Draw runs of one lab."""
    runs, lab = ",".join(one.run for one in shown), shown[0].lab
    about = list(dict.fromkeys(lab_page.page_of(lab).line(one.spec)[0] for one in shown if one.spec))
    case = st.query_params.get("case", "")
    if cases := {one.state.cases[case].title for one in shown if one.are_several and case in one.state.cases}:
        about = sorted(cases)
    with st.container(horizontal=True, vertical_alignment="center", key="line"):
        st.markdown(f"### {lab.icon} {plain(shortened(' | '.join(about) or lab.title))}", anchors=False)
        named = {name: st.query_params[name] for name in ("runs", "case") if st.query_params.get(name)}
        link_to([one.run for one in shown], named)
        query, help = {"runs": runs}, "How much they differ, and whether that is more than chance."
        st.page_link(addresses.COMPARE, label="Compare", icon=":material/balance:", query_params=query, help=help)
    if cases:
        st.page_link(addresses.SIDE, label="All of these runs", icon=":material/arrow_back:", query_params=query)
    if len(about) > 1:
        st.warning(
            "These runs are about different questions: rows match only where runs asked the same.",
            icon=":material/warning:",
        )
    with PACE.drawing(session.tab()):
        draw(shown, lab)


named = [run.strip() for run in st.query_params.get("runs", "").split(",") if run.strip()]
different = list(dict.fromkeys(named))
if len(different) < 2:
    st.title("Side by side", anchor=False)
    st.info(
        "The address names two or three runs here. Open a run that is over and press *Side by side*.",
        icon=":material/info:",
    )
    st.page_link(addresses.BROWSE, label="Browse the runs", icon=":material/table_rows:")
elif len(different) > side_by_side.MOST:
    st.error(f"{len(different)} runs are named; {side_by_side.MOST} fit side by side.", icon=":material/error:")
else:
    main(different)
