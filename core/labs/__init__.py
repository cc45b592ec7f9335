"""The labs. None imports another; `core.entry` alone names them."""
