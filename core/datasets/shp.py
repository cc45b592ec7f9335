"""Stanford Human Preferences (Ethayarajh et al. 2022): a post and two responses, one JSON object per line."""

from __future__ import annotations

from pathlib import Path

from core.datasets.files import file_for, json_rows
from core.datasets.items import Item, Split, broken

_FILES: dict[Split, tuple[str, ...]] = {
    "test": ("test.json*", "*/test.json*", "*.jsonl", "*.json"),
    "valid": ("validation.json*", "*/validation.json*"),
    "train": ("train.json*", "*/train.json*"),
}


def read(path: Path, split: Split | None) -> list[Item]:
    """Fields history, human_ref_A, human_ref_B; labels (1: A preferred) where people voted. Raises DatasetError."""
    file = path if path.is_file() else file_for(path, split, _FILES)[1]
    items = []
    for number, (line, entry) in enumerate(json_rows(file)):
        if not isinstance(entry, dict):
            raise broken(file, line, "an object with history, human_ref_A and human_ref_B is expected")
        for name in ("history", "human_ref_A", "human_ref_B"):
            if not isinstance(entry.get(name), str) or not entry[name].strip():
                raise broken(file, line, f"“{name}” is missing or empty")
        vote = entry.get("labels")
        if vote not in (None, 0, 1):
            raise broken(file, line, f"“labels” must be 0 or 1, not {vote!r}")
        items.append(
            Item(
                id=f"shp-{file.stem}-{number}",
                task="shp",
                paragraph=entry["history"].strip(),
                choices=(entry["human_ref_A"].strip(), entry["human_ref_B"].strip()),
                label=None if vote is None else ("1" if vote else "2"),
            )
        )
    return items
