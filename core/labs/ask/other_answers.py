"""Baselines that read other answers instead of an explanation: the model's answer to the most similar other question,
and another model's answer to the same question. docs/measuring.md §2.10.

The verdict does not rest on them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...events import Rules
from ...score import Figure, Score, share
from ...text.shared_words import words
from ..base.declared import CaseAnswers
from . import metrics
from .parse_answers.values import GUESSES

if TYPE_CHECKING:
    from scipy.sparse import csr_array

METRICS = ("precision_words", "gain_words", "precision_other_model", "gain_other_model")

MOST = 10_000
"""The most questions that are compared with each other; of more, none is predicted by its words."""

_BLOCK = 500
_SAME = 1e-9


class AnsweredQuestions(NamedTuple):
    """The questions of one case: its starter question and, for each new question that was answered, the text, what the
    explanation led to expect, and the answer. `planned`: how many new questions were planned.
    """

    starter: str
    tested: tuple[tuple[str, str, str], ...]
    planned: int = 0


def nearest_answers(cases: Sequence[AnsweredQuestions]) -> list[list[str]]:
    """Return for each question of each case the answer to the question whose words are most similar, among those about
    other starter questions: TF-IDF vectors of starter question and new question, compared by their cosine.

    If several questions are equally similar, the majority of their answers is returned, and a tie is decided by the
    question's text (`metrics.majority`). So a question that shares no word with any other gets the most frequent
    answer. Empty strings if nothing about another starter question was answered, or above `MOST` questions.
    """
    import numpy as np

    asked = [(one.starter, text, answer) for one in cases for text, _, answer in one.tested]
    known = [place for place, (*_, answer) in enumerate(asked) if answer in GUESSES]
    found = [""] * len(asked)
    if known and len(asked) <= MOST:
        vectors = _tf_idf([f"{starter} {text}" for starter, text, _ in asked])
        answers = [asked[place][2] for place in known]
        codes = {starter: code for code, (starter, *_) in enumerate(asked)}
        about = np.array([codes[starter] for starter, *_ in asked])
        others = vectors[known].T.tocsr()
        for start in range(0, len(asked), _BLOCK):
            likeness = (vectors[start : start + _BLOCK] @ others).toarray()
            likeness[about[start : start + _BLOCK, None] == about[known][None, :]] = -1.0
            best = likeness.max(axis=1)
            for place, row in enumerate(likeness >= best[:, None] - _SAME, start):
                if best[place - start] >= 0:
                    found[place] = metrics.majority([answers[at] for at in np.flatnonzero(row)], seed=asked[place][1])
    each = iter(found)
    return [[next(each) for _ in one.tested] for one in cases]


def _tf_idf(texts: Sequence[str]) -> csr_array:
    """Return the TF-IDF vectors of texts as the rows of a sparse matrix, each of length 1 (0 for a text without
    words).
    """
    import numpy as np
    from scipy.sparse import csr_array

    counts = [Counter(words(text)) for text in texts]
    columns = {word: column for column, word in enumerate(dict.fromkeys(word for one in counts for word in one))}
    containing = Counter(word for one in counts for word in one)
    weights = {word: math.log((1 + len(texts)) / (1 + n)) + 1 for word, n in containing.items()}
    rows = np.repeat(np.arange(len(texts)), [len(one) for one in counts])
    values = np.array([n * weights[word] for one in counts for word, n in one.items()], dtype=float)
    lengths = np.sqrt(np.bincount(rows, weights=values**2, minlength=len(texts)))
    places = [columns[word] for one in counts for word in one]
    return csr_array((values / lengths[rows], (rows, places)), shape=(len(texts), max(1, len(columns))))


def scores(asked: AnsweredQuestions, guesses: Sequence[str], rules: Rules) -> tuple[Score, Score]:
    """Return how often these guesses came true, and how much more often the explanation's predictions did, both over
    the questions that have both.
    """
    expected, answers = [one for _, one, _ in asked.tested], [answer for *_, answer in asked.tested]
    gain = metrics.gain(expected, guesses, answers, rules).over(max(asked.planned, len(answers)))
    return (gain if gain.value is None else share(gain.detail["hits_without"], gain.n, gain.of)), gain


def figures(cases: Sequence[CaseAnswers], rules: Rules) -> Iterator[tuple[int, Mapping[str, str], Figure]]:
    """Yield figures of the cases of a study, each with the number of its case and, if another model predicted, the
    setting `answers_of`, that model's id.

    The questions of one cell predict each other. A model predicts in a completed run of its own; if it answered the
    same question in several runs, the majority of these answers counts. A model that shares no question with a cell has
    no figure there.
    """
    cells: dict[int, list[int]] = defaultdict(list)
    said: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for number, case in enumerate(cases):
        cells[case.cell].append(number)
        for text, _, answer in case.about.tested if case.complete else ():
            if answer in GUESSES:
                said[case.model][case.about.starter, text].append(answer)
    for numbers in cells.values():
        asked = [cases[number].about for number in numbers]
        for number, one, guesses in zip(numbers, asked, nearest_answers(asked), strict=True):
            for name, score in zip(METRICS[:2], scores(one, guesses, rules), strict=True):
                yield number, {}, Figure(name, rules, score)
        for model in said.keys() - {cases[numbers[0]].model}:
            votes = [[said[model].get((one.starter, text), []) for text, *_ in one.tested] for one in asked]
            if not any(any(of_case) for of_case in votes):
                continue
            for number, one, of_case in zip(numbers, asked, votes, strict=True):
                guesses = [metrics.majority(some, seed=one.starter) if some else "" for some in of_case]
                for name, score in zip(METRICS[2:], scores(one, guesses, rules), strict=True):
                    yield number, {"answers_of": model}, Figure(name, rules, score)
