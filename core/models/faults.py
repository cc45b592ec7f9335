"""From whatever went wrong on the way to a server, to an error that a person can act on."""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from core.events import CallFailed
from core.models import guard
from core.models.errors import RateLimited, failure
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


def scrub(text: str, secret: str) -> str:
    """`text` without the key, should a server repeat it."""
    return text.replace(secret, "[key]") if secret else text


def of_error(error: Exception, config: EndpointConfig, model: str = "") -> CallFailed:
    """The failure behind an exception that the openai package, or reading what it returned, has raised."""
    import openai

    if isinstance(error.__cause__, guard.NotPublic):
        return failure("not_public", base_url=config.base_url, why=error.__cause__)
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, config, model)
    if isinstance(error, openai.APIConnectionError):
        return _of_connection(error, config)
    if isinstance(error, openai.APIError) and isinstance(error.body, dict):
        words = _said(error.body, config)
        known = _of_words(words, f"{error.code} {error.type} {words}", config, model)
        return known or failure("failed_midway", name=config.name, said=_quote(words, config))
    what = "" if config.of_visitor else str(error)
    return malformed(config, what or "what came back is not JSON, or not a reply of the OpenAI API")


def malformed(config: EndpointConfig, what: str) -> CallFailed:
    """The failure for a reply of which `what` says why it cannot be read."""
    return failure("malformed", name=config.name, base_url=config.base_url, what=what)


def timed_out(config: EndpointConfig, began: bool) -> CallFailed:
    """`began`: whether part of the answer had come."""
    what = "had not finished its answer" if began else "had not answered"
    return failure("timed_out", name=config.name, what=what, timeout=config.timeout)


def still_refused(config: EndpointConfig, wait: float) -> CallFailed:
    """The failure of a call that was not sent, for the server said to wait so many more seconds."""
    return _to_wait(failure("still_refused", name=config.name, wait=wait), wait)


def _to_wait(refused: CallFailed, wait: float | None) -> CallFailed:
    assert isinstance(refused, RateLimited)
    refused.wait = wait
    return refused


def filtered(config: EndpointConfig, words: str = "") -> CallFailed:
    """The failure for an answer that a content filter withheld; `words` are the server's own."""
    return failure("filtered", name=config.name, said=_quote(words, config))


def no_such_model(config: EndpointConfig, model: str, names: Iterable[str], words: str = "") -> CallFailed:
    """`names` are the server's models, as far as they are known; the hint gives the nearest."""
    hint = did_you_mean(model, sorted(names))
    if not hint:
        preset = config.known_server()
        hint = (
            f"Fetch it: `ollama pull {model}`."
            if preset is not None and preset.title == "Ollama"
            else "Press Test connection on the Models page to see which models the server has."
        )
    return failure("no_such_model", name=config.name, model=model, said=_quote(words, config), hint=hint)


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


def refused_tools(error: openai.APIStatusError, config: EndpointConfig, model: str) -> CallFailed | None:
    """The failure behind an answer to a call with tools that complains of these; None where it does not.

    Servers put it in many ways: "does not support tools", "tool choice requires --enable-auto-tool-choice" (vLLM),
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
            return max(0.0, float(headers[name]) / unit)
    with suppress(KeyError, ValueError):
        # By the server's own clock, where it tells that: ours may be years away.
        until, now = parsedate_to_datetime(headers["retry-after"]), time.time()
        with suppress(KeyError, ValueError):
            now = parsedate_to_datetime(headers["date"]).timestamp()
        return max(0.0, until.timestamp() - now)
    return None


def _of_status(error: openai.APIStatusError, config: EndpointConfig, model: str) -> CallFailed:
    status = error.status_code
    words = _said(error.body, config)
    text = f"{error.code} {error.type} {words}"
    told = {"name": config.name, "status": status, "said": _quote(words, config)}
    if status in (401, 403):
        return failure("wrong_key" if config.secret else "no_key", **told)
    if status == 429:
        wait = retry_after(error.response.headers)
        if wait is None and _NO_CREDIT.search(text):
            return failure("no_credit", **told)
        long = f"{wait:.0f} seconds" if wait else "a minute"
        return _to_wait(failure("too_many", **told, long=long), wait)
    if status >= 500 or status in (408, 409):
        return failure("server_fault", **told)
    if (known := _of_words(words, text, config, model)) is not None:
        return known
    if status in (404, 405):
        return failure("no_api", base_url=config.base_url, status=status)
    return failure("refused", **told)


def _of_words(words: str, text: str, config: EndpointConfig, model: str) -> CallFailed | None:
    """Failures that servers report under several HTTP codes, known by their words or error code."""
    if _TOO_LONG.search(text):
        return failure("too_long", model=model or config.name, said=_quote(words, config))
    if _FILTERED.search(text):
        return filtered(config, words)
    if _NO_MODEL.search(text):
        return no_such_model(config, model, config.models, words)
    return None


def _of_connection(error: openai.APIConnectionError, config: EndpointConfig) -> CallFailed:
    import httpx2
    import openai

    cause = error.__cause__
    if isinstance(cause, guard.Unsafe):
        return malformed(config, str(cause))
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.UnsupportedProtocol):
        preset = config.known_server()
        start = (
            preset.start
            if preset
            else "Start the server, or correct the address (machine and port) on the Models page."
        )
        return failure("nothing_listens", base_url=config.base_url, start=start)
    if isinstance(error, openai.APITimeoutError):
        return timed_out(config, began=False)
    cut = malformed(config, "the connection was cut before the answer was whole")
    cut.may_pass = True
    return cut


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
