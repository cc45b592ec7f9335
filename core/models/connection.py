"""One endpoint's state in this process: its HTTP client, its concurrency limit, and what has been learned of its
models by asking them.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary, WeakValueDictionary

from pydantic import TypeAdapter, ValidationError

from .. import home
from ..events import Frozen
from ..runs.fairness import FairSemaphore, current_leave
from ..text.reply import storable
from . import error_mapping, safe_http
from .settings import EndpointConfig, Extras

if TYPE_CHECKING:
    import openai


# What has been learned of a model by asking it: whether it thinks, what it refuses. Stored in the home, by address.


log = logging.getLogger(__name__)

MOST_ROOM = 32_000
"""The most tokens of room for thinking that are learned automatically."""

FIRST_ROOM = 4_000
"""Tokens of room that a model gets after an answer was all thinking, if nothing is known of how much it needs."""

ROOM_TO_TELL = 2_000
"""Tokens of room for one call whose text was cut before it showed whether it was thinking or an answer."""

_MOST_MODELS = 1_000
"""The most models in the file, since a server may name as many as it likes."""

Thinks = Literal["unknown", "no", "inline", "field", "hidden"]
"""Whether and where a model thinks before it answers: in its text (`inline`), in a field of its own, or hidden."""


class Traits(Frozen):
    """What is known of one model at one address."""

    thinks: Thinks = "unknown"
    refused: frozenset[str] = frozenset()
    """Parameters that the server refused; "blank stops" stands for stop sequences of only white space."""

    room: int = 0
    """Tokens for thinking that each call gets in addition to those of its answer."""

    system_role: bool = True
    """Whether it accepts a system turn. If not, that text is put before the first user turn."""


_KNOWN = TypeAdapter(dict[str, Traits])


class TraitsFile:
    """The traits of all models of a home, in one JSON file. If the file cannot be read or written, the app works
    without it.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[str, Traits] = {}
        self._read()

    def get(self, key: str) -> Traits:
        """What is known under `key`, the address and the model."""
        return self._known.get(key, Traits())

    def learn(self, key: str, **news: Any) -> Traits:
        """Store what is new about a model; returns its updated traits."""
        with self._lock:
            self._read()
            before = self.get(key)
            after = before.model_copy(update=news)
            if after != before and (key in self._known or len(self._known) < _MOST_MODELS):
                self._known[key] = after
                self._write()
            return after

    def _read(self) -> None:
        """Read what another process has learned."""
        if self._path is not None:
            with suppress(OSError, ValidationError):
                self._known |= _KNOWN.validate_json(self._path.read_bytes())

    def _write(self) -> None:
        if self._path is None or not self._path.parent.is_dir():
            return
        try:
            home.write(self._path, _KNOWN.dump_json(dict(sorted(self._known.items())), indent=1, exclude_defaults=True))
        except OSError as error:
            log.warning("%s cannot be written: %s", self._path, error)


# The HTTP client that asks an endpoint.


_CONNECTING_TIMEOUT = 10.0
"""Seconds until a server has to accept a connection."""


def open_client(config: EndpointConfig) -> openai.AsyncOpenAI:
    """A client for the endpoint, which belongs to the running event loop. The caller closes it."""
    import httpx2
    import openai

    # Their debug lines contain response headers, in which a careless server may repeat the key.
    for name in ("httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # The openai package reads these from the environment; they are meant only for OpenAI.
    omitted: Any = {} if config.at_openai else dict.fromkeys(("OpenAI-Organization", "OpenAI-Project"), openai.Omit())
    # A server on this machine may be silent for long while it works on other calls; the endpoint has its own time
    # limit.
    waits = None if config.on_this_machine else config.timeout
    timeout = openai.Timeout(config.timeout, connect=min(config.timeout, _CONNECTING_TIMEOUT), read=waits)
    trust_env = not (config.on_this_machine or config.of_visitor)
    return openai.AsyncOpenAI(
        api_key=config.secret or "none",
        base_url=config.base_url,
        admin_api_key="",
        default_headers=_plain(config.headers) | omitted | {"Accept-Encoding": safe_http.ACCEPTED},
        default_query=_plain(config.query),
        max_retries=0,
        timeout=timeout,
        # A proxy does not lead back to this machine.
        http_client=openai.DefaultAsyncHttpxClient(
            timeout=timeout,
            verify=safe_http.certificates(trust_env),
            trust_env=trust_env,
            transport=safe_http.public_transport() if config.of_visitor else None,
            event_hooks=safe_http.hooks(httpx2.URL(config.base_url)),
        ),
    )


def _plain(extras: Extras) -> dict[str, str]:
    return {name: value.get_secret_value() for name, value in extras}


# The names of the models that a server lists.


LISTING_TIMEOUT = 10.0
"""Seconds for getting the list of models."""

LONGEST_NAME = 200
"""The most characters of a model's name. A longer one is not listed."""

MOST_NAMES = 5_000
"""The most models of one server. The rest of the list is ignored."""


def list_models(config: EndpointConfig) -> list[str]:
    """The names of the server's models, sorted. Asks the server and waits for it: not for use on an event loop.

    Raises the errors of core.models.errors.
    """
    return asyncio.run(_list(config))


async def _list(config: EndpointConfig) -> list[str]:
    config = config.model_copy(update={"timeout": min(config.timeout, LISTING_TIMEOUT)})
    try:
        async with open_client(config) as client, asyncio.timeout(config.timeout):
            return await listed_names(client, config)
    except TimeoutError:
        raise error_mapping.timed_out(config, began=False) from None


async def listed_names(client: openai.AsyncOpenAI, config: EndpointConfig) -> list[str]:
    """The names of the server's models, asked for with an open client. Raises the errors of core.models.errors."""
    import openai

    try:
        reply = await client.models.with_raw_response.list(**_asked_for(config))
        return _names(json.loads(reply.text), config)
    except openai.OpenAIError as error:
        failure = error_mapping.of_error(error, config)
    except Exception as error:  # any error from parsing the reply, here or in a library, is the sender's fault
        what = str(error) if isinstance(error, safe_http.UnsafeResponseError) else "its list of models has another form"
        unreadable = ValueError(what)
        unreadable.__cause__ = error
        failure = error_mapping.of_error(unreadable, config)
    raise failure


def _asked_for(config: EndpointConfig) -> dict[str, Any]:
    """Extra headers and query parameters that some providers need for the list of their models."""
    import openai

    preset = config.known_server()
    if preset is None:
        return {}
    headers: dict[str, Any] = dict(preset.list_headers)
    if preset.list_key_header and config.secret:
        headers |= {preset.list_key_header: config.secret, "Authorization": openai.Omit()}
    return {"extra_headers": headers, "extra_query": dict(preset.list_query)}


def _names(reply: Any, config: EndpointConfig) -> list[str]:
    """The names in a reply: a list, bare or under a key, of names or of objects that have one. An empty list may be
    given as null. Raises ValueError for anything else.
    """
    if isinstance(reply, dict):
        lists = [reply[key] for key in ("data", "models", "result") if key in reply]
        if not lists or reply.get("error"):
            raise ValueError("no list")
        reply = lists[0] or []
    if not isinstance(reply, list):
        raise ValueError("no list")
    names = {name for entry in reply[:MOST_NAMES] if (name := _name(entry))}
    if reply and not names:
        raise ValueError("no names")
    return sorted({error_mapping.scrub(name, config) for name in names})


def _name(entry: Any) -> str:
    """The name in an entry of a list; empty if there is none that can be used."""
    names = [entry.get(key) for key in ("id", "name", "model")] if isinstance(entry, dict) else [entry]
    name = next((name for name in names if isinstance(name, str) and name.strip()), "")
    return storable(name) if len(name) <= LONGEST_NAME else ""


# The concurrency limit of one endpoint.


LESS = 0.8


class Throttle:
    """The limit is `begin` calls at first, and doubles, up to `most`, whenever that many calls were answered while
    others waited. A refusal (HTTP 429) lowers it to four fifths; from then on it grows by one each time that many
    calls were answered. Other failures change nothing. Nothing is sent before the time at which the server allows
    it.

    May be used from several event loops.
    """

    def __init__(self, begin: int, most: int) -> None:
        self.at_once = begin
        self.turns = FairSemaphore(begin)
        self._most = most
        self._refused = False
        self._answered = 0
        self._change = 0
        """How often the limit changed: calls sent before the last change do not change it again."""
        self._wait_until = 0.0
        self._lock = threading.Lock()

    @property
    def wait(self) -> float:
        """Seconds until the server allows the next call."""
        return max(0.0, self._wait_until - time.monotonic())

    async def open(self) -> int:
        """Wait as long as the server asked for; returns the value to pass as `sent` when the next call has ended.

        Raises CallsPausedError if calls of this task are withheld.
        """
        leave = current_leave()
        leave.check()
        while self.wait:
            await leave.sleep(self.wait)
            leave.check()
        return self._change

    def answered(self, sent: int) -> None:
        """Count an answer to a call; `sent` is the value that `open` returned."""
        with self._lock:
            if sent != self._change or self.at_once >= self._most or not self.turns.all_taken:
                return
            self._answered += 1
            if self._answered >= self.at_once:
                self._set(min(self._most, self.at_once + 1 if self._refused else self.at_once * 2))

    def refused(self, sent: int, wait: float | None) -> None:
        """Count a refusal of a call; `sent` is the value that `open` returned, `wait` the seconds that the server asks
        for.
        """
        with self._lock:
            self._wait_until = max(self._wait_until, time.monotonic() + (wait or 0))
            self._refused = True
            # Calls that were sent together and refused together count as one refusal.
            if sent == self._change:
                self._set(max(1, int(self.at_once * LESS)))

    def _set(self, at_once: int) -> None:
        self.at_once = at_once
        self._answered = 0
        self._change += 1
        self.turns.resize(at_once)


_QUEUE_LIMIT = 10
"""How many time limits a call may wait in the queue of a server on this machine while that server answers others."""

_DENSE, _THIN, _IMPOSSIBLE = 5, 10, 44
"""Characters per token: the most in a prompt that was counted whole, the least in one of which most was cut off, and
the least in one that no tokenizer could have counted.
"""


class Connection:
    """One endpoint, shared by all its models: its concurrency limit, and what has been learned of each model.

    May be used from several event loops. Its callers take turns.
    """

    def __init__(self, config: EndpointConfig, traits: TraitsFile | None = None) -> None:
        self.config = config
        self._traits = traits or TraitsFile(None)
        self._counts: set[str] = set()
        """The models for which the server has been seen to count prompt tokens."""

        self._queued: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[asyncio.Timeout, float]] = WeakKeyDictionary()
        """Calls that wait for their first piece, by event loop, each with the time at which its waiting ends in any
        case.
        """

        self.throttle = Throttle(*config.calls_at_once)
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, openai.AsyncOpenAI] = WeakKeyDictionary()

    def client(self) -> openai.AsyncOpenAI:
        """The client of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = open_client(self.config)
        return self._clients[loop]

    def traits(self, model: str) -> Traits:
        """What is known of a model."""
        return self._traits.get(f"{self.config.base_url} {model}")

    def learn(self, model: str, **news: Any) -> None:
        """Store what is new about a model."""
        self._traits.learn(f"{self.config.base_url} {model}", **news)

    def room(self, model: str) -> int:
        """Tokens for thinking, in addition to those of an answer: as set for the endpoint, or else as learned."""
        return self.traits(model).room if self.config.thinking_room is None else self.config.thinking_room

    @contextmanager
    def queued(self, limit: asyncio.Timeout) -> Iterator[Callable[[], None]]:
        """Count a call as waiting in the server's queue until it calls the function that it is given. While a server on
        this machine answers other calls, the waiting call's time limit starts again.
        """
        loop = asyncio.get_running_loop()
        waiting = self._queued.setdefault(loop, {})
        seconds = self.config.timeout

        def begin() -> None:
            if self.config.on_this_machine and waiting.pop(limit, None) is not None:
                limit.reschedule(loop.time() + seconds)
                for other, latest in waiting.items():
                    if not other.expired():
                        other.reschedule(min(loop.time() + seconds, latest))

        waiting[limit] = loop.time() + _QUEUE_LIMIT * seconds
        try:
            yield begin
        finally:
            waiting.pop(limit, None)

    def cut_prompt(self, model: str, characters: int, tokens: int | None) -> bool:
        """Whether the server read far less of a prompt than was sent, by the tokens that it counted."""
        if not tokens or characters < 400:
            return False
        if characters <= _DENSE * tokens:
            self._counts.add(model)
        return characters >= (_THIN if model in self._counts else _IMPOSSIBLE) * tokens

    async def close(self) -> None:
        """Close the running event loop's connections."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()


_open: WeakValueDictionary[tuple[EndpointConfig, Path | None], Connection] = WeakValueDictionary()
_opening = threading.Lock()


def connect(config: EndpointConfig, home: Path | None = None) -> Connection:
    """The process's one connection with these settings, so that all callers share its limit. What is learned of its
    models is stored in `home`, if given.
    """
    with _opening:
        connection = _open.get((config, home))
        if connection is None:
            path = home / "model_traits.json" if home and not config.of_visitor else None
            connection = _open[config, home] = Connection(config, TraitsFile(path))
        return connection
