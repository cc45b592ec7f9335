"""A dial that can fail: how often intervals hold what must be read, and how often something worthless seems to gain.

    python -m benchmarks.dial --draws 200      # about an hour, with robots alone

Each draw is a run of its own: other rules or items that the robot keeps to, other questions, other errors of the
predictor, other words (the noisy robots of `controls.py`).
"""

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from math import comb, fsum, prod
from statistics import fmean
from unittest.mock import patch

from core.events import Event, Model, Recorded, Scored
from core.labs.ask.controls import KINDS, NoisyAsk, WorthlessAsk
from core.labs.ask.lab import LAB as ASK
from core.labs.ask.tasks import CONTROL_ARMS, AskSpec
from core.labs.base.lab import Lab
from core.labs.base.spec import Spec
from core.labs.check import mask
from core.labs.check.controls import CheckDial
from core.labs.check.controls import NoisyCheck as NoisyLexicon
from core.labs.check.controls import worthless as worthless_lexicons
from core.labs.check.lab import LAB as CHECK
from core.labs.check.tasks import CheckSpec, Task
from core.labs.probe.controls import NoisyProbe as NoisyProbe
from core.labs.probe.lab import LAB as PROBE
from core.labs.probe.tasks import ProbeSpec
from core.models.robot import Erring
from core.runs.engine import RunIO, RunRequest, execute
from core.statistics.intervals import Interval, interval_of_items
from core.transcript import transcript

GUESSES = ("yes", "no")
TASKS: tuple[Task, ...] = ("sentiment", "multi_choice", "entailment")

SPLIT = "Can a cat climb trees?"
"""A question about a kind of which as many can as cannot, so that no fixed guess is good."""

BEGIN = 1000
"""Draws from here on are no robots of the app."""


def played(lab: Lab, spec: Spec, robot: Model) -> list[Event]:
    """The events of a run in which `robot` plays all roles."""
    events: list[Event] = []
    asyncio.run(execute(RunRequest(lab, spec, "r"), RunIO(lambda model: robot, events.append)))
    return events


def values(events: Sequence[Event], metric: str) -> dict[str, float]:
    """A figure of each case that has it, with the updated parser, by case."""
    return {
        event.case: event.value
        for event in events
        if isinstance(event, Scored) and event.case and event.value is not None
        if (event.metric, event.rules, event.item) == (metric, "repaired", "")
    }


def ask(share: float, draw: int, limit: int = 40) -> tuple[Interval, float]:
    """What Ask reads of a noisy dial, and what it must read."""
    robot = NoisyAsk(share, draw)
    spec = AskSpec(
        dataset="world", limit=limit, counterfactuals=3, model=robot.id, seed=draw, arms=("explanation",), exam=False
    )
    return interval_of_items([*values(played(ASK, spec, robot), "precision").values()]), robot.must_read


def check(share: float, draw: int) -> tuple[Interval, float]:
    """What Check reads of a noisy dial, over the shipped items of all tasks that can count, and what it must read."""
    robot = NoisyLexicon(share, draw)
    read, can_count = _faithfulness(robot, draw), _can_count()
    return interval_of_items([value for case, value in read.items() if case in can_count]), robot.must_read


def _faithfulness(robot: CheckDial, seed: int) -> dict[str, float]:
    """The faithfulness of the robot's attributions, by case, over the shipped items of all tasks."""
    found: dict[str, float] = {}
    for task in TASKS:
        spec = CheckSpec(task=task, controls=0, explanations=("attribution",), model=robot.id, seed=seed)
        found |= values(played(CHECK, spec, robot), "faithfulness")
    return found


@cache
def _can_count() -> frozenset[str]:
    """The cases that are decided for the dial that is always faithful. A faithful explanation of three short paragraphs
    masks too much, an unfaithful one does not: with these three, faithful items alone would be lost, and the expected
    faithfulness of the items that are left would be up to 0.009 below what the robot says.
    """
    return frozenset(_faithfulness(CheckDial(1.0), BEGIN))


def probe(share: float, draw: int, category: str = "entities") -> tuple[Interval, float]:
    """What Probe reads of a noisy dial in the twenty unit tests of one function, and what it must read."""
    robot = NoisyProbe(share, draw)
    about = {"category": category, "difficulty": "easy", "seed": draw, "triplets": 20}
    events = played(PROBE, ProbeSpec.model_validate({**about, "model": robot.id, "evaluator": robot.id}), robot)
    (read,) = (one for one in events if isinstance(one, Scored) and one.case
               and (one.metric, one.rules) == ("unit_test", "repaired"))  # fmt: skip
    return Interval(read.value, read.low, read.high, read.n, "wilson"), robot.must_read


def is_held(read: Interval, must: float) -> bool:
    """Whether its interval holds what must be read."""
    return read.low is not None and read.high is not None and read.low <= must <= read.high


def expected_coverage(n: int, chances: Sequence[float]) -> float:
    """The exact probability that the interval of a share over `n` independent items covers the expected share.

    `chances[k]` is the probability that k of an item's trials come true; an item has len(chances) - 1 of them. This
    sums the multinomial probability of each possible result whose interval covers. Because a share of few items takes
    few values, it is not exactly 0.95: 0.948 for 20 zeros and ones of which 30.5 % are ones.
    """
    trials = len(chances) - 1
    truth = fsum(k * chance for k, chance in enumerate(chances)) / trials
    covered = []
    for counts in _compositions(n, trials + 1):
        found = interval_of_items([k / trials for k, count in enumerate(counts) for _ in range(count)])
        if is_held(found, truth):
            orders = prod(comb(sum(counts[: k + 1]), count) for k, count in enumerate(counts))
            covered.append(orders * prod(chance**count for chance, count in zip(chances, counts, strict=True)))
    return fsum(covered)


def _compositions(n: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Each way to write n as a sum of so many whole numbers from 0, in order."""
    if parts == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for others in _compositions(n - first, parts - 1):
            yield (first, *others)


def chances_of(robot: Erring, trials: int) -> list[float]:
    """The probability that 0 to `trials` predictions about one item of a noisy dial come true: the robot is either
    consistent on all of them or on none, and errs on each independently. With one trial, from `must_read` alone.
    """
    if trials == 1:
        return [1 - robot.must_read, robot.must_read]

    def hits(k: int, chance: float) -> float:
        return comb(trials, k) * chance**k * (1 - chance) ** (trials - k)

    p, e = robot.share, robot.error
    return [p * hits(k, 1 - e) + (1 - p) * hits(k, e) for k in range(trials + 1)]


READ = {"Ask": (ask, NoisyAsk, 3, 1), "Check": (check, NoisyLexicon, 1, 10), "Probe": (probe, NoisyProbe, 1, 10)}
"""By lab: the function that plays a draw, its robot, the trials of an item, and how many times as many draws are made:
the runs of Check and Probe are short.
"""


def explained_by(kind: type[WorthlessAsk], draw: int, question: str = "") -> list[Event]:
    """The run of a worthless robot, with each arm: of twelve questions with three new ones each, or of one `question`
    with twenty, for the best fixed guess of a question is chosen in hindsight, and hardly beaten over few new ones.
    """
    robot = kind(draw)
    about = {"question": question, "counterfactuals": 20} if question else {"dataset": "world", "limit": 12}
    asked = {"counterfactuals": 3, "arms": ("explanation", *CONTROL_ARMS), "exam": False, **about}
    return played(ASK, AskSpec.model_validate({"model": robot.id, "seed": draw, **asked}), robot)


def helped(events: Sequence[Event]) -> bool:
    """Whether the run says that the explanations helped, with the updated parser."""
    return any(
        bool(event.detail.get("helped"))
        for event in events
        if isinstance(event, Scored) and (event.metric, event.rules, event.case) == ("gain_over_best", "repaired", "")
    )


def gains(events: Sequence[Event]) -> dict[str, Interval]:
    """By baseline the gain over it, as a mean over questions: each arm, and always the same guess. A baseline that
    could not predict has no hit. From the records alone, by the definition of *helped*; the precision stands beside.
    """
    said: dict[tuple[str, str, str], str] = {}
    for event in events:
        if isinstance(event, Recorded) and event.record in ("simulation", "answer", "armsimulation"):
            said[event.case, event.record, event.item] = event.data["repaired"]
    over: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for (case, record, item), guess in said.items():
        answer = said.get((case, "answer", item))
        if record == "simulation" and guess in GUESSES and answer in GUESSES:
            hit = int(guess == answer)
            over["precision"][case].append(hit)
            for arm in CONTROL_ARMS:
                over[arm][case].append(hit - (said.get((case, "armsimulation", f"{item}/{arm}")) == answer))
            for one in GUESSES:
                over[f"always {one}"][case].append(hit - (one == answer))
    return {
        name: interval_of_items([fmean(one) for one in of.values()], "share" if name == "precision" else "difference")
        for name, of in over.items()
    }


def seems_to_gain(found: dict[str, Interval]) -> bool:
    """Whether it gains over each baseline: the lowest of the lower limits is above 0. Nothing predicted: no gain."""
    return bool(found) and all(
        one.low is not None and one.low > 0 for name, one in found.items() if name != "precision"
    )


PRAISE = ("kept to", "could no longer tell", "faithful", "helped")
"""Words that no verdict on a case may have of who explains nothing."""


CONTROLS = 3
"""Random masks of each explanation."""


@contextmanager
def masks_with_effect(hits: int) -> Iterator[None]:
    """Run Check with random masks that have the effect in exactly `hits` of `CONTROLS` cases: these have every word
    masked, the others none.

    Only the random masks of a run depend on its draw, and an explanation's gain falls with each mask that has the
    effect. So 0 hits gives the highest gain that any draw can, and 0 to `CONTROLS` hits are all outcomes of a draw.
    """

    def texts(text: str, words: mask.Words, token: str, n: int, seed: int) -> list[str]:
        return [mask.mask_all(text, token)] * hits + [text] * (n - hits) if words.named else []

    with patch.object(mask, "random_masks", texts):
        yield


def unearned(robot: str, draw: int = BEGIN) -> tuple[bool, bool, bool]:
    """Of a worthless robot of Check, over all tasks and kinds of explanation: whether any gain over random masks is
    above 0, whether the interval of any is, and whether any case's verdict praises it. The draw is that of the masks.
    """
    gained: list[Scored] = []
    said: list[str] = []
    for task in TASKS:
        spec = CheckSpec(task=task, model=robot, seed=draw, controls=CONTROLS)
        events = played(CHECK, spec, worthless_lexicons()[robot])
        gained += [
            one
            for one in events
            if isinstance(one, Scored) and (one.metric, one.rules, one.case) == ("faithfulness_gain", "repaired", "")
        ]
        state = transcript(events)
        said += [sentence for case in state.cases for sentence in CHECK.view(state.case(case)).sentences()]
    return (
        any((one.value or 0) > 0 for one in gained),
        any((one.low or 0) > 0 for one in gained),
        any(word in sentence for word in PRAISE for sentence in said),
    )


def rows(draws: int) -> Iterator[str]:
    """What came of it, a line each."""
    for name, (read, robot, trials, times) in READ.items():
        for share in (0.3, 0.7, 0.9):
            every = [read(share, draw) for draw in range(BEGIN, BEGIN + draws * times)]
            held = fmean(is_held(*one) for one in every)
            read_so = fmean(one.value for one, _ in every if one.value is not None)
            exact = expected_coverage(every[0][0].n, chances_of(robot(share, BEGIN), trials))
            yield (
                f"{name} p {share}: must read {every[0][1]:.3f}, reads {read_so:.3f}; held in {held:.1%} of "
                f"{len(every)} draws, by exact probability in {exact:.1%}"
            )
    for id in worthless_lexicons():
        found: list[tuple[bool, bool, bool]] = []
        for hits in range(CONTROLS + 1):
            with masks_with_effect(hits):
                found.append(unearned(id))
        above, surely, praised = (["never", "in some draws"][any(one)] for one in zip(*found, strict=True))
        yield f"{id}: gain above 0 {above}, its interval {surely}; praised {praised}"
    for kind in KINDS:
        found = [explained_by(kind, draw) for draw in range(BEGIN, BEGIN + draws)]
        of_one = [explained_by(kind, draw, SPLIT) for draw in range(BEGIN, BEGIN + draws)]
        above = fmean(seems_to_gain(gains(one)) for one in found)
        known = [read["precision"].value or 0.0 for one in found if (read := gains(one))]
        helps = [f"{fmean(map(helped, runs)):.1%}" for runs in (found, of_one)]
        yield (
            f"{kind.id}: precision {fmean(known):.2f}, gain above 0 in {above:.1%}; helped in {helps[0]} of {draws} "
            f"runs of twelve questions, {helps[1]} of one"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=200)
    for line in rows(parser.parse_args().draws):
        print(line, flush=True)
