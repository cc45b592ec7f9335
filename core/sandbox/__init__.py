"""Where programs that a model wrote run: bounded in all they may use."""

Value = float | complex | str
"""What goes into a program or comes out: a number, or a text. NaN is a number that is not defined."""
