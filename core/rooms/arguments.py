"""For and against: two opposing arguments that a model writes about its own answer, so that a class can see these
instead of its one reason. Each call is in a journal beside the run's, or in one that comes with the app.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from .. import journal
from ..events import CallError, Dropped, Frozen, Recorded, Sampling, Started
from ..journal import Journal
from ..package_data import DATA
from ..parsers.yes_no import yes_no
from ..report.game.pack import PackCard
from ..runs.context import CaseContext, Resolve, RunIO, RunState
from ..runs.engine import app_version, commit, versions
from ..runs.library import events_in
from ..text.display import first_sentence
from ..text.templates import load
from ..transcript import name_of

SHIPPED = DATA / "arguments"
"""The folder of the journals that come with the app."""

LONGEST = 320
"""Characters of an argument."""

_BESIDE = "~~arguments"
_OTHER = {"yes": "no", "no": "yes"}

Place = tuple[str, str]
"""A run and a case of it."""


class Arguments(Frozen):
    """An argument for a model's answer and one against it, both by that `model`."""

    model: str
    in_favour: Annotated[str, Field(min_length=1, max_length=LONGEST + 1)]
    against: Annotated[str, Field(min_length=1, max_length=LONGEST + 1)]


def known(runs: Iterable[str], folders: Sequence[Path]) -> dict[Place, Arguments]:
    """The arguments that were written about cases of these runs; a person's own come before those of the app."""
    found = _shipped()
    for run in set(runs):
        path = journal.find(f"{run}{_BESIDE}", *folders)
        found = found | (_read(path) if path is not None else {})
    return found


def path_of(folder: Path, run: str) -> Path:
    """The journal with the arguments about a run."""
    return journal.path_for(folder, f"{run}{_BESIDE}")


@lru_cache(maxsize=1)
def _shipped() -> dict[Place, Arguments]:
    return {place: made for path in sorted(SHIPPED.glob("*.jsonl")) for place, made in _read(path).items()}


def _read(path: Path) -> dict[Place, Arguments]:
    """The arguments in a journal, without those that were excluded after somebody had read them."""
    found: dict[Place, Arguments] = {}
    for event in events_in(path):
        if not isinstance(event, Recorded | Dropped):
            continue
        place = event.item, event.case.removeprefix(f"{event.item}/")
        if isinstance(event, Dropped):
            found.pop(place, None)
        elif event.record == name_of(Arguments):
            with suppress(ValidationError):
                found[place] = Arguments.model_validate(event.data)
    return found


def can_be_argued(card: PackCard) -> bool:
    """Whether the card is about an answer that has one opposite."""
    return card.claim is not None and card.claim.answer.lower() in _OTHER


async def write(path: Path, cards: Iterable[PackCard], model: str, resolve: Resolve) -> Mapping[Place, Arguments]:
    """Ask `model`, which gave these answers, for an argument for each and one against it, two calls an answer, and keep
    calls and arguments in the journal `path`; what it holds is not asked again. Returns the arguments of all. An answer
    has none if a call fails, or if an argument is for the other side. Raises JournalInUseError and JournalFullError.
    """
    about = {(card.run, card.case): card for card in cards if can_be_argued(card)}
    with Journal(path) as written:
        run_state = RunState(path.stem, RunIO(resolve, written.append, live=False), events_in(path))
        if run_state.transcript.started is None:
            run_state.publish(_started(path))
        for (run, case), card in about.items():
            assert card.claim is not None
            context = CaseContext(run_state, f"{run}/{case}")
            answer = card.claim.answer.lower()
            try:
                sides = [await _argument(context, card.title, side, model) for side in (answer, _OTHER[answer])]
            except CallError:
                continue
            if all(sides) and sides[0] != sides[1]:
                context.record(Arguments(model=model, in_favour=sides[0], against=sides[1]), run)
    return _read(path)


def _started(path: Path) -> Started:
    prompt = load("rooms/argue")
    return Started(
        run=path.stem,
        lab=name_of(Arguments),
        spec={},
        seed=0,
        about=path.stem.removesuffix(_BESIDE),
        prompts={prompt.id: prompt.hash},
        versions=versions(),
        app=app_version(),
        commit=commit(),
    )


async def _argument(context: CaseContext, question: str, side: str, model: str) -> str:
    """The argument for that side in one line, empty if it is for the other. Raises CallError."""
    prompt = load("rooms/argue").render(question=question, answer=side)
    answered = await context.ask("advocate", prompt, model, sampling=Sampling(max_tokens=90), item=side)
    line = " ".join(answered.text[:4_000].split())
    if yes_no(line) == _OTHER[side]:
        return ""
    return line if len(line) <= LONGEST else first_sentence(line, LONGEST)
