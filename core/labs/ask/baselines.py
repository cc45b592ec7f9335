"""Decide whether an explanation helped: it must beat every baseline, that is, every way to predict without it. Pure
functions.

A baseline is an arm of the same predictor (the answer alone, the answer with other reasons, the question alone) or one
fixed answer. The arm with other reasons is the placebo. Without it no explanation can count as helpful, because a
predictor may decline whenever it sees no reasons at all. docs/measuring.md §2.10.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

from ...events import Rules
from ...score import Figure, Score, mean_of_cases, share, undefined
from ...statistics.comparisons import sign_flips
from ...statistics.intervals import Z, exact_difference_of_pairs, interval_of_items, mcnemar, tail_of_binomial
from ...text.compare import words
from ..base.declared import CaseAnswers
from . import metrics
from .records import GUESSES, NEITHER

if TYPE_CHECKING:
    from scipy.sparse import csr_array


CONSTANT = "constant"
"""The baseline that always gives the same answer."""

PLACEBO = "swapped"
"""The arm that shows the model's reasons for another question."""

ORDER = ("question_only", "none", "swapped", CONSTANT)
"""If several baselines do equally well, the first of these is named."""

LEVEL = 0.05
FEWEST = 6
"""The fewest questions on which exactly one of two was right for which McNemar's exact test can be significant at 5 %.
"""


class Against(NamedTuple):
    """The explanation compared with one baseline over the `n` questions that both predicted: how many came true with
    the explanation (`own`) and with the baseline (`hits`), how many with only one of them, and the two-sided p of
    McNemar's exact test, 1 if the explanation did no better.
    """

    name: str
    n: int
    own: int
    hits: int
    only_own: int
    only_hits: int
    p: float

    @property
    def discordant(self) -> int:
        """The number of questions on which exactly one of the two was right."""
        return self.only_own + self.only_hits

    @property
    def gain(self) -> float:
        """How much more often the explanation was right, as a share."""
        return (self.own - self.hits) / self.n


def against(name: str, own: Sequence[bool], hits: Sequence[bool]) -> Against | None:
    """Compare the explanation with one baseline; None if there are no questions. Raises ValueError if the lengths
    differ.
    """
    pairs = list(zip(own, hits, strict=True))
    if not pairs:
        return None
    only_own, only_hits = sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)
    p = mcnemar(only_own, only_hits) if only_own > only_hits else 1.0
    return Against(name, len(pairs), sum(own), sum(hits), only_own, only_hits, p)


def compared(
    expected: Sequence[str | None],
    arms: Mapping[str, Sequence[str | None]],
    answers: Sequence[str],
    rules: Rules = "repaired",
    missed: Sequence[bool] = (),
    constant: str = "",
) -> list[Against]:
    """Compare the explanation with each baseline over all questions that it predicted. `arms` maps each arm to its
    expectations, None if the question was not asked there or the call failed.

    If a baseline could not predict ("unknown"), that counts as a miss. Replies that could not be parsed and questions
    not asked are left out of that comparison, which then has a smaller `n`. The fixed answer is `constant`, the
    majority of the run's other cases. Without it, it is the majority of these questions, which is the same unless it is
    nearly a tie. Predictions marked in `missed` count as not having come true.
    """
    used = [
        place
        for place, (one, answer) in enumerate(zip(expected, answers, strict=True))
        if one in GUESSES and (answer in GUESSES or rules == "paper")
    ]
    own = {place: expected[place] == answers[place] and not (missed and missed[place]) for place in used}
    said = [answers[place] for place in used]
    best = constant or max(sorted(GUESSES), key=said.count)
    of_arms: dict[str, Mapping[int, bool]] = {
        name: {place: guesses[place] == answers[place] for place in used if guesses[place] not in (None, NEITHER)}
        for name, guesses in arms.items()
    }
    of_arms[CONSTANT] = {place: answers[place] == best for place in used}
    found = (against(name, [own[place] for place in hits], list(hits.values())) for name, hits in of_arms.items())
    return sorted((one for one in found if one is not None), key=lambda one: ORDER.index(one.name))


def strongest(found: Sequence[Against]) -> Against:
    """Return the baseline over which the explanation has the smallest gain. Raises ValueError if there is none."""
    return min(found, key=lambda one: one.gain)


def decisive(found: Sequence[Against]) -> Against:
    """Return the baseline with the largest p, the hardest to distinguish from the explanation. Raises ValueError if
    there is none.
    """
    return max(found, key=lambda one: (one.p, -one.gain))


def helped(found: Sequence[Against]) -> bool:
    """Whether the explanation beats each baseline, including the placebo, at 5 %. All must be beaten, so no correction
    for multiple tests is needed (Berger 1982, Technometrics 24, 295-300).
    """
    return any(one.name == PLACEBO for one in found) and beats_all(found)


def beats_all(found: Sequence[Against]) -> bool:
    """Whether the explanation beats every available baseline, at least one of them an arm, at 5 %."""
    return any(one.name != CONSTANT for one in found) and all(one.p < LEVEL for one in found)


class Misses(NamedTuple):
    """Predictions that did not come true: `missed` of `n`. `limit` is the upper limit of the predictor's error rate."""

    missed: int
    n: int
    limit: float

    @property
    def are_too_many(self) -> bool:
        """Whether the predictor's own errors cannot explain so many misses, at 5 %."""
        return bool(self.missed) and tail_of_binomial(self.missed, self.n, self.limit) < LEVEL


def over_best(found: Sequence[Against], of: int) -> Score:
    """Return how much more often predictions came true with the explanation than with the strongest baseline, in [-1,
    1].

    `detail`: the `baseline`, whether the explanation `helped`, the decisive `p`, and the comparison with each baseline
    (`by`). The 95 % interval reaches from the smallest of the lower limits to the smallest of the upper limits. Only
    the upper limits are corrected for multiple comparisons (Bonferroni): the smallest gain lies above the smallest
    lower limit whenever that gain lies above its own lower limit. The interval lies above 0 exactly if each baseline is
    beaten. Undefined if no baseline was asked about what the explanation predicted.
    """
    if not any(one.name != CONSTANT for one in found):
        return undefined(of, "no baseline predicted what the explanation predicts")
    least, best = decisive(found), strongest(found)
    pairs = [(one.only_own, one.only_hits, one.n) for one in found]
    lower = [exact_difference_of_pairs(*one)[1] for one in pairs]
    upper = [exact_difference_of_pairs(*one, 1 - LEVEL / len(found))[2] for one in pairs]
    detail: dict[str, Any] = {
        **{"baseline": best.name, "helped": helped(found), "p": least.p},
        "by": {one.name: one._asdict() for one in found},
        "interval": "exact, of the least of several gains",
    }
    return Score(best.gain, best.n, of, min(lower), min(upper), detail=detail)


def over_cases(cases: Sequence[Score]) -> Score:
    """Return the same over several cases. For each baseline: the mean of the cases' gains, a test by flipping the signs
    of cases, and the interval of means over items. Then the smallest of these means. An interval lies above 0 only
    if its test finds the explanations better. The fixed answer scores at least one half. A single case is returned
    as it is.
    """
    if len(cases) == 1:
        return cases[0]
    found = [one.detail["by"] for one in cases if one.value is not None]
    if not found:
        return undefined(len(cases), "it is defined in none of the cases")
    by: dict[str, dict[str, Any]] = {}
    names = [name for name in ORDER if any(name in one for one in found)]
    for name in names:
        held = [one[name] for one in found if name in one]
        own, hits = [one["own"] / one["n"] for one in held], [one["hits"] / one["n"] for one in held]
        corrected = NormalDist().inv_cdf(1 - LEVEL / 2 / len(names)) / Z
        if name == CONSTANT and sum(hits) < len(hits) / 2:
            hits = [0.5] * len(hits)
        gaps = [a - b for a, b in zip(own, hits, strict=True)]
        mean = interval_of_items(gaps, "difference")
        gain = mean.value or 0.0
        high = min(1.0, gain + corrected * ((mean.high or 0.0) - gain))
        p = sign_flips(gaps).p if gain > 0 else 1.0
        by[name] = {
            **{"n": sum(one["n"] for one in held), "own": sum(one["own"] for one in held)},
            **{"hits": sum(one["hits"] for one in held), "cases": len(held), "p": p},
            **{"gain": gain, "low": mean.low if p < LEVEL else min(mean.low or 0.0, 0.0), "high": high},
        }
    best = min(by, key=lambda name: by[name]["gain"])
    p = max(one["p"] for one in by.values())
    beats_each = all(one["low"] > 0 for one in by.values())
    detail = {
        **{"baseline": best, "helped": PLACEBO in by and beats_each, "p": p, "by": by, "mean_of": "cases"},
        "interval": "bonett and price over items, of the least of several gains",
    }
    low, high = (min(one[end] for one in by.values()) for end in ("low", "high"))
    return Score(by[best]["gain"], by[best]["cases"], len(cases), low, high, detail=detail)


def made_predictable(
    expected: Sequence[str | None], arms: Mapping[str, Sequence[str | None]], answers: Sequence[str], rules: Rules
) -> Score:
    """Return the share of correct predictions among the questions that only the explanation could predict: `hits` of
    `n`. `of` is the number of questions that the explanation predicted and every arm was asked. Interval: Wilson.
    """
    asked = [
        (one == answer, all(guesses[place] not in GUESSES for guesses in arms.values()))
        for place, (one, answer) in enumerate(zip(expected, answers, strict=True))
        if one in GUESSES
        and (answer in GUESSES or rules == "paper")
        and all(guesses[place] not in (None, NEITHER) for guesses in arms.values())
    ]
    hits = [hit for hit, only in asked if only]
    if not arms or not hits:
        return undefined(len(asked), "nothing was predicted by the explanation alone")
    return share(sum(hits), len(hits), len(asked))


# Baselines that read other answers instead of an explanation: the model's answer to the most similar other question,
# and another model's answer to the same question. docs/measuring.md §2.10.
#
# The verdict does not rest on them.


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
            for number, pair in zip(numbers, _by_answers(asked, said[model], rules), strict=False):
                for name, score in zip(METRICS[2:], pair, strict=True):
                    yield number, {"answers_of": model}, Figure(name, rules, score)


Said = Mapping[tuple[str, str], Sequence[str]]
"""What a model answered, by starter question and new question."""


def _by_answers(asked: Sequence[AnsweredQuestions], said: Said, rules: Rules) -> list[tuple[Score, Score]]:
    """Return the `scores` of each case if the answers of another model are the predictions, the majority where it
    answered several times; empty if it answered none of the questions.
    """
    votes = [[said.get((one.starter, text), ()) for text, *_ in one.tested] for one in asked]
    if not any(any(of_case) for of_case in votes):
        return []
    guesses = [
        [metrics.majority(some, seed=one.starter) if some else "" for some in of_case]
        for one, of_case in zip(asked, votes, strict=True)
    ]
    return [scores(one, some, rules) for one, some in zip(asked, guesses, strict=True)]


class OtherModel(NamedTuple):
    """Another model as the predictor of a run: how many of the new questions that the run asked it answered too
    (`shared` of `asked`), how often its answers came true where the explanation predicted something, and how much more
    often the explanation did. `things` is what both count.
    """

    model: str
    shared: int
    asked: int
    precision: Score
    gain: Score
    things: str

    def sentence(self, name: str) -> str:
        """Say what the answers of the model called `name` are worth as predictions, with n and intervals."""
        begin = f"{name} answered {self.shared} of these {self.asked} new questions too."
        if self.precision.value is None or self.gain.value is None:
            return f"{begin} The explanation predicted none of them."
        share, gain = _with_interval(self.precision, ".2f"), _with_interval(self.gain, "+.2f")
        return (
            f"{begin} Of those that the explanation predicted, its answers predict {share} right, n = "
            f"{self.precision.n} {self.things}. The explanation's gain over that is {gain}."
        )


def _with_interval(score: Score, form: str) -> str:
    ends = f" ({score.low:{form}} to {score.high:{form}})" if score.low is not None and score.high is not None else ""
    return f"{score.value:{form}}{ends}"


def other_models(asked: Sequence[AnsweredQuestions], said: Mapping[str, Said]) -> list[OtherModel]:
    """Return the models that answered the same questions, by the updated parser, the one with most of them first."""
    found = []
    of, things = sum(len(one.tested) for one in asked), "starter questions" if len(asked) > 1 else "new questions"
    for model, every in said.items():
        answers = {place: known for place, some in every.items() if (known := [one for one in some if one in GUESSES])}
        shared = sum((one.starter, text) in answers for one in asked for text, *_ in one.tested)
        if pairs := _by_answers(asked, answers, "repaired"):
            precision, gain = mean_of_cases([one for one, _ in pairs]), metrics.mean_gain([one for _, one in pairs])
            found.append(OtherModel(model, shared, of, precision, gain, things))
    return sorted(found, key=lambda one: (-one.shared, one.model))
