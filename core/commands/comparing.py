"""`compare`: compare two to five models, methods, runs or parsers on the items that they share."""

import json
from dataclasses import asdict
from typing import get_args
from urllib.parse import parse_qs

import click

from ..charts.marks import EXTRA
from ..report import comparison_text
from ..store import comparing, matching
from ..store.comparing import By
from ..store.matching import Match, NotComparableError
from .run_output import DONE, json_option, open_fresh_index


def add(commands: click.Group) -> None:
    """Add compare to the group `commands`, in place."""
    commands.add_command(_compare)


@click.command("compare", help="Compare two to five models, methods, runs or rules on the items that they share.")
@click.argument("of", nargs=-1, metavar="[NAME]...")
@click.option(
    "--by",
    default="model",
    show_default=True,
    help=f"what the names refer to: {', '.join(get_args(By))}, or {EXTRA}NAME for a column of your own file",
)
@click.option(
    "--within",
    default="",
    metavar="FILTER",
    help="only these results, filtered as in Browse's address: lab=find&how=aia",
)
@click.option(
    "--match",
    type=click.Choice(get_args(Match)),
    help="what rows must share: the starter question (whole), or the new one too (exact, default if available)",
)
@click.option(
    "--doubtful",
    is_flag=True,
    help="count results without a verdict, for example because the predictor failed its test",
)
@json_option("the comparison as a JSON object")
def _compare(of: tuple[str, ...], by: str, within: str, match: str | None, doubtful: bool, as_json: bool) -> int:
    query = {
        **parse_qs(within),
        "by": [by],
        "of": list(of),
        "match": [match or ""],
        "doubtful": ["1"] if doubtful else [],
    }
    with open_fresh_index() as store:
        try:
            found = comparing.compare_query(store, query)
        except NotComparableError as error:
            raise click.BadParameter(str(error)) from None
        names = [one.name for one in found.asked.subjects]
        sentences = comparison_text.sentences(found, matching.judged_of(store, found.asked.lab), names)
    if as_json:
        figures = {name: value for name, value in asdict(found).items() if name not in ("asked", "keys")}
        print(
            json.dumps(
                {"of": names, "lab": found.asked.lab, "match": found.asked.match, **sentences._asdict(), **figures}
            )
        )
    else:
        print("\n".join([sentences.headline, *sentences.chance, *sentences.left_out]))
    return DONE
