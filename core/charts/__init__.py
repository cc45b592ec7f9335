PLAIN = {"displayModeBar": False}
"""How charts are shown: without the tool bar, which covers the legend on a phone."""
