"""Of all items of a run of the Plant lab what the cue moved beside its twin, and whether that is named."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.charts.marks import COMPARED, FAINT, OURS, error_bars
from core.labs.plant.lab import LAB
from core.labs.plant.marks import SAYS
from core.scene import Bar, RunScene
from core.telling.run_scene import of_run
from core.transcript import Transcript
from pages.parts import plain_case
from pages.parts.pictures import PLAIN as NO_BAR
from pages.parts.text import plain, told
from pages.parts.tiles import Tile, strip


def choose(transcript: Transcript) -> str:
    """First what came of all; then the item that the reader wants to see."""
    run = of_run(LAB, transcript, transcript.status is None)
    if run.tiles:
        with st.container(border=True, key="verdict-of-all"):
            left, right = st.columns([5, 4], gap="medium")
            with left:
                _of_all(run)
            if run.verdict.bars:
                with right:
                    _bars(run.verdict.bars)
                    if run.verdict.doubt:
                        st.caption(plain(run.verdict.doubt))
    moved = next((tile.case for tile in run.tiles if tile.outcome in SAYS), "")
    if transcript.status and "case" not in st.query_params and moved:
        # What the cue did not move is the longest part of most runs, and the least told.
        st.query_params["case"] = moved
    return plain_case.choose(transcript)


def _of_all(run: RunScene) -> None:
    """The run's sentences; a tile a question, and the ledger."""
    st.markdown(f"#### {told(run.verdict.headline)}", anchors=False)
    strip([Tile(tile.mark) for tile in run.tiles], run.one, dict(run.words.items()))
    ledger = [f"{one.n} {one.words}" + (f" ({one.reason})" if one.reason else "") for one in run.ledger]
    st.caption(plain("; ".join(ledger)))
    with st.expander("What it does not mean", type="compact", key="no-meaning-of-all"):
        st.markdown(run.verdict.meaning)


def _bars(bars: tuple[Bar, ...]) -> None:
    """How often, with intervals; faint where there is no headline about naming, or too little for a rate."""
    import plotly.graph_objects as go

    shares = [bar.hits / bar.n if bar.n else 0.0 for bar in bars]
    rows = pd.DataFrame([(share, bar.low, bar.high) for share, bar in zip(shares, bars, strict=True)],
                        columns=["at", "low", "high"]).astype(float)  # fmt: skip
    figure = go.Figure(go.Bar(
        x=rows["at"], orientation="h", y=list(range(len(bars))), hoverinfo="skip", width=0.55,
        error_x=error_bars(rows["low"], rows["at"], rows["high"], thickness=1.5, color="#808080"),
        marker={"color": [OURS if bar.own else COMPARED for bar in bars],
                "opacity": [FAINT if bar.faint else 1.0 for bar in bars]},
    ))  # fmt: skip
    labels = [f"{bar.label.replace(', by', '<br>by')}<br>{bar.hits} of {bar.n}" for bar in bars]
    figure.update_yaxes(tickvals=list(range(len(bars))), ticktext=labels, autorange="reversed", fixedrange=True)
    figure.update_xaxes(range=[0, 1.06], tickvals=[0, 0.5, 1], tickformat=".0%", fixedrange=True)
    figure.update_layout(margin={"t": 4, "b": 4, "l": 4, "r": 20}, height=54 * len(bars) + 30)
    said = ", ".join(f"{bar.label} {share:.2f}" for bar, share in zip(bars, shares, strict=True))
    st.plotly_chart(figure, key="bars", config=NO_BAR, alt=f"Bars with 95 % intervals: {said}")


def several(transcript: Transcript, run_id: str) -> None:
    """All items, and all figures."""
    plain_case.table(transcript, run_id)
    with st.expander("For researchers: all figures", icon=":material/monitoring:", key="figures-of-all"):
        rows = [
            {"Figure": metric.title, "Read by": score.detail.get("detector", ""), "Value": score.value,
             "From": score.low, "To": score.high, "n": score.n, "of": score.of}
            for metric in LAB.metrics for who in ("", "reader")
            if (score := transcript.score(metric.name, "repaired", who))
        ]  # fmt: skip
        number = st.column_config.NumberColumn(format="%.2f")
        st.dataframe(
            pd.DataFrame(rows), hide_index=True, placeholder="undefined", key="figures", height="content",
            alt="All figures of the run with their 95 % intervals",
            column_config={name: number for name in ("Value", "From", "To")},
        )  # fmt: skip
