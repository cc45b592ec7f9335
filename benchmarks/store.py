"""How long the store's questions take over 100,000 calls, or as many as are named, beside a plain scan of the same
table in the same run; how fast journals are taken up, and what a look at thousands costs of which none is new.

    python benchmarks/store.py [CALLS]

Ratios travel better between machines than milliseconds: a query at ratio 5 takes as long as five scans.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import parse_qs

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.events import Answered, Asked, Event, Finished, Message, Recorded, Sampling, Scored, Started, now
from core.journal import to_line
from core.labs.ask.lab import LAB
from core.labs.base.declared import Cases
from core.store import comparing, listing, run_list
from core.store.event_rows import refresh
from core.store.filters import Filter, Range
from core.store.index import Index, index, rebuild
from core.store.listing import Selection
from core.store.store import Store

LABS = {LAB.name: LAB}
CALLS_A_RUN = 250
MADE = """
insert into runs by name
    select printf('run-%06d', range) as run, 'simulatability' as lab, 'completed' as status, 9.0 as seconds,
           timestamp '2026-01-01' + to_seconds(range * 60) as "at", 'Can penguins fly?' as title,
           printf('model-%d', range % 12) as model, '{"method": "cot", "task": "strategyqa"}' as spec,
           '' as about, 10 as cases,
           'nowhere' as journal, 1 as bytes, 1 as lines, 1 as modified, 'x' as head, 250 as answered, 0 as failed
    from range($runs);
insert into calls by name
    select printf('run-%06d', range // $each) as run, printf('c%04d', range % $each) as call,
           printf('q%d', range % 10) as "case",
           printf('cf-%02d', range % 12) as item, 'simulator' as role, printf('model-%d', range // $each % 12) as model,
           repeat(md5(range::varchar), 6) as text, '[{"role": "user", "content": "Can penguins fly?"}]' as messages,
           '{}' as sampling, 0 as repeat, (range % 900) / 300 as seconds, false as cached,
           timestamp '2026-01-01' + to_milliseconds(range * 240) as "at"
    from range($calls);
insert into scores by name
    select printf('run-%06d', range // 8) as run, '' as "case", rules, metric, '' as item,
           (range % 100) / 100 as value, 7 as n, 10 as "of"
    from (
        select range, if(range % 2 = 0, 'paper', 'repaired') as rules,
               ['precision', 'generality_bleu', 'generality_cosine', 'generality_jaccard'][range % 8 // 2 + 1] as metric
        from range($runs * 8)
    );
insert into drops by name
    select printf('run-%06d', range // 3) as run, 'q1' as "case", printf('cf-%02d', range % 3) as item,
           'duplicate' as reason, '' as rules
    from range($runs * 3);
insert into cases by name
    select printf('run-%06d', range // 10) as run, printf('q%d', range % 10) as "case", 'simulatability' as lab,
           range % 10 + 1 as number, 10 as "of", 'done' as status,
           printf('Can penguins of kind %d fly?', range // 120 * 10 + range % 10) as title,
           repeat(md5(range::varchar), 3) as explanation, 'kept' as outcome_repaired
    from range($runs * 10);
insert into trials by name
    select printf('run-%06d', range // 100) as run, printf('q%d', range % 100 // 10) as "case",
           printf('cf-%02d', range % 10) as trial, 'yes' as expected_repaired,
           printf('Can ostriches of kind %d fly?', range % 10) as about,
           if(range % 3 = 0, 'no', 'yes') as observed_repaired, true as counts_repaired, '[]' as calls,
           observed_repaired as observed_paper, true as counts_paper,
           if(range % 3 = 0, 'misled', 'as expected') as outcome_repaired,
           if(range % 50 = 0, 'unread', outcome_repaired) as outcome_paper
    from range($runs * 100)
"""


def fill(store: Store, calls: int) -> None:
    """Runs of 250 calls each, with scores and drops."""
    values = {"runs": calls // CALLS_A_RUN, "calls": calls, "each": CALLS_A_RUN}
    for statement in MADE.split(";"):
        for name, value in values.items():
            statement = statement.replace(f"${name}", str(value))
        with store.write() as cursor:
            cursor.execute(statement)
    runs = [f"run-{number:06}" for number in range(calls // CALLS_A_RUN)]
    for begin in range(0, len(runs), 500):
        with store.write() as cursor:
            refresh(cursor, store.labs, runs[begin : begin + 500])


def milliseconds(work: Callable[[], object], times: int = 5) -> float:
    """The median of several goes, after one that does not count."""
    return median(milliseconds_each(work, times))


def milliseconds_each(work: Callable[[], object], times: int = 5) -> list[float]:
    """Each of several goes, after one that does not count."""
    work()
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        taken.append(1000 * (time.perf_counter() - begun))
    return taken


def events(run: str, cases: int, calls: int) -> list[Event]:
    """A run of so many cases, each of so many answered calls with a record and a trial for every call."""
    events: list[Event] = [Started(run=run, lab=LAB.name, spec={"question": "Can penguins fly?", "model": "m"}, seed=0)]
    for case in (f"q{number}" for number in range(cases)):
        begun = {"title": "Can penguins fly?", "number": 1, "of": cases}
        events.append(Recorded(run=run, case=case, record="begun", item="case", data=begun))
        for number in range(calls):
            item, call = f"cf-{number:02}", f"{case}-c{number:04}"
            place = {"run": run, "case": case, "trial": item}
            reading = {"expected": "yes", "observed": "no", "outcome": "otherwise", "counts": True, "reason": ""}
            messages = (Message(role="user", content="word " * 60),)
            asked = {"call": call, "role": "simulator", "model": "m"}
            events += [
                Asked(**place, **asked, messages=messages, sampling=Sampling(), item=item),
                Answered(**place, **asked, text="word " * 40, seconds=1.0),
                Recorded(**place, record="answer", item=item, data={"call": call, "paper": "no", "repaired": "no"}),
                Recorded(
                    **place,
                    record="trial",
                    item=item,
                    data={"about": "word " * 8, "paper": reading, "repaired": reading, "calls": [call]},
                ),
            ]
        result = {"title": "Can penguins fly?", "outcome_repaired": "kept", "trials": calls, "counted": calls}
        events.append(Recorded(run=run, case=case, record="result", item="case", data=result))
    events.append(Scored(run=run, metric="precision", value=0.5, n=7, of=10, rules="repaired"))
    events.append(Finished(run=run, at=now(), status="completed"))
    return events


def journal(folder: Path, run: str, cases: int, calls: int) -> int:
    """A journal of such a run; how many events it holds."""
    made = events(run, cases, calls)
    folder.mkdir(exist_ok=True)
    (folder / f"{run}.jsonl").write_bytes(b"".join(to_line(event, n) for n, event in enumerate(made, start=1)))
    return len(made)


WIDE = {
    "everything": Filter(),
    "a lab": Filter({"lab": (LAB.name,)}),
    "two models": Filter({"model": ("model-1", "model-2")}),
    "a method": Filter({"how": ("cot",)}),
    "as simulator": Filter({"as:simulator": ("model-3",)}),
    "completed": Filter({"status": ("completed",)}),
    "rules agree": Filter({"differs": ("agree",)}),
    "a word": Filter(text="ostrich"),
    "a figure's range": Filter(ranges=(Range("precision", 0.2, 0.8),)),
    "since a day": Filter(since=date(2026, 1, 2)),
}
"""What leaves most of the rows: the slowest that Browse can be asked."""


def measure_browse(store: Store) -> None:
    """Every query of a page of Browse, for each of the widest filters: the second page, the number of rows, facets."""
    taken: dict[str, list[float]] = {}
    for wanted in WIDE.values():
        of = Selection(store, wanted)
        first = of.items()
        asked: dict[str, Callable[[], object]] = {
            "a page of cases": lambda of=of, first=first: of.items(  # type: ignore[misc]
                after=next(reversed(first.places()), None)
            ),
            "a page of runs": lambda of=of: of.runs(),  # type: ignore[misc]
            "how many": lambda of=of: of.count(),  # type: ignore[misc]
            "facet of the model": lambda of=of: of.facet("model"),  # type: ignore[misc]
            "facet of the run's state": lambda of=of: of.facet("status"),  # type: ignore[misc]
        }
        for name, work in asked.items():
            taken.setdefault(name, []).extend(milliseconds_each(work))
    total = Selection(store).count()
    print(f"Browse over {total:,} rows, the {len(WIDE)} widest filters")
    for name, spent in taken.items():
        print(f"  {name:30} {median(spent):8.1f} ms   p95 {quantiles(spent, n=20)[-1]:8.1f} ms")
    deep = milliseconds(lambda: Selection(store, Filter(text="penguins", deep=True)).items(), times=3)
    print(f"  {'a word in prompts and answers':30} {deep:8.1f} ms")


COMPARED = {
    "two models": "by=model&of=model-1&of=model-2",
    "two models, by whole": "by=model&of=model-1&of=model-2&match=whole",
    "original and updated parser": "by=rules",
}


def measure_compare(store: Store) -> None:
    """A comparison as a whole, and a page of its items."""
    for name, query in COMPARED.items():
        compared = comparing.compare_query(store, parse_qs(query))
        whole = milliseconds(lambda query=query: comparing.compare_query(store, parse_qs(query)), times=3)  # type: ignore[misc]
        middle = compared.keys[len(compared.keys) // 2 :][: listing.PAGE]
        page = milliseconds(lambda of=compared.asked, keys=middle: comparing.matrix(store, of, keys))  # type: ignore[misc]
        print(f"  Compare {name:24} {whole:8.1f} ms   {len(compared.keys):,} items, a page {page:8.1f} ms")


def measure_queries(calls: int, folder: Path) -> None:
    with Store(folder / "million.duckdb", LABS) as store:
        fill(store, calls)
        some = f"run-{calls // CALLS_A_RUN // 2:06}"
        asked: dict[str, Callable[[], object]] = {
            "count all calls (the scan)": lambda: store.query("select count(*), sum(seconds) from calls"),
            "runs: newest 200": lambda: run_list.runs(store),
            "one run": lambda: run_list.runs(store, only=[some]),
            "calls of one run": lambda: store.query("from calls where run = ?", [some]),
            "scores of one run": lambda: store.query("from scores where run = ?", [some]),
            "figures of all cases": lambda: Selection(store).of_cases(
                LAB.name, Cases(("precision", "generality_cosine"), fields=("method",))
            ),
            "all runs with figures": lambda: run_list.runs(store, limit=calls),
            "mean, p95 by model": lambda: store.query(
                "select model, avg(seconds), quantile_cont(seconds, 0.95) from calls group by model"
            ),
            "a word in all answers": lambda: store.query("select count(*) from calls where text ilike '%penguin%'"),
        }
        taken = {name: milliseconds(work) for name, work in asked.items()}
        measure_browse(store)
        measure_compare(store)
    print(f"{calls:,} calls, {calls // CALLS_A_RUN:,} runs")
    scan = next(iter(taken.values()))
    for name, spent in taken.items():
        print(f"  {name:30} {spent:8.1f} ms   {spent / scan:7.1f} x the scan")


def measure_indexing(folder: Path, runs: int = 200, cases: int = 4, calls: int = 25) -> None:
    journals = folder / "journals"
    count = sum(journal(journals, f"r{number:04}", cases, calls) for number in range(runs))
    files = sorted(journals.glob("*.jsonl"))
    size = sum(path.stat().st_size for path in files)
    with Store(folder / "index.duckdb", LABS) as store:
        lines = milliseconds(lambda: [path.read_bytes().splitlines() for path in files], times=3)
        built = milliseconds(lambda: rebuild(store, journals), times=3)
        kept = Index(store, journals)

        def grown() -> None:
            with files[0].open("ab") as file:
                file.write(to_line(Finished(run=files[0].stem, status="completed"), 999_999))
            kept.update()

        one = milliseconds(grown)
    print(f"{runs} journals, {count:,} events, {size / 1e6:.1f} MB: {1000 * count / built:,.0f} events/s")
    for name, spent in (("read lines (the scan)", lines), ("rebuild", built), ("one new line", one)):
        print(f"  {name:30} {spent:8.1f} ms   {spent / lines:7.1f} x the scan")


def measure_looking(folder: Path, runs: int = 5_000) -> None:
    journals = folder / "many"
    for number in range(runs):
        journal(journals, f"r{number:04}", 1, 1)
    with Store(folder / "many.duckdb", LABS) as store:
        kept = Index(store, journals)
        kept.update()
        idle = milliseconds(kept.update, times=20)
        fresh = milliseconds(lambda: index(store, journals))
    print(f"{runs:,} journals, nothing new")
    print(f"  {'a look, the last in mind':30} {idle:8.1f} ms")
    print(f"  {'the first look of a process':30} {fresh:8.1f} ms")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        measure_queries(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, Path(made))
        measure_indexing(Path(made))
        measure_looking(Path(made))
