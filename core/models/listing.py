"""The names of the models that a server lists."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from core.models import faults, guard
from core.models.client import open_client
from core.models.settings import EndpointConfig
from core.text.reply import storable

if TYPE_CHECKING:
    import openai

LISTING_TIMEOUT = 10.0
"""Seconds for the list of models."""

LONGEST_NAME = 200
"""Characters of a model's name. A longer one is not listed."""


def list_models(config: EndpointConfig) -> list[str]:
    """The names of the server's models, sorted. Asks the server, and waits for it: not for use on an event loop.

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
    raise faults.timed_out(config, began=False)


async def listed_names(client: openai.AsyncOpenAI, config: EndpointConfig) -> list[str]:
    """The same over a client that is open. Raises the errors of core.models.errors."""
    import openai

    try:
        reply = await client.models.with_raw_response.list()
        return _names(json.loads(reply.text), config.secret)
    except openai.OpenAIError as error:
        failure = faults.of_error(error, config)
    except Exception as error:  # whatever reading what was sent provokes, here or in the libraries, is the sender's
        unreadable = ValueError(str(error) if isinstance(error, guard.Unsafe) else "its list of models has another form")
        unreadable.__cause__ = error
        failure = faults.of_error(unreadable, config)
    raise failure


def _names(reply: Any, secret: str) -> list[str]:
    names = (storable(faults.scrub(str(model["id"]), secret)) for model in reply["data"])
    return sorted(name for name in names if len(name) <= LONGEST_NAME)
