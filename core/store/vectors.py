"""Sentence vectors of the questions and explanations of results, kept in the store by encoder and digest."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ..errors import ExplainError
from ..text import embed
from .listing import Selection
from .store import LONGEST_ENCODED, Store, insert

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

log = logging.getLogger(__name__)

MOST = 10_000
"""Most rows whose texts are compared, the newest first."""

QUESTION = f"left(if(items.trial <> '' and items.about <> '', items.about, items.title), {LONGEST_ENCODED})"
EXPLANATION = f"left(coalesce(cases.explanation, ''), {LONGEST_ENCODED})"
"""SQL for the two texts of a row of `items`, joined with `cases`."""

BATCH = 64
"""Texts that are encoded and stored together."""


def texts(selected: Selection, limit: int = MOST) -> DataFrame:
    """The newest selected rows of cases with their texts: run, case, trial, title, question, explanation."""
    return selected.frame(
        f"""
        select items.run, items."case", items.trial, items.title, {QUESTION} as question,
               {EXPLANATION} as explanation
        from wanted items left join cases on (cases.run, cases."case") = (items.run, items."case")
        where items."case" <> ''
        order by items."at" desc, items.run desc, items.number, items."case", items.trial limit $limit
        """,  # noqa: S608  our own names
        limit=limit,
    )


def all_texts(rows: DataFrame) -> list[str]:
    """Every text of the rows once, without empty ones."""
    return [text for text in dict.fromkeys([*rows["question"], *rows["explanation"]]) if text.strip()]


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()


def missing(store: Store, encoder: str, wanted: Sequence[str]) -> list[str]:
    """Those of the texts that have no vector by the encoder of that name."""
    rows = store.rows("select digest from vectors where encoder = ?", [encoder])
    known = {digest for (digest,) in rows}
    return [text for text in wanted if _digest(text) not in known]


def matrix(store: Store, encoder: str, wanted: Sequence[str]) -> NDArray[np.float32]:
    """The kept vectors of the texts, shape (number of texts, width), of length 1; zeros for a text without one."""
    import numpy as np

    with store.limited() as cursor:
        found = cursor.sql(
            "select digest, vector from vectors where encoder = $encoder and digest = any($digests)",
            params={"encoder": encoder, "digests": list({_digest(text) for text in wanted})},
        ).to_arrow_table()
    row = {digest: number for number, digest in enumerate(found["digest"].to_pylist(), start=1)}
    flat = found["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    width = len(flat) // len(row) if row else 1
    table = np.vstack([np.zeros((1, width), np.float32), flat.reshape(-1, width)])
    return np.asarray(table[[row.get(_digest(text), 0) for text in wanted]], np.float32)


def keep(store: Store, encoder: str, named: Sequence[str], vectors: NDArray[Any]) -> None:
    """Store the vectors of the texts, shape (number of texts, width)."""
    import numpy as np
    import pyarrow as pa

    width = vectors.shape[1]
    flat = pa.array(np.ascontiguousarray(vectors, np.float32).ravel())
    ends = pa.array(np.arange(0, len(flat) + 1, width, dtype=np.int32))
    rows = {"encoder": [encoder] * len(named), "digest": [_digest(text) for text in named]}
    incoming = pa.table({**rows, "vector": pa.ListArray.from_arrays(ends, flat)})
    with store.write() as cursor:
        insert(cursor, incoming, "insert or replace into vectors by name select * from incoming")


class VectorMaker:
    """Makes vectors in a thread of its own, one batch after another. May be used from any thread. `done` and `of` count
    texts since the thread began; `problem` says why it ended before it was done.
    """

    def __init__(self) -> None:
        self.done = self.of = 0
        self.problem = ""
        self._waiting: dict[str, Store] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def is_busy(self) -> bool:
        """Whether vectors are being made."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    def want(self, store: Store, wanted: Sequence[str]) -> None:
        """Make the vectors of these texts and keep them in the store."""
        with self._lock:
            if not self._waiting:
                self.done, self.of, self.problem = 0, 0, ""
            self.of += sum(text not in self._waiting for text in wanted)
            self._waiting |= dict.fromkeys(wanted, store)
            if wanted and not self.is_busy:
                self._thread = threading.Thread(target=self._make, name="vectors", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Stop after the current batch; what was made is kept."""
        with self._lock:
            self._waiting.clear()

    def _make(self) -> None:
        try:
            encoder = embed.encoder()
            while batch := self._next():
                store = batch[0][1]
                of_store = [text for text, one in batch if one is store]
                named = missing(store, encoder.name, of_store)
                if named:
                    keep(store, encoder.name, named, encoder.encode(named))
                with self._lock:
                    self.done += len(of_store)
                    for text in of_store:
                        self._waiting.pop(text, None)
        except Exception as error:
            known = isinstance(error, ExplainError)
            log.log(logging.WARNING if known else logging.ERROR, "vectors: %s", error, exc_info=not known)
            with self._lock:
                self.problem = str(error) if known else "Making vectors failed; see the log for the reason."
                self._waiting.clear()

    def _next(self) -> list[tuple[str, Store]]:
        """The next texts; an empty list ends the thread, so that `want` starts another."""
        with self._lock:
            batch = list(self._waiting.items())[:BATCH]
            if not batch:
                self._thread = None
            return batch
