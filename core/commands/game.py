"""`game`: write the card game as a file."""

from pathlib import Path

import click

from ..report.game import page
from ..report.game.pack import GamePackError, Pack, load_pack, read
from ..text.display import count_noun
from .run_output import DONE


def add(commands: click.Group) -> None:
    """Add game to the group `commands`, in place."""
    commands.add_command(_game)


@click.command("game", help="Write the game as one HTML file that can be played anywhere, without a network.")
@click.option(
    "-o", "--output", "file", default="game.html", type=click.Path(path_type=Path, dir_okay=False), help="the file"
)
@click.option("--pack", "name", default=page.FIRST, help="a pack that comes with the app, or your own NAME.json")
def _game(file: Path, name: str) -> int:
    if file.exists():
        raise click.BadParameter(f"{file} already exists: choose another name.")
    try:
        pack = _pack(name)
    except GamePackError as error:
        raise click.BadParameter(str(error)) from None
    try:
        file.write_bytes(page.html(pack))
    except OSError as error:
        raise click.BadParameter(f"{file} cannot be written: {error.strerror or error}.") from None
    print(f"The game with {count_noun(len(pack.cards), 'card')} of {pack.name} written to {file}")
    return DONE


def _pack(name: str) -> Pack:
    return read(Path(name)) if name.endswith(".json") else load_pack(name)
