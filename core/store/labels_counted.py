"""What people's labels say of who read automatically, the rules and the models that simulate, and of each other.

Whoever labels chose the rows and saw the reading, so these are counts, and no rate: what readers are worth is what a
blind audit finds (`core.store.audits`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from core.by_rules import RULES
from core.lab.lab import Lab
from core.lab.shown import Judgement
from core.store.audits import UNREAD as UNREAD
from core.store.queries import SEEN
from core.store.store import Store
from core.store.versions import first_of


class BorneOut(NamedTuple):
    """How many labels hold `reader` (a set of rules, or a model) right: `right` of `n`."""

    reader: str
    right: int
    n: int


class Labellers(NamedTuple):
    """On `n` rows two or more of `people` passed a verdict; on `agreed` of them all the same."""

    people: int
    n: int
    agreed: int


_Said = dict[tuple[str, str, str, str], "_Labelled"]


class _Labelled(NamedTuple):
    """One person's words on one trial of a run, and the trial's readings."""

    run: str
    words: dict[tuple[str, str], str]
    readings: Mapping[str, str | None]


def borne_out(store: Store, lab: Lab, judged: Judgement, viewer: str | None = None) -> list[BorneOut]:
    """By all labels on runs of the lab that `viewer` may see, a person's on one row once, whichever reading of the run
    they looked at; nothing where `judged` is no reading or has no label.
    """
    if not judged.of:
        return []
    models = _models(store, judged.role)
    n, right = Counter[str](), Counter[str]()
    for one in _labels(store, lab, viewer).values():
        word = one.words.get(("verdict", judged.name))
        if word is None:
            continue
        shown = one.readings[f"{judged.of}_repaired"] or UNREAD
        truth = shown if word == judged.good else one.words.get(("should", judged.name))
        readers = {models.get(one.run, judged.role): "repaired"} if judged.role else {f"{of} rules": of for of in RULES}
        for reader, rules in readers.items():
            read = one.readings[f"{judged.of}_{rules}"] or UNREAD
            # Of what was read otherwise than shown, and should be neither, nothing is known.
            if truth is not None or read == shown:
                n[reader] += 1
                right[reader] += read == truth
    return [BorneOut(reader, right[reader], n[reader]) for reader in sorted(n, reverse=True)]


def labellers(store: Store, lab: Lab, judged: Judgement, viewer: str | None = None) -> Labellers | None:
    """How often those agree who labelled the same; None where nobody did."""
    words: defaultdict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    for (run, case, trial, who), one in _labels(store, lab, viewer, readings=False).items():
        if word := one.words.get(("verdict", judged.name)):
            words[run, case, trial][who] = word
    shared = [said for said in words.values() if len(said) > 1]
    if not shared:
        return None
    people = {who for said in shared for who in said}
    return Labellers(len(people), len(shared), sum(len(set(said.values())) == 1 for said in shared))


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
    """People's words by run (of several readings the first), case, trial and who, the latest alone; with `readings`,
    those on trials, where the trial that stands for a case has the words on the case too.
    """
    columns = [f"{of}_{rules}" for of in ("expected", "observed") for rules in RULES]
    with store.cursor() as cursor:
        found = cursor.execute(
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
        ).fetchall()
    said: _Said = {}
    for first, run, case, trial, who, kind, value, *read in found:
        name, _, word = value.partition(": ")
        one = said.get((first, case, trial, who))
        if one is None or one.run != run:
            one = said[first, case, trial, who] = _Labelled(run, {}, dict(zip(columns, read, strict=True)))
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
