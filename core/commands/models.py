"""`models` lists what can be asked; `models try` finds out what one of them accepts."""

import asyncio
import json
import sys

import click

from .. import entry, home
from ..events import Model
from ..models import capabilities
from ..models.capabilities import Capabilities
from ..models.endpoint import Endpoint
from .run_output import DONE, UNREACHABLE, aligned, json_option

_MARKS = {True: "yes", False: "no", None: "-"}


@click.group("models", invoke_without_command=True, help="List the models, or try one.")
@json_option("one model per line")
@click.pass_context
def _models(context: click.Context, as_json: bool) -> int:
    if context.invoked_subcommand is not None:
        return DONE
    for info in entry.catalog().describe():
        if as_json:
            print(json.dumps(info.model_dump(mode="json")))
        else:
            print(f"{info.id:<28} {info.about}{f' ({info.needs})' if info.needs else ''}")
    return DONE


@_models.command("try", help="Make at most six small calls to a model, and say what it accepts.")
@click.argument("model_id", metavar="ID")
@json_option("the result as a JSON object")
def _try(model_id: str, as_json: bool) -> int:
    model = entry.catalog().get(model_id)
    found = asyncio.run(_find(model, quiet=as_json))
    capabilities.save_capabilities(found, model, home.home())
    inner = capabilities.unwrapped(model)
    room = inner.connection.room(inner.model) if isinstance(inner, Endpoint) else 0
    if as_json:
        print(found.model_dump_json())
    else:
        print(f"{found.model} · {capabilities.summary(found)}")
        lines = [(_MARKS[row.holds], row.title, row.detail) for row in capabilities.rows(found, room)]
        print(*(f"  {line}" for line in aligned(lines)), sep="\n")
    return DONE if found.answers else UNREACHABLE


async def _find(model: Model, quiet: bool) -> Capabilities:
    try:
        return await capabilities.find_capabilities(
            model, lambda what: None if quiet else print(f"Asking: {what}", file=sys.stderr)
        )
    finally:
        if isinstance(inner := capabilities.unwrapped(model), Endpoint):
            await inner.connection.close()


COMMANDS = (_models,)
