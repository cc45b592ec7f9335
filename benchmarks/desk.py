"""Reading results at a desk, in a browser: how long each step takes in a home of 200,000 trials, or as many as are
named, beside the same click on an empty page in the same run; and the memory that the app takes.

    python benchmarks/desk.py [TRIALS] [--home FOLDER] [--rounds 5] [--only STEP …]

The home is filled if it has no runs, and indexed if it has no index; name a folder to measure it again. A step ends
when the page shows what was asked for and its script has run. *Processor* is what the app's process took of it: on a
busy machine that says more than the clock.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import CHROMIUM, QUIET, Server, settle, turn

EMPTY = """
import streamlit as st
st.session_state.n = st.session_state.get("n", 0) + 1
st.title("empty")
st.button("Again")
st.markdown(f"drawn {st.session_state.n}")
"""
"""An app of a button, which is measured beside each step."""

LONGEST = 30_000
"""Milliseconds that a step may take."""

LIMITS = {
    "facet": 0.5,
    "page": 0.5,
    "open": 0.3,
    "sorted": 0.3,
    "next": 0.15,
    "label": 5.0,
    "pictures": 3.0,
    "compare": 1.0,
    "words": 2.0,
}
"""The steps, in their order, with the seconds that each should take at most."""

SESSIONS = 10
MEGABYTES = 1_000
"""That the app should take at most while so many sessions browse."""

CASES = 45
"""Trials that are labelled, each with J and a key: fewer than a page of the list has."""

INDEX = """
import resource, sys, time
from pathlib import Path
from core import entry
from core.store.index import index
from core.store.store import Store

def megabytes(who=resource.RUSAGE_SELF):
    return resource.getrusage(who).ru_maxrss / 1e3

def main():
    began, used = time.perf_counter(), time.process_time()
    with Store(Path(sys.argv[2]), entry.labs()) as store:
        index(store, Path(sys.argv[1]))
        wall, used = time.perf_counter() - began, time.process_time() - used
        workers = resource.getrusage(resource.RUSAGE_CHILDREN)
        used += workers.ru_utime + workers.ru_stime
        (runs, events), = store.rows("select count(*), sum(lines)::bigint from runs")
        print(f"first index: {runs:,} runs, {events:,} events in {wall:.1f} s, {1e6 * wall / events:.1f} us each "
              f"(processor {1e6 * used / events:.1f} us); at most {megabytes():.0f} MB, and each worker "
              f"{megabytes(resource.RUSAGE_CHILDREN):.0f} MB")

if __name__ == "__main__":
    main()
"""

DELETE = """
import resource, sys, time
from pathlib import Path
from core import entry
from core.store.store import Store
with Store(Path(sys.argv[1]), entry.labs()) as store:
    store.erase_runs(store.rows("select min(run) from runs")[0])
    began, used = time.perf_counter(), time.process_time()
    store.rewrite()
    wall, used = time.perf_counter() - began, time.process_time() - used
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"a deleted run: the index is rewritten in {wall:.1f} s, processor {used:.1f} s; at most {most:.0f} MB")
"""


@dataclass
class Step:
    """What a step took: seconds by the clock, seconds of the app's processor, and seconds of the empty page beside."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    empty: list[float] = field(default_factory=list)


class Desk:
    """A browser with a page of the app and an empty page beside it, and what each step took."""

    def __init__(self, app: Server, page: Page, empty: Page) -> None:
        self.app, self.page, self._empty = app, page, empty
        self.steps: dict[str, Step] = {}

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Measure what is done here as the step of that name, and a click on the empty page after it."""
        settle(self.page)
        step = self.steps.setdefault(name, Step())
        used, began = self.processor(), time.perf_counter()
        yield
        step.wall.append(time.perf_counter() - began)
        settle(self.page)
        step.processor.append(self.processor() - used)
        step.empty.append(self._click_empty())

    def processor(self) -> float:
        """The seconds of processor time that the app has taken."""
        times = psutil.Process(self.app.pid).cpu_times()
        return times.user + times.system

    def _click_empty(self) -> float:
        now = int(re.findall(r"drawn (\d+)", self._empty.inner_text("body"))[0])
        began = time.perf_counter()
        self._empty.get_by_role("button", name="Again").click()
        self._empty.get_by_text(f"drawn {now + 1}").wait_for()
        settle(self._empty)
        return time.perf_counter() - began

    def go(self, path: str) -> None:
        """Turn to another page of the app, outside of any measurement."""
        turn(self.page, path)
        self.page.wait_for_function("path => location.pathname + location.search === path", arg=path)
        time.sleep(0.3)
        settle(self.page)


def changes(page: Page, selector: str, does: Callable[[], object]) -> None:
    """Do something, and wait until an element has another text and the page's script has run."""
    before = page.locator(selector).first.inner_text()
    does()
    page.wait_for_function(
        "([at, was]) => { const now = document.querySelector(at)?.innerText; return now && now !== was; }",
        arg=[selector, before],
        polling="raf",
    )
    settle(page)


# The steps


def measure_facet(desk: Desk) -> None:
    """Choose a lab, and take it back."""
    desk.go("/browse")
    for _ in range(2):
        with desk.timed("facet"):
            changes(desk.page, ".st-key-pager", desk.page.get_by_role("button", name=re.compile(r"^Plant · ")).click)


def measure_page(desk: Desk) -> None:
    """Turn to the next page of the list, and to the one before."""
    desk.go("/browse")
    for key in ("on", "back"):
        with desk.timed("page"):
            changes(desk.page, ".st-key-pager", desk.page.locator(f".st-key-{key}-page button").click)


def measure_open(
    desk: Desk, path: str = "/browse?lab=simulatability", step: str = "open", is_sorted: bool = False
) -> None:
    """Open the first case of a list that was just loaded, so that the browser has nothing of it."""
    desk.go(path)
    desk.page.reload()
    place = desk.page.get_by_test_id("stDataFrame").first
    place.locator("canvas").first.wait_for()
    settle(desk.page)
    time.sleep(0.5)
    box = place.bounding_box()
    assert box is not None
    if is_sorted:
        desk.page.mouse.click(box["x"] + 120, box["y"] + 18)
        place.locator("th", has_text="↑").wait_for(state="attached")
        time.sleep(0.6)
    with desk.timed(step):
        desk.page.mouse.click(box["x"] + 120, box["y"] + 36 + 18)
        desk.page.locator(".stage .card").first.wait_for()
        began = time.perf_counter()
        desk.page.locator(".st-key-labels").wait_for()
        settle(desk.page)
        drawn = time.perf_counter()
    # The labels and the list beside the case are not what a reader waits for.
    whole = desk.steps.setdefault(f"{step}, with its labels", Step(empty=desk.steps[step].empty))
    whole.wall.append(desk.steps[step].wall[-1])
    whole.processor.append(desk.steps[step].processor[-1])
    desk.steps[step].wall[-1] -= drawn - began


def measure_sorted(desk: Desk) -> None:
    """Open the first case of a list that was sorted by a press on the head of a column."""
    measure_open(desk, step="sorted", is_sorted=True)


KEYS = """stage => {
    window.steps = [];
    const root = stage.getRootNode(), lead = () => root.querySelector(".stage .lead")?.innerText ?? "";
    addEventListener("keydown", ({ key }) => {
        if (key !== "j") return;
        const began = performance.now(), was = lead(), at = location.href;
        const look = () => {
            if (lead() !== was && location.href !== at) steps.push((performance.now() - began) / 1000);
            else if (performance.now() - began < 20000) requestAnimationFrame(look);
        };
        look();
    }, true);
}"""
"""Measures in the browser how long after J the next case is drawn and in the address."""


def measure_next(desk: Desk, times: int = 12) -> None:
    """From case to case with J, from where `measure_open` left the page."""
    desk.page.locator(".stage .lead").evaluate(KEYS)
    step = desk.steps.setdefault("next", Step())
    for number in range(times):
        used = desk.processor()
        desk.page.keyboard.press("j")
        desk.page.wait_for_function("n => steps.length === n", arg=number + 1, polling="raf")
        time.sleep(0.6)
        settle(desk.page)
        step.processor.append(desk.processor() - used)
        step.empty.append(desk._click_empty())
    step.wall += desk.page.evaluate("steps")


def measure_label(desk: Desk, home: Path) -> None:
    """J and a label, for many cases of a run of a thousand trials: seconds until each label is in its journal."""
    run = large_run(home)
    if run is None:
        print("No run has 1,000 trials: labels are not measured.")
        return
    measure_open(desk, f"/browse?only={run}&sort=oldest", "open, of a run with 1,000 trials")
    step = desk.steps.setdefault("label", Step())
    stored = labels(home, run)
    for _ in range(CASES):
        used, began = desk.processor(), time.perf_counter()
        desk.page.keyboard.press("j")
        desk.page.keyboard.press("2")
        while (now := labels(home, run)) == stored and time.perf_counter() - began < 30:
            time.sleep(0.02)
        step.wall.append(time.perf_counter() - began)
        step.processor.append(desk.processor() - used)
        step.empty.append(desk._click_empty())
        if now == stored:
            print(f"label {len(step.wall)} was not stored within 30 s, at {desk.page.url}")
        stored = now
    print(f"{stored} labels in the journals of {run}, after {CASES} keys")


def large_run(home: Path) -> str | None:
    """The first run that has at least a thousand trials."""
    for path in sorted((home / "journals").glob("*.jsonl")):
        if path.stat().st_size > 1e6 and path.read_bytes().count(b'"record":"trial"') >= 1_000:
            return path.stem
    return None


def labels(home: Path, run: str) -> int:
    """The number of labelled trials in the journals about this run."""
    found = set()
    for path in (home / "journals").glob(f"{run}~labels-*.jsonl"):
        for line in path.read_bytes().splitlines():
            event = json.loads(line)
            if event["kind"] == "recorded":
                found.add((path.name, event["case"], event["item"]))
    return len(found)


def measure_pictures(desk: Desk) -> None:
    """From the list to all pictures."""
    desk.go("/browse")
    with desk.timed("pictures"):
        desk.page.locator(".st-key-head").get_by_text("Pictures", exact=True).click()
        desk.page.wait_for_function("location.search.includes('show=pictures')")
        desk.page.locator(".js-plotly-plot .main-svg").first.wait_for()
        settle(desk.page)


def measure_compare(desk: Desk) -> None:
    """From the list, through its menu, to the comparison of its two most frequent models."""
    desk.go("/browse?lab=simulatability&model=control%2Fsteadfast&model=control%2Ffickle")
    with desk.timed("compare"):
        desk.page.locator(".st-key-head").get_by_role("button", name="Tools").click()
        desk.page.locator(".st-key-take").get_by_role("link", name="Compare").click()
        desk.page.locator(".st-key-told").wait_for()
        settle(desk.page)


def measure_words(desk: Desk) -> None:
    """Look for a word in prompts and raw answers too."""
    desk.go("/browse?text=penguin")
    with desk.timed("words"):
        changes(desk.page, ".st-key-pager", desk.page.get_by_text("Prompts and raw answers too").click)


# The whole


def measure_memory(browser: Browser, app: Server) -> None:
    """Let many sessions browse, and print the most memory that the app took."""
    pages = [browser.new_context().new_page() for _ in range(SESSIONS)]
    paths = ("/browse", "/browse?outcome=misled", "/browse?show=groups", "/browse?show=runs", "/browse?show=pictures")
    for page in pages:
        page.set_default_timeout(LONGEST)
        page.goto(f"{app.url}/browse")
    for number in range(len(paths)):
        for at, page in enumerate(pages):
            turn(page, paths[(number + at) % len(paths)])
        for page in pages:
            time.sleep(0.2)
            settle(page)
    lines = Path(f"/proc/{app.pid}/status").read_text().splitlines()
    kilobytes = {name: int(text.split()[0]) for name, _, text in (one.partition(":") for one in lines) if "kB" in text}
    most, now = kilobytes["VmHWM"] / 1e3, kilobytes["VmRSS"] / 1e3
    print(f"memory with {SESSIONS} sessions {now:7.0f} MB, at most {most:7.0f} MB   limit {MEGABYTES} MB")


def fill(home: Path, trials: int) -> None:
    """Fill the home with so many trials, and a run of 1,000 of them, unless it has runs; and index it."""
    environment = {**os.environ, "EXPLAIN_HOME": str(home)}
    if not any((home / "journals").glob("*.jsonl")):
        large = ("--dataset", "world", "--limit", "50", "--counterfactuals", "25", "--model", "control/fickle")
        for command in (["demo-home", str(trials)], ["ask", *large]):
            subprocess.run([sys.executable, "-m", "core", *command], cwd=ROOT, env=environment, check=True)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", INDEX, str(home / "journals"), str(Path(folder) / "store.duckdb")]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        if not (home / "store.duckdb").exists():
            shutil.copyfile(Path(folder) / "store.duckdb", home / "store.duckdb")
        command = [sys.executable, "-c", DELETE, str(Path(folder) / "store.duckdb")]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)


def report(steps: dict[str, Step]) -> None:
    """Print what each step took, beside the empty page and its limit."""
    print(f"{'step':34} {'median':>7} {'least':>7} {'processor':>9} {'empty':>7} {'ratio':>6} {'limit':>6}")
    for name, step in steps.items():
        if not step.wall:
            continue
        empty, limit = median(step.empty), LIMITS.get(name.removesuffix(", of a run with 1,000 trials"))
        print(
            f"{name:34} {median(step.wall):7.2f} {min(step.wall):7.2f} {median(step.processor):9.2f} {empty:7.2f} "
            f"{median(step.wall) / empty:6.1f}"
            + (f" {limit:6.2f}{'  over' if median(step.wall) > limit else ''}" if limit else "")
        )


def measure(app: Server, home: Path, rounds: int, only: list[str]) -> None:
    """Measure all steps, or `only` some."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "empty.py"
        script.write_text(EMPTY)
        beside = Server(Path(folder) / "empty", script=str(script), forked=False)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page, empty = (browser.new_page(viewport={"width": 1280, "height": 720}) for _ in range(2))
        try:
            for one, at in ((page, f"{app.url}/browse"), (empty, beside.url)):
                one.set_default_timeout(LONGEST)
                one.goto(at)
            empty.get_by_text("drawn 1").wait_for()
            page.locator(".st-key-pager").wait_for()
            desk = Desk(app, page, empty)
            for number in range(rounds):
                for name in only or LIMITS:
                    if name == "next" and only and "open" not in only:
                        measure_open(desk)
                    if name == "label":
                        if not number:
                            measure_label(desk, home)
                    else:
                        globals()[f"measure_{name}"](desk)
            report(desk.steps)
            if not only:
                measure_memory(browser, app)
        finally:
            browser.close()
            beside.stop()


def main() -> None:
    """Fill the home, start the app and measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("trials", type=int, nargs="?", default=200_000)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=list(LIMITS), default=[])
    given = parser.parse_args()
    if CHROMIUM is None:
        print("This needs Chromium.")
        return
    with tempfile.TemporaryDirectory() as folder:
        home = given.home or Path(folder) / "home"
        home.mkdir(parents=True, exist_ok=True)
        if not given.only:
            fill(home, given.trials)
        app = Server(home, forked=False)
        try:
            measure(app, home, given.rounds, given.only)
        finally:
            app.stop()


if __name__ == "__main__":
    main()
