"""Stanford Human Preferences (Ethayarajh et al. 2022): a post and two responses, one JSON object per line.

If the rows have scores, as the official ones do, they are filtered as by Chen et al. (shp/preprocess.py). Of each post,
keep the pairs whose better response is the post's best; of those, the pairs whose other response scores below the
median of the other responses; of those, one pair; and drop it if it is too long. The paper draws this pair at random,
unseeded, and counts GPT-2's tokens. Here a hash of its content selects the pair, always the same one, and four
characters count as a token. Texts are cleaned as in the paper.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from .files import check_texts, files_for, json_rows
from .items import BROKEN, BrokenRowError, Item, LeftOut, Read, Split, broken, read_items

_FILES: dict[Split, tuple[str, ...]] = {
    "test": ("test.json*", "*/test.json*", "*.jsonl", "*.json"),
    "valid": ("validation.json*", "*/validation.json*"),
    "train": ("train.json*", "*/train.json*"),
}
_TEXTS = ("history", "human_ref_A", "human_ref_B")
MOST_TOKENS = 1024
"""Maximum length of a post with both responses."""
TOKEN = 4
"""Characters per token."""

NOT_BEST = "without the post's best response"
NOT_BELOW = "the other response is not below the median of those"
NOT_DRAWN = "the post has another pair"
TOO_LONG = f"longer than about {MOST_TOKENS:,} tokens"


def read(path: Path, split: Split | None) -> Read:
    """Read the fields history, human_ref_A, human_ref_B and, if people voted, labels (1: A preferred). In a folder,
    read the file of every domain. Raises DatasetError.
    """
    paths = [path] if path.is_file() else files_for(path, split, _FILES)[1]
    entries: list[tuple[Path, int, Any]] = [(file, *row) for file in paths for row in json_rows(file)]
    whole = [(file, line, entry) for file, line, entry in entries if not isinstance(entry, BrokenRowError)]
    kept, left_out = _filtered(whole)
    read: Read = [LeftOut(BROKEN, str(entry)) for *_, entry in entries if isinstance(entry, BrokenRowError)]
    for file, line, entry in kept:
        read += read_items(file, [(line, entry)], partial(_item, file))
    return [*read, *(LeftOut(reason, rows=n) for reason, n in left_out.items())]


def _item(file: Path, line: int, entry: Any) -> Item:
    check_texts(file, line, entry, *_TEXTS)
    vote = entry.get("labels")
    if vote not in (None, 0, 1):
        raise broken(file, line, f"“labels” must be 0 or 1, not {vote!r}")
    return Item(
        id=f"shp-{_identity(entry)}",
        task="shp",
        paragraph=cleaned(entry["history"]),
        choices=(cleaned(entry["human_ref_A"]), cleaned(entry["human_ref_B"])),
        label=None if vote is None else ("1" if vote else "2"),
    )


_CLOSED_UP = ((" , ", ","), (" .", "."), (" !", "!"), (" ?", "?"), (" : ", ": "), (" '", "'"))
"""The replacements of the authors' preprocessing, in order. A comma between two spaces loses both of them."""


def cleaned(text: str) -> str:
    """Clean a text as the authors' preprocessing does: single spaces only, and none before a closing mark."""
    text = re.sub(" +", " ", text.strip())
    for old, new in _CLOSED_UP:
        text = text.replace(old, new)
    return text


def _identity(entry: dict[str, Any]) -> str:
    """Return a name for the pair that does not depend on its position: the ids of its three comments, else a hash of
    its content.
    """
    ids = [entry.get(name) for name in ("post_id", "c_root_id_A", "c_root_id_B")]
    if all(isinstance(id, str) and id for id in ids):
        return "-".join(map(str, ids))
    texts = "\x1f".join(str(entry.get(name)) for name in _TEXTS)
    return hashlib.sha256(texts.encode("utf-8", "surrogateescape")).hexdigest()[:16]


Row = tuple[Path, int, Any]


def _filtered(rows: list[Row]) -> tuple[list[Row], dict[str, int]]:
    """Return the rows that pass the paper's filters, and those without the scores or text that these need; and how many
    others there are, by reason.
    """
    kept: list[Row] = []
    posts: dict[str, list[tuple[float, float, Row]]] = defaultdict(list)
    for row in rows:
        entry = row[2]
        scores = [entry.get(name) for name in ("score_A", "score_B")] if isinstance(entry, dict) else []
        numbers = [float(score) for score in scores if isinstance(score, int | float)]
        if len(numbers) < 2 or not isinstance(entry.get("history"), str):
            kept.append(row)
        else:
            posts[entry["history"]].append((max(numbers), min(numbers), row))
    left_out = dict.fromkeys((NOT_BEST, NOT_BELOW, NOT_DRAWN, TOO_LONG), 0)
    for pairs in posts.values():
        top = max(better for better, *_ in pairs)
        best = [(worse, row) for better, worse, row in pairs if better == top]
        middle = median(worse for worse, _ in best)
        below = [row for worse, row in best if worse < middle]
        left_out[NOT_BEST] += len(pairs) - len(best)
        left_out[NOT_BELOW] += len(best) - len(below)
        if not below:
            continue
        left_out[NOT_DRAWN] += len(below) - 1
        chosen = min(below, key=lambda row: hashlib.sha256(_identity(row[2]).encode()).digest())
        if sum(len(cleaned(str(chosen[2].get(name)))) for name in _TEXTS) > MOST_TOKENS * TOKEN:
            left_out[TOO_LONG] += 1
        else:
            kept.append(chosen)
    return kept, {reason: n for reason, n in left_out.items() if n}
