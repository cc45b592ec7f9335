"""What the server logs about errors: a traceback the first time an error occurs at a place, and one line from then on.
Otherwise anyone who sends a widget an invalid value, or requests a missing file, would add a hundred lines per
message.
"""

import logging
from traceback import walk_tb

OF_FAULTS = (
    "streamlit.error_util",
    "streamlit.runtime.app_session",
    "streamlit.runtime.backend_operation_handler",
    "streamlit.web.server.starlette.starlette_websocket",
)
"""Streamlit's loggers of errors caused by messages from outside."""

MOST_PLACES = 200
LONGEST_WORDS = 300


class Once(logging.Filter):
    """Leaves out an error's traceback if one from the same place was logged before. May be used from any thread."""

    def __init__(self) -> None:
        super().__init__()
        self._told: set[tuple[str, int]] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten the record. Returns True: every record is logged."""
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
    """Make Streamlit's loggers write each traceback only once."""
    once = Once()
    for name in OF_FAULTS:
        logging.getLogger(name).addFilter(once)
