"""Assembles the application: labs, their controls, models, runs, store. The pages and the command line start here."""

import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from . import extensions, home, journal, optional, package_data, policy
from .datasets import get
from .datasets.registry import Source
from .events import Model
from .judging import lab as judge
from .labs.ask import lab as ask
from .labs.ask import qualification as predictor_test
from .labs.base.lab import Lab
from .labs.check import lab as check
from .labs.plant import lab as plant
from .labs.plant import qualification as judge_test
from .labs.probe import lab as probe
from .labs.probe.reliability import lab as reliability
from .models import local
from .models.cache import Replay, ResponseCache
from .models.catalog import Catalog
from .models.download import Fetches, HubFolder, HubModel, download, download_folder
from .models.settings import EndpointConfig, charge
from .rooms.rooms import Rooms
from .runs import verify as verifying
from .runs.bundle import ImportResult
from .runs.verify import Verified
from .server import instance
from .server.access import RunAccess
from .server.jobs import JobRunner
from .store import sql
from .store.index import IndexWatcher
from .store.schema import record_tables
from .store.store import Store
from .store.vectors import VectorMaker
from .studies.execute import Studies

TESTS = predictor_test.TEST, judge_test.TEST
"""The qualification tests of models."""

LABS: tuple[Lab, ...] = (
    *(ask.LAB, check.LAB, probe.LAB, plant.LAB, reliability.LAB, judge.LAB),
    *TESTS,
)
"""A lab is registered by one entry here; it declares everything else itself."""


@cache
def labs() -> Mapping[str, Lab]:
    """Return the labs by name, with those of extensions. Raises ValueError if two labs, or two of their records, have
    the same name.
    """
    called = Counter(word for lab in LABS for word in {lab.name, lab.path})
    if twice := [word for word, times in called.items() if times > 1]:
        raise ValueError(f"Two labs are called {', '.join(twice)}: each needs a name and a title of its own.")
    record_tables({lab.name: lab for lab in LABS})
    return extensions.completed(LABS)


@cache
def controls() -> Mapping[str, Model]:
    """Return the controls of all labs by id, including those that no list offers for selection."""
    return {id: model for lab in labs().values() for id, model in lab.robots.by_id.items()}


extensions.on_change += [labs.cache_clear, controls.cache_clear]


@cache
def answers() -> ResponseCache:
    """Return the cache of answers already paid for."""
    return ResponseCache(home.answers())


def catalog(endpoints: tuple[EndpointConfig, ...] = (), visit: RunAccess | None = None) -> Catalog:
    """Return the catalog of all models that can be asked, including those of `endpoints`. It has replays only of runs
    that `visit` may see. To a visitor of a hosted app it offers only the models in EXPLAIN_MODELS from the host's
    endpoints.
    """
    served = visit is not None and policy.is_hosted() and not visit.visitor.is_host
    return Catalog(
        home=home.home(),
        journals=home.journals(),
        read=lambda path: journal.read(path).events,
        recordings=home.recordings(),
        endpoints=endpoints,
        controls=controls(),
        functions=extensions.models(),
        cache=answers(),
        replays=visit.replays if visit is not None else lambda run: True,
        listed=policy.models() if served else None,
    )


@cache
def fetches() -> Fetches[HubModel]:
    """Return this process's downloads of local models."""
    folder = home.home() / "models"
    return Fetches(lambda model, progress: download(model, folder, progress))


@cache
def part_fetches() -> Fetches[optional.OptionalPart]:
    """Return this process's installations of the app's optional parts."""
    return Fetches(lambda part, progress: install_part(part, progress=progress))


def install_part(
    part: optional.OptionalPart,
    tell: Callable[[str], None] = lambda line: None,
    progress: optional.Progress = lambda done, size: None,
) -> Path:
    """Install or download an optional part unless it is there already, and return its folder. Blocks for minutes.

    `progress` is called with the packages begun or the bytes received, and with all of them; `tell` with each line that
    pip prints. Raises CallError and DataDirError.
    """
    if not part.files:
        return optional.install(part.name, tell, progress)
    model = next(one for one in package_data.rows("weights", "folder", HubFolder) if one.name == part.files)
    return download_folder(model, optional.files_folder(part.files), progress)


@cache
def dataset_fetches() -> Fetches[Source]:
    """Return this process's downloads of data sets."""
    return Fetches(get.get)


@cache
def keeper() -> IndexWatcher:
    """Return the app's store, which is kept up to date. Raises StoreError if it cannot be opened, for instance while a
    command has it open.
    """
    return IndexWatcher(Store(home.index("store.duckdb"), labs()), home.journals(), recordings=home.recordings())


@cache
def vector_maker() -> VectorMaker:
    """Return what makes sentence vectors in this process."""
    return VectorMaker()


def lent_index() -> Path:
    """Return a copy of the app's index for the command line, after updating it from all journals, also those that
    somebody stopped the app from reading. Raises StoreError and QueryRefusedError if there is none.
    """
    watcher = keeper()
    if watcher.index.postponed:
        watcher.resume()
    watcher.looked.wait()
    watcher.catch_up(instance.LONGEST_WAIT)
    return sql.copied(watcher.store)


@cache
def jobs() -> JobRunner:
    """Return this process's runs. When a run ends, the index watcher is woken, if there is one."""
    return JobRunner(
        home.journals(),
        labs(),
        lambda id: catalog().get(id),
        ended=_wake,
        recordings=home.recordings(),
        charge=charge,
        forget=lambda events: answers().forget(events),
    )


@cache
def studies() -> Studies:
    """Return the studies that are running in this process."""
    return Studies(labs(), home.home(), home.journals(), jobs().run_on_loop, ended=lambda: _wake(""))


@cache
def rooms() -> Rooms:
    """The classes that predict together in this process. Raises DataDirError."""
    return Rooms(home.home() / "rooms", labs(), (home.journals(), home.recordings()))


def reread(run_id: str, visit: RunAccess) -> str:
    """Parse a run's raw answers again with the current parsers, and return the new run's id. Raises RunNotFoundError,
    AccessDeniedError and QuotaExceededError.
    """
    return visit.run(run_id).reread(Replay)


def verify(path: Path) -> Verified:
    """Check whether a run's figures follow from its raw answers. Raises FileNotFoundError, NewerSchemaError."""
    return verifying.verify(path, labs(), Replay)


def score_again(taken: ImportResult) -> dict[str, Verified]:
    """Verify the runs of an import, as far as time allows, and store and return the results by run. This includes runs
    from an earlier import that was killed before it had verified them.
    """
    folder = home.journals()
    left = [run for run in taken.same if (found := verifying.origin(folder, run)) and found.verified is None]
    return verifying.score_again([*taken.runs, *left], folder, labs(), Replay)


def new_reader() -> str:
    """Return a new name for a person who says something about a run; their statements are stored under it."""
    return secrets.token_hex(4)


def close() -> None:
    """Stop whatever was started on demand: the event loop of the runs, the index watcher and local models."""
    made: tuple[Any, ...] = jobs, keeper, rooms
    for one in made:
        if one.cache_info().currsize:
            one().close()
    local.stop_all()


def _wake(run_id: str) -> None:
    if keeper.cache_info().currsize:
        keeper().wake()
