"""Orders of a list that no column gives: how instructive rows are, and how near in meaning to a text or a row."""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from ..text import embed
from ..text.compare import content_words
from . import vectors
from .listing import Listed, RowPlace, Selection
from .run_list import SEEN
from .schema import quoted, quoted_names

NEAREST = 500
"""Rows that a search by meaning lists."""

COPY = 0.7
"""The share of their words that near copies have in common, at least."""

_TRIED = 40
"""How many rows are tried for one that is no near copy of the row above."""


class Candidate(NamedTuple):
    """What makes a row instructive: the explanation did harm (the outcome counts against it, and nothing makes that
    doubtful), both parsers agree, all votes of the predictors agree (None if there were fewer than two), and the
    correct answer is known. `words`: those of its question and explanation.
    """

    harm: bool
    parsers: bool
    votes: bool | None
    gold: bool
    words: frozenset[str]


class Ranked(NamedTuple):
    """A row in its place: its number among the candidates, and the parts that hold, by name; a part that cannot be said
    of it is missing.
    """

    row: int
    parts: dict[str, bool]

    @property
    def shown(self) -> str:
        """The parts in words, first how many hold."""
        holds = [name for name, one in self.parts.items() if one]
        return f"{len(holds)} of {len(self.parts)}: {', '.join(holds) or 'none'}"


def instructive(rows: Sequence[Candidate]) -> list[Ranked]:
    """Order rows by how many parts hold, harm first; of rows with the same parts the first that is no near copy of the
    row above comes next. Rows that are equal keep their order.
    """
    groups: dict[tuple[int, bool], list[int]] = {}
    for number, row in enumerate(rows):
        holding = row.harm + row.parsers + bool(row.votes) + row.gold
        groups.setdefault((-holding, not row.harm), []).append(number)
    ranked: list[Ranked] = []
    for _, numbers in sorted(groups.items()):
        left = dict.fromkeys(numbers)
        while left:
            above = rows[ranked[-1].row].words if ranked else frozenset()
            tried = islice(left, _TRIED)
            number = next((one for one in tried if not is_near_copy(rows[one].words, above)), next(iter(left)))
            del left[number]
            row = rows[number]
            parts = {"harm": row.harm, "parsers": row.parsers, "votes": row.votes, "gold": row.gold}
            parts["no copy"] = not is_near_copy(row.words, above)
            ranked.append(Ranked(number, {name: one for name, one in parts.items() if one is not None}))
    return ranked


def is_near_copy(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts have most of their words in common: at least the share COPY of all words of both."""
    return bool(one) and len(one & other) >= COPY * len(one | other)


def by_instructive(selected: Selection) -> list[tuple[RowPlace, str]]:
    """The newest selected rows of cases (at most `vectors.MOST`), the most instructive first, each with its parts."""
    store = selected.store
    harm = [outcome for lab in store.labs.values() for outcome in lab.that_mean("broken")]
    gold = [name for name in store.records.values() if "gold" in store.tables[name].columns]
    # An arm is a prediction without the explanation.
    votes = [name for name in store.records.values() if {"votes", "arm"} & set(store.tables[name].columns) == {"votes"}]
    known = " union all ".join(
        f'select run, "case" from {quoted_names([name])} where gold is not null'  # noqa: S608  our own names
        for name in gold
    )
    voted = " union all ".join(
        f"""select run, "case", item, unnest(from_json(votes, '["varchar"]')) as vote
            from {quoted_names([name])} where "by" = ''"""  # noqa: S608  our own names
        for name in votes
    )
    rows = selected.found(
        f"""
        , known as ({known or "select '' as run, '' as case where false"}),
        votes as (
            select run, "case", item as trial, count(*) as n, count(distinct vote) as different
            from ({voted or "select '' as run, '' as case, '' as item, '' as vote where false"})
            where run in (select run from wanted) group by all
        )
        select items.run, items."case", items.trial,
               items.outcome in ({quoted(*harm)}) and coalesce(items.counts, false) and coalesce(items.doubt, '') = '',
               not items.differ, if(n > 1, different = 1, null),
               (items.run, items."case") in (select (run, "case") from known)
               or (items.run, split_part(items."case", '/', 1)) in (select (run, "case") from known),
               {vectors.QUESTION}, {vectors.EXPLANATION}
        from wanted items left join cases on (cases.run, cases."case") = (items.run, items."case")
             left join votes on (votes.run, votes."case", votes.trial) = (items.run, items."case", items.trial)
        where items."case" <> ''
        order by items."at" desc, items.run desc, items.number, items."case", items.trial limit $limit
        """,  # noqa: S608  our own names
        limit=vectors.MOST,
    )
    said: dict[str, frozenset[str]] = {}
    candidates = []
    for *_, harmed, agree, voted_alike, has_gold, question, explanation in rows:
        if explanation not in said:
            said[explanation] = frozenset(content_words(explanation))
        words = said[explanation] | content_words(question)
        candidates.append(Candidate(bool(harmed), bool(agree), voted_alike, bool(has_gold), words))
    return [(RowPlace(*rows[one.row][:3]), one.shown) for one in instructive(candidates)]


def by_meaning(selected: Selection, like: RowPlace | str, encoder: embed.Encoder) -> list[tuple[RowPlace, str]]:
    """The selected rows nearest in meaning to a text or to another row, at most NEAREST, each with its likeness: the
    mean cosine of questions and explanations, of rows whose vectors are kept. A text is compared with both.
    """
    if isinstance(like, RowPlace):
        here = selected.store.rows(
            f"""
            select coalesce({vectors.QUESTION}, cases.title), {vectors.EXPLANATION}
            from cases left join items on (items.run, items."case", items.trial) = (cases.run, cases."case", $trial)
            where (cases.run, cases."case") = ($run, $case) and cases.run in (select run from runs where {SEEN})
            """,  # noqa: S608  our own names
            {**like._asdict(), "viewer": selected.viewer},
        )
        texts = list(here[0]) if here else []
    else:
        texts = [like, like]
    if not any(text.strip() for text in texts):
        return []
    question, explanation = encoder.encode(texts)
    rows = selected.found(
        f"""
        select items.run, items."case", items.trial,
               (list_inner_product(q.vector, $question::float[])
                + coalesce(list_inner_product(e.vector, $explanation::float[]), 0)) / 2 as likeness
        from wanted items left join cases on (cases.run, cases."case") = (items.run, items."case")
             join vectors q on q.encoder = $encoder and q.digest = sha256({vectors.QUESTION})
             left join vectors e on e.encoder = $encoder and e.digest = sha256({vectors.EXPLANATION})
        where (items.run, items."case", items.trial) <> ($run, $case, $trial)
        order by likeness desc, items."at" desc, items.run, items.number, items."case", items.trial limit $limit
        """,  # noqa: S608  our own names
        encoder=encoder.name,
        question=question.tolist(),
        explanation=explanation.tolist(),
        limit=NEAREST,
        **(like if isinstance(like, RowPlace) else RowPlace(""))._asdict(),
    )
    return [(RowPlace(*place), f"{likeness:.2f}") for *place, likeness in rows]


def page(
    selected: Selection,
    order: Sequence[RowPlace],
    after: RowPlace | None = None,
    before: RowPlace | None = None,
    limit: int = 50,
) -> Listed:
    """A page of a list in that order, as `Selection.items` gives it: the rows after a row, or those just before one."""
    anchor = after or before
    is_lost = anchor is not None and anchor not in order
    at = 0 if anchor is None or is_lost else order.index(anchor)
    start = max(0, at - limit) if before and not is_lost else at + 1 if after and not is_lost else 0
    places = order[start : at if before and not is_lost else start + limit]
    rows = selected.rows_at(places)
    return Listed(rows, start + 1 if len(rows) else 0, len(order), lost=is_lost)
