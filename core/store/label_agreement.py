"""What people's labels say of who read automatically, the rules and the models that simulate, and of each other.

Anyone who labels chose the rows and saw the reading, so these are counts, and no rate: what readers are worth is what a
blind audit finds (`core.store.audits`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from ..labs.base.declared import Judgement
from ..labs.base.lab import Lab
from ..rulesets import RULES
from .audits import UNREAD as UNREAD
from .queries import SEEN
from .rereadings import first_of
from .store import Store


class LabelledRight(NamedTuple):
    """How many labels hold `reader` (a set of rules, or a model) right: `right` of `n`."""

    reader: str
    right: int
    n: int


class Labellers(NamedTuple):
    """Two or more of `people` gave a verdict on each of `n` rows, and all the same one on `agreed` of these."""

    people: int
    n: int
    agreed: int


_Place = tuple[str, str, str, str]
"""Run (of several versions the first), case, trial and who gave the label."""


class _Labelled(NamedTuple):
    """What one person said of one trial of a run, by kind and judgement, and the trial's readings."""

    run: str
    words: dict[tuple[str, str], str]
    readings: Mapping[str, str | None]


def labelled_right(store: Store, lab: Lab, judged: Judgement, viewer: str | None = None) -> list[LabelledRight]:
    """By all labels on runs of the lab that `viewer` may see. A person's label on a row counts once, whichever version
    of the run they looked at. Empty where `judged` is no reading or has no label.
    """
    if not judged.of:
        return []
    models = _models(store, judged.role)
    n, right = Counter[str](), Counter[str]()
    for labelled in _labels(store, lab, viewer).values():
        verdict = labelled.words.get(("verdict", judged.name))
        if verdict is None:
            continue
        readings = {rules: labelled.readings[f"{judged.of}_{rules}"] or UNREAD for rules in RULES}
        # People see the reading by repaired rules, and that is what a verdict is on.
        shown = readings["repaired"]
        truth = shown if verdict == judged.good else labelled.words.get(("should", judged.name))
        for rules in ("repaired",) if judged.role else RULES:
            reader = models.get(labelled.run, judged.role) if judged.role else f"{rules} rules"
            # Where `shown` is wrong and nobody said what is right, another reading may be right or wrong.
            if truth is not None or readings[rules] == shown:
                n[reader] += 1
                right[reader] += readings[rules] == truth
    return [LabelledRight(reader, right[reader], n[reader]) for reader in sorted(n, reverse=True)]


def labellers(store: Store, lab: Lab, judged: Judgement, viewer: str | None = None) -> Labellers | None:
    """How often those agree who labelled the same; None where nobody did."""
    verdicts: defaultdict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    for (run, case, trial, who), labelled in _labels(store, lab, viewer, readings=False).items():
        if verdict := labelled.words.get(("verdict", judged.name)):
            verdicts[run, case, trial][who] = verdict
    shared = [by_person for by_person in verdicts.values() if len(by_person) > 1]
    if not shared:
        return None
    people = {who for by_person in shared for who in by_person}
    return Labellers(len(people), len(shared), sum(len(set(by_person.values())) == 1 for by_person in shared))


def tags(store: Store, viewer: str | None = None, most: int = 50) -> list[str]:
    """The tags that people gave, the most frequent first."""
    rows = store.rows(
        f"""
        select value from labels where kind = 'tag' and about in (select run from runs where {SEEN})
        group by value order by count(*) desc, value limit ?
        """,  # noqa: S608  our own names
        [viewer, viewer, most],
    )
    return [tag for (tag,) in rows]


def _labels(store: Store, lab: Lab, viewer: str | None, readings: bool = True) -> dict[_Place, _Labelled]:
    """The latest labels of each person on each row. With `readings` only those on trials: a label on a case is then one
    on the trial that stands for the case.
    """
    columns = [f"{of}_{rules}" for of in ("expected", "observed") for rules in RULES]
    rows = store.rows(
        f"""
        with family as ({first_of()})
        select coalesce(first, l.about), l.about, l."case", l.trial, who, kind, value, {", ".join(columns)}
        from labels l left join family on family.run = l.about left join trials t
             on (t.run, t."case", t.trial) = (l.about, l."case", coalesce(nullif(l.trial, ''), ?))
        where kind in ('verdict', 'should') and l.about in (select run from runs where lab = ? and {SEEN})
              and (not ? or t.trial is not null)
        order by l."at", l.about, kind, value
        """,  # noqa: S608  our own names
        [lab.principal, lab.name, viewer, viewer, readings],
    )
    labels: dict[_Place, _Labelled] = {}
    for first, run, case, trial, who, kind, value, *readings_of_trial in rows:
        name, _, word = value.partition(": ")
        place = (first, case, trial, who)
        if place not in labels or labels[place].run != run:
            labels[place] = _Labelled(run, {}, dict(zip(columns, readings_of_trial, strict=True)))
        labels[place].words[kind, name] = word
    return labels


def _models(store: Store, role: str) -> dict[str, str]:
    """Which model each run asked as `role`; several are named together."""
    sql = "select run, string_agg(model, ', ' order by model) from roles where role = ? group by run"
    return dict(store.rows(sql, [role]))
