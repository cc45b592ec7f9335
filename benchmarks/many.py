"""What the app takes where very many small journals lie: its start, its pages, its rest, its memory.

    python benchmarks/many.py [RUNS ...]

The journals are one of those that come with the app, under other names, with checksums that fit. docs/scale.md shows
the table.
"""

import sys
import tempfile
import time
from pathlib import Path
from zlib import crc32

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core import home
from tests.attacks.wire import Tab, cookie
from tests.browser.conftest import Server

RESTING = 20.0
"""Seconds over which it is seen what the app does when nobody asks for anything."""


def fill(folder: Path, runs: int) -> int:
    """Write so many journals; bytes of one."""
    model = min(home.recordings().glob("*.jsonl"), key=lambda path: path.stat().st_size)
    lab = model.stem.split("-")[2]
    bodies = [line[: line.rindex(b',"sum":')] for line in model.read_bytes().splitlines()]
    folder.mkdir(parents=True)
    for number in range(runs):
        name = f"20260101-000000-{lab}-{number:016x}"
        named = [body.replace(model.stem.encode(), name.encode()) for body in bodies]
        (folder / f"{name}.jsonl").write_bytes(b"".join(b'%b,"sum":"%08x"}\n' % (body, crc32(body)) for body in named))
    return model.stat().st_size


def page(app: Server, name: str, query: str = "") -> str:
    """What a page says, once all of it was sent."""
    with Tab(app, cookie(app)) as tab:
        return " ".join(map(str, tab.run(name, query)))


def measured(runs: int) -> dict[str, str]:
    """One column of the table. Seconds are of the server's processor time: the same on a machine that is busy."""
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        found["journals"] = f"{runs * fill(Path(name) / 'home' / 'journals', runs) / 1e6:,.0f} MB"
        for start in ("first start", "second start"):
            app = Server(Path(name) / "home")
            process = psutil.Process(app._process.pid)

            def taken(process: psutil.Process = process) -> float:
                return float(sum(process.cpu_times()[:2]))

            try:
                found[f"{start}: it answers"] = f"{taken():.1f} s"
                page(app, "")
                found[f"{start}: the front page is drawn"] = f"{taken():.1f} s"
                while f"of {runs:,} runs" not in page(app, "browse", "show=runs"):
                    time.sleep(5)
                found[f"{start}: Browse lists all"] = f"{taken():.1f} s"
                time.sleep(RESTING)
                for what, there in {"the front page": ("",), "Browse's runs": ("browse", "show=runs")}.items():
                    before = taken()
                    page(app, *there)
                    found[f"{start}: {what} from then on"] = f"{taken() - before:.2f} s"
                before = taken()
                time.sleep(RESTING)
                found[f"{start}: processor at rest"] = f"{100 * (taken() - before) / RESTING:.1f} %"
                found[f"{start}: memory"] = f"{process.memory_info().rss / 1e6:,.0f} MB"
            finally:
                app.stop()
            print(runs, found, file=sys.stderr, flush=True)
        found["index"] = f"{(Path(name) / 'home' / 'store.duckdb').stat().st_size / 1e6:,.0f} MB"
    return found


def main() -> None:
    """Print the table, in Markdown."""
    columns = {int(runs): measured(int(runs)) for runs in sys.argv[1:] or (100, 1_000)}
    print("| runs |", " | ".join(f"{runs:,}" for runs in columns), "|")
    print("|---|" + "---|" * len(columns))
    for row in next(iter(columns.values())):
        print(f"| {row} |", " | ".join(found[row] for found in columns.values()), "|")


if __name__ == "__main__":
    main()
