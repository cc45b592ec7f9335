"""The HTTP client that asks an endpoint."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from . import safe_http
from .settings import EndpointConfig, Extras

if TYPE_CHECKING:
    import openai

_CONNECTING_TIMEOUT = 10.0
"""Seconds until a server has to accept a connection."""


def open_client(config: EndpointConfig) -> openai.AsyncOpenAI:
    """A client for the endpoint, which belongs to the running event loop. The caller closes it."""
    import httpx2
    import openai

    # Their debug lines hold the headers of replies, where a careless server may repeat the key.
    for name in ("httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # Of the environment, and meant for OpenAI alone.
    omitted: Any = {} if config.at_openai else dict.fromkeys(("OpenAI-Organization", "OpenAI-Project"), openai.Omit())
    # Behind other calls a server on this machine may send nothing for long; the endpoint keeps the time.
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
            transport=safe_http.public_only() if config.of_visitor else None,
            event_hooks=safe_http.hooks(httpx2.URL(config.base_url)),
        ),
    )


def _plain(extras: Extras) -> dict[str, str]:
    return {name: value.get_secret_value() for name, value in extras}
