"""What the server writes down of faults: each place whole once and then in a line. Anyone who sends a widget what it
cannot hold, or asks for a file that is not there, would else write a hundred lines with every message.
"""

from __future__ import annotations

import logging
from traceback import walk_tb

OF_FAULTS = (
    "streamlit.error_util",
    "streamlit.runtime.app_session",
    "streamlit.runtime.backend_operation_handler",
    "streamlit.web.server.starlette.starlette_websocket",
)
"""Streamlit's loggers of what went wrong with a message from outside."""

MOST_PLACES = 200
LONGEST_WORDS = 300


class Once(logging.Filter):
    """Leaves out where a fault comes from, if that was written down before. May be used from any thread."""

    def __init__(self) -> None:
        super().__init__()
        self._told: set[tuple[str, int]] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten the record; it is always written."""
        error = record.exc_info[1] if record.exc_info else None
        words = record.getMessage()[:LONGEST_WORDS]
        if error is not None:
            place = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)][-1:]
            if not self._told.issuperset(place) and len(self._told) < MOST_PLACES:
                self._told.update(place)
            else:
                record.exc_info = record.exc_text = None
                words = f"{words} ({type(error).__name__}, as before)"
        record.msg, record.args = words.replace("\n", " "), ()
        return True


def shorten() -> None:
    """Have Streamlit's loggers write each fault whole once."""
    once = Once()
    for name in OF_FAULTS:
        logging.getLogger(name).addFilter(once)
