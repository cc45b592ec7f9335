import pandas as pd
import plotly.graph_objects as go

FILE = "rows.csv"


def bars(at, low, high):
    """The error bars from a mark to the ends of its interval; of length 0 without one."""
    up, down = ((reach.clip(lower=0).fillna(0)) for reach in (high - at, at - low))
    return dict(type="data", symmetric=False, array=up, arrayminus=down)


rows = pd.read_csv(FILE, keep_default_na=False, na_values=[""])
figure = go.Figure(go.Scatter(x=[0, 1], y=[0, 1], mode="lines", line=dict(dash="dash", color="grey"), showlegend=False))
for number, (label, some) in enumerate(rows.groupby("label")):
    figure.add_scatter(
        x=some["alarm"],
        y=some["hit"],
        error_x=bars(some["alarm"], some["alarm_low"], some["alarm_high"]),
        error_y=bars(some["hit"], some["hit_low"], some["hit_high"]),
        mode="lines+markers+text",
        name=label.replace("<", "&lt;"),
        text=some["length"],
        textposition="top right",
        marker=dict(size=10, symbol=number, opacity=some["faint"].map({True: 0.45, False: 1.0})),
    )
figure.update_xaxes(title="acknowledged when agreeing", range=(-0.04, 1.06))
figure.update_yaxes(title="acknowledged when moved", range=(-0.04, 1.06))
figure.update_layout(template="plotly_white", height=520)
figure.show()
