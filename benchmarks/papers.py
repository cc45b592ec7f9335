"""The papers' four studies, from plan to table: one cell of each over all of the paper's items, the others over a few.

    python benchmarks/papers.py [STUDY ...] [--whole ITEMS] [--few ITEMS]

`STUDY` is the name of a file in studies/, by default each of the four. The data have the official layouts and sizes and
are nonsense (tests/core/studies/full_sizes.py). The server answers without latency and in one piece, in a process of
its own; so has each study one of its own. `--whole` and `--few` are the items of the whole cell, by default as many as
the paper has, and of each other cell. IMDB's cell of 25,000 items is `cell.py`.
"""

import argparse
import asyncio
import multiprocessing
import os
import re
import resource
import sys
import tempfile
import threading
import time
import tomllib
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tomli_w

from benchmarks.cell import serve
from benchmarks.memory import megabytes
from core import entry, home
from core.studies import estimate, plan, tables
from core.studies.execute import Making
from tests.core.studies import full_sizes

STUDIES = Path(__file__).resolve().parents[1] / "studies"


class Whole(NamedTuple):
    """The cell of a study that has all of the paper's `items`: its point of the grid, and what they are set by."""

    point: dict[str, Any]
    setting: str
    items: int


PAPERS = {
    "chen_table2": Whole({"method": "cot"}, "limit", full_sizes.SIZES["strategyqa"]),
    "chen_table4": Whole({"data": {"task": "shp", "dataset": "shp"}, "method": "cot"}, "limit", 500),
    "madsen_fig9": Whole({"data": {"task": "entailment", "dataset": "rte"}}, "limit", full_sizes.SIZES["rte"]),
    "find_table2": Whole({"category": "numeric", "interpreter": "aia"}, "count", 1_000),
}

_numbers = count(1)
_lock = threading.Lock()


def reply(body: dict[str, Any]) -> str:
    """What a plausible model would answer to each lab's prompts. Of what is numbered, what is even is so."""
    asked = str(body["messages"][-1]["content"])
    system = str(body["messages"][0]["content"])
    if "Paragraph:" in asked:
        return _checked(asked)
    if "[ANSWER]" in asked:
        return "[ANSWER]: 1"
    if "function.py" in str(body["messages"]):
        return _probed(asked, system, len(body["messages"]))
    return _predicted(asked, system)


def _checked(asked: str) -> str:
    """The number in a paragraph decides; without it a paragraph with masks is unknown."""
    task, _, paragraph = asked.rpartition("Paragraph:")
    mask = "[REMOVED]" if "[REMOVED]" in task else "[REDACTED]"
    number = (re.findall(r"\d+", paragraph) or [paragraph.split()[-1].strip(".")])[0]
    if "replace the words" in task or "Replace words" in task:
        return paragraph.strip().replace(number, mask)
    if "List the words" in task:
        return f"- {number}"
    if "hange the following paragraph" in task:
        return paragraph.strip().replace(number, str(int(number) + 1) if number.isdigit() else "7")
    if mask in paragraph and not number.isdigit():
        return "unknown"
    even = int(number) % 2 == 0 if number.isdigit() else True
    if "positive" in task:
        return "positive" if even else "negative"
    return re.findall(r'[a-z]\) "', task)[even][:2] if 'a) "' in task else ("no", "yes")[even]


def _probed(asked: str, system: str, turns: int) -> str:
    if "by experiment" in system and turns < 4:
        return "COMMAND: PYTHON(function.py 0 1 2)" if "number" in asked else "COMMAND: PYTHON(function.py eagle Paris)"
    return (
        "[DESCRIPTION]: a straight line, f(x) = 2x + 1\n[DOMAIN]: defined everywhere\n"
        "[CODE]:\n```python\ndef f(x):\n    return 2 * x + 1\n```"
    )


def _predicted(asked: str, system: str) -> str:
    with _lock:
        number = next(_numbers)
    if "Write the follow-up example" in asked:
        return f"Context: Post {number}\nCandidate Response 1: Do it.\nCandidate Response 2: Don't {number}."
    if "Can you guess the robot's choice" in asked:
        choice = f"I would guess that the robot will choose Candidate Response {_choice(asked)} because it is clear."
        return f"Yes, I can confidently guess the robot's choice. By its reason {choice}"
    if "Which one is more helpful?" in asked:
        best = f"Candidate Response {_choice(asked)} is more helpful"
        return f"One is clear. So {best}." if "First weigh" in system else f"{best} because it is clear."
    if "Starter question:" in asked:
        return f"Is {number} large?\nYour guess of the robot's answer: So the robot will likely answer yes."
    answer = ("no", "yes")[_is_even(asked)]
    if "Your reason and guess:" in asked:
        return f"Even numbers are large. So the robot will likely answer {answer}."
    if given := re.search("Defend this answer: (yes|no)", asked):
        answer = given[1]
    reasons = f"Even numbers are large. So the answer is {answer}."
    return f"{answer}\nJustification: {reasons}" if "Justification" in system else reasons


def _is_even(text: str) -> bool:
    return int((re.findall(r"\d+", text) or ["0"])[-1]) % 2 == 0


def _choice(asked: str) -> int:
    """The first response, but where the post's number can be divided by three."""
    return 2 if int((re.findall(r"Post (\d+)", asked) or ["1"])[-1]) % 3 == 0 else 1


def study_of(name: str, whole: int, few: int) -> str:
    """The study's file, with stub models, and its grid in two parts: the whole cell, and all others."""
    text = re.sub(r'"openai/[^"]+"', '"openai/stub-model"', (STUDIES / f"{name}.toml").read_text(encoding="utf-8"))
    text = text.replace('["openai/stub-model", "openai/stub-model"]', '["openai/stub-model", "openai/stub-other"]')
    file = tomllib.loads(text)
    cell = PAPERS[name]
    part = {key: file.pop(key) for key in ("lab", "spec", "grid", "exclude") if key in file}
    point = {axis: cell.point.get(axis, values[0]) for axis, values in part["grid"].items()}
    flat: dict[str, Any] = {}
    for axis, value in point.items():
        flat |= value if isinstance(value, dict) else {axis: value}
    grid = {axis: [value] for axis, value in point.items()}
    one = {"lab": part["lab"], "spec": {**part["spec"], cell.setting: whole}, "grid": grid}
    excluded = [*part.get("exclude", []), flat]
    others = {**part, "spec": {**part["spec"], cell.setting: few}, "exclude": excluded}
    file.pop("budget_calls", None)
    return tomli_w.dumps({**file, "name": name, "part": [one, others]})


def make(name: str, whole: int, few: int, url: str, folder: str) -> None:
    """Plan and make one study in the home `folder`, read its tables, and say what it took."""
    os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none", "EXPLAIN_HOME": folder}
    file, text = home.home() / f"{name}.toml", study_of(name, whole, few)
    file.write_text(text)
    if named := set(re.findall('dataset = "(.+?)"', text)):
        full_sizes.write(home.home() / "datasets", *sorted(named))
    journals, labs, catalog = home.journals(), entry.labs(), entry.catalog()
    began = time.monotonic()
    # The robots that every study begins with ask no endpoint.
    study = replace(plan.read(file, labs), controls=())
    found = estimate.estimate(study, labs, catalog.get, journals, home.recordings())
    assert not found.missing, found.missing
    calls = sum(found.calls.values()) - found.free
    print(f"{name}: {found.runs} runs, {found.cases:,} cases, {calls:,} calls at most")
    print(f"  planned in {time.monotonic() - began:.1f} s, {megabytes():.0f} MB", flush=True)
    began = time.monotonic()
    outcome = asyncio.run(Making(study, labs, catalog.get, journals).run_all(study.runs))
    assert len(outcome.completed) == len(study.runs), outcome.failed
    print(f"  made in {(time.monotonic() - began) / 60:.1f} minutes, {megabytes():.0f} MB", flush=True)
    began = time.monotonic()
    rows = tables.rows(study, labs, tables.measured(study, labs, journals))
    titles = list(dict.fromkeys(row["table"] for row in rows))
    print(f"  {len(titles)} tables, {len(rows)} cells in {time.monotonic() - began:.1f} s, {megabytes():.0f} MB")
    most = max(row["of"] for row in rows if row["value"] is not None)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(f"  at most {most:,} items in a cell; most memory at all {peak:.0f} MB")
    for table in titles:
        of_table = [row for row in rows if row["table"] == table]
        print(f"    {table}: {sum(row['value'] is not None for row in of_table)} of {len(of_table)} cells have a value")
    assert most >= whole, f"the whole cell has {whole} items"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("studies", nargs="*", metavar="STUDY", default=list(PAPERS), choices=[*PAPERS, list(PAPERS)])
    options.add_argument("--whole", type=int)
    options.add_argument("--few", type=int, default=5)
    given = options.parse_args()
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=serve, args=(theirs, reply), daemon=True)
    server.start()
    url, before, failed = ours.recv(), 0, []
    for name in given.studies:
        with tempfile.TemporaryDirectory() as folder:
            whole = given.whole or PAPERS[name].items
            making = context.Process(target=make, args=(name, whole, given.few, url, folder))
            making.start()
            making.join()
        ours.send(True)
        calls = ours.recv()
        print(f"  {calls - before:,} calls asked", flush=True)
        before = calls
        failed += [name] if making.exitcode else []
    ours.send(False)
    sys.exit(f"Did not come to their end: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
