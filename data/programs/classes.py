import pandas as pd
import plotly.graph_objects as go

FILE = "rows.csv"

rows = pd.read_csv(FILE, keep_default_na=False, na_values=[""])
figure = go.Figure()
for number, (name, some) in enumerate(rows.groupby("then", sort=False)):
    counts = some.groupby("bar")["checks"].sum()
    figure.add_bar(
        x=counts,
        y=[bar.replace("<", "&lt;") for bar in counts.index],
        orientation="h",
        name=name.replace("<", "&lt;"),
        marker_pattern_shape=["", "/", "x", ".", "-", "|"][number % 6],
    )
figure.update_xaxes(title="checks, by the answer after the edit")
figure.update_layout(template="plotly_white", barmode="stack", height=150 + 44 * rows["bar"].nunique())
figure.show()
