"""A table as a file: CSV that no spreadsheet runs, Parquet and JSON lines that lose nothing."""

from __future__ import annotations

import io
import json

import pandas as pd

from core.store import export


def test_each_kind_holds_the_rows() -> None:
    frame = pd.DataFrame(
        {"text": ["=1+1", "a"], "n": [-5, 2], "x": [-0.5, None], "at": pd.to_datetime(["2026-01-02"] * 2)}
    )
    read = pd.read_csv(io.BytesIO(export.table(frame, "csv")))
    assert list(read["text"]) == ["'=1+1", "a"] and list(read["n"]) == [-5, 2] and read["x"][0] == -0.5
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(export.table(frame, "parquet"))), frame)
    first, second = (json.loads(line) for line in export.table(frame, "jsonl").splitlines())
    assert first["text"] == "=1+1" and second["x"] is None and first["at"].startswith("2026-01-02")
