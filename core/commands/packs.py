"""`pack`: check packs of the game against their journals, and what people and models said about their cards."""

import asyncio
import json
import sys
from pathlib import Path

import click

from .. import entry, home, journal
from ..report.game import checking
from ..report.game.pack import GamePackError, read, shipped_packs
from ..report.game.people import table
from ..rooms import arguments, cards
from ..text.display import count_noun
from .run_output import DONE, WRONG, json_option
from .study_run import as_text


def add(commands: click.Group) -> None:
    """Add pack to the group `commands`, in place."""
    commands.add_command(_pack)


@click.group("pack", help="Packs of game cards: `pack check [FILE]…` compares them with their journals.")
def _pack() -> None:
    pass


@_pack.command("check", help="Compare packs with their journals. Exit code 1 if one differs.")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
def _check(files: tuple[Path, ...]) -> int:
    code = DONE
    for file in files or shipped_packs():
        try:
            pack = read(file)
        except GamePackError as error:
            print(error, file=sys.stderr)
            code = WRONG
            continue
        found = list(checking.faults(pack, entry.labs(), _folders()))
        for fault in found[: checking.MOST_SAID]:
            print(f"{file.name}: {fault}", file=sys.stderr)
        if len(found) > checking.MOST_SAID:
            print(f"{file.name}: and {len(found) - checking.MOST_SAID:,} more", file=sys.stderr)
        if found:
            code = WRONG
        else:
            print(f"{file.name}: {count_noun(len(pack.cards), 'card')}, as in the journals")
    return code


@_pack.command("people", help="What people guessed on the trials of packs, beside the machine's guesses.")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
@json_option("one cell per line, as a JSON object")
def _people(files: tuple[Path, ...], as_json: bool) -> int:
    try:
        packs = [read(file) for file in files or shipped_packs()]
    except GamePackError as error:
        raise click.BadParameter(str(error)) from None
    rows = table(packs, entry.labs(), _folders(), home.journals())
    if not rows and not as_json:
        print("Nobody has played these packs yet.")
    print(*([json.dumps(row, ensure_ascii=False) for row in rows] if as_json else as_text(rows)), sep="\n")
    return DONE


@_pack.command("argue", help="Write for and against: for each answer of a run two opposing arguments by its own model.")
@click.argument("name", metavar="RUN|PACK")
@click.option("--model", default="", help="the model that gave the answers (default: the run's)")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="a journal (default: the run's, for classes)")
def _argue(name: str, model: str, output: Path | None) -> int:
    run = journal.find(name, *_folders())
    begun = journal.first_event(run) if run else None
    model = model or str(begun.spec.get("model") or "" if begun else "")
    output = output or (arguments.path_of(home.journals(), name) if begun else None)
    if output is None or not model:
        raise click.BadParameter("Answers of a pack have no model and no journal of their own: give --model and -o.")
    try:
        found = cards.source(name if begun else "", name, entry.labs(), _folders()).cards
    except GamePackError as error:
        raise click.BadParameter(str(error)) from None
    answers = {(card.run, card.case) for card in found if arguments.can_be_argued(card)}
    made = asyncio.run(arguments.write(output, found, model, entry.catalog().get))
    print(f"For and against {len(answers & made.keys())} of {count_noun(len(answers), 'answer')} in {output}")
    return DONE


def _folders() -> tuple[Path, ...]:
    return home.recordings(), home.journals(), home.priors()
