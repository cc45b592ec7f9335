"""A pack made of journals: each trial that was recorded as a card, and those that are chosen or drawn."""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from ... import journal
from ...labs.base.cases import DIFFERED
from ...labs.base.lab import Lab
from ...package_data import DATA
from ...runs.library import of_today
from ...text.plurals import counted
from ...transcript import transcript
from .. import scenes
from .pack import MOST_CARDS, BadPack, Going, Pack, PackCard

# Which cards make a pack, and in which order: by chance that is the same on every machine.


MOST_OF_ONE = 2
"""Cards of one question, in a pack that was chosen."""

MOST_ALIKE = 3
"""Cards in a row with the same answer, or of the same outcome."""

GOINGS: tuple[Going, ...] = ("comes true", "misleads", "does not say")
_TRIES = 200


def chosen(cards: Sequence[PackCard], most: int, seed: int) -> list[PackCard]:
    """At most `most` of the cards, in order: as many as can be of each answer and each outcome, at most MOST_OF_ONE of
    one question, and never more than MOST_ALIKE alike in a row.
    """
    chance = random.Random(seed)
    left = chance.sample(list(cards), len(cards))
    taken: list[PackCard] = []
    while left and len(taken) < most:
        said = Counter(one.card.said for one in taken)
        goings = Counter(one.going for one in taken)
        cells = Counter((one.going, one.card.said) for one in taken)
        of_one = Counter(one.question for one in taken)
        left = [one for one in left if of_one[one.question] < MOST_OF_ONE]
        if not left:
            break
        next_one = min(left, key=lambda one: (goings[one.going] + said[one.card.said], cells[one.going, one.card.said]))
        left.remove(next_one)
        taken.append(next_one)
    while taken and not (order := ordered(taken, chance)):
        # What came last is what there was too much of.
        taken.pop()
    return order if taken else []


def ordered(cards: Sequence[PackCard], chance: random.Random) -> list[PackCard]:
    """The cards in an order that gives no pattern, two of one question apart where that can be; none where there is no
    such order.
    """
    for apart in (1, MOST_ALIKE):
        for _ in range(_TRIES):
            order: list[PackCard] = []
            left = chance.sample(list(cards), len(cards))
            while left:
                fitting = (one for one in left if not _is_pattern([*order[-MOST_ALIKE:], one], apart))
                if (next_one := next(fitting, None)) is None:
                    break
                left.remove(next_one)
                order.append(next_one)
            if not left:
                return order
    return []


def _is_pattern(cards: Sequence[PackCard], apart: int = MOST_ALIKE) -> bool:
    return (
        longest([one.card.said for one in cards]) > MOST_ALIKE
        or longest([one.going for one in cards]) > MOST_ALIKE
        or longest([one.question for one in cards]) > apart
    )


def longest(words: Sequence[object]) -> int:
    """The most of the same in a row."""
    return max((len(list(same)) for _, same in groupby(words)), default=0)


def has_pattern(cards: Sequence[PackCard]) -> bool:
    """Whether more than MOST_ALIKE in a row have the same answer, or come to the same."""
    return _is_pattern(cards)


def counts(cards: Sequence[PackCard]) -> str:
    """How many come to what, and how often which answer came."""
    goings = Counter(one.going for one in cards)
    said = Counter(one.card.options.get(one.card.said, one.card.said) for one in cards)
    true, wrong, silent = (goings[one] for one in GOINGS)
    of_said = ", ".join(f"{n} {word}" for word, n in sorted(said.items()))
    return (
        f"On {true} the reason predicts the answer, on {wrong} it misleads, on {silent} it doesn't tell. "
        f"Answers: {of_said}."
    )


QUESTIONS = DATA / "questions"

LARGEST = 1_000_000
"""Bytes of a file of true answers."""

Truths = Mapping[str, str]
"""True answers by the question, as `asked` writes it."""


class TrialCard(NamedTuple):
    """A recorded trial as a card, whether it was annotated, why it is no card of a pack that is chosen, and whether
    nothing about it can be predicted.
    """

    card: PackCard
    annotated: bool
    why: str
    is_open: bool


def asked(question: str) -> str:
    """A question as it is looked up."""
    return " ".join(question.split()).casefold()


def truths(path: Path) -> Truths:
    """The true answers of a file of questions: each `[[question]]` has `question` and `gold`, and each of its
    `follow_ups` too. Raises BadPack.
    """
    found: dict[str, str] = {}
    try:
        if path.stat().st_size > LARGEST:
            raise BadPack(f"{path.name} is too large: true answers take at most {LARGEST:,} bytes.")
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["question"]:
            for one in (entry, *entry.get("follow_ups", ())):
                found[asked(one["question"])] = _word(one["gold"])
    except (OSError, UnicodeDecodeError, RecursionError, tomllib.TOMLDecodeError) as error:
        raise BadPack(f"{path} cannot be read: {error}") from None
    except (KeyError, TypeError, AttributeError):
        raise BadPack(f"{path.name} has a question without its words or its true answer.") from None
    return found


def _word(gold: object) -> str:
    return ("yes" if gold else "no") if isinstance(gold, bool) else str(gold)


def trials(run: str, labs: Mapping[str, Lab], folders: Sequence[Path], true: Truths, seed: int) -> Iterator[TrialCard]:
    """The run's trials that were recorded, in order. Raises BadPack where there is no such run, or no game of it."""
    path = journal.found(run, *folders)
    if path is None:
        raise BadPack(f"There is no run named {run!r}.")
    with of_today():
        state = transcript(journal.read(path).events)
    lab = labs.get(state.started.lab) if state.started and not state.started.about else None
    if lab is None or lab.cards is None:
        raise BadPack(f"There is no game of {run}.")
    for case in sorted(state.cases, key=lambda one: state.cases[one].number):
        scene = scenes.of_case(lab, state, case)
        for one in lab.cards(lab.view(state.case(case)), scene, seed):
            doubt = one.card.doubt or one.why
            card = one.card if doubt == one.card.doubt else one.card.model_copy(update={"doubt": doubt})
            made = PackCard(
                run=run,
                case=case,
                who=one.who or scene.who,
                title=one.title or scene.title,
                claim=one.claim and one.claim.model_copy(update={"thinking": ()}),
                card=card,
                truth=true.get(asked(one.asked), ""),
                after=one.after,
            )
            yield TrialCard(made, one.annotated, one.why, one.is_open)


def kind_of(runs: Sequence[str], labs: Mapping[str, Lab], folders: Sequence[Path]) -> str:
    """The game of these runs. Raises BadPack where they are of several labs."""
    kinds = set()
    for run in runs:
        path = journal.found(run, *folders)
        with of_today():
            begun = journal.begun(path) if path else None
        if begun is None or begun.lab not in labs:
            raise BadPack(f"There is no run named {run!r}.")
        kinds.add(labs[begun.lab].path)
    if len(kinds) != 1:
        raise BadPack(f"A pack is of one lab; these runs are of {', '.join(sorted(kinds)) or 'none'}.")
    return kinds.pop()


class PackRequest(NamedTuple):
    """What a pack is called, from which runs, with whose true answers, how many cards, drawn by which seed, and whether
    as it came.
    """

    name: str
    title: str
    runs: tuple[str, ...]
    truths: Path | None
    most: int
    seed: int
    as_it_came: bool


def make(wanted: PackRequest, labs: Mapping[str, Lab], folders: Sequence[Path]) -> Pack:
    """The pack that is wanted. Raises BadPack."""
    kind = kind_of(wanted.runs, labs, folders)
    true = truths(wanted.truths) if wanted.truths else {}
    found = [one for run in wanted.runs for one in trials(run, labs, folders, true, wanted.seed)]
    most = min(wanted.most, MOST_CARDS)
    if wanted.as_it_came:
        cards = drawn(found, most, wanted.seed)
        how = f"{counted(len(cards), 'card')} sampled at random (seed {wanted.seed}), none left out,"
    else:
        fit = [one.card for one in found if not one.why and (one.card.truth or not true)]
        cards = chosen(fit, most, wanted.seed)
        how = (
            f"We chose {counted(len(cards), 'card')}, as balanced as possible in answers and outcomes, at most "
            f"{MOST_OF_ONE} of one question (seed {wanted.seed}),"
        )
    if not cards:
        raise BadPack("None of these trials can be a card.")
    unread = sum(one.is_open for one in found)
    untrue = sum(not one.card.truth for one in found) if true else 0
    said = [
        f"{how} from {counted(len(found), 'trial')} of {counted(len(wanted.runs), 'run')}",
        f" ({unread} cannot be predicted)" if unread else "",
        f" ({untrue} without a true answer)" if untrue else "",
        f". {counts(cards)}",
        "" if wanted.as_it_came else " They are examples, not evidence.",
    ]
    return Pack.model_validate(
        {
            **{"name": wanted.name, "title": wanted.title, "kind": kind, "chosen": "".join(said)},
            **tally(found),
            **{"seed": wanted.seed, "as_it_came": wanted.as_it_came, "runs": wanted.runs, "cards": tuple(cards)},
            "truths": wanted.truths.name if wanted.truths else "",
        }
    )


def drawn(found: Sequence[TrialCard], most: int, seed: int) -> list[PackCard]:
    """So many of the trials as they came, by `seed`; those of which nothing can be foretold are none."""
    cards = [one.card for one in found if not one.is_open]
    return random.Random(seed).sample(cards, min(most, len(cards)))


def tally(found: Sequence[TrialCard]) -> dict[str, int]:
    """How many trials were recorded and annotated, and on how many those who annotated them differed."""
    return {
        "recorded": len(found),
        "annotated": sum(one.annotated for one in found),
        "differed": sum(one.annotated and one.why == DIFFERED for one in found),
    }
