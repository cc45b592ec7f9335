"""The command line: `python -m core ask|resume|models|store`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from core import entry, home, journal
from core.events import CallFailed, Event, Failed, Finished, Started, Token, to_json
from core.journal import Journal, JournalInUse
from core.labs.simulatability.case import Case, case, verdict
from core.labs.simulatability.prompts import PackError, read_pack
from core.labs.simulatability.tasks import AskSpec
from core.models.errors import NoSuchModel, OutsideWorld
from core.runs.run import Lab, Spec, execute, new_id
from core.runs.transcript import transcript
from core.store.index import index, rebuild
from core.store.store import Store, StoreBusy, StoreError

DONE, BAD_INPUT, UNREACHABLE, INTERRUPTED = 0, 2, 3, 4
"""Exit codes."""

REAL = "local/smollm2-135m"


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code."""
    given = _parser().parse_args(arguments)
    try:
        code: int = given.command(given)
    except (ValidationError, PackError, StoreError, JournalInUse) as error:
        for line in _words(error):
            print(line, file=sys.stderr)
        return BAD_INPUT
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m core", description="Hold language models to their explanations.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    ask = commands.add_parser("ask", help="test whether an explanation predicts what the model says next")
    ask.add_argument("question", metavar="QUESTION", nargs="?", default="", help="the question; for shp the post")
    ask.add_argument("--task", choices=("strategyqa", "shp"), default="strategyqa")
    ask.add_argument("--response-1", default="", metavar="TEXT", help="shp: the first response")
    ask.add_argument("--response-2", default="", metavar="TEXT", help="shp: the second response")
    ask.add_argument("--method", choices=("cot", "posthoc", "forced"), default="cot")
    ask.add_argument("--model", metavar="ID", default=REAL, help="whose explanation is tested (default: %(default)s)")
    ask.add_argument(
        "--generator", metavar="ID", action="append", default=[], help="who writes counterfactuals, up to two"
    )
    ask.add_argument("--blind", action="store_true", help="write counterfactuals without looking at the explanation")
    ask.add_argument("--simulator", metavar="ID", default="", help="who predicts the answers (default: the model)")
    ask.add_argument("--no-reasoning", dest="reasoning", action="store_false", help="the simulator gives no reasons")
    ask.add_argument("--counterfactuals", metavar="N", type=int, default=0, help="1 to 20 (default: 10, shp 6)")
    ask.add_argument("--votes", metavar="K", type=int, default=1, help="predictions each; the majority holds")
    ask.add_argument("--extra", metavar="QUESTION", action="append", default=[], help="a counterfactual of your own")
    ask.add_argument("--prompts", metavar="FILE", help="a prompt pack in the form of the paper's prompts.json")
    ask.add_argument("--seed", metavar="N", type=int, default=0)
    _output_options(ask)
    ask.set_defaults(command=_ask)

    resume = commands.add_parser("resume", help="go on with a run that stopped; nothing is asked twice")
    resume.add_argument("run", metavar="RUN")
    _output_options(resume)
    resume.set_defaults(command=_resume)

    models = commands.add_parser("models", help="list the models that can be asked")
    models.add_argument("--json", action="store_true")
    models.set_defaults(command=_models)

    store = commands.add_parser("store", help="the index of the journals")
    store.add_argument("action", choices=("rebuild",), help="rebuild: make it again from the journals")
    store.set_defaults(command=_store)
    return parser


def _output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--journals", metavar="DIR", type=Path, help="default: $EXPLAIN_HOME/journals")
    parser.add_argument("--json", action="store_true", help="print one event a line, as in the journal")


def _ask(given: argparse.Namespace) -> int:
    question = {"question": given.question} if given.task == "strategyqa" else {"context": given.question}
    if given.prompts:
        read_pack(given.prompts)
    if given.counterfactuals < 0 or given.counterfactuals > 20:
        print("--counterfactuals takes a number from 1 to 20.", file=sys.stderr)
        return BAD_INPUT
    spec = AskSpec(
        task=given.task,
        method=given.method,
        response_1=given.response_1,
        response_2=given.response_2,
        model=given.model,
        generators=tuple(given.generator),
        simulator=given.simulator,
        blind=given.blind,
        reasoning=given.reasoning,
        counterfactuals=given.counterfactuals,
        votes=given.votes,
        extra=tuple(given.extra),
        prompts=given.prompts,
        seed=given.seed,
        **question,
    )
    lab = entry.labs()["simulatability"]
    return _run(lab, spec, new_id(lab.name), given)


def _resume(given: argparse.Namespace) -> int:
    path = (given.journals or home.journals()) / f"{given.run}.jsonl"
    try:
        events = journal.read(path).events
    except FileNotFoundError:
        print(f"There is no run named {given.run!r} in {path.parent}.", file=sys.stderr)
        return BAD_INPUT
    started = next((event for event in events if isinstance(event, Started)), None)
    if started is None:
        print(f"{path} holds no run.", file=sys.stderr)
        return BAD_INPUT
    lab = entry.labs()[started.lab]
    return _run(lab, lab.spec.model_validate(started.spec), given.run, given, events)


def _run(lab: Lab, spec: Spec, run_id: str, given: argparse.Namespace, history: Iterable[Event] = ()) -> int:
    """Execute the run in this process, with its journal and what is printed; the exit code."""
    folder = given.journals or home.journals()
    events = list(history)
    printer = _Printer(given.json, events)
    with Journal(folder / f"{run_id}.jsonl") as written:

        def publish(event: Event) -> None:
            written.append(event)
            if not isinstance(event, Token):
                events.append(event)
            printer.show(event)

        async def go() -> None:
            task = asyncio.current_task()
            assert task is not None
            # Ctrl-C cancels the run in good order, so that the journal says how it ended.
            with contextlib.suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(signal.SIGINT, task.cancel)
            await execute(lab, spec, run_id, resolve=entry.catalog().get, publish=publish, history=history)

        with contextlib.suppress(asyncio.CancelledError, KeyboardInterrupt):
            asyncio.run(go())
    _index(folder)
    printer.end(run_id)
    return _exit_code(events)


def _exit_code(events: list[Event]) -> int:
    status = next((event.status for event in reversed(events) if isinstance(event, Finished)), None)
    if status == "completed":
        return DONE
    if status != "failed":
        return INTERRUPTED
    failure = next((event for event in reversed(events) if isinstance(event, Failed)), None)
    bad = {NoSuchModel.__name__, OutsideWorld.__name__}
    return BAD_INPUT if failure and failure.error in bad else UNREACHABLE


def _index(folder: Path) -> None:
    """Into the store, unless the app has it open: then the app takes the journal up itself."""
    if folder != home.journals():
        return
    with contextlib.suppress(StoreBusy), Store(home.home() / "store.duckdb") as store:
        index(store, folder)


class _Printer:
    """What the person sees of a run: lines as it goes on and the verdict, or with `--json` the events themselves."""

    def __init__(self, as_json: bool, events: list[Event]) -> None:
        self._json = as_json
        self._events = events
        self._told: set[str] = set()

    def show(self, event: Event) -> None:
        try:
            self._show(event)
        except BrokenPipeError:
            # Nobody reads on (`| head`); the run and its journal go on all the same.
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115  for as long as the process lives

    def _show(self, event: Event) -> None:
        if isinstance(event, Token):
            return
        if self._json:
            print(to_json(event), flush=True)
            return
        if isinstance(event, Failed):
            print(f"  {event.message} {event.hint}".rstrip(), file=sys.stderr, flush=True)
        elif event.kind in ("recorded", "dropped"):
            self._news(case(transcript(self._events)))

    def _news(self, now: Case) -> None:
        if now.starter and "starter" not in self._told:
            self._told.add("starter")
            print(f"It answers {now.starter.answer_repaired}: {now.starter.explanation_repaired}\n", flush=True)
        for row in now.rows.values():
            outcome = row.outcome("repaired")
            if row.item in self._told or outcome == "waiting":
                continue
            self._told.add(row.item)
            text = row.counterfactual.text.replace("\n", " ") if row.counterfactual else ""
            drop = row.dropped("repaired")
            if outcome == "dropped":
                print(f"  {row.item}  set aside: {drop.reason if drop else ''} {text}", flush=True)
            elif row.simulation and row.answer:
                print(f"  {row.item}  {text}")
                print(f"         expect {row.simulation.repaired}, said {row.answer.repaired}: {outcome}", flush=True)

    def end(self, run_id: str) -> None:
        if self._json:
            return
        now = case(transcript(self._events))
        print(f"\n{verdict(now)}")
        for score in now.told.scores.values():
            if score.rules == "repaired":
                print(f"  {_figure(score.metric, score.value, score.low, score.high)}  ({score.n} of {score.of})")
        print(f"Run {run_id}")
        if now.told.status != "completed":
            print(f"To go on from here: python -m core resume {run_id}")


def _figure(metric: str, value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return f"{metric} undefined"
    interval = f", 95 % interval {low:.2f} to {high:.2f}" if low is not None and high is not None else ""
    return f"{metric} {value:.2f}{interval}"


def _models(given: argparse.Namespace) -> int:
    for info in entry.catalog().describe():
        if given.json:
            print(json.dumps(info.model_dump(mode="json")))
        else:
            print(f"{info.id:<28} {info.about}{f' ({info.needs})' if info.needs else ''}")
    return DONE


def _store(given: argparse.Namespace) -> int:
    with Store(home.home() / "store.duckdb") as store:
        runs = rebuild(store, home.journals())
    print(f"{len(runs)} {'run' if len(runs) == 1 else 'runs'} indexed from {home.journals()}")
    return DONE


def _words(error: Exception) -> list[str]:
    if isinstance(error, ValidationError):
        return [problem["msg"].removeprefix("Value error, ") for problem in error.errors()]
    return [str(error)] + ([error.hint] if isinstance(error, CallFailed) else [])


if __name__ == "__main__":
    sys.exit(main())
