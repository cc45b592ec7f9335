"""A comparison in sentences, each true of the results; for the page and the command line."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..labs.base.declared import FACETS, Comparability
from ..statistics.comparisons import Pair
from ..statistics.groups import grouped
from ..statistics.intervals import FEW
from ..store.comparing import Compared
from ..text.display import count_noun, joined

LIKELY = 0.05
"""Differences that chance alone gives less often are called more than chance."""


class Sentences(NamedTuple):
    """What was found, what chance would give, and what is left out and how results were matched."""

    headline: str
    chance: list[str]
    left_out: list[str]


def sentences(compared: Compared, terms: Comparability, names: Sequence[str]) -> Sentences:
    """The comparison in words; `names` are the subjects'. A name with a comma in it is quoted."""
    names = [f"“{name}”" if "," in name else name for name in names]
    one = terms.whole if compared.asked.match == "whole" else terms.one
    left = []
    for pair in compared.pairs if len(names) == 2 else ():
        only = [([_name(pair.first, names)], pair.only_first), ([_name(pair.second, names)], pair.only_second)]
        left += left_out(pair.undefined, one, names, NOT_SETTLED, only)
    missing = [name for name, rows in zip(names, compared.rows, strict=True) if not rows]
    left += [f"There is no result of {joined(missing)} here."] if missing else []
    unplaced = [f"{n:,} of {name}" for name, n in zip(names, compared.unplaced, strict=True) if n]
    if unplaced:
        left.append(f"Results without a {one} that others could share: {joined(unplaced)}.")
    left += _alone(compared, names)
    if any(compared.doubtful):
        held = joined([f"{n:,} of {name}" for name, n in zip(names, compared.doubtful, strict=True) if n])
        counts = "counted anyway" if compared.asked.doubtful else "not counted"
        left.append(f"Results without a verdict, for example because the predictor failed its test: {held}; {counts}.")
    if compared.robots:
        robots = count_noun(compared.robots, "result")
        left.append(f"{robots} of robots left out. To count robots, choose them as models.")
    if compared.averaged:
        left.append(f"Several results on the same {one} are averaged ({count_noun(compared.averaged, 'time')} here).")
    left.append(basis(compared, terms))
    return Sentences(_headline(compared, terms, names, one), _chance(compared, terms, names), left)


NOT_SETTLED = "undecided, excluded or without a verdict in one"
"""Why an item that all subjects have is not compared: for one of them it is neither consistent nor inconsistent."""


def left_out(
    without: int, one: str, names: Sequence[str], why: str, only: Iterable[tuple[Sequence[str], int]]
) -> list[str]:
    """What is not among the compared rows: the number of items that all have but that are undefined, and those that
    `only` some have.
    """
    parts = [f"{count_noun(without, one)} that {_all(names)} have ({why})"] if without else []
    parts += [f"{n:,} that only {_have(who)}" for who, n in only if n]
    return [f"Not compared: {'; '.join(parts)}."] if parts else []


ALONE = 3
"""How many unmatched results are named for each group of subjects; the rest is counted."""


def _alone(compared: Compared, names: Sequence[str]) -> list[str]:
    """Sentences on results that only some subjects have, so that they are in no difference."""
    by_holder = grouped((holders, (among, rows)) for among, rows, holders in compared.alone)
    said = []
    for holders, held in by_holder.items():
        named = [f"{among or 'the rest'} ({count_noun(rows, 'result')})" for among, rows in held[:ALONE]]
        if more := held[ALONE:]:
            named.append(f"{len(more):,} more ({count_noun(sum(rows for _, rows in more), 'result')})")
        said.append(f"Only {_have([names[i] for i in holders])} {joined(named)}.")
    return said


def basis(compared: Compared, terms: Comparability) -> str:
    """How results were matched: what counts as the same item."""
    if compared.asked.same_rows:
        return "The same stored answers, read in different ways and compared row by row. Nothing was asked again."
    if compared.asked.match == "whole":
        same = (
            f"Results are matched by {terms.whole}. For each, we compare how often {terms.means}, even if the "
            f"{terms.one}s differ."
        )
    elif terms.whole and not terms.tail:
        same = f"Results are matched if the {terms.one} has the same wording and belongs to the same {terms.whole}."
    else:
        same = f"Results are matched by the title of the {terms.one}."
    equal = joined([_named(one) for one in compared.asked.strata])
    return f"{same} Only results with the same {equal} are compared." if equal else same


def _named(stratum: str) -> str:
    role = stratum.removeprefix("as:")
    return STRATA.get(stratum, FACETS.get(stratum, stratum).lower()) if role == stratum else f"who was asked as {role}"


STRATA = {"model": "model", "how": "method"}


def chance(p: float) -> str:
    """How often chance alone would give the difference."""
    return "less than 1\u00a0%" if p < 0.01 else f"{p:.0%}".replace("%", "\u00a0%")


def _headline(compared: Compared, terms: Comparability, names: Sequence[str], one: str) -> str:
    outcome = f"an outcome for {_all(names)}"
    if not compared.shared:
        if any(pair.n for pair in compared.pairs):
            return f"No {one} has {outcome}, so each pair is compared on what both have."
        return f"No {one} has {outcome}. A difference would be unpaired, so none is given."
    shared = f"{_shared(compared, terms, one)} with {outcome}"
    if compared.homes < FEW:
        return f"They share too little to be compared: {shared}."
    return f"On the {shared}, {terms.means} {_each(compared, names, compared.true)}."


def _shared(compared: Compared, terms: Comparability, one: str) -> str:
    """How many items are shared, in how many pairs, and how many of these are independent."""
    said = count_noun(compared.shared, one)
    if compared.cells > compared.shared:
        said += f" ({count_noun(compared.cells, 'time')} with all else equal)"
    of = terms.whole or terms.one
    return said if of == one or compared.homes == compared.shared else f"{said} of {count_noun(compared.homes, of)}"


def _each(compared: Compared, names: Sequence[str], times: Sequence[float]) -> str:
    return joined([f"{_often(compared, true)} for {name}" for true, name in zip(times, names, strict=True)])


def _chance(compared: Compared, terms: Comparability, names: Sequence[str]) -> list[str]:
    """What chance and a fixed guess would give. If fewer than ten items are shared, there are only counts, and no
    test.
    """
    firm = [pair for pair in compared.pairs if pair.test and pair.p_holm is not None and not pair.faint]
    faint = any(pair.faint for pair in compared.pairs if pair.n)
    said = []
    if compared.shared and compared.homes < FEW and _are_counts(compared):
        said.append(f"Of these, {terms.means} {_each(compared, names, compared.true)}.")
    if compared.fixed is not None and (compared.homes >= FEW or _are_counts(compared)):
        fixed = _each(compared, names, compared.fixed)
        said.append(f"The best fixed guess would have come true {fixed}.")
    if len(names) == 2:
        said += [_of_pair(pair, terms) for pair in firm]
    elif firm:
        sure = [pair for pair in firm if pair.p_holm is not None and pair.p_holm <= LIKELY]
        far = ", ".join(f"{_name(pair.first, names)} and {_name(pair.second, names)}" for pair in sure)
        said.append(
            f"Of {count_noun(len(firm), 'pair')} {len(sure) or 'none'} differ{'s' if len(sure) < 2 else ''} by more "
            f"than chance{f': {far}' if far else ''} (p at most {LIKELY} by exact paired tests, corrected for all "
            "of them by Holm's method)."
        )
    if faint:
        few = "" if len(compared.pairs) == 1 else " in at least one pair"
        said.append(f"Fewer than {FEW} {terms.whole or terms.one}s are shared{few}: an example, not a finding.")
    return said


def _of_pair(pair: Pair, terms: Comparability) -> str:
    assert pair.test is not None  # only pairs with a test get a sentence
    over = count_noun(pair.clusters, terms.whole or terms.one)
    if not pair.difference.value or abs(pair.difference.value) < 1e-12:
        return f"Over {over} there is no difference."
    return (
        f"A difference at least this large would come up {chance(pair.test.p)} of the time by chance alone "
        f"(exact paired test over {over}: {pair.test.name})."
    )


def _often(compared: Compared, true: float) -> str:
    """A count if each item has one result, else an average."""
    if not _are_counts(compared) or not float(true).is_integer():
        return f"{true / compared.shared:.0%} of the time".replace("%", "\u00a0%")
    return count_noun(round(true), "time")


def _are_counts(compared: Compared) -> bool:
    """Whether each item has one result."""
    return compared.asked.match != "whole" and not compared.averaged and compared.cells == compared.shared


def _name(place: object, names: Sequence[str]) -> str:
    return names[int(str(place))]


def _all(names: Sequence[str]) -> str:
    return "both" if len(names) == 2 else f"all {len(names)}"


def _have(names: Sequence[str]) -> str:
    return f"{joined(names)} {'has' if len(names) == 1 else 'have'}"
