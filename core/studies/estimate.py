"""What a study will use, before anything is asked: calls by role, tokens, money, and how precise the result can be."""

import asyncio
import contextlib
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from itertools import islice, pairwise
from math import isnan, nan
from pathlib import Path
from typing import NamedTuple

from .. import journal
from ..datasets import own, registry
from ..datasets.items import BROKEN, Loaded
from ..datasets.registry import OnData, Source, source_of
from ..events import CallError, ModelAnswer, OnText, Request
from ..labs.base.lab import Lab, Prerequisite
from ..labs.base.report import Case
from ..labs.base.spec import MOST_CASES, Spec
from ..models.cache import Cached
from ..models.ids import is_free
from ..models.settings import price_of
from ..runs import driver
from ..runs.context import Resolve
from ..runs.engine import RunIO, RunRequest, execute
from ..statistics.comparisons import items_for_difference, items_for_power, items_for_width
from ..statistics.intervals import FEW, wilson
from ..transcript import RecordReader
from .plan import Planned, Study, dataset_of
from .run_status import RunStatus, StudyState, Tokens, busy_rate, labels, standing
from .tables import measured

# Reports on a study's data files: which rows are broken, and which runs were made from other content.


NAMED = 10
"""How many broken rows are named one by one; the journals have more."""

_SOON = 10
"""How many first lines of a journal to read; one of them says what the run's data set contains."""


def loaded_records(study: Study, folder: Path) -> Iterator[Loaded]:
    """What the data sets of the study's runs contain, according to the journals in `folder`."""
    for run in study.runs:
        if not dataset_of(run.spec):
            continue
        with contextlib.suppress(OSError, ValueError), journal.path_for(folder, run.id).open("rb") as lines:
            line = next((line for line in islice(lines, _SOON) if b'"record":"loaded"' in line), b"{}")
            if (loaded := RecordReader().read(Loaded, json.loads(line).get("data"))) is not None:
                yield loaded


def absent(study: Study) -> list[Source]:
    """The download sources of the data sets that the study's runs look for in the home and that are missing."""
    names = dict.fromkeys(dataset_of(run.spec) for run in study.all if not getattr(run.spec, "path", None))
    missing = [name for name in names if name and not own.is_own(name) and not registry.is_here(name)]
    return list(dict.fromkeys(source for name in missing if (source := source_of(registry.find(name).name))))


def broken(loaded: Iterable[Loaded]) -> list[str]:
    """The first broken rows by file and line, and how many there are; if several runs use a file, each row is named
    once.
    """
    rows: dict[str, None] = {}
    unnamed: dict[str, int] = {}
    for data in loaded:
        rows |= dict.fromkeys(data.broken)
        unnamed[data.dataset] = max(unnamed.get(data.dataset, 0), data.left_out.get(BROKEN, 0) - len(data.broken))
    count = len(rows) + sum(unnamed.values())
    if not count:
        return []
    named = [f"  {row}" for row in islice(rows, NAMED)]
    more = [f"  … and {count - len(named):,} more."] if count > len(named) else []
    return [f"Broken rows, each of which costs an item: {count:,}.", *named, *more]


def made_of_other(study: Study, folder: Path) -> int:
    """How many runs in `folder` belong to an earlier content of one of the study's own data files: their settings are
    those of a run of the study, but their names are not.
    """
    wanted = [run for run in study.runs if dataset_of(run.spec) in study.data]
    settings = {json.dumps(run.spec.model_dump(mode="json"), sort_keys=True) for run in wanted}
    names, count = {run.id for run in wanted}, 0
    for lab in {run.lab.name for run in wanted}:
        for path in journal.list_journals(folder, f"study-{lab}-*"):
            with contextlib.suppress(OSError, ValueError):
                begun = None if path.stem in names else journal.first_event(path)
                count += (
                    begun is not None
                    and begun.study == study.name
                    and json.dumps(begun.spec, sort_keys=True) in settings
                )
    return count


# How many items and cases the runs of a study have; for a data set by formula, so that no case has to be made.


class Size(NamedTuple):
    """The number of a run's items, and of its cases; an item may have several cases."""

    items: int
    cases: int


class Sizes:
    """The sizes of runs. Each data set is read only once, however many shards it is split into."""

    def __init__(self) -> None:
        self._held: dict[Spec, int] = {}

    def size_of(self, run: Planned) -> Size:
        """The size of that run. Raises CallError, ValueError (including DatasetError) or OSError if its items cannot
        be read.
        """
        spec = run.spec
        if isinstance(spec, OnData) and spec.dataset:
            if spec.whole not in self._held:
                size = spec.whole.size()
                # A lab may refuse a robot that knows none of the items.
                next(iter(run.lab.cases(spec)), None)
                self._held[spec.whole] = size
            items = len(spec.part(self._held[spec.whole]))
            return Size(items, items * spec.cases_of_item)
        cases = list(islice(run.lab.cases(spec), MOST_CASES + 1))
        return Size(len({case.id.partition("/")[0] for case in cases}), len(cases))


Wanted = Counter[tuple[str, str, str]]
"""Calls by lab, role and model."""

LONGEST = 10.0
"""Seconds for looking up what the response cache holds."""


@dataclass
class StudyEstimate:
    """What a study still needs.

    - `runs`, of which `completed` are over (completed, or stopped early); `cases` of the others.
    - `calls` by role, at most, without those answered and those `cached` (in the response cache); `free` ask robots.
      `unlooked`: runs for which there was no time to look up the whole response cache.
    - `tokens` ("prompt", "completion") and `price` in US dollars, None if `unknown` says why. `priced`: the day of the
      oldest price; `unverified`: whether a price was never compared with the provider's list.
    - `missing`: runs that cannot be made (their data are missing, or a robot does not know them), with what to do. No
      figure counts them.
    - `items` of the smallest run, with which an interval around a share of one half is `width` wide; `wanted_items` for
      `wanted_width`. A cell may end earlier, at `stop_width`.
    - `minutes` at the rate at which this study's calls were answered so far; None before the first.
    - `power_items`: how many shared items detect a difference with `wanted_power`, by the difference (stated rates, or
      two runs of this study so far); None if more are needed than anybody collects.
    - `broken`: unusable rows of data sets. `made_of_other`: runs on another content of a data file, which do not count.
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


def estimate(study: Study, labs: Mapping[str, Lab], resolve: Resolve, folder: Path, recordings: Path) -> StudyEstimate:
    """Estimate what is still to be done for a study. No model is asked."""
    plan = StudyEstimate(
        study.name,
        runs=len(study.all),
        wanted_width=study.width,
        wanted_power=study.power,
        stop_width=study.stop_width,
        budget_calls=study.budget_calls,
        budget_money=study.budget_money,
    )
    state = StudyState(study, folder)
    items: Counter[Spec] = Counter()
    loaded: list[Loaded] = []
    sizes, to_make = Sizes(), dict[Planned, int]()
    for run in study.all:
        try:
            size = sizes.size_of(run)
            if dataset_of(run.spec) in study.data and isinstance(held := run.lab.dataset_record(run.spec), Loaded):
                loaded.append(held)
        except (CallError, ValueError, OSError) as error:
            plan.missing[run.id] = str(error)
            continue
        if run not in study.controls:
            items[run.spec.whole] += size.items
        if state.is_over(run):
            plan.completed += 1
        else:
            plan.cases += size.cases
            to_make[run] = size.cases
    cached, plan.unlooked = _kept(to_make, state, resolve, folder)
    wanted: Wanted = Counter()
    for run, cases in to_make.items():
        wanted.update(_calls(run, cases, state.runs[run.id], plan, cached[run.id]))
    wanted.update(_of_priors(to_make, folder))
    plan.calls = dict(sum((Counter({role: n}) for (_, role, _), n in wanted.items()), Counter()))
    plan.free = sum(n for (*_, model), n in wanted.items() if is_free(model))
    plan.minutes = _minutes(wanted, state.runs.values())
    _price(plan, wanted, _sample(state, recordings))
    if study.power is not None:
        plan.power_items = dict(_power(study, study.power, labs, folder))
    if items:
        plan.items = min(items.values())
        low, high = wilson(0.5, plan.items)
        plan.width = high - low
    plan.wanted_items = items_for_width(study.width) if study.width else None
    plan.broken = broken(loaded)
    plan.made_of_other = made_of_other(study, folder)
    return plan


def _calls(run: Planned, cases: int, now: RunStatus, plan: StudyEstimate, cached: Counter[str]) -> Wanted:
    """The calls of one run with this number of cases; `plan` is updated with those that are cached or not known."""
    wanted: Wanted = Counter()
    by_role = run.lab.count_calls(run.spec, cases)
    if by_role is None:
        plan.unknown.append(f"{run.lab.title} cannot tell how many calls it makes.")
        return wanted
    for role, most in by_role.items():
        left = max(0, most - now.answered[role])
        hits = min(cached[role], left)
        plan.cached += hits
        models = run.spec.roles.get(role) or ("",)
        # Models that take turns share the calls equally; the first ones get the remainder.
        each, more = divmod(left - hits, len(models))
        wanted.update({(run.lab.name, role, model): each + (number < more) for number, model in enumerate(models)})
    return wanted


def _of_priors(runs: Iterable[Planned], folder: Path) -> Wanted:
    """The calls of prerequisites of these runs that are not made yet, each counted once."""
    wanted: Wanted = Counter()
    pairs = ((run, first) for run in runs for first in driver.prerequisites_of(run.lab, run.spec).values())
    priors = {first.spec: (run, first) for run, first in pairs if isinstance(first, Prerequisite) and first.wanted}
    for run, first in priors.values():
        if driver.record_of(first, folder, lambda run: True) is None:
            # They use the same prompt as the runs, so their tokens are estimated from the runs'.
            for role, calls in (first.lab.count_calls(first.spec, 1) or {}).items():
                wanted[run.lab.name, role, first.spec.roles[role][0]] += calls
    return wanted


class _FromCache:
    """Answers only what the cache holds; `hits` counts by role."""

    def __init__(self, id: str, model: object, hits: Counter[str]) -> None:
        self.id = id
        self._model = model
        self._hits = hits

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        kept = await self._model.cached_answer(request) if isinstance(self._model, Cached) else None
        if kept is None:
            raise CallError("It has not been asked yet.")
        self._hits[request.role] += 1
        return kept


def _kept(
    runs: Iterable[Planned], state: StudyState, resolve: Resolve, folder: Path
) -> tuple[dict[str, Counter[str]], int]:
    """How many calls of the cases without a result the response cache answers, by run and role, and for how many runs
    there was no time to look up all calls: the other work of a run, such as fits and sandboxes, may take minutes.
    Runs whose first case is in the cache are looked up first.
    """
    began = time.monotonic()

    def left(run: Planned) -> Iterator[Case]:
        try:
            yield from (case for case in run.lab.cases(run.spec) if case.id not in state.runs[run.id].cases)
        except (CallError, ValueError, OSError):
            # Nothing of this run is in the cache; the run itself says why it cannot be made.
            return

    first: Counter[str] = Counter()
    for run in runs:
        first[run.id] = _cached(run, islice(left(run), 1), resolve, folder, began + LONGEST / 2)[0].total()
    by_run: dict[str, Counter[str]] = {}
    unlooked = 0
    for run in sorted(runs, key=lambda run: -first[run.id]):
        by_run[run.id], is_whole = _cached(run, left(run), resolve, folder, began + LONGEST)
        unlooked += not is_whole
    return by_run, unlooked


def _cached(
    run: Planned, left: Iterator[Case], resolve: Resolve, folder: Path, until: float
) -> tuple[Counter[str], bool]:
    """How many calls of the cases `left` the cache answers, by role, and whether there was time for all. The run is
    executed on the cache alone.
    """
    hits: Counter[str] = Counter()
    try:
        models = {id: resolve(id) for id in run.spec.models}
    except CallError:
        return hits, True
    if not any(isinstance(model, Cached) and not model.cache.is_empty for model in models.values()):
        return hits, True
    if time.monotonic() > until:
        return hits, False
    cases = list(left)
    if not cases:
        return hits, True
    path = journal.path_for(folder, run.id)
    history = journal.read(path).events if path.exists() else []
    # Without figures and slow starts: only the requests matter here.
    lab = run.lab.with_changes(
        cases=lambda spec: cases,
        dataset_record=lambda spec: None,
        preload=lambda spec: None,
        scores=lambda views: iter(()),
    )
    known = {id: _FromCache(id, model, hits) for id, model in models.items()}
    going = execute(RunRequest(lab, run.spec, run.id, history=history), RunIO(known.__getitem__, lambda event: None))
    try:
        asyncio.run(asyncio.wait_for(going, until - time.monotonic()))
    except TimeoutError:
        return hits, False
    return hits, True


def _sample(state: StudyState, recordings: Path) -> dict[tuple[str, str], Tokens]:
    """Tokens of calls so far, by lab and role: those of this study's models, or those of the recordings if it has none
    yet.
    """
    own: dict[tuple[str, str], Tokens] = defaultdict(Tokens)
    for run in state.study.runs:
        for role, tokens in state.runs[run.id].tokens.items():
            own[run.lab.name, role].add(tokens)
    for path in sorted(recordings.glob("*.jsonl")):
        begun = journal.first_event(path)
        for role, tokens in standing(path).tokens.items():
            if begun is not None and not own.get((begun.lab, role)):
                own[f"{begun.lab} recorded", role].add(tokens)
    return own


def _price(plan: StudyEstimate, wanted: Wanted, sample: Mapping[tuple[str, str], Tokens]) -> None:
    """Estimate tokens and money of the wanted calls; None if one of them is unknown."""
    if plan.missing:
        plan.unknown.append("What the runs whose data are not here would take is not known.")
        return
    prompt = completion = money = 0.0
    days: list[date] = []
    for (lab, role, model), calls in wanted.items():
        if not calls or is_free(model):
            continue
        known = sample.get((lab, role)) or sample.get((f"{lab} recorded", role))
        price = price_of(model)
        if known is None:
            plan.unknown.append(f"No {role} has answered yet, so its tokens are not known.")
            known = Tokens(1, nan, nan)
        elif price is None:
            plan.unknown.append(f"The price of {model or f'the {role}'} is not in data/models.toml.")
        elif price.prompt:
            days.append(price.date)
            plan.unverified |= not price.verified
        tokens = known.prompt / known.calls * calls, known.completion / known.calls * calls
        prompt, completion = prompt + tokens[0], completion + tokens[1]
        if price is None:
            money = nan
        elif price.prompt or price.completion:
            # What runs on this machine costs nothing, however long the prompts are.
            money += price.cost_of(*tokens)
    if not isnan(prompt):
        plan.tokens = {"prompt": round(prompt), "completion": round(completion)}
    if not isnan(money):
        plan.price, plan.priced = round(money, 4), min(days, default=None)
    plan.unknown = list(dict.fromkeys(plan.unknown))


def _minutes(wanted: Wanted, stand: Iterable[RunStatus]) -> float | None:
    """Minutes left at the slowest endpoint, since endpoints are asked in parallel; None if one was never asked."""
    pace: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for run in stand:
        for (endpoint, second), calls in run.pace.items():
            pace[endpoint][second] += calls
    left: Counter[str] = Counter()
    for (*_, model), calls in wanted.items():
        left[model.partition("/")[0]] += 0 if is_free(model) else calls
    rates = {endpoint: busy_rate(pace[endpoint]) for endpoint, calls in left.items() if calls}
    taken = [left[endpoint] / rate for endpoint, rate in rates.items() if rate]
    return max(taken, default=0.0) if len(taken) == len(rates) else None


def _power(study: Study, power: float, labs: Mapping[str, Lab], folder: Path) -> Iterator[tuple[str, int | None]]:
    """How many shared items are needed, by the difference to detect."""
    if study.rates is not None:
        first, second = study.rates
        items = items_for_power(first * (1 - second), second * (1 - first), power)
        yield f"rates of {first:g} and {second:g}", items
        return
    frame, names = measured(study, labs, folder), labels(study)
    # Shards of one specification are one setting.
    first_shard: dict[Spec, str] = {}
    setting = {run.id: first_shard.setdefault(run.spec.whole, run.id) for run in study.runs}
    frame["setting"] = frame["run"].map(setting)
    for name, of_lab in frame[~frame["control"]].groupby("lab"):
        lab = labs[str(name)]
        headline = of_lab[of_lab["metric"] == lab.headline]
        means = headline.groupby(["setting", "item"], sort=False)["value"].mean().unstack(0)
        for first, second in pairwise(means.columns):
            differences = (means[first] - means[second]).dropna()
            if len(differences) >= FEW:
                both = f"{lab.title}, {names[first]} and {names[second]}"
                yield both, items_for_difference(list(differences), power)
