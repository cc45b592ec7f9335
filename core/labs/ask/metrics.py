"""Precision, generality, and the figures that compare them: pure functions.

After Chen et al. 2023 and the authors' scripts: docs/measuring.md §2.6, §2.7 and §2.8.
"""

from __future__ import annotations

import math
import random
import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from ...events import Rules
from ...score import Score, mean_of_cases, share, undefined
from ...statistics import agreement
from ...statistics.intervals import difference_of_pairs, interval_of_items, jackknife_of_pairs, mcnemar, wilson
from ...text.compare import SHIPPED, content_words, english, words
from ...text.embed import AUTO
from .records import GUESSES, NEITHER, UNKNOWN

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Similarity = Literal["bleu", "cosine", "jaccard"]


# Precision


def simulatable(
    simulations: Sequence[str | None], rules: Rules, metric: Literal["precision", "generality"]
) -> list[bool]:
    """Return which counterfactuals a metric counts, by their simulations; same shape as `simulations`.

    Original parser, precision: only guesses (calculate_precision.py:22-31). Original parser, generality: all except
    "unknown", so an unreadable simulation counts for generality but not for precision
    (shp/calculate_generality.py:36-37). Updated parser: only guesses, for both.
    """
    is_loose = rules == "paper" and metric == "generality"
    return [one != UNKNOWN if is_loose else one in GUESSES for one in simulations]


def precision(simulations: Sequence[str | None], answers: Sequence[str | None], rules: Rules = "repaired") -> Score:
    """The share of simulatable counterfactuals for which the model really gave the simulated answer, in [0, 1].

    Original parser: an unreadable answer ("neither", None) counts as a mismatch (calculate_precision.py:22-31). Updated
    parser: it is left out and counted in `detail`, because it is neither right nor wrong. Undefined if nothing is left.
    Interval: Wilson score, 95 %. Raises ValueError if the lengths differ.
    """
    guessed = [pair for pair in zip(simulations, answers, strict=True) if pair[0] in GUESSES]
    used = guessed if rules == "paper" else [pair for pair in guessed if pair[1] in GUESSES]
    hits = sum(simulation == answer for simulation, answer in used)
    detail: dict[str, Any] = {
        "simulatable": len(guessed),
        "cannot_guess": sum(simulation == UNKNOWN for simulation in simulations),
        "unread_simulations": sum(simulation in (None, NEITHER) for simulation in simulations),
        "unread_answers": sum(answer in (None, NEITHER) for _, answer in guessed),
        "interval": "wilson",
    }
    if not used:
        detail["reason"] = "no counterfactual was simulatable" if not guessed else "no answer could be read"
    return share(hits, len(used), len(simulations), **detail)


def constant_guess(
    simulations: Sequence[str | None], answers: Sequence[str | None], rules: Rules = "repaired"
) -> Score:
    """The share of the counterfactuals counted by `precision` that one fixed answer gets right, in [1/2, 1]: for each,
    the answer that most of the others have. Never below one half, which a coin toss gets. A precision no higher than
    this says nothing about the explanation.

    `detail` names the most frequent `guess`. Interval: Wilson. Raises ValueError if the lengths differ.
    """
    counted = precision(simulations, answers, rules)
    used = [
        answer
        for simulation, answer in zip(simulations, answers, strict=True)
        if simulation in GUESSES and (answer in GUESSES or rules == "paper")
    ]
    if not used:
        return share(0, 0, len(simulations), reason=counted.reason)
    guess = max(sorted(GUESSES), key=used.count)
    hits = used.count(guess)
    # Near a tie, the majority answer of the others is wrong as often as right.
    value = 0.5 if 2 * hits - len(used) <= 1 else hits / len(used)
    low, high = wilson(value, len(used))
    detail = {"guess": guess, "interval": "wilson"}
    return Score(value, len(used), len(simulations), low, high, None if value == 0.5 else hits, detail=detail)


def gain(
    simulations: Sequence[str | None],
    controls: Sequence[str | None],
    answers: Sequence[str | None],
    rules: Rules = "repaired",
) -> Score:
    """How much more often the simulator is right with the explanation (`simulations`) than without it (`controls`),
    over the counterfactuals that precision counts in both; in [-1, 1].

    `detail`: `hits` and `hits_without`; `discordant`, the pairs that only one of the two got right (with the
    explanation, without); `p`, McNemar's exact test on those; `normalised`, the gain as a share of the possible gain
    (None if no gain was possible). Interval: `difference_of_pairs`, which unlike a bootstrap has a
    width even if all pairs agree. Raises ValueError if the lengths differ.
    """
    pairs = [
        (simulation == answer, control == answer)
        for simulation, control, answer in zip(simulations, controls, answers, strict=True)
        if simulation in GUESSES and control in GUESSES and (answer in GUESSES or rules == "paper")
    ]
    if not pairs:
        return undefined(len(simulations), "no counterfactual was guessed both with the explanation and without")
    hits, hits_without = sum(one for one, _ in pairs), sum(one for _, one in pairs)
    discordant = (sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs))
    value, low, high = difference_of_pairs(*discordant, len(pairs))
    left = 1 - hits_without / len(pairs)
    detail = {
        "hits": hits,
        "hits_without": hits_without,
        "discordant": list(discordant),
        "p": mcnemar(*discordant),
        "normalised": value / left if left > 0 else None,
        "interval": "bonett and price",
    }
    return Score(value, len(pairs), len(simulations), low, high, detail=detail)


def mean_gain(gains: Sequence[Score]) -> Score:
    """Return the gain of a single case unchanged; of several cases the mean over those that have one, weighted equally.
    Its interval is that of means over items, because the counterfactuals of one case are not independent.
    """
    if len(gains) == 1 or not any(one.n for one in gains):
        return mean_of_cases(gains, "difference")
    pairs = [(one.detail["hits"] / one.n, one.detail["hits_without"] / one.n) for one in gains if one.n]
    _, without = zip(*pairs, strict=True)
    mean = interval_of_items([a - b for a, b in pairs], "difference")
    left = 1 - sum(without) / len(pairs)
    detail = {
        **{"mean_of": "cases", "trials": sum(one.n for one in gains), "interval": mean.how},
        "normalised": (mean.value or 0.0) / left if left > 0 else None,
    }
    return Score(mean.value, len(pairs), len(gains), mean.low, mean.high, detail=detail)


def normalised(gain: Score) -> Score:
    """The gain as a share of the possible gain: gain / (1 - precision without the explanation). Undefined if no gain
    was possible.
    """
    if gain.value is None:
        return gain
    of_what_was_left = gain.detail["normalised"]
    if of_what_was_left is None:
        return undefined(gain.of, "without the explanation every prediction came true too: there was nothing to gain")
    return Score(of_what_was_left, gain.n, gain.of)


def majority(votes: Sequence[str], seed: int | str) -> str:
    """Return the most frequent vote. A tie is decided at random, always the same way for the same seed
    (strategyqa/simulate_qa.py:117-123).

    As in the original every reading is a vote, even "unknown" and "neither". Raises ValueError without votes.
    """
    counts = Counter(votes)
    most = max(counts.values())
    first = sorted(vote for vote, count in counts.items() if count == most)
    return random.Random(seed).choice(first) if len(first) > 1 else first[0]


# Generality


def generality(
    texts: Sequence[str], similarity: Similarity = "bleu", rules: Rules = "repaired", by: str = AUTO
) -> Score:
    """1 - the mean similarity over ordered pairs of texts (utils/diversity_util.py); in [0, 1], or for the cosine of n
    texts in [0, n / (n - 1)].

    `texts` are the counterfactuals selected by `simulatable(.., "generality")`; those of shp as written by
    `parse.text_of`. bleu: sacrebleu with effective order, / 100, not symmetric. cosine: sentence vectors. jaccard: sets
    of words. `by` is the sentence encoder (`embed.Choice`). Undefined for fewer than two texts, if the encoder is not
    installed, and if the original would divide by zero.

    Interval, 95 %: jackknife over texts, because pairs that share a text are not independent, and a bootstrap would
    draw a text twice and compare it with itself. It uses the t distribution with n - 1 degrees of freedom, and is cut
    to the range of the estimated quantity. This is [0, 1] for cosine too: two independently drawn texts have a mean
    similarity equal to the squared length of the mean vector, which is not below 0. A figure above 1 occurs only if n
    texts happen to be less alike than that; its interval then ends at the figure. No interval for two texts, or if
    leaving out any one text changes nothing.
    """
    count = len(texts)
    if count < 2:
        return Score(None, count, count, detail={"reason": "generality compares texts, and there are fewer than two"})
    if similarity == "bleu":
        matrix, detail = _pairwise_bleu(tuple(texts))
    elif similarity == "cosine":
        matrix, detail = _cosine(texts, by)
    else:
        matrix, detail = _jaccard(texts, rules)
    if matrix is None:
        return Score(None, count, count, detail=detail)
    # `fsum` is exact, so the order of the texts does not matter.
    total = math.fsum(matrix.flat)
    value = 1 - total / (count * (count - 1))
    low, high = jackknife_of_pairs(matrix, total, value, max(1.0, value))
    how = "jackknife over texts" if low is not None else "too few texts, or all equally alike"
    return Score(value, count, count, low, high, detail={**detail, "interval": how})


_Matrix = tuple["NDArray[np.float64] | None", dict[str, Any]]
"""Similarities, shape (n, n), with a diagonal of 0; None if undefined. And the details to report."""


@lru_cache(maxsize=64)
def _pairwise_bleu(texts: tuple[str, ...]) -> _Matrix:
    """Compute BLEU for all pairs. Cached, because both parsers mostly count the same texts, one right after the
    other.
    """
    import numpy as np
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.helpers import extract_all_word_ngrams

    bleu = BLEU(effective_order=True)
    bleu.sentence_score(texts[0], [texts[1]])  # the signature describes the last scoring
    # `sentence_score` would tokenize and count both texts again for every pair.
    counted = [extract_all_word_ngrams(bleu.tokenizer(text.rstrip()), 1, bleu.max_ngram_order) for text in texts]
    matrix = np.zeros((len(texts), len(texts)))
    for (row, (a, words_a)), (column, (b, words_b)) in combinations(enumerate(counted), 2):
        shared = [0] * bleu.max_ngram_order
        for ngram in a.keys() & b.keys():
            shared[len(ngram) - 1] += min(a[ngram], b[ngram])
        for place, of, against in (((row, column), words_a, words_b), ((column, row), words_b, words_a)):
            totals = [max(0, of - order) for order in range(bleu.max_ngram_order)]
            score = bleu.compute_bleu(shared, totals, of, against, bleu.smooth_method, effective_order=True).score
            # Equal texts score slightly above 100.
            matrix[place] = min(score / 100, 1.0)
    matrix.setflags(write=False)
    return matrix, {"signature": str(bleu.get_signature())}


def _cosine(texts: Sequence[str], by: str) -> _Matrix:
    import numpy as np

    from ...text.embed import NoEncoderError, encoder, likeness

    try:
        chosen = encoder(by)
    except NoEncoderError as error:
        return None, {"reason": str(error)}
    vectors = chosen.encode(texts)
    matrix = likeness(vectors, vectors)
    np.fill_diagonal(matrix, 0.0)
    return matrix, {"encoder": chosen.name}


def _jaccard(texts: Sequence[str], rules: Rules) -> _Matrix:
    import numpy as np

    bags = [_paper_bag(text) if rules == "paper" else content_words(text) for text in texts]
    detail: dict[str, Any] = {"stopwords": SHIPPED.name}
    matrix = np.zeros((len(texts), len(texts)))
    for row in range(len(texts)):
        for column in range(row):
            both = bags[row] | bags[column]
            if both:
                alike = len(bags[row] & bags[column]) / len(both)
            elif rules == "paper":
                detail["reason"] = (
                    "two texts hold nothing but stopwords; the original stops with a division by zero here"
                )
                return None, detail
            else:
                alike = float(words(texts[row]) == words(texts[column]))
            matrix[row, column] = matrix[column, row] = alike
    return matrix, detail


_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def _paper_bag(text: str) -> set[str]:
    """The words that the original compares (utils/diversity_util.py).

    Quirks: nothing is lower-cased, so "Is" and "The" survive as content words; only ASCII punctuation is removed,
    including apostrophes ("isnt" is no stopword); only spaces separate words, so a line break joins two words; a text
    without a word yields the empty word.
    """
    bare = re.sub(" +", " ", text.translate(_WITHOUT_PUNCTUATION).strip())
    return {word for word in bare.split(" ") if word not in english()}


# Comparisons


def kappa(a: Sequence[str | None], b: Sequence[str | None]) -> Score:
    """Cohen's kappa between two simulators of the same counterfactuals (Cohen 1960; the paper's section 5.1).

    (agreement - agreement by chance) / (1 - agreement by chance), in [-1, 1]. Items that either left out (None) do not
    count. Undefined without items, or if both always give the same single answer. Raises ValueError if the lengths
    differ.
    """
    found = agreement.kappa(a, b)
    if not found.n:
        return Score(None, 0, len(a), detail={"reason": "there is nothing that both have simulated"})
    detail: dict[str, Any] = {"agreement": found.agreed, "by_chance": found.by_chance}
    if found.value is None:
        detail["reason"] = "both always said the same, so chance alone would make them agree"
    return Score(found.value, found.n, len(a), detail=detail)
