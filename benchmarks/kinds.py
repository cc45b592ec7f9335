"""How long grouping by meaning takes with 10,000 kept vectors, or as many as are named, and a search by meaning among
them, beside one product of all pairs of vectors and a plain scan of the rows in the same run.

    python benchmarks/kinds.py [ROWS]
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from core.labs.ask.lab import LAB
from core.store import kinds, ranking, vectors
from core.store.listing import RowPlace, Selection
from core.store.store import Store

WIDTH, TOPICS = 384, 300

MADE = """
insert into runs by name
    select printf('run-%04d', range) as run, 'simulatability' as lab, 'completed' as status, '' as about,
           timestamp '2026-01-01' + to_seconds(range * 60) as "at" from range($rows // 100 + 1);
insert into cases by name
    select printf('run-%04d', range // 10) as run, printf('q%d', range % 10) as "case",
           printf('An explanation, number %d', range) as explanation from range($rows // 10 + 1);
insert into items by name
    select printf('run-%04d', range // 100) as run, printf('q%d', range % 100 // 10) as "case",
           printf('cf-%02d', range % 10) as trial, 'simulatability' as lab, range % 100 // 10 as number,
           timestamp '2026-01-01' + to_seconds(range // 100 * 60) as "at", printf('Item %d', range // 10) as title,
           printf('A new question, number %d', range) as about, 'misled' as outcome, true as counts from range($rows)
"""


class Known:
    """Stands for an encoder whose text was encoded before."""

    name = "benchmark"

    def encode(self, texts: Any) -> Any:
        """Return one vector for each text."""
        return np.eye(len(texts), WIDTH, dtype=np.float32)


def seconds(does: Callable[[], object], times: int) -> float:
    """The median time of `does`."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        does()
        took.append(time.perf_counter() - began)
    return median(took)


def main(rows: int) -> None:
    """Print the times and their ratios."""
    draws = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store.duckdb", {LAB.name: LAB}) as store:
        with store.write() as cursor:
            for statement in MADE.split(";"):
                cursor.execute(statement, {"rows": rows})
        selected = Selection(store)
        texts = vectors.all_texts(vectors.texts(selected, rows))
        # Ten questions, which come first, have one explanation, and both its topic.
        number = np.arange(len(texts))
        topic = np.where(number < len(texts) * 10 // 11, number // 10, number - len(texts) * 10 // 11) % TOPICS
        made = draws.normal(size=(TOPICS, WIDTH))[topic]
        made += 0.9 * draws.normal(size=made.shape)
        vectors.keep(store, Known.name, texts, made / np.linalg.norm(made, axis=1, keepdims=True))
        whole = draws.normal(size=(min(rows, vectors.MOST), 2 * WIDTH)).astype(np.float32)
        product, scan = seconds(lambda: whole @ whole.T, 1), seconds(selected.count, 9)
        grouping = seconds(lambda: kinds.group(selected, Known.name), 1)
        found = kinds.group(selected, Known.name)
        encoder: Any = Known()
        text = seconds(lambda: ranking.by_meaning(selected, "a text", encoder), 9)
        place = RowPlace("run-0000", "q0", "cf-00")
        row = seconds(lambda: ranking.by_meaning(selected, place, encoder), 9)
        order = seconds(lambda: ranking.by_instructive(selected), 3)
    print(f"{rows:,} rows, {len(texts):,} vectors; {found.grouped:,} rows in kinds")
    print(f"grouping           {grouping:8.2f} s   {grouping / product:6.1f} products of all pairs ({product:.2f} s)")
    for name, took in (("like a text", text), ("like a row", row), ("most instructive", order)):
        print(f"{name:18} {took:8.3f} s   {took / scan:6.1f} counts of the rows ({scan:.4f} s)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
