import pandas as pd
import plotly.graph_objects as go

FILE = "rows.csv"
SIMILARITY = "similarity"
# The precision and the name of each
BASELINES = [(0.5, "guessing")]


def bars(at, low, high):
    """The error bars from a mark to the ends of its interval; of length 0 without one."""
    up, down = ((reach.clip(lower=0).fillna(0)) for reach in (high - at, at - low))
    return dict(type="data", symmetric=False, array=up, arrayminus=down)


rows = pd.read_csv(FILE, keep_default_na=False, na_values=[""])
rows = rows.dropna(subset=["precision", "generality"])
# Marks at the same place are one, whose bars reach to the outermost ends.
both = ("precision", "generality")
ends = {f"{one}_low": "min" for one in both} | {f"{one}_high": "max" for one in both}
first = {"label": ", ".join, "how": "first", "precision": "first", "generality": "first", "n": "sum"}
keys = [rows["precision"].round(9).rename("x"), rows["generality"].round(9).rename("y")]
rows["how"] = rows["how"].astype(object).fillna("")
rows = rows.groupby(keys, sort=False).agg(first | ends)
figure = go.Figure()
for number, (how, some) in enumerate(rows.groupby("how")):
    figure.add_scatter(
        x=some["precision"],
        y=some["generality"],
        error_x=bars(some["precision"], some["precision_low"], some["precision_high"]),
        error_y=bars(some["generality"], some["generality_low"], some["generality_high"]),
        mode="markers+text",
        name=how or "measured",
        text=[f"{row.label}, n {row.n}".replace("<", "&lt;") for row in some.itertuples()],
        textposition="top center",
        marker=dict(size=10, symbol=number),
    )
for x, name in BASELINES:
    figure.add_vline(x, line_dash="dash", annotation_text=name.replace("<", "&lt;"))
figure.update_xaxes(title="precision", range=(-0.03, 1.05))
figure.update_yaxes(title=f"generality ({SIMILARITY})")
figure.update_layout(template="plotly_white", height=600)
figure.show()
