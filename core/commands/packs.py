"""`pack`: make packs of the game from journals, and check packs against their journals."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import click
from click import Context

from .. import entry, home, journal
from ..report.game import checking, making
from ..report.game.making import PackRequest
from ..report.game.pack import MOST_CARDS, GamePackError, pack_text, read, shipped_packs
from ..report.game.people import table
from ..rooms import arguments, cards
from ..text.plurals import count_noun
from .run_output import DONE, WRONG, json_option
from .study_run import as_text


class _Pack(click.Group):
    """A group in which `pack RUN…` means `pack make RUN…`; its other commands are named."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "--help"):
            args = ["make", *args]
        return super().parse_args(ctx, args)


def add(commands: click.Group) -> None:
    """Add pack to the group `commands`, in place."""
    commands.add_command(_pack)


@click.group(
    "pack",
    cls=_Pack,
    help="Packs of game cards: `pack RUN… -o FILE` makes one, `pack check [FILE]…` compares it with its journals.",
)
def _pack() -> None:
    pass


@_pack.command("make", help="Make a pack from the trials of runs (`pack RUN…` does the same).")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="NAME.json; NAME is the pack's")
@click.option("--title", default="", help="title of the pack (default: its name)")
@click.option(
    "--truths", type=click.Path(path_type=Path, exists=True), help="a file in data/questions with the correct answers"
)
@click.option("--most", type=click.IntRange(1, MOST_CARDS), default=MOST_CARDS, help="choose at most this many cards")
@click.option("--as-it-came", type=click.IntRange(1, MOST_CARDS), help="draw this many trials, leaving none out")
@click.option("--seed", type=int, default=0, help="seed of the draw (default: 0)")
def _make(
    runs: tuple[str, ...],
    output: Path,
    title: str,
    truths: Path | None,
    most: int,
    as_it_came: int | None,
    seed: int,
) -> int:
    name = output.stem
    wanted = PackRequest(
        name, title or name, tuple(dict.fromkeys(runs)), truths, as_it_came or most, seed, as_it_came is not None
    )
    try:
        pack = making.make_pack(wanted, entry.labs(), _folders())
    except GamePackError as error:
        raise click.BadParameter(str(error)) from None
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(pack_text(pack), encoding="utf-8")
    except OSError as error:
        raise click.BadParameter(f"{output} cannot be written: {error.strerror or error}.") from None
    print(pack.chosen)
    print(f"{count_noun(len(pack.cards), 'card')} written to {output}")
    return DONE


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
