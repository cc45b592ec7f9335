"""English stopwords: NLTK's own if its data is installed, else the same words from `data/stopwords_english.txt`.

The data is read from its files, because importing nltk takes seconds.
"""

from __future__ import annotations

import os
import sys
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

SHIPPED = Path(__file__).resolve().parents[2] / "data" / "stopwords_english.txt"


class Stopwords(NamedTuple):
    """Lower-case words, and their source."""

    words: frozenset[str]
    source: str


def _nltk_folders() -> list[Path]:
    """Return the folders in which NLTK looks for its data (nltk.data.path), without importing it."""
    named = [folder for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder]
    if sys.platform == "win32":
        shared = [rf"{drive}:\nltk_data" for drive in "CDE"] + [
            os.path.join(os.environ.get("APPDATA", "C:\\"), "nltk_data")
        ]
    else:
        shared = [f"{root}/nltk_data" for root in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib")]
    own = [os.path.join(sys.prefix, part) for part in ("nltk_data", "share/nltk_data", "lib/nltk_data")]
    return [Path(folder) for folder in (*named, os.path.expanduser("~/nltk_data"), *own, *shared)]


def _nltk_words() -> str | None:
    for folder in _nltk_folders():
        plain, packed = folder / "corpora" / "stopwords" / "english", folder / "corpora" / "stopwords.zip"
        try:
            if plain.is_file():
                return plain.read_text(encoding="utf-8")
            if packed.is_file():
                with zipfile.ZipFile(packed) as archive:
                    return archive.read("stopwords/english").decode("utf-8")
        except (OSError, KeyError, zipfile.BadZipFile, UnicodeDecodeError):
            continue
    return None


def words_of(text: str) -> frozenset[str]:
    """Return the words in a list file: one or more per line; `#` begins a comment."""
    return frozenset(word for line in text.splitlines() for word in line.partition("#")[0].split())


@lru_cache(maxsize=1)
def english() -> Stopwords:
    """Return the list that the original parsers use: NLTK's if installed, else ours. Read once per process."""
    installed = _nltk_words()
    return Stopwords(words_of(installed), "nltk") if installed else shipped()


@lru_cache(maxsize=1)
def shipped() -> Stopwords:
    """Return the list that comes with the app."""
    return Stopwords(words_of(SHIPPED.read_text(encoding="utf-8")), SHIPPED.name)
