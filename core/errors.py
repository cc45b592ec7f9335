"""The base of the errors whose words are meant for a person."""

from typing import ClassVar


class ExplainError(Exception):
    """An error whose message can be shown to the user; `hint` says what to do next, and is often empty."""

    in_journals: ClassVar[str] = ""
    """The name of this very class in journals, if that is another than its own."""

    def __init__(self, message: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def name_in_journals(error: type[BaseException]) -> str:
    """Return the name by which journals call errors of this class."""
    return vars(error).get("in_journals") or error.__name__
