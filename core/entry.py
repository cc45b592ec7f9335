"""Puts the parts together: labs, the controls they bring, models, runs, store. Pages and command line start here."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from . import home, journal, policy
from .datasets import get
from .datasets.sources import Source
from .events import Model
from .labs.ask import lab as ask
from .labs.ask.exam import lab as exam
from .labs.base.lab import Lab
from .labs.check import lab as check
from .labs.plant import lab as plant
from .labs.plant.exam import lab as reading_exam
from .labs.probe import lab as probe
from .labs.probe.reliability import lab as reliability
from .models import local
from .models.cache import ResponseCache
from .models.catalog import Catalog
from .models.download import Fetches, HubModel, download
from .models.prices import charge
from .models.replay import Replay
from .models.settings import EndpointConfig
from .runs import verify as verifying
from .runs.bundle import ImportResult
from .runs.verify import Verified
from .server.access import RunAccess
from .server.jobs import JobRunner
from .store import sql
from .store.index_watcher import IndexWatcher
from .store.schema import record_tables
from .store.store import Store
from .studies.background import Studies

LABS: tuple[Lab, ...] = (ask.LAB, check.LAB, probe.LAB, plant.LAB, reliability.LAB, exam.LAB, reading_exam.LAB)
"""A lab is registered by one entry here; everything else it declares itself."""


@cache
def labs() -> Mapping[str, Lab]:
    """The labs by name. Raises ValueError where two of them, or two of their records, are called the same."""
    called = Counter(word for lab in LABS for word in {lab.name, lab.path})
    if twice := [word for word, times in called.items() if times > 1]:
        raise ValueError(f"Two labs are called {', '.join(twice)}: each needs a name and a title of its own.")
    registered = {lab.name: lab for lab in LABS}
    record_tables(registered)
    return registered


@cache
def controls() -> Mapping[str, Model]:
    """The controls of all labs, by id, those that are in no list to choose from too."""
    return {id: model for lab in labs().values() for id, model in lab.robots.by_id.items()}


@cache
def answers() -> ResponseCache:
    """Answers that were paid for already."""
    return ResponseCache(home.answers())


def catalog(endpoints: tuple[EndpointConfig, ...] = (), visit: RunAccess | None = None) -> Catalog:
    """Every model that can be asked, with `endpoints` among them; of replays those of runs that `visit` sees, and where
    a host serves it, of the host's endpoints the models that are listed.
    """
    served = visit is not None and policy.hosted() and not visit.visitor.is_host
    return Catalog(
        home=home.home(),
        journals=home.journals(),
        read=lambda path: journal.read(path).events,
        recordings=home.recordings(),
        endpoints=endpoints,
        controls=controls(),
        cache=answers(),
        replays=visit.replays if visit is not None else lambda run: True,
        listed=policy.models() if served else None,
    )


@cache
def fetches() -> Fetches[HubModel]:
    """The process's downloads of local models."""
    folder = home.home() / "models"
    return Fetches(lambda model, progress, stop: download(model, folder, progress, stop))


@cache
def dataset_fetches() -> Fetches[Source]:
    """The process's downloads of data sets."""
    return Fetches(get.get)


@cache
def keeper() -> IndexWatcher:
    """The app's store, kept up to date. Raises StoreError where none can be had, as while a command has it open."""
    return IndexWatcher(Store(home.index("store.duckdb"), labs()), home.journals(), recordings=home.recordings())


def lent_index() -> Path:
    """A copy of the app's index, with all that the journals hold now, for the command line. Raises StoreError and
    QueryRefused where there is none.
    """
    index = keeper()
    index.looked.wait()
    index.look()
    return sql.copied(index.store)


@cache
def jobs() -> JobRunner:
    """The process's runs. Ends of runs wake the keeper, where there is one."""
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
    """The studies that go on in this process."""
    return Studies(labs(), home.home(), home.journals(), jobs().beside, ended=lambda: _wake(""))


def reread(run_id: str, visit: RunAccess) -> str:
    """Read a run's raw answers again, by the rules of now; the new run's id. Raises RunNotFound, AccessDenied and
    QuotaExceeded.
    """
    return visit.run(run_id).reread(Replay)


def verify(path: Path) -> Verified:
    """Whether a run's figures are what its raw answers give. Raises FileNotFoundError, NewerSchemaError."""
    return verifying.verify(path, labs(), Replay)


def score_again(taken: ImportResult) -> dict[str, Verified]:
    """Verify the runs of an import, and keep what came out, by run, where there was time for it. Runs that are here
    from an earlier import, which was killed before it had verified them, are verified now.
    """
    folder = home.journals()
    left = [run for run in taken.same if (found := verifying.origin(folder, run)) and found.verified is None]
    return verifying.score_again([*taken.runs, *left], folder, labs(), Replay)


def new_reader() -> str:
    """A name for a person who says something about a run; their words are kept under it."""
    return secrets.token_hex(4)


def close() -> None:
    """Stop what was started on demand: the loop of the runs, the store's keeper and local models."""
    if jobs.cache_info().currsize:
        jobs().close()
    if keeper.cache_info().currsize:
        keeper().close()
    local.stop_all()


def _wake(run_id: str) -> None:
    if keeper.cache_info().currsize:
        keeper().wake()
