"""A table as a file: CSV that no spreadsheet executes, Parquet and JSON lines that lose nothing."""

import io
import json
from pathlib import Path

import pandas as pd

from core import entry, home
from core.report import export
from core.store.filters import Filter
from core.store.index import index
from core.store.listing import Selection
from core.store.store import Store


def test_each_kind_holds_the_rows() -> None:
    frame = pd.DataFrame(
        {"text": ["=1+1", "a"], "n": [-5, 2], "x": [-1 / 3, None], "at": pd.to_datetime(["2026-01-02"] * 2)}
    )
    read = pd.read_csv(io.BytesIO(export.table(frame, "csv")))
    assert list(read["text"]) == ["'=1+1", "a"] and list(read["n"]) == [-5, 2] and read["x"][0] == -1 / 3
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(export.table(frame, "parquet"))), frame)
    first, second = (json.loads(line) for line in export.table(frame, "jsonl").splitlines())
    assert (
        first["text"] == "=1+1"
        and abs(first["x"] + 1 / 3) < 1e-14
        and second["x"] is None
        and first["at"].startswith("2026-01-02")
    )


def test_the_rows_of_a_filter_lead_to_their_journals(tmp_path: Path) -> None:
    with Store(tmp_path / "store.duckdb", entry.labs()) as store:
        index(store, home.recordings(), recordings=True)
        runs = tuple(path.stem for path in home.recordings().glob("*.jsonl"))
        every = export.rows(Selection(store, Filter(recordings=True, runs=runs)))
        some = export.rows(Selection(store, Filter(recordings=True, runs=runs, chosen={"outcome": ("misled all",)})))
    assert every["recording"].all() and every["study"].isna().all()
    assert len(every) == 62 and set(every["rules"]) == {"paper", "repaired"} and len(some) == 14
    for row in every.itertuples():
        lines = [json.loads(line) for line in (home.recordings() / f"{row.run}.jsonl").read_text().splitlines()]
        assert row.seed == lines[0]["seed"] and row.lab == lines[0]["lab"]
        trials = [one["data"] for one in lines if one.get("record") == "trial" and one["trial"] == row.trial]
        if row.trial:
            [trial] = trials
            reading = trial[row.rules]
            assert (row.expected, row.observed, row.outcome, row.counts) == tuple(
                reading[name] for name in ("expected", "observed", "outcome", "counts")
            )
        scores = [one for one in lines if (one.get("metric"), one.get("rules")) == (row.metric, row.rules)]
        last = [one for one in scores if not one["item"]][-1:]
        if last and last[0]["value"] is not None:
            assert (row.value, row.n, row.of) == (last[0]["value"], last[0]["n"], last[0]["of"])
            assert row.figure_of in ("case", "run")
    assert list(json.loads(export.table(some, "jsonl").splitlines()[0]))[:3] == ["run", "case", "trial"]
