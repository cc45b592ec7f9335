"""`pack` and `game`: check packs of the game against their journals, what people and models said about their cards, and
the game as a file.
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from .. import entry, home, journal
from ..labs.base.lab import Lab
from ..report import standalone_html
from ..report.game import making
from ..report.game.pack import GamePackError, Pack, load_pack, read, shipped_packs
from ..rooms import arguments, cards
from ..studies import paper_tables, tables
from ..studies.plan import Planned, Study, TableOf
from ..studies.table_cells import Row
from ..text.display import count_noun
from .run_output import DONE, FILE, WRONG, json_option, new_file
from .study import as_text

# What people guessed about the trials of packs, in the same tables as a study's of what people say.


def table(packs: Sequence[Pack], labs: Mapping[str, Lab], folders: Sequence[Path], said: Path) -> list[Row]:
    """The cells of the labs' tables of what people say, for the runs of these packs, which are in `folders`; empty if
    nobody said anything. `said` is the folder of what people said.
    """
    import pandas as pd

    by_folder: dict[Path, dict[str, Planned]] = {}
    for run in dict.fromkeys(run for pack in packs for run in pack.runs):
        path = journal.find(run, *folders)
        begun = journal.first_event(path) if path else None
        if path is None or begun is None or begun.lab not in labs:
            continue
        lab = labs[begun.lab]
        by_folder.setdefault(path.parent, {})[run] = Planned(run, lab, lab.spec.model_validate(begun.spec))
    asked = [(lab, one) for lab in labs.values() for one in lab.studies.tables if one.of_people]
    kinds = tuple(TableOf(kind=one.kind) for _, one in asked)
    frames = [
        tables.measured(
            Study(name="packs", title="", about="", controls=(), runs=tuple(runs.values()), tables=kinds),
            labs,
            folder,
            said=said,
        )
        for folder, runs in by_folder.items()
    ]
    if not frames:
        return []
    frame = pd.concat(frames, ignore_index=True)
    made = [cell for lab, one in asked if len(one.cases(frame)) for cell in paper_tables.table_cells(one, lab, frame)]
    return [{name: value for name, value in cell.items() if name != "behind"} for cell in made]


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
        found = list(making.faults(pack, entry.labs(), _folders()))
        for fault in found[: making.MOST_SAID]:
            print(f"{file.name}: {fault}", file=sys.stderr)
        if len(found) > making.MOST_SAID:
            print(f"{file.name}: and {len(found) - making.MOST_SAID:,} more", file=sys.stderr)
        if found:
            code = WRONG
        else:
            print(f"{file.name}: {count_noun(len(pack.cards), 'card')}, as in the journals")
    return code


@_pack.command("people", help="Compare people's guesses on the trials of packs with the machine's.")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
@json_option("one cell per line, as a JSON object")
def _people(files: tuple[Path, ...], as_json: bool) -> int:
    packs = [read(file) for file in files or shipped_packs()]
    rows = table(packs, entry.labs(), _folders(), home.journals())
    if not rows and not as_json:
        print("Nobody has played these packs yet.")
    print(*([json.dumps(row, ensure_ascii=False) for row in rows] if as_json else as_text(rows)), sep="\n")
    return DONE


@_pack.command("argue", help="Have the model of a run write two opposing arguments for each of its answers.")
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
    found = cards.source(name if begun else "", name, entry.labs(), _folders()).cards
    answers = {(card.run, card.case) for card in found if arguments.can_be_argued(card)}
    made = asyncio.run(arguments.write(output, found, model, entry.catalog().get))
    print(f"For and against {len(answers & made.keys())} of {count_noun(len(answers), 'answer')} in {output}")
    return DONE


def _folders() -> tuple[Path, ...]:
    return home.recordings(), home.journals(), home.priors()


# `game`: write the card game as a file.


@click.command("game", help="Write the game as one HTML file that can be played anywhere, without a network.")
@click.option("-o", "--output", "file", default="game.html", type=FILE, help="the file")
@click.option(
    "--pack", "name", default=standalone_html.FIRST, help="a pack that comes with the app, or your own NAME.json"
)
def _game(file: Path, name: str) -> int:
    pack = read(Path(name)) if name.endswith(".json") else load_pack(name)
    with new_file(file) as target:
        target.write(standalone_html.game_html(pack))
    print(f"The game with {count_noun(len(pack.cards), 'card')} of {pack.name} written to {file}")
    return DONE


COMMANDS = _pack, _game
