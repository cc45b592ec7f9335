"""Blind audits: parsed answers are sampled by strata, a person who sees only the raw answer judges each, and this shows
how accurate the parsers are. The sample and the judgements are in the person's label journals (`core.runs.labels`).
"""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import ValidationError

from ..labs.base.declared import Detector, Judgement
from ..labs.base.lab import Lab
from ..rulesets import RULES
from ..runs.labels import Audited
from ..statistics import Agreement, Interval, Stratum, allotted, weighted_kappa, weighted_share
from ..transcript import name_of
from .listing import RowPlace, Selection
from .queries import SEEN
from .rereadings import first_of, versions
from .schema import quoted, table_of
from .store import Store

UNREAD = "nothing"
"""The word for a parser's empty result, so that it too can be right or wrong."""

STRATA = 12
"""The most strata of a sample; the rarest are merged."""

TOGETHER = "what is rare"


class SampledReading(NamedTuple):
    """An answer that can be sampled: where it is, its outcome, and what the updated parser read in it."""

    place: RowPlace
    stratum: str


@dataclass(frozen=True)
class AuditEntry:
    """A sampled answer: where it is, who audits it, and how that person reads it."""

    place: RowPlace
    who: str
    entry: Audited


class ReaderAccuracy(NamedTuple):
    """How often a parser (`paper`, `repaired`), or a named detector, is right according to a blind audit: the `share`
    in the whole population, the chance-corrected agreement `kappa`, and how many of the `n` judged answers it got
    `right`.
    """

    name: str
    share: Interval
    kappa: Agreement
    right: int
    n: int


@dataclass(frozen=True)
class AuditDraw:
    """A sample of `of` answers from a `population`; `drawn` are those of them that still exist. `unsure`: for how many
    the person could not tell. `readers` is empty until all of `drawn` are judged: someone who saw interim figures
    could stop when they like them.
    """

    id: str
    judged: str
    who: str
    of: int
    population: int
    drawn: tuple[AuditEntry, ...]
    unsure: int
    readers: tuple[ReaderAccuracy, ...]

    @property
    def remaining(self) -> list[AuditEntry]:
        """The entries that are still to be judged, in the order of the sample."""
        return [one for one in self.drawn if one.entry.said is None]


def population(selected: Selection, lab: Lab, judged: Judgement, who: str) -> list[SampledReading]:
    """The answers that can be sampled from the selected rows: existing answers on which `who` has passed
    no verdict yet, in any version of the run, since with a verdict the person has seen the parser's result. Robots
    are left out unless they are chosen, since we wrote their answers.
    """
    read, joined = f"coalesce(nullif({judged.of}_repaired, '{judged.unread}'), '{UNREAD}')", ""
    if judged.detectors:
        # A detector that recorded nothing cannot be right or wrong.
        good, bad = quoted(judged.good), quoted(judged.bad)
        read = f"case {_holds(judged.detectors[0])} when true then {good} when false then {bad} end"
        joined = f"""join {table_of(judged.detectors[0].record)} r on r.run = t.run and r."case" = t."case"
                     and r.trial = t.trial and r."{judged.detectors[0].field}" is not null"""
    rows = selected.found(
        f"""
        , family as ({first_of()}), seen as (
            select coalesce(first, about) as first, "case", trial from labels
            left join family on family.run = about where who = $who and kind = 'verdict'
            union
            select coalesce(first, about), "case", item from records join runs using (run)
            left join family on family.run = about where record = $audited and "by" = $who
        )
        select distinct t.run, t."case", t.trial, coalesce(t.outcome_repaired, ''), {read}
        from (select *, unnest(calls::varchar[]) as call from trials) t join calls c using (run, call)
             join wanted items on items.run = t.run and items."case" = t."case" and items.trial in ('', t.trial)
             {joined} left join family on family.run = t.run
        where {selected.filter.counted} and items.lab = $lab and c.role = $role and c.text is not null
              and (len($trials::varchar[]) = 0 or list_contains($trials::varchar[], t.trial))
              and (coalesce(family.first, t.run), t."case", t.trial) not in
                  (select (first, "case", trial) from seen)
        order by all
        """,  # noqa: S608  our own names
        **{"who": who, "audited": name_of(Audited), "lab": lab.name, "role": judged.raw},
        trials=list(judged.trials),
    )
    found = [SampledReading(RowPlace(*place), f"{outcome}, read as {read}") for *place, outcome, read in rows]
    often = Counter(one.stratum for one in found)
    kept = {stratum for stratum, _ in often.most_common(STRATA if len(often) <= STRATA else STRATA - 1)}
    return [one if one.stratum in kept else one._replace(stratum=TOGETHER) for one in found]


def _holds(detector: Detector) -> str:
    """SQL for whether the judgement's good word holds according to a record `r` of the detector."""
    return f'(r."{detector.field}" and not coalesce(r."{detector.but}", false))'


def draw_sample(
    readings: Sequence[SampledReading], judged: str, size: int, seed: int, id: str
) -> dict[RowPlace, Audited]:
    """A stratified sample of `size` answers (`allotted`), in an order that does not reveal the strata; the same for the
    same `seed`.
    """
    chance = random.Random(seed)
    strata: defaultdict[str, list[RowPlace]] = defaultdict(list)
    for one in readings:
        strata[one.stratum].append(one.place)
    drawn = allotted([len(places) for places in strata.values()], size)
    chosen = [
        (place, name, len(places), n)
        for (name, places), n in zip(strata.items(), drawn, strict=True)
        for place in chance.sample(places, n)
    ]
    chance.shuffle(chosen)
    return {
        place: Audited(audit=id, judged=judged, stratum=name, population=of, drawn=n, number=number, of=len(chosen))
        for number, (place, name, of, n) in enumerate(chosen, start=1)
    }


def audits(
    store: Store, lab: Lab, viewer: str | None = None, said: Mapping[tuple[str, RowPlace], Audited] | None = None
) -> list[AuditDraw]:
    """The audits of the lab's parsers in runs that `viewer` may see, the latest first. `said` are entries newer than
    the store, by person and place.
    """
    rows = store.rows(
        f"""
        select about, "case", item, "by", data, records."at" from records join runs using (run)
        where record = $audited and about in (select run from runs where lab = $lab and {SEEN}) order by records."at"
        """,  # noqa: S608  our own names
        {"audited": name_of(Audited), "lab": lab.name, "viewer": viewer},
    )
    entries: dict[tuple[str, RowPlace], Audited] = {}
    for run, case, trial, who, data, _ in rows:
        try:
            entries[who, RowPlace(run, case, trial)] = Audited.model_validate_json(data)
        except ValidationError:
            continue
    entries |= said or {}
    of: defaultdict[tuple[str, str], list[AuditEntry]] = defaultdict(list)
    for (who, place), one in entries.items():
        of[one.audit, who].append(AuditEntry(place, who, one))
    found = []
    for (id, who), drawn in of.items():
        drawn.sort(key=lambda one: one.entry.number)
        judged = next(
            (one for one in lab.listing.judgements if one.name == drawn[0].entry.judged and one.is_audited), None
        )
        if judged is not None:
            found.append(_audit(store, id, who, judged, drawn, viewer))
    return sorted(found, key=lambda one: one.id, reverse=True)


def raw(store: Store, place: RowPlace, judged: Judgement) -> str | None:
    """The raw answer, the last one if it was asked for more than once, or the part of it that is judged
    (`judged.text`); None if it no longer exists.
    """
    if judged.text:
        record, field = judged.text
        sql = f'select "{field}" from {table_of(record)} where (run, "case", trial) = (?, ?, ?)'  # noqa: S608  our own
        found = store.rows(sql, list(place))
        return found[0][0] if found else None
    texts = store.rows(
        """
        select text from (select *, unnest(calls::varchar[]) as call from trials) t join calls c using (run, call)
        where (t.run, t."case", t.trial) = (?, ?, ?) and c.role = ? and text is not null
        order by c."at" desc, c.call desc limit 1
        """,
        [*place, judged.raw],
    )
    return texts[0][0] if texts else None


def about(store: Store, place: RowPlace) -> str:
    """What the trial is about; an empty string if it no longer exists."""
    rows = store.rows('select about from trials where (run, "case", trial) = (?, ?, ?)', list(place))
    return str(rows[0][0] or "") if rows else ""


def readings(
    store: Store, places: Sequence[RowPlace], judged: Judgement, viewer: str | None = None
) -> dict[RowPlace, dict[str, str]]:
    """The result of each parser, or of each of the judgement's detectors, at these places. It comes from the version of
    the run that counts (`core.store.rereadings`) or, if that has no such trial, from the one that was sampled. A
    place that no longer exists has the result UNREAD; a detector without any result is left out.
    """
    counts = {
        run: next((one.run for one in versions(store, run, viewer) if one.counts), run)
        for run in {place.run for place in places}
    }
    runs = sorted({*counts, *counts.values()})
    if judged.detectors:
        return _recorded(store, places, judged, counts, runs)
    columns = ", ".join(f"{judged.of}_{rules}" for rules in RULES)
    rows = store.rows(
        f'select run, "case", trial, {columns} from trials where run = any(?)',  # noqa: S608  our own names
        [runs],
    )
    read = {RowPlace(*row[:3]): row[3:] for row in rows}
    nothing = ("",) * len(RULES)
    found = {place: read.get(place._replace(run=counts[place.run])) or read.get(place, nothing) for place in places}
    return {
        place: {
            rules: UNREAD if one in (None, "", judged.unread) else one for rules, one in zip(RULES, row, strict=True)
        }
        for place, row in found.items()
    }


def _recorded(
    store: Store, places: Sequence[RowPlace], judged: Judgement, counts: Mapping[str, str], runs: list[str]
) -> dict[RowPlace, dict[str, str]]:
    """The results of a judgement's detectors, from their records."""
    found: dict[RowPlace, dict[str, str]] = {place: {} for place in places}
    for detector in judged.detectors:
        rows = store.rows(
            f"""
            select r.run, r."case", r.trial, {_holds(detector)} from {table_of(detector.record)} r
            where r.run = any(?) and r."{detector.field}" is not null
            """,  # noqa: S608  our own names
            [runs],
        )
        read = {RowPlace(*row[:3]): judged.good if row[3] else judged.bad for row in rows}
        here = {place: read.get(place._replace(run=counts[place.run])) or read.get(place) for place in places}
        if any(here.values()):
            for place, word in here.items():
                found[place][detector.name] = word or UNREAD
    return found


def choices(store: Store, place: RowPlace, judged: Judgement, most: int = 8) -> list[str]:
    """The `most` frequent parsed answers to the same kind of question, sorted, and UNREAD at the end; for a judgement
    with detectors, its two words.
    """
    if judged.detectors:
        return [judged.good, judged.bad]
    rows = store.rows(
        f"""
        select {judged.of}_repaired as read, count(*) from trials join items using (run, "case")
        where (items.lab, items.task) in (select (lab, task) from items where run = ? and "case" = ?)
              and read is not null and read <> ?
        group by 1 order by 2 desc, 1 limit ?
        """,  # noqa: S608  our own names
        [place.run, place.case, judged.unread, most],
    )
    return [*sorted(read for read, _ in rows), UNREAD]


def _audit(
    store: Store, id: str, who: str, judged: Judgement, drawn: Sequence[AuditEntry], viewer: str | None
) -> AuditDraw:
    strata = {one.entry.stratum: one.entry.population for one in drawn}
    told = [one for one in drawn if one.entry.said]
    unsure = sum(one.entry.said == "" for one in drawn)
    readers: tuple[ReaderAccuracy, ...] = ()
    if told and len(told) + unsure == len(drawn):
        read = readings(store, [one.place for one in told], judged, viewer)
        names = list(dict.fromkeys(name for one in read.values() for name in one)) if judged.detectors else RULES[::-1]
        readers = tuple(_reader(name, strata, told, read) for name in names)
    return AuditDraw(id, judged.name, who, drawn[0].entry.of, sum(strata.values()), tuple(drawn), unsure, readers)


def _reader(
    name: str, strata: Mapping[str, int], told: Sequence[AuditEntry], read: Mapping[RowPlace, Mapping[str, str]]
) -> ReaderAccuracy:
    right, n = Counter[str](), Counter(one.entry.stratum for one in told)
    pairs = []
    for one in told:
        said, reading = ((word or UNREAD).strip().casefold() for word in (one.entry.said, read[one.place][name]))
        right[one.entry.stratum] += said == reading
        pairs.append((said, reading, strata[one.entry.stratum] / n[one.entry.stratum]))
    share = weighted_share([Stratum(of, n[stratum], right[stratum]) for stratum, of in strata.items()])
    return ReaderAccuracy(name, share, weighted_kappa(pairs), right.total(), len(told))
