"""Turns whatever went wrong on the way to a server into an error that a person can act on."""

from __future__ import annotations

import difflib
import math
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from ..events import CallError
from . import safe_http
from .errors import RateLimitError, failure
from .settings import EndpointConfig

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
    r"|invalid (parameter|argument)|extra (inputs|fields)|only the default|must be verified|deprecated"
    r"|cannot both be|strictly positive|only 1(\.0)? is allowed|no longer|not both|cannot find field",
    re.IGNORECASE,
)
_BLANK_STOP = re.compile(r"non-?white ?space|blank stop|stop.{0,80}(white ?space|blank|empty)", re.IGNORECASE)
_NO_SYSTEM = re.compile(
    r"system.{0,20}(role|message|prompt|instruction)s?.{0,40}(not|n't|un)|(not|n't|unsupported).{0,40}system.{0,20}role"
    r"|roles? must alternate|only (support|accept)s? user and assistant|only user and assistant",
    re.IGNORECASE | re.DOTALL,
)
_NO_ROOM = re.compile(
    r"could not finish the message|(max_tokens|max_completion_tokens|output limit)[^.]{0,60} reached", re.IGNORECASE
)
_TOO_MUCH = re.compile(r"max(imum)?.{0,20}tokens|output limit|context|completion", re.IGNORECASE)
_BAD_KEY = re.compile(
    r"api.?key.{0,30}(not valid|invalid|incorrect|missing|expired|not found)|invalid.{0,20}api.?key", re.IGNORECASE
)
_FULL = re.compile(
    r"capacity|overload|too busy|rate.?limit|per minute|\btpm\b|\brpm\b|try again|temporar", re.IGNORECASE
)
_LOADING = re.compile(r"\bload(ing)?\b|warming up|starting up|not ready|initiali[sz]ing", re.IGNORECASE)
_RETRY_IN = re.compile(
    r"(?:retry|try again) (?:in|after) (?:about )?(\d{1,6}(?:\.\d{1,6})?) ?(ms|s|sec|m|min)?", re.IGNORECASE
)
_ORDINARY = {"temperature": (0.0, 2.0), "top_p": (0.0, 1.0)}
"""The range in which each of these makes sense. A value outside is the caller's mistake, and is not left out."""
_TOOLS = re.compile(r"\btools?\b|\btool[-_ ]|function.?call", re.IGNORECASE)
_NO_CREDIT = re.compile(r"insufficient_quota|billing|credit|balance", re.IGNORECASE)


def scrub(text: str, config: EndpointConfig) -> str:
    """`text` without the key and the values of headers, in case a server repeats them."""
    for secret in config.secrets:
        text = text.replace(secret, "[key]")
    return text


def of_error(error: Exception, config: EndpointConfig, model: str = "") -> CallError:
    """The failure behind an exception raised by the openai package, or by reading what it returned."""
    import openai

    if isinstance(error.__cause__, safe_http.NotPublicError):
        return failure("not_public", base_url=config.base_url, why=error.__cause__)
    if isinstance(error, openai.APIStatusError):
        text = f"{error.code} {error.type} {_said(error.body, config)}"
        return _of_words_and_status(error.status_code, text, error.body, error.response.headers, config, model)
    if isinstance(error, openai.APIConnectionError):
        return _of_connection(error, config)
    if isinstance(error, openai.APIError) and isinstance(error.body, dict | list | str):
        return of_body(error.body, config, model)
    what = "" if config.of_visitor else str(error)
    return malformed(config, what or "what came back is not JSON, or not a reply of the OpenAI API")


def of_body(body: object, config: EndpointConfig, model: str = "") -> CallError:
    """The failure that a reply with HTTP 200, or an event of a stream, reports in its `body`."""
    words, code = _said(body, config), _field(body, "code", "status_code", "status")
    if isinstance(code, str) and code.isdecimal():
        code = int(code[:4])
    if isinstance(code, int) and 400 <= code < 600:
        return _of_words_and_status(code, f"{_field(body, 'type')} {words}", body, {}, config, model)
    text = f"{code} {_field(body, 'type')} {words}"
    known = _of_words(words, text, config, model)
    return known or failure("failed_midway", name=config.name, said=_quote(words, config))


def gave_up(config: EndpointConfig, reason: str, body: object = None) -> CallError:
    """The failure for an answer that the server did not finish; `reason` is its finish reason, `body` its error."""
    said = _quote(_said(body, config) or reason, config)
    return failure("failed_midway", name=config.name, said=said)


def malformed(config: EndpointConfig, what: str) -> CallError:
    """The failure for a reply that cannot be read; `what` says why."""
    return failure("malformed", name=config.name, base_url=config.base_url, what=what)


def timed_out(config: EndpointConfig, began: bool) -> CallError:
    """The failure for a call that exceeded its time limit. `began`: whether part of the answer had arrived."""
    what = "had not finished its answer" if began else "had not answered"
    return failure("timed_out", name=config.name, what=what, timeout=config.timeout)


def still_refused(config: EndpointConfig, wait: float) -> CallError:
    """The failure of a call that was not sent, since the server said to wait `wait` more seconds."""
    return _to_wait(failure("still_refused", name=config.name, wait=wait), wait)


def _to_wait(refused: CallError, wait: float | None) -> CallError:
    assert isinstance(refused, RateLimitError)
    refused.wait = wait
    return refused


def filtered(config: EndpointConfig, words: str = "") -> CallError:
    """The failure for an answer that a content filter withheld; `words` are the server's own."""
    return failure("filtered", name=config.name, said=_quote(words, config))


def no_such_model(config: EndpointConfig, model: str, names: Iterable[str], words: str = "") -> CallError:
    """The failure for a model that does not exist. `names` are the server's models, as far as they are known; the hint
    gives the nearest.
    """
    preset = config.known_server()
    hint = did_you_mean(model, sorted(names))
    if not hint and preset is not None and preset.title == "Ollama":
        hint = f"Fetch it: `ollama pull {model}`."
    hint = hint or "Press Test connection on the Models page to see which models the server has."
    return failure("no_such_model", name=config.name, model=model, said=_quote(words, config), hint=hint)


def did_you_mean(wanted: str, known: Collection[str]) -> str:
    """A hint, "Did you mean …? Available: …", with at most three nearest and ten available names; empty if none is
    known.
    """
    if not known:
        return ""
    folded = {name.lower(): name for name in known}
    near = [folded[name] for name in difflib.get_close_matches(wanted.lower(), folded, n=3, cutoff=0.5)]
    near = near or [name for name in known if wanted.lower() in name.lower()][:3]
    more = f", and {len(known) - 10} more" if len(known) > 10 else ""
    question = f"Did you mean {' or '.join(near)}? " if near else ""
    return f"{question}Available: {', '.join(list(known)[:10])}{more}."


def refused_parameter(error: openai.APIStatusError, sent: Mapping[str, Any]) -> str | None:
    """What to leave out of the parameters `sent`, if the server refuses one of them; None if it does not.

    Also "blank stops" for stop sequences of white space, and "system" for the system turn. A 400 or 422 that names one
    parameter and no other cause refuses that one, however it is worded. This does not apply to a value that no server
    would accept, such as a temperature of 9: leaving it out would hide the mistake.
    """
    words = f"{error.code} {_message(error.body)}"
    if error.status_code in (400, 422, 500) and _NO_SYSTEM.search(words):
        return "system"
    if error.status_code not in (400, 422) or _TOO_LONG.search(words):
        return None
    if "stop" in sent and _BLANK_STOP.search(words):
        return "blank stops"
    named = str(_field(error.body, "param")).split(".")[0]
    if named not in sent:
        every = [name for name in sorted(sent, key=len, reverse=True) if _names(words, name)]
        if {"temperature", "top_p"} <= set(every):
            return "top_p"
        # The longest name is meant: a message about "top_logprobs" names "logprobs" too.
        named = every[0] if every and (len(every) == 1 or _NOT_TAKEN.search(words)) else ""
    if not named or _is_odd(named, sent[named]) or (_NO_MODEL.search(words) and not _NOT_TAKEN.search(words)):
        return None
    return named


def _is_odd(name: str, value: Any) -> bool:
    low, high = _ORDINARY.get(name, (-math.inf, math.inf))
    return isinstance(value, int | float) and not low <= value <= high


def wants_more_room(error: openai.APIStatusError) -> bool:
    """Whether the server says that the model used all its tokens before it answered."""
    return error.status_code == 400 and bool(_NO_ROOM.search(_message(error.body)))


def wants_less_room(error: openai.APIStatusError) -> bool:
    """Whether the server says that more tokens were requested than it allows."""
    words = _message(error.body)
    is_budget = _TOO_LONG.search(words) or (_TOO_MUCH.search(words) and re.search(r"\d", words))
    return error.status_code in (400, 413, 422) and bool(is_budget)


def refused_tools(error: openai.APIStatusError, config: EndpointConfig, model: str) -> CallError | None:
    """The failure behind an error that complains about tools in a call; None if it does not.

    Servers word it in many ways: "does not support tools", "tool choice requires --enable-auto-tool-choice" (vLLM),
    "tools param requires --jinja flag" (llama.cpp, as HTTP 500), "No endpoints found that support tool use" (404).
    """
    words = _said(error.body, config)
    text = f"{error.code} {error.param} {words}"
    if error.status_code not in (400, 404, 422, 500, 501) or _TOO_LONG.search(text) or not _TOOLS.search(text):
        return None
    return failure("no_tools", name=config.name, model=model, said=_quote(words, config))


def _names(words: str, parameter: str) -> bool:
    return re.search(rf"(?<![A-Za-z_]){re.escape(parameter)}(?![A-Za-z_])", words) is not None


def retry_after(headers: Any) -> float | None:
    """Seconds that a reply asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        with suppress(KeyError, ValueError):
            return max(0.0, float(str(headers[name]).removesuffix("s")) / unit)
    with suppress(KeyError, ValueError):
        # Relative to the server's own clock, if the reply has its date: our clock may be years off.
        until, now = parsedate_to_datetime(headers["retry-after"]), time.time()
        with suppress(KeyError, ValueError):
            now = parsedate_to_datetime(headers["date"]).timestamp()
        return max(0.0, until.timestamp() - now)
    return None


def _retry_in(words: str, body: object) -> float | None:
    """Seconds to wait, if the words of an error or its RetryInfo name them."""
    for entry in _entries(body):
        details = entry.get("details")
        for detail in details if isinstance(details, list) else []:
            delay = str(detail.get("retryDelay", "")) if isinstance(detail, dict) else ""
            with suppress(ValueError):
                return max(0.0, float(delay.removesuffix("s")))
    if found := _RETRY_IN.search(words):
        unit = (found[2] or "s").lower()
        return float(found[1]) * (0.001 if unit == "ms" else 60 if unit.startswith("m") else 1)
    return None


def _of_words_and_status(
    status: int, text: str, body: object, headers: Any, config: EndpointConfig, model: str
) -> CallError:
    words = _said(body, config)
    told = {"name": config.name, "status": status, "said": _quote(words, config)}
    if status in (401, 403) or (status == 400 and _BAD_KEY.search(text)):
        return failure("wrong_key" if config.secret else "no_key", **told)
    if status == 402:
        return failure("no_credit", **told)
    if status in (429, 498) or (status == 413 and _FULL.search(text)):
        wait = retry_after(headers)
        wait = _retry_in(words, body) if wait is None else wait
        if wait is None and _NO_CREDIT.search(text):
            return failure("no_credit", **told)
        long = f"{wait:.0f} seconds" if wait else "a minute"
        return _to_wait(failure("too_many", **told, long=long), wait)
    if status in (500, 503) and _LOADING.search(words):
        return failure("loading", **told)
    if (status >= 500 and status != 501) or status in (408, 409, 425):
        return failure("server_fault", **told)
    if (known := _of_words(words, text, config, model)) is not None:
        return known
    if status == 413:
        return failure("too_long", model=model or config.name, said=_quote(words, config))
    if status in (404, 405) and words.strip(". ").lower() in ("", "not found", "method not allowed"):
        return failure("no_api", base_url=config.base_url, status=status)
    return failure("refused", **told)


def _of_words(words: str, text: str, config: EndpointConfig, model: str) -> CallError | None:
    """Failures that servers report under several HTTP codes, recognised by their words or error code."""
    if _TOO_LONG.search(text):
        return failure("too_long", model=model or config.name, said=_quote(words, config))
    if _FILTERED.search(text):
        return filtered(config, words)
    if _NO_MODEL.search(text):
        return no_such_model(config, model, config.models, words)
    return None


def _of_connection(error: openai.APIConnectionError, config: EndpointConfig) -> CallError:
    import httpx2
    import openai

    cause = error.__cause__
    if isinstance(cause, safe_http.UnsafeResponseError):
        return malformed(config, str(cause))
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.UnsupportedProtocol):
        preset = config.known_server()
        otherwise = "Start the server, or correct the address (machine and port) on the Models page."
        return failure("nothing_listens", base_url=config.base_url, start=preset.start if preset else otherwise)
    if isinstance(error, openai.APITimeoutError):
        return timed_out(config, began=False)
    return broken_off(config)


def broken_off(config: EndpointConfig, error: Exception | None = None) -> CallError:
    """The failure for a connection that ended within an answer, because of `error`."""
    if "Timeout" in type(error).__name__:
        return timed_out(config, began=True)
    cut = malformed(config, "the connection was cut before the answer was whole")
    cut.may_pass = True
    return cut


def _said(body: object, config: EndpointConfig) -> str:
    """The server's own words, short, on one line, without the key."""
    words = " ".join(scrub(_message(body), config).split())
    return words if len(words) <= 300 else words[:299] + "…"


def _message(body: object) -> str:
    if isinstance(body, dict):
        for field in ("message", "error", "detail"):
            if body.get(field):
                return _message(body[field])
        return ""
    if isinstance(body, list):
        return "; ".join(filter(None, map(_of_item, body[:_MOST_ITEMS])))
    text = "" if body is None else str(body)
    return "" if text.lstrip().startswith("<") else text


_MOST_ITEMS = 20
"""How many errors of a list are read."""


def _of_item(item: object) -> str:
    """One error of a list: Gemini's have a body each, FastAPI's a place and a message."""
    if isinstance(item, dict) and "msg" in item:
        place = item.get("loc")
        return " ".join(str(part) for part in (*(place if isinstance(place, list) else ()), item["msg"]))
    return _message(item) if isinstance(item, dict) else str(item)


def _entries(body: object) -> Iterator[dict[str, Any]]:
    """The error objects in a body: itself, the one in its "error", and those of a list."""
    for one in body[:_MOST_ITEMS] if isinstance(body, list) else [body]:
        if isinstance(one, dict):
            yield one
            if isinstance(inner := one.get("error"), dict):
                yield inner


def _field(body: object, *names: str) -> Any:
    """The first of these fields that an error object has; "" if there is none."""
    return next((entry[name] for entry in _entries(body) for name in names if entry.get(name)), "")


def _quote(words: str, config: EndpointConfig) -> str:
    """What the server says, unless a visitor chose the server: a visitor must not use us to read its answers."""
    return f" It says: “{words}”" if words and not config.of_visitor else ""
