import pandas as pd
import plotly.graph_objects as go

FILE = "rows.csv"
AXIS = "share"
# The range of the axis
ENDS = (-0.04, 1.04)
# How many lines are drawn
MOST = 40


def bars(at, low, high):
    """The error bars from a mark to the ends of its interval; of length 0 without one."""
    up, down = ((reach.clip(lower=0).fillna(0)) for reach in (high - at, at - low))
    return dict(type="data", symmetric=False, array=up, arrayminus=down)


rows = pd.read_csv(FILE, keep_default_na=False, na_values=[""])
rows["series"] = rows["series"].astype(object).fillna("")
lines = rows.drop_duplicates("label")
if len(lines) > MOST:  # those over the most items
    lines = lines[lines["label"].isin(lines.nlargest(MOST, "items")["label"])]
place = {label: -number for number, label in enumerate(lines["label"])}
figure = go.Figure()
for number, name in enumerate(rows["series"].unique()):
    some = rows[(rows["series"] == name) & rows["label"].isin(place) & rows["macro"].notna()]
    figure.add_scatter(
        x=some["macro"],
        y=some["label"].map(place) - 0.24 * number,
        error_x=bars(some["macro"], some["low"], some["high"]),
        mode="markers",
        name=name or "measured",
        marker=dict(
            size=10,
            color=["#7468D8", "#A6761D"][number % 2],
            symbol=["circle", "x"][number % 2],
            opacity=(some["faint"] | some["thin"]).map({True: 0.45, False: 1.0}),  # too little data
        ),
    )
names = [f"{row.label}, n {row.items} of {row.items_of}".replace("<", "&lt;") for row in lines.itertuples()]
figure.update_yaxes(tickvals=list(place.values()), ticktext=names)
figure.update_xaxes(title=AXIS, range=ENDS)
figure.update_layout(template="plotly_white", showlegend=rows["series"].nunique() > 1, height=150 + 40 * len(lines))
figure.show()
