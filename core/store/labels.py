"""How far people's labels bear out who read automatically: the rules, and the models that simulate; and each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

from core.lab import RULES, Judgement, Lab
from core.statistics import Agreement, Interval, alpha, balanced_accuracy, kappa
from core.store.queries import SEEN
from core.store.store import Store

UNREAD = "nothing"
"""What stands for a reading that came to nothing, so that it can be right or wrong."""


class BorneOut(NamedTuple):
    """How often `reader` (a set of rules, or a model) is right by people's labels: by `right` of `n`. The other figures
    are over those labels that say what it should have been.
    """

    reader: str
    right: int
    n: int
    balanced: Interval
    kappa: Agreement


class Labellers(NamedTuple):
    """How far people agree on `n` verdicts that two or more of `people` passed on the same. `kappa` is of the two who
    share most of them, `alpha` (Krippendorff) of all; None where undefined.
    """

    people: int
    n: int
    kappa: Agreement
    alpha: float | None


_Said = dict[tuple[str, str, str, str], "_Labelled"]


class _Labelled(NamedTuple):
    """One person's words on one trial, and the trial's readings."""

    words: dict[tuple[str, str], str]
    readings: Mapping[str, str | None]


def borne_out(store: Store, lab: Lab, judged: Judgement, viewer: str | None = None) -> list[BorneOut]:
    """By all labels on runs of the lab that `viewer` may see; nothing where `judged` is no reading or has no label."""
    if not judged.of:
        return []
    said = _labels(store, lab, viewer)
    models = _models(store, judged.role)
    pairs: defaultdict[str, list[tuple[str | None, str]]] = defaultdict(list)
    right: Counter[str] = Counter()
    for (run, *_), one in said.items():
        word = one.words.get(("verdict", judged.name))
        if word is None:
            continue
        shown = one.readings[f"{judged.of}_repaired"] or UNREAD
        truth = shown if word == judged.good else one.words.get(("should", judged.name))
        readers = {models.get(run, judged.role): "repaired"} if judged.role else {f"{one} rules": one for one in RULES}
        for reader, rules in readers.items():
            read = one.readings[f"{judged.of}_{rules}"] or UNREAD
            # Of what was read otherwise than shown, and should be neither, nothing is known.
            if truth is not None or read == shown:
                pairs[reader].append((truth, read))
                right[reader] += read == truth
    return [
        BorneOut(
            reader,
            right[reader],
            len(both),
            balanced_accuracy([truth for truth, _ in both], [read for _, read in both]),
            kappa([truth for truth, _ in both], [read for _, read in both]),
        )
        for reader, both in sorted(pairs.items(), reverse=True)
    ]


def labellers(store: Store, lab: Lab, judged: Judgement, viewer: str | None = None) -> Labellers | None:
    """How far those agree who labelled the same; None where nobody did."""
    words: defaultdict[str, dict[tuple[str, str, str], str]] = defaultdict(dict)
    for (run, case, trial, who), one in _labels(store, lab, viewer, readings=False).items():
        if word := one.words.get(("verdict", judged.name)):
            words[who][run, case, trial] = word
    places = Counter(place for said in words.values() for place in said)
    shared = [place for place, times in places.items() if times > 1]
    if not shared:
        return None
    rows = {who: [said.get(place) for place in shared] for who, said in words.items()}
    both = max(
        (kappa(rows[one], rows[other]) for one, other in combinations(rows, 2)), key=lambda agreement: agreement.n
    )
    return Labellers(len(rows), len(shared), both, alpha(list(rows.values())))


def tags(store: Store, viewer: str | None = None, most: int = 50) -> list[str]:
    """The tags that people gave, the most frequent first."""
    with store.cursor() as cursor:
        found = cursor.execute(
            f"""
            select value from labels where kind = 'tag' and about in (select run from runs where {SEEN})
            group by value order by count(*) desc, value limit ?
            """,  # noqa: S608  our own names
            [viewer, viewer, most],
        ).fetchall()
    return [tag for (tag,) in found]


def _labels(store: Store, lab: Lab, viewer: str | None, readings: bool = True) -> _Said:
    """People's words by run, case, trial and who; with `readings`, those on trials alone, where the trial that stands
    for a case has the words on the case too.
    """
    columns = [f"{of}_{rules}" for of in ("expected", "observed") for rules in RULES]
    with store.cursor() as cursor:
        found = cursor.execute(
            f"""
            select l.about, l."case", l.trial, who, kind, value, {", ".join(columns)}
            from labels l left join trials t
                 on (t.run, t."case", t.trial) = (l.about, l."case", coalesce(nullif(l.trial, ''), ?))
            where kind in ('verdict', 'should') and l.about in (select run from runs where lab = ? and {SEEN})
                  and (not ? or t.trial is not null)
            order by all
            """,  # noqa: S608  our own names
            [lab.principal, lab.name, viewer, viewer, readings],
        ).fetchall()
    said: _Said = {}
    for run, case, trial, who, kind, value, *read in found:
        name, _, word = value.partition(": ")
        one = said.setdefault((run, case, trial, who), _Labelled({}, dict(zip(columns, read, strict=True))))
        one.words[kind, name] = word
    return said


def _models(store: Store, role: str) -> dict[str, str]:
    """Which model each run asked as `role`; several are named together."""
    with store.cursor() as cursor:
        return dict(
            cursor.execute(
                "select run, string_agg(model, ', ' order by model) from roles where role = ? group by run", [role]
            ).fetchall()
        )
