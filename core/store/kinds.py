"""Kinds: selected rows grouped by what their questions and explanations mean, each group named by its telling words, or
by a language model.

Two rows are alike if each is among the nearest of the other (mutual nearest neighbours). The most alike pairs are
joined first, and two groups only while their means are alike too, so that no chain of neighbours joins everything. The
words of a group are those with the highest c-TF-IDF (Grootendorst 2022, arXiv:2203.05794), counted once a row.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from ..events import Message, Model, Request, Sampling, ignore_text, now
from ..statistics.groups import grouped
from ..text.compare import content_words
from . import vectors
from .filters import KIND
from .listing import Selection
from .store import Store, insert

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame


NEIGHBOURS = 10
"""How many nearest rows of each row are looked at."""

LEAST = 0.5
"""The least cosine of two rows, and of the means of two groups, that are joined."""

SMALLEST = 3
"""The least number of rows in a kind; they are about at least two items."""

WORDS = 3
"""Words in the name of a kind."""

KEPT = 200
"""Groupings that the store keeps, the newest."""

_BLOCK = 1_000


class Kinds(NamedTuple):
    """What a grouping found: the id of its facet without `kind:`, which ends in the encoder's name; how many rows there
    were; how many are in a kind.
    """

    clustering: str
    rows: int
    grouped: int


def of_rows(rows: DataFrame, encoder: str, selected: Selection) -> NDArray[np.float32]:
    """The vector of each row of `vectors.texts`: that of its question beside that of its explanation, of length 1, so
    that the cosine of two rows is the mean of both cosines. A row without an explanation has zeros in its place.
    """
    import numpy as np

    halves = [vectors.matrix(selected.store, encoder, list(rows[name])) for name in ("question", "explanation")]
    widest = max(half.shape[1] for half in halves)
    whole = np.hstack([np.pad(half, ((0, 0), (0, widest - half.shape[1]))) for half in halves])
    return np.asarray(whole / np.sqrt(2.0), np.float32)


def alike(rows: NDArray[np.float32], items: Sequence[str]) -> list[list[int]]:
    """Group rows by their vectors, shape (rows, width), each of length at most 1; `items` says what each row is about.
    Rows about one item are never each other's neighbours, or each item would be a kind. Returns the numbers of the
    rows of each group, the largest first.
    """
    import numpy as np

    _, codes = np.unique(np.asarray(items, dtype=object).astype(str), return_inverse=True)
    parent, sums = list(range(len(rows))), rows.astype(np.float64)

    def root(one: int) -> int:
        while parent[one] != one:
            parent[one] = one = parent[parent[one]]
        return one

    for first, second in _mutual(rows, codes):
        a, b = root(first), root(second)
        if a != b and sums[a] @ sums[b] >= LEAST * math.sqrt((sums[a] @ sums[a]) * (sums[b] @ sums[b])):
            parent[b] = a
            sums[a] += sums[b]
    groups = grouped((root(one), one) for one in range(len(rows)))
    kinds = (group for group in groups.values() if len(group) >= SMALLEST and len({codes[one] for one in group}) > 1)
    return sorted(kinds, key=lambda group: (-len(group), group[0]))


def _mutual(rows: NDArray[np.float32], codes: NDArray[np.int64]) -> list[tuple[int, int]]:
    """The pairs of rows about different items that are each among the other's nearest, the most alike first."""
    import numpy as np

    count = min(NEIGHBOURS, len(rows) - 1)
    if count < 1:
        return []
    near = np.empty((len(rows), count), np.int64)
    cosine = np.empty((len(rows), count), np.float32)
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        likeness = rows[block] @ rows.T
        likeness[codes[block][:, None] == codes[None, :]] = -1.0
        near[block] = np.argpartition(-likeness, count - 1, axis=1)[:, :count]
        cosine[block] = np.take_along_axis(likeness, near[block], axis=1)
    first = np.repeat(np.arange(len(rows)), count)
    second, weight = near.ravel(), cosine.ravel()
    is_near = weight >= LEAST
    keys = first * len(rows) + second
    mutual = is_near & np.isin(keys, (second * len(rows) + first)[is_near]) & (first < second)
    order = np.lexsort((keys[mutual], -weight[mutual]))
    return list(zip(first[mutual][order].tolist(), second[mutual][order].tolist(), strict=True))


def telling_words(groups: Sequence[Sequence[str]], others: Sequence[str] = ()) -> list[str]:
    """A different name for each group of texts: its words with the highest c-TF-IDF, each counted once a text. `others`
    are texts in no group, which count as one more.
    """
    counts = [Counter(word for text in group for word in _words(text)) for group in (*groups, others)]
    everywhere: Counter[str] = sum(counts, Counter())
    average = everywhere.total() / max(1, len(counts))
    names: list[str] = []
    for count in counts[: len(groups)]:
        scores = {word: n * math.log(1 + average / everywhere[word]) for word, n in count.items()}
        best = sorted(scores, key=lambda word: (-scores[word], word))
        length = WORDS
        while (name := ", ".join(best[:length])) in names and length < len(best):
            length += 1
        names.append(name if name and name not in names else f"{name or 'kind'} {len(names) + 1}")
    return names


def _words(text: str) -> set[str]:
    return {word for word in content_words(text) if len(word) > 2 and not word[0].isdigit()}


def group(selected: Selection, encoder: str) -> Kinds:
    """Group the newest selected rows (at most `vectors.MOST`), whose vectors by that encoder are kept, and store the
    grouping as a facet. The same rows have the same grouping, which is stored once.
    """
    rows = vectors.texts(selected)
    places = list(rows[["run", "case", "trial"]].itertuples(index=False, name=None))
    told = repr((encoder, selected.viewer, places, list(rows["explanation"])))
    clustering = f"{sha256(told.encode('utf-8', 'replace')).hexdigest()[:12]}-{encoder}"
    known = selected.store.rows("select kind <> '' from kinds where clustering = ?", [clustering])
    if known:
        return Kinds(clustering, len(known), sum(is_in for (is_in,) in known))
    items = list(rows["title"])
    if len(set(items)) < 2:
        items = [f"{run} {case}" for run, case, _ in places]
    found = alike(of_rows(rows, encoder, selected), items)
    texts = (rows["question"] + "\n" + rows["explanation"]).tolist()
    grouped = {one for group in found for one in group}
    alone = [texts[one] for one in range(len(rows)) if one not in grouped]
    names = telling_words([[texts[one] for one in group] for group in found], alone)
    kinds = dict.fromkeys(range(len(rows)), "")
    kinds |= {one: name for name, group in zip(names, found, strict=True) for one in group}
    _keep(selected, clustering, [(*place, kinds[one]) for one, place in enumerate(places)])
    return Kinds(clustering, len(rows), len(grouped))


def _keep(selected: Selection, clustering: str, rows: Sequence[tuple[str, str, str, str]]) -> None:
    import pyarrow as pa

    names = ("run", "case", "trial", "kind")
    incoming = pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)})
    at = now().replace(tzinfo=None)
    with selected.store.write() as cursor:
        made = "select $clustering as clustering, *, '' as title, '' as model, $at::timestamp as \"at\" from incoming"
        insert(cursor, incoming, f"insert into kinds by name {made}", {"clustering": clustering, "at": at})
        newest = 'select clustering from kinds group by clustering order by max("at") desc limit $kept'
        cursor.execute(f"delete from kinds where clustering not in ({newest})", {"kept": KEPT})  # noqa: S608  our own names


def facet(clustering: str) -> str:
    """The name of the facet of a grouping."""
    return f"{KIND}{clustering}"


def stored(selected: Selection, clustering: str) -> Kinds | None:
    """What the grouping has of the selected rows; None if it has none of them."""
    ((rows, grouped),) = selected.found(
        """
        select count(*), count(*) filter (kinds.kind <> '') from wanted join kinds using (run, "case", trial)
        where clustering = $clustering
        """,
        clustering=clustering,
    )
    return Kinds(clustering, rows, grouped) if rows else None


def columns(selected: Selection, clustering: str) -> DataFrame:
    """The kinds of the selected rows that were grouped: run, case, trial, kind (its words; null if the row is in none),
    kind_name (the name that a model gave it; null if none) and grouping, the `clustering`.
    """
    return selected.frame(
        """
        select run, "case", trial, nullif(kind, '') as kind, nullif(kinds.title, '') as kind_name,
               clustering as grouping
        from wanted join kinds using (run, "case", trial) where clustering = $clustering
        """,
        clustering=clustering,
    )


def titles(selected: Selection, clustering: str) -> Mapping[str, str]:
    """The names that a model gave to the kinds of the selected rows, by their words."""
    rows = selected.found(
        """
        select distinct kind, kinds.title from wanted join kinds using (run, "case", trial)
        where clustering = $clustering and kinds.title <> ''
        """,
        clustering=clustering,
    )
    return dict(rows)


# Names that a language model gives to kinds, beside their telling words.


EXAMPLES = 6
"""Rows of a kind that a model reads."""

LONGEST, LONGEST_NAME = 400, 60
"""Characters of a question or an explanation that it reads, and of the name that is kept."""

_TOGETHER = 4
"""Calls at the same time."""

_PROMPT = """These are questions with a model's explanation of its answer. They were put into one group because they are
alike.

{rows}

What do they have in common? Answer with a name for the group of two to five words, and nothing else."""


def examples(selected: Selection, clustering: str) -> dict[str, list[str]]:
    """Some rows of each kind among the selected rows, as text, by the kind's words."""
    rows = selected.found(
        f"""
        select kinds.kind, {vectors.QUESTION}, {vectors.EXPLANATION}
        from wanted items join kinds using (run, "case", trial)
             left join cases on (cases.run, cases."case") = (items.run, items."case")
        where clustering = $clustering and kinds.kind <> ''
        qualify row_number() over (partition by kinds.kind order by items.title, items.run, items.trial) <= $limit
        """,  # noqa: S608  our own names
        clustering=clustering,
        limit=EXAMPLES,
    )
    return grouped(
        (kind, f"Question: {question[:LONGEST]}\nExplanation: {explanation[:LONGEST]}")
        for kind, question, explanation in rows
    )


async def ask(model: Model, kinds: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The names that the model gives to kinds, by their words; a kind that it gives no name has none. Raises
    CallError.
    """
    places = asyncio.Semaphore(_TOGETHER)

    async def name(rows: Sequence[str]) -> str:
        message = Message(role="user", content=_PROMPT.format(rows="\n\n".join(rows)))
        sampling = Sampling(temperature=0.0, max_tokens=40)
        async with places:
            request = Request(role="namer", model=model.id, messages=(message,), sampling=sampling)
            answer = await model.answer(request, ignore_text)
        lines = [line.strip(" .\"'*#") for line in answer.text.splitlines()]
        return next((line for line in lines if line), "")[:LONGEST_NAME]

    names = await asyncio.gather(*map(name, kinds.values()))
    return {words: given for words, given in zip(kinds, names, strict=True) if given}


def keep(store: Store, clustering: str, names: Mapping[str, str], model: str) -> None:
    """Keep the names that the model gave."""
    with store.write() as cursor:
        for words, name in names.items():
            cursor.execute(
                "update kinds set title = ?, model = ? where clustering = ? and kind = ?",
                [name, model, clustering, words],
            )
