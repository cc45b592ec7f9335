"""`resume`, `reread`, `repredict`, `verify` and `store`."""

import json
from pathlib import Path
from typing import Any

import click

from .. import entry, home, journal
from ..models.cache import Replay
from ..runs.driver import fork_resolve, new_predictions, new_reading, stored_resolve
from ..runs.engine import RunRequest
from ..runs.library import RunNotFoundError, refusing_newer_journals
from ..store.index import index, rebuild
from ..store.store import Store, StoreBusyError, StoreUnusableError
from ..text.display import count_noun
from .run_output import BAD_INPUT, DONE, WRONG, event_option, journals_option, json_option, open_run, run


@click.command("resume", help="Continue a run that stopped. No call is repeated.")
@click.argument("run_id", metavar="RUN")
@click.option("--failed", "failed_too", is_flag=True, help="repeat the calls that failed in a completed run")
@journals_option
@event_option
def _resume(run_id: str, failed_too: bool, journals: Path, as_json: bool) -> int:
    lab, started, _ = open_run(run_id, journals)
    spec, resolve = lab.spec.model_validate(started.spec), None
    if (fork := started.forked_from) is not None:
        resolve = fork_resolve(open_run(fork.run, journals, home.recordings())[2], fork, entry.catalog().get)
    elif first := started.predicted_from:
        history = open_run(first, journals, home.recordings())[2]
        resolve = stored_resolve(first, history, spec.roles["simulator"], entry.catalog().get)
    request = RunRequest(lab, spec, run_id)
    return run(request, journals, as_json, going_on=True, failed_too=failed_too, resolve=resolve)


@click.command("reread", help="Parse a run's raw answers again with the current parsers, into a new run.")
@click.argument("run_id", metavar="RUN")
@journals_option
@event_option
def _reread(run_id: str, journals: Path, as_json: bool) -> int:
    lab, started, history = open_run(run_id, journals, home.recordings())
    model = Replay(run_id, history)
    request = new_reading(lab, lab.spec.model_validate(started.spec), run_id, history)
    return run(request, journals, as_json, resolve=lambda id: model)


@click.command("repredict", help="Let another model predict in a finished run: its questions and answers are reused.")
@click.argument("run_id", metavar="RUN")
@click.option("--simulator", required=True, metavar="MODEL", help="the model that predicts")
@journals_option
@event_option
def _repredict(run_id: str, simulator: str, journals: Path, as_json: bool) -> int:
    lab, started, history = open_run(run_id, journals, home.recordings())
    entry.catalog().get(simulator)
    try:
        request = new_predictions(lab, lab.spec.model_validate(started.spec), run_id, history, simulator)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    models = stored_resolve(run_id, history, [simulator], entry.catalog().get)
    return run(request, journals, as_json, resolve=models)


@click.command("verify", help="Score a run again from its raw answers. Exit code 1 if a figure differs.")
@click.argument("run_id", metavar="RUN")
@journals_option
@json_option("the result as a JSON object")
def _verify(run_id: str, journals: Path, as_json: bool) -> int:
    path = journal.find(run_id, journals, home.recordings(), home.priors())
    if path is None:
        raise RunNotFoundError(f"There is no run named {run_id!r} in {journals}.")
    with refusing_newer_journals():
        found, faults = entry.verify(path), journal.faults(path)
    if as_json:
        print(json.dumps({"run": run_id, **found.model_dump(), "faults": [fault._asdict() for fault in faults]}))
    else:
        print(found.sentence, *(f"  {line}" for line in found.differ), sep="\n")
        for fault in faults:
            print(f"  line {fault.line} of its journal: {fault.reason}")
    if found.why:
        return BAD_INPUT
    return WRONG if found.differ or faults else DONE


@click.command("store", help="The index of the journals. rebuild: build it again from them.")
@click.argument("action", type=click.Choice(["rebuild"]))
def _store(action: Any) -> int:
    path = home.home() / "store.duckdb"
    try:
        store = Store(path, entry.labs())
    except StoreBusyError:
        raise
    except StoreUnusableError:
        # The store is only an index: an unreadable one is moved aside and rebuilt.
        try:
            path.replace(path.with_suffix(".broken"))
        except OSError as error:
            raise home.DataDirError(
                f"The index cannot be rebuilt: {home.home()} is read-only ({error.strerror}). "
                "Set EXPLAIN_HOME to a folder that may be written to."
            ) from None
        store = Store(path, entry.labs())
    with store:
        runs = rebuild(store, home.journals())
        index(store, home.recordings(), recordings=True)
    print(f"{count_noun(len(runs), 'run')} indexed from {home.journals()}")
    return DONE


COMMANDS = _resume, _reread, _repredict, _verify, _store
