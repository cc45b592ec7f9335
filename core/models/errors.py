"""What can go wrong with a call: one class for each thing that a person can fix. Messages may be shown to people."""

from __future__ import annotations

from .. import package_data
from ..events import CallError


class NothingListens(CallError):
    """No server answers at the address."""


class WrongKey(CallError):
    """The server refuses the key, or requires one."""


class NoSuchModel(CallError):
    """There is no model of that name; the hint gives the nearest ones."""

    bad_input = True


class RateLimited(CallError):
    """Too many calls; `wait` is the time to wait in seconds, if the server gave one."""

    wait: float | None = None


class ContextTooLong(CallError):
    """The prompt does not fit into the model's context."""


class ContentFiltered(CallError):
    """The provider's filter withheld the answer."""


class EmptyAnswer(CallError):
    """The model answered with nothing but white space."""


class TimedOut(CallError):
    """The answer was not complete within the time limit."""


class MalformedReply(CallError):
    """The reply does not follow the protocol: broken JSON, a stream cut off, a page of HTML."""


class ServerFault(CallError):
    """The server reports its own failure (HTTP 5xx)."""


class ServerLoading(ServerFault):
    """The server is still loading the model."""


class Refused(CallError):
    """The server refuses the request as it is (another HTTP 4xx)."""


class NoToolCalls(CallError):
    """The model, or its server, does not accept tools."""


class OutsideWorld(CallError):
    """A control was asked about something outside its world; `questions` are those that it knows, which the hint
    offers.
    """

    bad_input = True

    def __init__(self, message: str, hint: str = "", questions: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint)
        self.questions = questions


class NotInReplay(CallError):
    """A replay was asked something that its journal does not contain; the message names the request."""


class BadSetting(CallError):
    """An endpoint's name, address or key cannot be used."""


class BadModelFile(CallError):
    """A file does not exist, or is not a GGUF model that llama.cpp can load."""


class LocalModelFailed(CallError):
    """llama.cpp could not be started, or stopped while it answered."""


class DownloadFailed(CallError):
    """A file could not be downloaded, or is not what it should be."""


class DownloadStopped(CallError):
    """The person stopped the download; what was received so far is kept."""


class DiskFull(CallError):
    """There is not enough room for a download."""


_IN_WORDS = package_data.table("failures")


def failure(name: str, /, **values: object) -> CallError:
    """The failure `name` of `data/failures.toml`, with `values` in the slots of its message and hint."""
    words = _IN_WORDS[name]
    made: CallError = globals()[words["error"]](words["message"].format(**values), words["hint"].format(**values))
    made.may_pass = words.get("may_pass", False)
    return made
