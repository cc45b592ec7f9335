"""Names that a language model gives to kinds, beside their telling words."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from ..events import Message, Model, Request, Sampling, ignore_text
from . import vectors
from .listing import Selection
from .store import Store

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
    found: dict[str, list[str]] = {}
    for kind, question, explanation in rows:
        found.setdefault(kind, []).append(f"Question: {question[:LONGEST]}\nExplanation: {explanation[:LONGEST]}")
    return found


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
