"""The HTTP client that asks an endpoint."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any

from ..text.reply import storable
from . import error_mapping, safe_http
from .settings import EndpointConfig, Extras

if TYPE_CHECKING:
    import openai

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
    client = open_client(config)
    try:
        async with asyncio.timeout(config.timeout):
            return await listed_names(client, config)
    except TimeoutError:
        pass
    finally:
        await client.close()
    raise error_mapping.timed_out(config, began=False)


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
