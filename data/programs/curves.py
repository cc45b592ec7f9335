import ast

import pandas as pd
from plotly.subplots import make_subplots

FILE = "rows.csv"

rows = pd.read_csv(FILE, keep_default_na=False, na_values=[""])
across, high = 2, -(-len(rows) // 2)
titles = [f"{row.who}, NMSE {row.nmse:.2g}".replace("<", "&lt;") for row in rows.itertuples()]
figure = make_subplots(rows=high, cols=across, subplot_titles=titles, vertical_spacing=0.3 / high)
for number, row in enumerate(rows.itertuples()):
    place = dict(row=number // across + 1, col=number % across + 1)
    x, true, code = (ast.literal_eval(text) for text in (row.x, row.y, row.estimate))
    figure.add_scatter(x=x, y=true, mode="lines", name="function", line=dict(color="black"), **place)
    figure.add_scatter(x=x, y=code, mode="lines", name="code", line=dict(color="#E69F00", dash="dot"), **place)
    known = [y for y in true if y is not None]
    if known:  # the code's values beyond the function's are cut off
        room = 0.08 * (max(known) - min(known) or 1)
        figure.update_yaxes(range=(min(known) - room, max(known) + room), **place)
figure.update_layout(template="plotly_white", showlegend=False, height=120 + 170 * high)
figure.show()
