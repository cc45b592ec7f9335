import numpy as np
import pandas as pd
import plotly.graph_objects as go

FILE = "rows.csv"
# Smaller errors are drawn as this one
LEAST = 1e-12
# Where the line is
GOOD = 0.01

rows = pd.read_csv(FILE, keep_default_na=False, na_values=[""])
rows = rows[rows["nmse"].notna()]
rows[["who", "difficulty"]] = rows[["who", "difficulty"]].astype(object).fillna("")
figure = go.Figure()
for number, ((who, difficulty), some) in enumerate(rows.groupby(["who", "difficulty"])):
    figure.add_scatter(
        x=some["calls"],
        y=np.log10(some["nmse"].clip(lower=LEAST)),
        mode="markers",
        name=f"{who}, {difficulty}".replace("<", "&lt;"),
        marker=dict(size=9, symbol=number),
    )
figure.add_hline(np.log10(GOOD), line_dash="dot")
figure.update_xaxes(title="calls of the function")
figure.update_yaxes(title="NMSE, power of ten")
figure.update_layout(template="plotly_white", height=450)
figure.show()
