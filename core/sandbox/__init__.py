"""Runs programs written by models, with limits on everything they may use."""

Value = float | complex | str
"""An input or output of a program: a number or a text. NaN is an undefined number."""
