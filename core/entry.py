"""Puts the parts together: labs, the controls they bring, models, runs, store. Pages and command line start here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from core import home, journal
from core.events import Model
from core.labs.consistency import controls as check_controls
from core.labs.consistency import measure as check
from core.labs.find import controls as probe_controls
from core.labs.find import measure as probe
from core.labs.find import reliability
from core.labs.simulatability import controls as ask_controls
from core.labs.simulatability import measure as ask
from core.models import local
from core.models.cache import ResponseCache
from core.models.catalog import Catalog
from core.models.fetches import Fetches
from core.models.settings import EndpointConfig
from core.runs.jobs import Jobs
from core.runs.run import Lab
from core.store.keeper import Keeper
from core.store.store import Store


@cache
def labs() -> Mapping[str, Lab]:
    """The labs by name, and the test of what carries Probe's functions out, which runs like one."""
    return {lab.name: lab for lab in (ask.LAB, check.LAB, probe.LAB, reliability.LAB)}


@cache
def controls_of(lab: str) -> Mapping[str, Model]:
    """The models of known faithfulness that a lab brings, by id."""
    brought: dict[str, Mapping[str, Model]] = {
        ask.LAB.name: ask_controls.controls(),
        check.LAB.name: check_controls.controls(),
        probe.LAB.name: probe_controls.controls(),
        reliability.LAB.name: {},
    }
    return brought[lab]


@cache
def controls() -> Mapping[str, Model]:
    """The controls of all labs, by id."""
    return {id: model for lab in labs() for id, model in controls_of(lab).items()}


@cache
def answers() -> ResponseCache:
    """Answers that were paid for already."""
    return ResponseCache(home.home() / "answers.sqlite")


def catalog(endpoints: tuple[EndpointConfig, ...] = ()) -> Catalog:
    """Every model that can be asked, with `endpoints` among them."""
    return Catalog(
        home=home.home(),
        journals=home.journals(),
        read=lambda path: journal.read(path).events,
        endpoints=endpoints,
        controls=controls(),
        cache=answers(),
    )


@cache
def fetches() -> Fetches:
    """The process's downloads of local models."""
    return Fetches(home.home() / "models")


@cache
def keeper() -> Keeper:
    """The process's store, kept up to date. Raises StoreError where it cannot be had."""
    return Keeper(Store(home.home() / "store.duckdb"), home.journals())


@cache
def jobs() -> Jobs:
    """The process's runs. Ends of runs wake the keeper, where there is one."""
    return Jobs(home.journals(), labs(), lambda id: catalog().get(id), ended=_wake)


def close() -> None:
    """Stop what was started on demand: the store's keeper and local models."""
    if keeper.cache_info().currsize:
        keeper().close()
    local.stop_all()


def _wake(run_id: str) -> None:
    if keeper.cache_info().currsize:
        keeper().wake()
