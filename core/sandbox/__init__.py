"""Where programs that a model wrote run: bounded in all they may use."""

Value = float | complex | str
"""An input or output of a program: a number or a text. NaN is an undefined number."""
