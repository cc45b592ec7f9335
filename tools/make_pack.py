"""Makes a pack of the game from journals: `python -m tools.make_pack RUN… -o NAME.json` (docs/game.md)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from core import entry, home
from core.labs.base.lab import Lab
from core.report.game import making
from core.report.game.pack import MOST_CARDS, GamePackError, Pack, pack_text
from core.text.display import count_noun


class PackRequest(NamedTuple):
    """A pack to make: its name and title, its runs, the file of true answers, the most cards, the seed, and whether its
    cards are a random sample with nothing left out (`as_it_came`) or chosen.
    """

    name: str
    title: str
    runs: tuple[str, ...]
    truths: Path | None
    most: int
    seed: int
    as_it_came: bool


def make_pack(wanted: PackRequest, labs: Mapping[str, Lab], folders: Sequence[Path]) -> Pack:
    """Make the requested pack. Raises GamePackError."""
    kind = making.kind_of(wanted.runs, labs, folders)
    true = making.truths(wanted.truths) if wanted.truths else {}
    found = [one for run in wanted.runs for one in making.trials(run, labs, folders, true, wanted.seed)]
    most = min(wanted.most, MOST_CARDS)
    if wanted.as_it_came:
        cards = making.sample_cards(found, most, wanted.seed)
        how = f"{count_noun(len(cards), 'card')} sampled at random (seed {wanted.seed}), none left out,"
    else:
        fit = [one.card for one in found if not one.why and (one.card.truth or not true)]
        cards = making.choose_cards(fit, most, wanted.seed)
        how = (
            f"We chose {count_noun(len(cards), 'card')}, as balanced as possible in answers and outcomes, at most "
            f"{making.MOST_OF_ONE} of one question (seed {wanted.seed}),"
        )
    if not cards:
        raise GamePackError("None of these trials can be a card.")
    unread = sum(one.is_open for one in found)
    untrue = sum(not one.card.truth for one in found) if true else 0
    said = [
        f"{how} from {count_noun(len(found), 'trial')} of {count_noun(len(wanted.runs), 'run')}",
        f" ({unread} cannot be predicted)" if unread else "",
        f" ({untrue} without a true answer)" if untrue else "",
        f". {making.outcome_counts(cards)}",
        "" if wanted.as_it_came else " They are examples, not evidence.",
    ]
    return Pack.model_validate(
        {
            **{"name": wanted.name, "title": wanted.title, "kind": kind, "chosen": "".join(said)},
            **making.tally(found),
            **{"seed": wanted.seed, "as_it_came": wanted.as_it_came, "runs": wanted.runs, "cards": tuple(cards)},
            "truths": wanted.truths.name if wanted.truths else "",
        }
    )


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="NAME.json; NAME is the pack's")
@click.option("--title", default="", help="title of the pack (default: its name)")
@click.option(
    "--truths", type=click.Path(path_type=Path, exists=True), help="a file in data/questions with the correct answers"
)
@click.option("--most", type=click.IntRange(1, MOST_CARDS), default=MOST_CARDS, help="choose at most this many cards")
@click.option("--as-it-came", type=click.IntRange(1, MOST_CARDS), help="draw this many trials, leaving none out")
@click.option("--seed", type=int, default=0, help="seed of the draw (default: 0)")
def main(
    runs: tuple[str, ...],
    output: Path,
    title: str,
    truths: Path | None,
    most: int,
    as_it_came: int | None,
    seed: int,
) -> None:
    """Make a pack of the game from the trials of runs."""
    name = output.stem
    wanted = PackRequest(
        name, title or name, tuple(dict.fromkeys(runs)), truths, as_it_came or most, seed, as_it_came is not None
    )
    try:
        pack = make_pack(wanted, entry.labs(), (home.recordings(), home.journals(), home.priors()))
    except GamePackError as error:
        raise click.BadParameter(str(error)) from None
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(pack_text(pack), encoding="utf-8")
    except OSError as error:
        raise click.BadParameter(f"{output} cannot be written: {error.strerror or error}.") from None
    print(pack.chosen)
    print(f"{count_noun(len(pack.cards), 'card')} written to {output}")


if __name__ == "__main__":
    main()
