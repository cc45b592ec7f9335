"""From whatever went wrong on the way to a server, to an error that a person can act on."""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Collection, Iterable
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from core.events import CallFailed
from core.models import guard
from core.models.errors import (
    ContentFiltered,
    ContextTooLong,
    MalformedReply,
    NoSuchModel,
    NothingListens,
    NoToolCalls,
    RateLimited,
    Refused,
    ServerFault,
    TimedOut,
    WrongKey,
)
from core.models.settings import EndpointConfig

if TYPE_CHECKING:
    import openai

_TOO_LONG = re.compile(
    r"context.?(length|size|window)|maximum context|too many (input )?tokens|prompt is too long"
    r"|exceeds? the (available|maximum) (context|number of tokens)|exceed_context",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content.?(filter|policy|management)|responsible.?ai|safety (system|filter)", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model_not_found|\bmodels?\b.{0,120}?(not found|not exist|not available|is unknown|not loaded|no such)"
    r"|(no such|unknown|invalid|unsupported) model\b|no models? loaded",
    re.IGNORECASE | re.DOTALL,
)
_NOT_TAKEN = re.compile(
    r"unsupported|unrecogni[sz]ed|unknown|unexpected|not (be )?(supported|support|permitted|allowed|available"
    r"|recogni[sz]ed|implemented)|(doesn't|does not|don't|do not|cannot|can't) (support|accept|allow|use)|unavailable"
    r"|invalid (parameter|argument)|extra (inputs|fields)|only the default|must be verified",
    re.IGNORECASE,
)
_TOOLS = re.compile(r"\btools?\b|\btool[-_ ]|function.?call", re.IGNORECASE)
_NO_CREDIT = re.compile(r"insufficient_quota|billing|credit|balance", re.IGNORECASE)


class Fault(NamedTuple):
    """What to tell the person, and whether the same call may succeed a little later."""

    failure: CallFailed
    may_pass: bool = False


def scrub(text: str, secret: str) -> str:
    """`text` without the key, should a server repeat it."""
    return text.replace(secret, "[key]") if secret else text


def of_error(error: Exception, config: EndpointConfig, model: str = "") -> Fault:
    """The fault behind an exception that the openai package, or reading what it returned, has raised."""
    import openai

    if isinstance(error.__cause__, guard.NotPublic):
        return Fault(NothingListens(f"{config.base_url} is not asked from here.", str(error.__cause__)))
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, config, model)
    if isinstance(error, openai.APIConnectionError):
        return _of_connection(error, config)
    if isinstance(error, openai.APIError) and isinstance(error.body, dict):
        words = _said(error.body, config)
        known = _of_words(words, f"{error.code} {error.type} {words}", config, model)
        return known or Fault(
            ServerFault(
                f"{config.name} reported an error in the middle of its answer.{_quote(words, config)}",
                "Try again; if it happens every time, look into the server's own log.",
            )
        )
    what = "" if config.of_visitor else str(error)
    return Fault(malformed(config, what or "what came back is not JSON, or not a reply of the OpenAI API"))


def malformed(config: EndpointConfig, what: str) -> MalformedReply:
    """The failure for a reply of which `what` says why it cannot be read."""
    return MalformedReply(
        f"{config.name} ({config.base_url}) gave a reply that cannot be read: {what}.",
        "Check that the address is that of an OpenAI-compatible API (it usually ends in /v1), and look into the "
        "server's own log.",
    )


def timed_out(config: EndpointConfig, began: bool) -> TimedOut:
    """`began`: whether part of the answer had come."""
    what = "had not finished its answer" if began else "had not answered"
    return TimedOut(
        f"{config.name} {what} after {config.timeout:g} seconds.",
        "Allow fewer tokens, choose a faster model, or raise the endpoint's time limit on the Models page.",
    )


def still_refused(config: EndpointConfig, wait: float) -> RateLimited:
    """The failure of a call that was not sent, for the server said to wait so many more seconds."""
    failure = RateLimited(
        f"{config.name} takes no more calls for now: it wants to be left alone for {wait:.0f} more seconds.",
        "Go on after that.",
        wait,
    )
    failure.may_pass = True
    return failure


def filtered(config: EndpointConfig, words: str = "") -> ContentFiltered:
    """The failure for an answer that a content filter withheld; `words` are the server's own."""
    return ContentFiltered(
        f"The content filter of {config.name} withheld the answer.{_quote(words, config)}",
        "Put the question in other words, or ask a model without such a filter.",
    )


def no_such_model(config: EndpointConfig, model: str, names: Iterable[str], words: str = "") -> NoSuchModel:
    """`names` are the server's models, as far as they are known; the hint gives the nearest."""
    known = sorted(names)
    hint = did_you_mean(model, known)
    if not hint:
        preset = config.known_server()
        hint = (
            f"Fetch it: `ollama pull {model}`."
            if preset is not None and preset.title == "Ollama"
            else "Press Test connection on the Models page to see which models the server has."
        )
    return NoSuchModel(f"{config.name} has no model named {model!r}.{_quote(words, config)}", hint)


def did_you_mean(wanted: str, known: Collection[str]) -> str:
    """ "Did you mean …? Available: …", with at most three nearest and ten available names; "" where none is known."""
    if not known:
        return ""
    folded = {name.lower(): name for name in known}
    near = [folded[name] for name in difflib.get_close_matches(wanted.lower(), folded, n=3, cutoff=0.5)]
    near = near or [name for name in known if wanted.lower() in name.lower()][:3]
    more = f", and {len(known) - 10} more" if len(known) > 10 else ""
    question = f"Did you mean {' or '.join(near)}? " if near else ""
    return f"{question}Available: {', '.join(list(known)[:10])}{more}."


def refused_parameter(error: openai.APIStatusError, sent: Collection[str]) -> str | None:
    """The parameter among those `sent` that a 400 or 422 says the server does not take; None where it does not.

    A value out of range, such as a temperature of 9, is not meant: leaving that out would hide the mistake.
    """
    if error.status_code not in (400, 422):
        return None
    body = error.body if isinstance(error.body, dict) else {}
    words = f"{error.code} {_message(error.body)}"
    if _TOO_LONG.search(words) or not _NOT_TAKEN.search(words):
        return None
    named = str(body.get("param") or "").split(".")[0]
    if named in sent:
        return named
    return next((name for name in sorted(sent, key=len, reverse=True) if _names(words, name)), None)


def refused_tools(error: openai.APIStatusError, config: EndpointConfig, model: str) -> Fault | None:
    """The fault behind an answer to a call with tools that complains of these; None where it does not.

    Servers put it in many ways: "does not support tools", "tool choice requires --enable-auto-tool-choice" (vLLM),
    "tools param requires --jinja flag" (llama.cpp, as HTTP 500), "No endpoints found that support tool use" (404).
    """
    words = _said(error.body, config)
    text = f"{error.code} {error.param} {words}"
    if error.status_code not in (400, 404, 422, 500, 501) or _TOO_LONG.search(text) or not _TOOLS.search(text):
        return None
    return Fault(
        NoToolCalls(
            f"{config.name} does not take tool calls for {model}.{_quote(words, config)}",
            "Let the agent ask in plain text, or choose a model and server that have tool calls.",
        )
    )


def _names(words: str, parameter: str) -> bool:
    return re.search(rf"(?<![A-Za-z_]){re.escape(parameter)}(?![A-Za-z_])", words) is not None


def retry_after(headers: Any) -> float | None:
    """Seconds that a reply asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    try:
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    except (KeyError, ValueError):
        pass
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _of_status(error: openai.APIStatusError, config: EndpointConfig, model: str) -> Fault:
    status = error.status_code
    words = _said(error.body, config)
    text = f"{error.code} {error.type} {words}"
    if status in (401, 403):
        return Fault(_wrong_key(status, config, words))
    if status == 429:
        return _too_many(error, text, config, words)
    if status >= 500 or status in (408, 409):
        failure = ServerFault(
            f"{config.name} failed (HTTP {status}).{_quote(words, config)}",
            "This is the server's fault, and may pass: try again in a while, or look into the server's own log.",
        )
        return Fault(failure, may_pass=True)
    known = _of_words(words, text, config, model)
    if known is not None:
        return known
    if status in (404, 405):
        return Fault(
            MalformedReply(
                f"A server answers at {config.base_url}, but no OpenAI API is there (HTTP {status}).",
                "Check the address: it usually ends in /v1.",
            )
        )
    return Fault(
        Refused(
            f"{config.name} refused the request (HTTP {status}).{_quote(words, config)}",
            "Change what it complains of: the sampling settings, the model, or the kind of answer asked for.",
        )
    )


def _of_words(words: str, text: str, config: EndpointConfig, model: str) -> Fault | None:
    """Faults that servers report under several HTTP codes, known by their words or error code."""
    if _TOO_LONG.search(text):
        return Fault(
            ContextTooLong(
                f"The prompt is too long for {model or config.name}.{_quote(words, config)}",
                "Use fewer or shorter demonstrations, a shorter question, or a model with a longer context.",
            )
        )
    if _FILTERED.search(text):
        return Fault(filtered(config, words))
    if _NO_MODEL.search(text):
        return Fault(no_such_model(config, model, config.models, words))
    return None


def _wrong_key(status: int, config: EndpointConfig, words: str) -> WrongKey:
    if not config.secret:
        return WrongKey(
            f"{config.name} wants a key (HTTP {status}).{_quote(words, config)}",
            "Add the key on the Models page or in .streamlit/secrets.toml.",
        )
    return WrongKey(
        f"{config.name} does not accept the key (HTTP {status}).{_quote(words, config)}",
        "Check that the key is whole, still valid, allowed to use this model, and meant for this address.",
    )


def _too_many(error: openai.APIStatusError, text: str, config: EndpointConfig, words: str) -> Fault:
    wait = retry_after(error.response.headers)
    if wait is None and _NO_CREDIT.search(text):
        hint = "Look at the account's plan and billing; waiting will not help."
        return Fault(RateLimited(f"The account at {config.name} has no calls left.{_quote(words, config)}", hint))
    when = f"Wait {wait:.0f} seconds and try again" if wait else "Wait a minute and try again"
    failure = RateLimited(
        f"{config.name} takes no more calls for now (HTTP 429).{_quote(words, config)}",
        f"{when}, or let fewer calls go at once.",
        wait,
    )
    return Fault(failure, may_pass=True)


def _of_connection(error: openai.APIConnectionError, config: EndpointConfig) -> Fault:
    import httpx2
    import openai

    cause = error.__cause__
    if isinstance(cause, guard.Unsafe):
        return Fault(malformed(config, str(cause)))
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.UnsupportedProtocol):
        preset = config.known_server()
        hint = (
            preset.start
            if preset
            else "Start the server, or correct the address (machine and port) on the Models page."
        )
        return Fault(NothingListens(f"Nothing answers at {config.base_url}.", hint))
    if isinstance(error, openai.APITimeoutError):
        return Fault(timed_out(config, began=False))
    return Fault(malformed(config, "the connection was cut before the answer was whole"), may_pass=True)


def _said(body: object, config: EndpointConfig) -> str:
    """The server's own words, short, on one line, without the key."""
    words = " ".join(scrub(_message(body), config.secret).split())
    return words if len(words) <= 300 else words[:299] + "…"


def _message(body: object) -> str:
    if isinstance(body, dict):
        for field in ("message", "error", "detail"):
            if body.get(field):
                return _message(body[field])
        return ""
    if isinstance(body, list):
        return "; ".join(
            " ".join(str(part) for part in (*item.get("loc", ()), item.get("msg", "")))
            if isinstance(item, dict)
            else str(item)
            for item in body
        )
    text = "" if body is None else str(body)
    return "" if text.lstrip().startswith("<") else text


def _quote(words: str, config: EndpointConfig) -> str:
    """What the server says, unless a visitor chose the server: through us they shall not read what it answers."""
    return f" It says: “{words}”" if words and not config.of_visitor else ""
