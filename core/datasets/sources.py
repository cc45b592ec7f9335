"""The download addresses of each data set (`sources.toml`), and whether it is already here."""

import os
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .. import package_data
from ..home import home

UNKNOWN = "unknown: recorded at the first download"
"""Shown in place of a size or digest that could not be computed from the official file."""


class SourceFile(NamedTuple):
    """One file to download. For an archive, `keep` lists the endings of the member paths to keep; any other file is
    saved as `to`. `bytes` and `sha256` were computed from the official file.
    """

    url: str
    to: str = ""
    keep: tuple[str, ...] = ()
    bytes: int | None = None
    sha256: str | None = None


class Source(NamedTuple):
    """The source of a download. `datasets` are the data sets of the registry that its files contain; `address` says how
    the addresses are known, `tried` whether they were tested.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    page: str
    licence: str
    address: str
    tried: bool
    note: str
    files: tuple[SourceFile, ...]

    @property
    def folder(self) -> Path:
        """The folder where the loaders look for it. Raises DataDirError."""
        return home() / "datasets" / self.name

    @property
    def is_here(self) -> bool:
        """Whether the folder exists."""
        return self.folder.exists()

    @property
    def about_address(self) -> str:
        """How far the addresses can be relied on, in a few words."""
        return self.address if self.tried else f"{self.address}; not verified"


@cache
def sources() -> tuple[Source, ...]:
    """Return all sources, in the order of the file."""
    licences = {row["name"]: row["licence"] for row in package_data.table("datasets")["dataset"]}
    return tuple(_source(entry, licences) for entry in package_data.sibling_toml(__file__, "sources.toml")["source"])


def source_of(dataset: str) -> Source | None:
    """Return the source of the data set called `dataset` in the registry; None if there is none."""
    return next((source for source in sources() if dataset in source.datasets), None)


def mirrored(source: Source, file: SourceFile) -> str:
    """Return the address to use: `<mirror>/<name of the source>/<name of the file>` if $EXPLAIN_DATA_MIRROR is set; for
    files on the hub, the address on $HF_ENDPOINT; otherwise the official one.
    """
    hub = "https://huggingface.co/"
    if mirror := os.environ.get("EXPLAIN_DATA_MIRROR", "").rstrip("/"):
        return f"{mirror}/{source.name}/{file.to or file.url.rpartition('/')[2]}"
    if file.url.startswith(hub) and (endpoint := os.environ.get("HF_ENDPOINT", "").rstrip("/")):
        return f"{endpoint}/{file.url.removeprefix(hub)}"
    return file.url


def _source(entry: dict[str, Any], licences: dict[str, str]) -> Source:
    files: list[SourceFile] = []
    for given in entry["file"]:
        keep = tuple(given.get("keep", ()))
        for each in given.get("each", [""]):
            url, to = given["url"].replace("{each}", each), given.get("to", "").replace("{each}", each)
            files.append(SourceFile(url, to, keep, given.get("bytes"), given.get("sha256")))
    datasets = tuple(entry["datasets"])
    return Source(
        name=entry["name"],
        title=entry["title"],
        datasets=datasets,
        page=entry["page"],
        licence=entry.get("licence") or licences[datasets[0]],
        address=entry["address"],
        tried=entry.get("tried", False),
        note=entry.get("note", ""),
        files=tuple(files),
    )
