"""Tables to take along."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Literal, NamedTuple

from core.text.cells import csv

if TYPE_CHECKING:
    from pandas import DataFrame

Kind = Literal["csv", "parquet", "jsonl"]


class Format(NamedTuple):
    """What a kind of file is called, and its media type."""

    title: str
    mime: str


FORMATS: dict[Kind, Format] = {
    "csv": Format("CSV", "text/csv"),
    "parquet": Format("Parquet", "application/vnd.apache.parquet"),
    "jsonl": Format("JSON lines", "application/x-ndjson"),
}


def table(frame: DataFrame, kind: Kind) -> bytes:
    """A file of that kind with the rows of `frame`, without its index. In CSV no cell is a formula (`core.text.cells`);
    the other kinds keep texts as they are.
    """
    if kind == "csv":
        return csv(frame)
    if kind == "jsonl":
        lines = frame.to_json(orient="records", lines=True, date_format="iso", date_unit="us", force_ascii=False)
        return str(lines).encode("utf-8", "surrogatepass")
    written = io.BytesIO()
    frame.to_parquet(written, index=False)
    return written.getvalue()
