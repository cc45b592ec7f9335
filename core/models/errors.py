"""What can go wrong with a call: one class for each thing that a person can fix. Messages may be shown to people."""

from .. import package_data
from ..errors import name_in_journals
from ..events import CallError


class UnreachableServerError(CallError):
    """No server answers at the address."""

    in_journals = "NothingListens"


class AuthenticationError(CallError):
    """The server refuses the key, or requires one."""

    in_journals = "WrongKey"


class ModelNotFoundError(CallError):
    """There is no model of that name; the hint gives the nearest ones."""

    in_journals = "NoSuchModel"
    bad_input = True


class RateLimitError(CallError):
    """Too many calls; `wait` is the time to wait in seconds, if the server gave one."""

    in_journals = "RateLimited"
    wait: float | None = None


class ContextLengthError(CallError):
    """The prompt does not fit into the model's context."""

    in_journals = "ContextTooLong"


class ContentFilterError(CallError):
    """The provider's filter withheld the answer."""

    in_journals = "ContentFiltered"


class EmptyAnswerError(CallError):
    """The model answered with nothing but white space."""

    in_journals = "EmptyAnswer"


class CallTimeoutError(CallError):
    """The answer was not complete within the time limit."""

    in_journals = "TimedOut"


class MalformedReplyError(CallError):
    """The reply does not follow the protocol: broken JSON, a stream cut off, a page of HTML."""

    in_journals = "MalformedReply"


class ServerError(CallError):
    """The server reports its own failure (HTTP 5xx)."""

    in_journals = "ServerFault"


class ServerLoadingError(ServerError):
    """The server is still loading the model."""

    in_journals = "ServerLoading"


class RequestRefusedError(CallError):
    """The server refuses the request as it is (another HTTP 4xx)."""

    in_journals = "Refused"


class ToolsUnsupportedError(CallError):
    """The model, or its server, does not accept tools."""

    in_journals = "NoToolCalls"


class UnknownQuestionError(CallError):
    """A control was asked about something outside its world; `questions` are those that it knows, which the hint
    offers.
    """

    in_journals = "OutsideWorld"
    bad_input = True

    def __init__(self, message: str, hint: str = "", questions: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint)
        self.questions = questions


class NotInReplayError(CallError):
    """A replay was asked something that its journal does not contain; the message names the request."""

    in_journals = "NotInReplay"


class EndpointSettingError(CallError):
    """An endpoint's name, address or key cannot be used."""

    in_journals = "BadSetting"


class ModelFileError(CallError):
    """A file does not exist, or is not a GGUF model that llama.cpp can load."""

    in_journals = "BadModelFile"


class LocalModelError(CallError):
    """llama.cpp could not be started, or stopped while it answered."""

    in_journals = "LocalModelFailed"


class DownloadError(CallError):
    """A file could not be downloaded, or is not what it should be."""

    in_journals = "DownloadFailed"


class DownloadStoppedError(CallError):
    """The person stopped the download; what was received so far is kept."""

    in_journals = "DownloadStopped"


class DiskFullError(CallError):
    """There is not enough room for a download."""

    in_journals = "DiskFull"


_BY_NAME = {
    name_in_journals(error): error
    for error in list(globals().values())
    if isinstance(error, type) and issubclass(error, CallError)
}


def error_of_journal(name: str) -> type[CallError]:
    """The class of the errors that journals call `name`; CallError for a name that is not one of this module's."""
    return _BY_NAME.get(name, CallError)


_IN_WORDS = package_data.table("failures")


def failure(name: str, /, **values: object) -> CallError:
    """The failure `name` of `data/failures.toml`, with `values` in the slots of its message and hint."""
    words = _IN_WORDS[name]
    made: CallError = globals()[words["error"]](words["message"].format(**values), words["hint"].format(**values))
    made.may_pass = words.get("may_pass", False)
    return made
