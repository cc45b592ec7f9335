"""How pictures are shown."""

PLAIN = {"displayModeBar": False}
"""Without the tool bar, which covers the legend on a phone."""
