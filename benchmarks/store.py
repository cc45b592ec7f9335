"""How long the store's questions take over a million calls, beside a plain scan of the same table in the same run.

    python benchmarks/store.py [CALLS]

Ratios travel better between machines than milliseconds: a query at ratio 5 takes as long as five scans.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.events import Answered, Asked, Finished, Message, Sampling, Scored, Started, now, to_json
from core.store import queries
from core.store.index import index, rebuild
from core.store.store import Store

CALLS_A_RUN = 250
MADE = """
insert into runs by name
    select printf('run-%06d', range) as run, 'simulatability' as lab, 'completed' as status, 9.0 as seconds,
           timestamp '2026-01-01' + to_seconds(range * 60) as "at", 'Can penguins fly?' as title,
           printf('model-%d', range % 12) as model, '{"method": "cot", "task": "strategyqa"}' as spec,
           'nowhere' as journal, 1 as bytes, 1 as lines, 1 as modified, 'x' as head, 250 as answered, 0 as failed
    from range($runs);
insert into calls by name
    select printf('run-%06d', range // $each) as run, printf('c%04d', range % $each) as call,
           printf('cf-%02d', range % 12) as item, 'simulator' as role, printf('model-%d', range // $each % 12) as model,
           repeat(md5(range::varchar), 6) as text, '[{"role": "user", "content": "Can penguins fly?"}]' as messages,
           '{}' as sampling, 0 as repeat, (range % 900) / 300 as seconds, false as cached,
           timestamp '2026-01-01' + to_milliseconds(range * 240) as "at"
    from range($calls);
insert into scores by name
    select printf('run-%06d', range // 8) as run, rules, metric, '' as item, (range % 100) / 100 as value, 7 as n,
           10 as "of"
    from (
        select range, if(range % 2 = 0, 'paper', 'repaired') as rules,
               ['precision', 'generality_bleu', 'generality_cosine', 'generality_jaccard'][range % 8 // 2 + 1] as metric
        from range($runs * 8)
    );
insert into drops by name
    select printf('run-%06d', range // 3) as run, printf('cf-%02d', range % 3) as item, 'duplicate' as reason,
           '' as rules
    from range($runs * 3)
"""


def fill(store: Store, calls: int) -> None:
    """Runs of 250 calls each, with scores and drops."""
    values = {"runs": calls // CALLS_A_RUN, "calls": calls, "each": CALLS_A_RUN}
    for statement in MADE.split(";"):
        for name, value in values.items():
            statement = statement.replace(f"${name}", str(value))
        with store.write() as cursor:
            cursor.execute(statement)


def milliseconds(work: Callable[[], object], times: int = 5) -> float:
    """The median of several goes, after one that does not count."""
    work()
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        taken.append(1000 * (time.perf_counter() - begun))
    return median(taken)


def journal(folder: Path, run: str, calls: int) -> None:
    """A journal of `calls` answered calls, a kilobyte or so each."""
    events = [
        Started(run=run, lab="simulatability", spec={"question": "Can penguins fly?", "model": "m"}, seed=0),
        *(
            event
            for call in (f"c{number:04}" for number in range(calls))
            for event in (
                Asked(
                    run=run,
                    call=call,
                    role="simulator",
                    model="m",
                    messages=(Message(role="user", content="word " * 60),),
                    sampling=Sampling(),
                    item="cf-01",
                ),
                Answered(run=run, call=call, role="simulator", model="m", text="word " * 40, seconds=1.0),
            )
        ),
        Scored(run=run, metric="precision", value=0.5, n=7, of=10, rules="repaired"),
        Finished(run=run, at=now(), status="completed"),
    ]
    folder.mkdir(exist_ok=True)
    (folder / f"{run}.jsonl").write_text("".join(to_json(event) + "\n" for event in events))


def measure_queries(calls: int, folder: Path) -> None:
    with Store(folder / "million.duckdb") as store:
        fill(store, calls)
        some = f"run-{calls // CALLS_A_RUN // 2:06}"
        asked: dict[str, Callable[[], object]] = {
            "count all calls (the scan)": lambda: store.query("select count(*), sum(seconds) from calls"),
            "runs: newest 200": lambda: queries.runs(store),
            "one run": lambda: queries.run(store, some),
            "calls of one run": lambda: queries.calls(store, some),
            "calls of one item": lambda: queries.calls(store, some, "cf-01"),
            "scores of one run": lambda: queries.scores(store, some),
            "case": lambda: queries.ask_case(store, some),
            "scatter of all runs": lambda: queries.ask_scatter(store),
            "mean, p95 by model": lambda: store.query(
                "select model, avg(seconds), quantile_cont(seconds, 0.95) from calls group by model"
            ),
            "a word in all answers": lambda: store.query("select count(*) from calls where text ilike '%penguin%'"),
        }
        taken = {name: milliseconds(work) for name, work in asked.items()}
    print(f"{calls:,} calls, {calls // CALLS_A_RUN:,} runs")
    scan = next(iter(taken.values()))
    for name, spent in taken.items():
        print(f"  {name:30} {spent:8.1f} ms   {spent / scan:7.1f} x the scan")


def measure_indexing(folder: Path, runs: int = 200, calls: int = 40) -> None:
    journals = folder / "journals"
    for number in range(runs):
        journal(journals, f"r{number:04}", calls)
    files = sorted(journals.glob("*.jsonl"))
    size = sum(path.stat().st_size for path in files)
    with Store(folder / "index.duckdb") as store:
        lines = milliseconds(lambda: [path.read_bytes().splitlines() for path in files], times=3)
        built = milliseconds(lambda: rebuild(store, journals), times=3)
        still = milliseconds(lambda: index(store, journals))

        def grown() -> None:
            with files[0].open("a") as file:
                file.write(to_json(Finished(run=files[0].stem, status="completed")) + "\n")
            index(store, journals)

        one = milliseconds(grown)
    print(f"{runs} journals of {calls} calls, {size / 1e6:.1f} MB")
    for name, spent in (
        ("read lines (the scan)", lines),
        ("rebuild", built),
        ("nothing new", still),
        ("one new line", one),
    ):
        print(f"  {name:30} {spent:8.1f} ms   {spent / lines:7.1f} x the scan")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        measure_queries(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, Path(made))
        measure_indexing(Path(made))
