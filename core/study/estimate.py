"""What a study will take, before anything is asked: calls by role, tokens, money, and how sure it can be."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import islice, pairwise
from pathlib import Path

from core import journal
from core.datasets.items import Loaded
from core.events import Answer, CallFailed, Event, OnText, Request
from core.lab.cases import Case
from core.lab.lab import Lab, Prior
from core.lab.spec import MOST_CASES
from core.models.cache import Cached
from core.models.ids import is_free
from core.models.prices import price_of
from core.runs import prior
from core.runs.engine import execute
from core.runs.run import Resolve
from core.runs.upgrade import upgraded
from core.statistics import FEW, items_for_difference, items_for_power, items_for_width, wilson
from core.study import data
from core.study.early import SHIFT, stopped_early
from core.study.plan import Planned, Study, dataset_of
from core.study.progress import labels
from core.study.standing import Standing, Tokens, busy_rate, look, standing
from core.study.tables import measured

LONGEST = 10.0
"""Seconds for looking up what the response cache holds."""


@dataclass
class Estimate:
    """What is still to be done. `runs` there are, `completed` of them, or stopped early; `cases` of those to be made.

    `calls` are by role, at most, without those answered already and those `cached`, which the response cache answers;
    of them `free` ask robots. `tokens` by "prompt" and "completion" and `price` in US dollars are None where they
    cannot be known: `unknown` says why. `priced` is the day of the oldest price, `unverified` whether nobody compared
    one of them with the provider's list. `missing` are runs that cannot be made, for their data are not here or a robot
    knows nothing of these, with what to do: no figure counts their cases and calls. `items` has a run at least, and at
    so many an interval is `width` wide around a share of a half, where it is widest; for `wanted_width` it takes
    `wanted_items`. `minutes` are what the calls take at the rate at which this study's were answered so far, None where
    none was. `power_items` says how many shared items find a difference with `wanted_power`, by what the difference is:
    between stated rates, or between two runs of this study as far as they are; None: more than anybody makes. A run may
    end earlier at `stop_width`. `broken` rows of the data sets cost their items; so many runs were `made_of_other`
    content of a data file, and count for nothing here. `unlooked` is for how many runs there was no time to look up all
    that the response cache holds.
    """

    study: str
    runs: int = 0
    completed: int = 0
    cases: int = 0
    calls: dict[str, int] = field(default_factory=dict)
    free: int = 0
    cached: int = 0
    tokens: dict[str, int] | None = None
    price: float | None = None
    priced: date | None = None
    unverified: bool = False
    unknown: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    items: int | None = None
    width: float | None = None
    wanted_width: float | None = None
    wanted_items: int | None = None
    budget_calls: int | None = None
    budget_money: float | None = None
    minutes: float | None = None
    wanted_power: float | None = None
    power_items: dict[str, int | None] = field(default_factory=dict)
    stop_width: float | None = None
    broken: list[str] = field(default_factory=list)
    made_of_other: int = 0
    unlooked: int = 0


def estimate(study: Study, labs: Mapping[str, Lab], resolve: Resolve, folder: Path, recordings: Path) -> Estimate:
    """What there is still to be done of a study. No model is asked."""
    found = Estimate(
        study.name,
        runs=len(study.all),
        wanted_width=study.width,
        budget_calls=study.budget_calls,
        budget_money=study.budget_money,
        wanted_power=study.power,
        stop_width=study.stop_width,
    )
    wanted: dict[tuple[str, str, str], int] = defaultdict(int)
    stand = look(study, folder)
    items = []
    loaded: list[Loaded] = []
    controls = {run.id for run in study.controls}
    to_make: list[tuple[Planned, list[Case]]] = []
    for run in study.all:
        try:
            cases = list(islice(run.lab.cases(run.spec), MOST_CASES + 1))
        except (CallFailed, ValueError, OSError) as error:
            found.missing[run.id] = str(error)
            continue
        if dataset_of(run.spec) in study.data and isinstance(held := run.lab.loaded(run.spec), Loaded):
            loaded.append(held)
        if run.id not in controls:
            items.append(len({case.id.partition("/")[0] for case in cases}))
        if stand[run.id].status == "completed" or stopped_early(study, run, journal.at(folder, run.id)) is not None:
            found.completed += 1
            continue
        found.cases += len(cases)
        to_make.append((run, cases))
    left = [(run, [case for case in cases if case.id not in stand[run.id].cases]) for run, cases in to_make]
    kept, found.unlooked = _kept(left, labs, resolve, folder)
    for run, cases in to_make:
        _add(run, cases, stand[run.id], found, wanted, kept[run.id])
    _add_priors([run for run, _ in to_make], folder, wanted)
    found.calls = dict(sum((Counter({role: n}) for (_, role, _), n in wanted.items()), Counter()))
    found.free = sum(n for (*_, model), n in wanted.items() if is_free(model))
    found.minutes = _minutes(wanted, stand.values())
    _price(found, wanted, _sample(study, stand, recordings))
    if study.power is not None:
        found.power_items = dict(_power(study, study.power, labs, folder))
    if items:
        found.items = min(items)
        low, high = wilson(0.5, found.items)
        found.width = high - low
    found.wanted_items = items_for_width(study.width) if study.width else None
    found.broken = data.broken(loaded)
    found.made_of_other = data.made_of_other(study, folder)
    return found


def _add(
    run: Planned,
    cases: list[Case],
    stand: Standing,
    found: Estimate,
    wanted: dict[tuple[str, str, str], int],
    cached: Counter[str],
) -> None:
    """Count the calls of one run by lab, role and model."""
    if run.lab.asks is None:
        found.unknown.append(f"{run.lab.title} cannot tell how many calls it makes.")
        return
    for role, most in run.lab.asks(run.spec, len(cases)).items():
        hits = min(cached[role], max(0, most - stand.answered[role]))
        found.cached += hits
        left = max(0, most - stand.answered[role] - hits)
        models = run.spec.roles.get(role) or ("",)
        for number, model in enumerate(models):
            # Who take turns share alike, the first having what is left over.
            wanted[run.lab.name, role, model] += left // len(models) + (number < left % len(models))


def _add_priors(runs: Iterable[Planned], folder: Path, wanted: dict[tuple[str, str, str], int]) -> None:
    """Count the calls of what these runs stand on and nobody has made yet: once, however many stand on it."""
    found = ((run, first) for run in runs for first in prior.of(run.lab, run.spec).values())
    priors = {first.spec: (run, first) for run, first in found if isinstance(first, Prior) and first.wanted}
    for run, first in priors.values():
        if first.lab.asks is None or prior.record_of(first, folder, lambda run: True) is not None:
            continue
        for role, calls in first.lab.asks(first.spec, 1).items():
            # The same prompt as in the runs, so that their tokens tell what these take.
            wanted[run.lab.name, role, first.spec.roles[role][0]] += calls


class _FromCache:
    """Answers what the cache holds, and nothing else; `hits` by role."""

    def __init__(self, id: str, model: object, hits: Counter[str]) -> None:
        self.id = id
        self._model = model
        self._hits = hits

    async def answer(self, request: Request, on_text: OnText) -> Answer:
        kept = await self._model.kept(request) if isinstance(self._model, Cached) else None
        if kept is None:
            raise CallFailed("It has not been asked yet.")
        self._hits[request.role] += 1
        return kept


def _kept(
    runs: Sequence[tuple[Planned, list[Case]]], labs: Mapping[str, Lab], resolve: Resolve, folder: Path
) -> tuple[dict[str, Counter[str]], int]:
    """How many calls of these cases the response cache answers, by run and role, and for how many runs there was no
    time to look up all of it: what a run does besides its calls, as fits and sandboxes, may take minutes. The first
    case of each run comes first, for runs of which something is kept to go before others.
    """
    began = time.monotonic()
    first: Counter[str] = Counter()
    for run, cases in runs:
        first[run.id] = _cached(run, cases[:1], labs, resolve, folder, began + LONGEST / 2)[0].total()
    found: dict[str, Counter[str]] = {}
    unlooked = 0
    for run, cases in sorted(runs, key=lambda one: -first[one[0].id]):
        found[run.id], is_whole = _cached(run, cases, labs, resolve, folder, began + LONGEST)
        unlooked += not is_whole
    return found, unlooked


def _cached(
    run: Planned, cases: list[Case], labs: Mapping[str, Lab], resolve: Resolve, folder: Path, until: float
) -> tuple[Counter[str], bool]:
    """How many calls of these cases the cache answers, by role, and whether there was time for all of them: the run is
    gone through as far as that leads.
    """
    hits: Counter[str] = Counter()
    try:
        models = {id: resolve(id) for id in run.spec.models}
    except CallFailed:
        return hits, True
    if not cases or not any(isinstance(model, Cached) and not model.is_empty for model in models.values()):
        return hits, True
    if time.monotonic() > until:
        return hits, False
    path = journal.at(folder, run.id)
    history = upgraded(journal.read(path).events, labs) if path.exists() else []

    def passed_over(event: Event) -> None:
        pass

    # No figures, and nothing that takes long to start: only what would be asked is of interest.
    lab = replace(run.lab, cases=lambda spec: cases, loaded=lambda spec: None, warm=None, scores=lambda views: iter(()))
    known = {id: _FromCache(id, model, hits) for id, model in models.items()}
    going = execute(lab, run.spec, run.id, resolve=known.__getitem__, publish=passed_over, history=history)
    try:
        asyncio.run(asyncio.wait_for(going, until - time.monotonic()))
    except TimeoutError:
        return hits, False
    return hits, True


def _sample(study: Study, stand: Mapping[str, Standing], recordings: Path) -> dict[tuple[str, str], Tokens]:
    """What calls took so far, by lab and role: of this study's models; where it has none yet, of the recordings."""
    own: dict[tuple[str, str], Tokens] = defaultdict(Tokens)
    for run in study.runs:
        for role, tokens in stand[run.id].tokens.items():
            own[run.lab.name, role].add(tokens)
    for path in sorted(recordings.glob("*.jsonl")):
        begun = journal.begun(path)
        for role, tokens in standing(path).tokens.items():
            if begun is not None and not own.get((begun.lab, role)):
                own[f"{begun.lab} recorded", role].add(tokens)
    return own


def _price(
    found: Estimate, wanted: Mapping[tuple[str, str, str], int], sample: Mapping[tuple[str, str], Tokens]
) -> None:
    """Tokens and money of the calls wanted; None where one of them cannot be told."""
    prompt = completion = money = 0.0
    if found.missing:
        found.unknown.append("What the runs whose data are not here would take is not known.")
        return
    days: list[date] = []
    for (lab, role, model), calls in wanted.items():
        if not calls or is_free(model):
            continue
        known = sample.get((lab, role)) or sample.get((f"{lab} recorded", role))
        price = price_of(model)
        if known is None:
            found.unknown.append(f"No {role} has answered yet, so its tokens are not known.")
            prompt = completion = float("nan")
            # What runs here costs nothing, however long it is.
            money = money if price and not (price.prompt or price.completion) else float("nan")
            continue
        tokens = known.prompt / known.calls * calls, known.completion / known.calls * calls
        prompt, completion = prompt + tokens[0], completion + tokens[1]
        if price is None:
            found.unknown.append(f"The price of {model or f'the {role}'} is not in data/models.toml.")
            money = float("nan")
        else:
            money += price.of(*tokens)
            if price.prompt:
                days.append(price.date)
                found.unverified |= not price.verified
    if prompt == prompt:
        found.tokens = {"prompt": round(prompt), "completion": round(completion)}
    found.price = round(money, 4) if money == money else None
    found.priced = min(days, default=None) if money == money else None
    found.unknown = list(dict.fromkeys(found.unknown))


def _minutes(wanted: Mapping[tuple[str, str, str], int], stand: Iterable[Standing]) -> float | None:
    """Endpoints are asked side by side, so that the slowest says how long it takes; None where one was never asked."""
    pace: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for one in stand:
        for (endpoint, second), calls in one.pace.items():
            pace[endpoint][second] += calls
    left: Counter[str] = Counter()
    for (*_, model), calls in wanted.items():
        left[model.partition("/")[0]] += 0 if is_free(model) else calls
    rates = {endpoint: busy_rate(pace[endpoint]) for endpoint, calls in left.items() if calls}
    taken = [left[endpoint] / rate for endpoint, rate in rates.items() if rate]
    return max(taken, default=0.0) if len(taken) == len(rates) else None


def _power(study: Study, power: float, labs: Mapping[str, Lab], folder: Path) -> Iterator[tuple[str, int | None]]:
    """How many shared items it takes, by what is to be told apart."""
    if study.rates is not None:
        first, second = study.rates
        yield (
            f"rates of {first:g} and {second:g}",
            items_for_power(first * (1 - second), second * (1 - first), power),
        )
        return
    frame, names = measured(study, labs, folder), labels(study)
    for name, of_lab in frame[~frame["control"]].groupby("lab"):
        lab = labs[str(name)]
        items = of_lab[of_lab["metric"] == lab.headline].groupby(["run", "item"], sort=False)["value"].mean().unstack(0)
        for first, second in pairwise(items.columns):
            differences = (items[first] - items[second]).dropna()
            if len(differences) >= FEW:
                both = f"{lab.title}, {names[first]} and {names[second]}"
                yield both, items_for_difference(list(differences), power)


def lines(found: Estimate) -> Iterator[str]:
    """The estimate for a person."""
    yield f"{found.study}: {found.runs} runs, {found.completed} of them completed; {found.cases} cases to be measured."
    by_role = ", ".join(f"{role} {n:,}" for role, n in found.calls.items() if n) or "none"
    of_which = ", of the runs that can be made" if found.missing else ""
    yield f"Calls at most{of_which}: {sum(found.calls.values()):,} ({by_role})."
    if found.free:
        yield f"  {found.free:,} of them ask robots, which cost nothing."
    if found.cached:
        yield f"  {found.cached:,} more are in the response cache, and not asked again."
    if found.unlooked:
        yield f"  Of {found.unlooked} runs not all that the response cache holds was looked up: they may ask less."
    if found.budget_calls is not None:
        yield f"  The study stops at {found.budget_calls:,} calls of models."
    if found.budget_money is not None:
        yield f"  The study stops at {found.budget_money:.2f} US dollars."
    if found.stop_width is not None:
        yield f"  A run stops early where its always-valid interval is {found.stop_width:.2f} wide."
        yield f"  {SHIFT}"
    if found.minutes is None:
        yield "Time: unknown, for none of these models has answered in this study yet."
    elif found.minutes:
        yield f"Time: about {found.minutes:,.0f} minutes at the rate at which they answered so far."
    if found.tokens is None:
        yield "Tokens: unknown."
    else:
        yield f"Tokens: about {found.tokens['prompt']:,} sent and {found.tokens['completion']:,} written."
    day = f" (a price of {found.priced}{', unverified' if found.unverified else ''})" if found.priced else ""
    yield "Price: unknown." if found.price is None else f"Price: about {found.price:.2f} US dollars{day}."
    yield from (f"  {why}" for why in found.unknown)
    if found.items and found.width:
        yield f"With {found.items} items in a run, a share near one half has an interval {found.width:.2f} wide."
    if found.wanted_items:
        yield f"For one of {found.wanted_width:.2f} it takes {found.wanted_items} items."
    for what, items in found.power_items.items():
        takes = f"takes {items:,} shared items" if items else "would take more shared items than anybody makes"
        yield f"To tell apart {what} with a probability of {found.wanted_power:.0%} {takes}."
    if found.wanted_power and not found.power_items:
        yield f"How many items find a difference is not known: state rates, or make two runs that share {FEW} items."
    if found.made_of_other:
        yield f"Made when a data file held something else, kept, and not counted here: {found.made_of_other} runs."
    yield from found.broken
    for why, count in Counter(found.missing.values()).items():
        yield f"{count} {'run is' if count == 1 else 'runs are'} in no figure above. {why}"
