"""Blind audits: parsed answers are sampled by strata, a person who sees only the raw answer judges each, and this shows
how accurate the parsers are. The sample and the judgements are in the person's label journals (`core.runs.labels`).
And how far people's labels agree with the parsers, with models, and with each other.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import ValidationError

from ..labs.base.declared import Detector, Judgement
from ..labs.base.lab import Lab
from ..rulesets import PARSER_NAMES, RULES
from ..runs.labels import Audited, Scheme
from ..statistics.agreement import Agreement, Stratum, allotted, alpha, kappa_interval, weighted_kappa, weighted_share
from ..statistics.groups import grouped
from ..statistics.intervals import Interval
from ..transcript import name_of
from .listing import RowPlace, Selection
from .run_list import SEEN, first_of, versions
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
        read = _word(judged, judged.detectors[0])
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
        from (select *, unnest(calls::varchar[]) as call from main.trials) t join calls c using (run, call)
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


def _word(judged: Judgement, detector: Detector) -> str:
    """SQL for which of the judgement's words holds according to a record `r` of the detector."""
    holds = f'r."{detector.field}" and not coalesce(r."{detector.but}", false)'
    return f"if({holds}, {quoted(judged.good)}, {quoted(judged.bad)})"


def draw_sample(
    readings: Sequence[SampledReading], judged: str, size: int, seed: int, id: str
) -> dict[RowPlace, Audited]:
    """A stratified sample of `size` answers (`allotted`), in an order that does not reveal the strata; the same for the
    same `seed`.
    """
    chance = random.Random(seed)
    strata = grouped((one.stratum, one.place) for one in readings)
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
    of = grouped(((one.audit, who), AuditEntry(place, who, one)) for (who, place), one in entries.items())
    found = []
    for (id, who), drawn in of.items():
        drawn.sort(key=lambda one: one.entry.number)
        judged = next(
            (one for one in lab.listing.judgements if one.name == drawn[0].entry.judged and one.is_audited), None
        )
        if judged is not None:
            found.append(_audit(store, id, who, judged, drawn, viewer))
    return sorted(found, key=lambda one: one.id, reverse=True)


def unjudged(store: Store, who: str) -> list[tuple[str, str]]:
    """Return the run and case of each answer that was sampled for a blind audit by `who` and is not judged yet: what
    was parsed of it is hidden from them (`Selection.blind`).
    """
    sql = """
        select distinct about, "case" from (select about, "case", arg_max(data, records."at") as data
        from records join runs using (run) where record = $audited and "by" = $who group by about, "case", item)
        where data->>'$.said' is null
    """
    return [(run, case) for run, case in store.rows(sql, {"audited": name_of(Audited), "who": who})]


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
    the run that counts (`core.store.run_list`) or, if that has no such trial, from the one that was sampled. A
    place that no longer exists has the result UNREAD; a detector without any result is left out.
    """
    counts = {
        run: next((one.run for one in versions(store, run, viewer) if one.counts), run)
        for run in {place.run for place in places}
    }
    sources: dict[str, tuple[str, str, str]] = {rules: ("trials", f"{judged.of}_{rules}", "true") for rules in RULES}
    if judged.detectors:
        sources = {
            one.name: (table_of(one.record), _word(judged, one), f'r."{one.field}" is not null')
            for one in judged.detectors
        }
    found: dict[RowPlace, dict[str, str]] = {place: {} for place in places}
    for name, (table, word, there) in sources.items():
        rows = store.rows(
            f'select run, "case", trial, {word} from {table} r where run = any(?) and {there}',  # noqa: S608  our own names
            [sorted({*counts, *counts.values()})],
        )
        read = {RowPlace(*place): said for *place, said in rows}
        here = {place: read.get(place._replace(run=counts[place.run]), read.get(place)) for place in places}
        if not judged.detectors or any(here.values()):
            for place, said in here.items():
                found[place][name] = UNREAD if said in (None, "", judged.unread) else said
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


# How far people's labels agree with the parsers and the models that simulate, and with each other.
#
# Anyone who labels chose the rows and saw the parser's result, so these are counts and not rates. A blind audit
# measures accuracy (`core.store.audits`).


class LabelledRight(NamedTuple):
    """How many labels confirm `reader` (a parser, or a model): `right` of `n`."""

    reader: str
    right: int
    n: int


class Labellers(NamedTuple):
    """Two or more of `people` gave a verdict on each of `n` rows, and on `agreed` of these rows all gave the same
    one.
    """

    people: int
    n: int
    agreed: int


_Place = tuple[str, str, str, str]
"""The run (of several versions the first), the case, the trial, and who gave the label."""


class _Labelled(NamedTuple):
    """What one person said about one trial of a run, by kind and judgement, and the parsers' results for the trial."""

    run: str
    words: dict[tuple[str, str], str]
    readings: Mapping[str, str | None]


def labelled_right(store: Store, lab: Lab, judged: Judgement, viewer: str | None = None) -> list[LabelledRight]:
    """The count for each parser or model, by all labels on runs of the lab that `viewer` may see. A person's label on a
    row counts once, whichever version of the run they saw. Empty if `judged` does not judge a parser's result or has
    no label.
    """
    if not judged.of:
        return []
    # Which model each run asked in that role; several are joined by commas.
    asked = "select run, string_agg(model, ', ' order by model) from roles where role = ? group by run"
    models = dict(store.rows(asked, [judged.role]))
    n, right = Counter[str](), Counter[str]()
    for labelled in _labels(store, lab, viewer).values():
        verdict = labelled.words.get(("verdict", judged.name))
        if verdict is None:
            continue
        readings = {rules: labelled.readings[f"{judged.of}_{rules}"] or UNREAD for rules in RULES}
        # People see the updated parser's result, so their verdict is on that.
        shown = readings["repaired"]
        truth = shown if verdict == judged.good else labelled.words.get(("should", judged.name))
        for rules in ("repaired",) if judged.role else RULES:
            reader = models.get(labelled.run, judged.role) if judged.role else PARSER_NAMES[rules]
            # If `shown` is wrong and nobody said what is right, a different result may be right or wrong.
            if truth is not None or readings[rules] == shown:
                n[reader] += 1
                right[reader] += readings[rules] == truth
    return [LabelledRight(reader, right[reader], n[reader]) for reader in sorted(n, reverse=True)]


def labellers(store: Store, lab: Lab, judged: Judgement, viewer: str | None = None) -> Labellers | None:
    """How often people agree who labelled the same row; None if no row has two labels."""
    verdicts: defaultdict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    for (run, case, trial, who), labelled in _labels(store, lab, viewer, readings=False).items():
        if verdict := labelled.words.get(("verdict", judged.name)):
            verdicts[run, case, trial][who] = verdict
    shared = [by_person for by_person in verdicts.values() if len(by_person) > 1]
    if not shared:
        return None
    people = {who for by_person in shared for who in by_person}
    return Labellers(len(people), len(shared), sum(len(set(by_person.values())) == 1 for by_person in shared))


class SchemeAgreement(NamedTuple):
    """How far people agree who labelled the same cases by a scheme of their own: `coefficient` names the `value`, `n`
    cases have labels of two or more of `people`, who gave the same ones on `agreed` of them.
    """

    coefficient: str
    value: Interval
    people: int
    n: int
    agreed: int

    @property
    def sentence(self) -> str:
        """The agreement in a sentence, with its number of cases, and the interval or why there is none."""
        if not self.n:
            return "No case has the labels of two people yet."
        said = f"{self.people} people agree on {self.agreed:,} of the {self.n:,} cases that two or more labelled"
        value, low, high, _, how = self.value
        if value is None:
            return f"{said}; {self.coefficient} is undefined: {how}."
        if low is None or high is None:
            return f"{said}; {self.coefficient} {value:.2f}, without an interval: {how}."
        return f"{said}; {self.coefficient} {value:.2f} (95% interval {low:.2f} to {high:.2f})."


CaseLabels = dict[tuple[str, str], dict[str, frozenset[str]]]
"""By case (its run and name) the labels that each person gave it."""


def own_labels(store: Store, scheme: str, viewer: str | None = None) -> CaseLabels:
    """People's labels of cases under that scheme, in the runs that `viewer` may see. Those of judge models are left
    out.
    """
    rows = store.rows(
        f"""
        select about, "case", who, list(substr(value, length($scheme) + 3)) from labels
        where kind = 'own' and trial = '' and starts_with(value, $scheme || ': ')
              and about in (select run from runs where {SEEN})
        group by all order by all
        """,  # noqa: S608  our own names
        {"scheme": scheme, "viewer": viewer},
    )
    by_case = grouped(((run, case), (who, frozenset(labels))) for run, case, who, labels in rows)
    return {case: dict(labels) for case, labels in by_case.items()}


def labellers_by_scheme(store: Store, viewer: str | None = None) -> list[tuple[str, str, bool]]:
    """Who labelled cases under which scheme, in the runs that `viewer` may see: scheme, labeller, and whether that is
    the run of a judge model.
    """
    return store.rows(
        f"""
        select distinct split_part(value, ': ', 1) as scheme, who, kind = 'judge' as judge from labels
        where trial = '' and about in (select run from runs where {SEEN})
              and (kind = 'own' or (kind = 'judge' and who in (select run from runs where {SEEN})))
        order by judge, scheme, who
        """,  # noqa: S608  our own names
        {"viewer": viewer},
    )


class Judge(NamedTuple):
    """A judge model by its run: what it was asked, and its test. `passed` is None if there were too few labels; `value`
    is its kappa with the person over `n` cases.
    """

    run: str
    model: str
    question: str
    passed: bool | None
    value: float | None
    low: float | None
    high: float | None
    n: int

    @property
    def warning(self) -> str:
        """What to say wherever its labels are shown; empty if it passed its test."""
        return {True: "", False: "failed its test", None: "not tested"}[self.passed]


def judges(store: Store, viewer: str | None = None) -> list[Judge]:
    """The judge models whose labels `viewer` may see, the newest run first."""
    rows = store.rows(
        f"""
        select run, coalesce(model, ''), coalesce(json_extract_string(spec, '$.question'), ''),
               try_cast(json_extract_string(detail, '$.passed') as boolean), value, low, high, coalesce(n, 0)
        from runs left join (select * from scores where "case" = '' and item = '' and rules = 'repaired') s using (run)
        where run in (select who from labels where kind = 'judge') and {SEEN}
        order by runs."at" desc, run
        """,  # noqa: S608  our own names
        {"viewer": viewer},
    )
    return [Judge(*row) for row in rows]


def judgement_of(store: Store, judge: str, run: str, case: str) -> str:
    """The trial of a judge's run that judged this case; '' if there is none."""
    sql = "select item from judged_case where (run, target, target_case) = (?, ?, ?)"
    return next((item for (item,) in store.rows(sql, [judge, run, case])), "")


def is_blind(labels: CaseLabels, who: str) -> bool:
    """Whether the person `who` may not see other people's labels yet: somebody labelled a case that they did not."""
    return any(by_person.keys() - {who} and who not in by_person for by_person in labels.values())


def scheme_agreement(labels: CaseLabels, scheme: Scheme) -> SchemeAgreement:
    """How far people agree under the scheme: Cohen's kappa for two people and one label a case, else Krippendorff's
    alpha, in which several labels of a case are compared by how far they overlap (MASI).
    """
    shared = [by_person for by_person in labels.values() if len(by_person) > 1]
    people = sorted({who for by_person in shared for who in by_person})
    agreed = sum(len(set(by_person.values())) == 1 for by_person in shared)
    if len(people) == 2 and not scheme.several:
        first, second = ([one.get(who) for one in shared] for who in people)
        name, value = "kappa", kappa_interval(first, second)
    else:
        name, value = "alpha", alpha([list(one.values()) for one in shared])
    return SchemeAgreement(name, value, len(people), len(shared), agreed)


def tags(store: Store, viewer: str | None = None, most: int = 50) -> list[str]:
    """The tags that people gave, the most frequent first."""
    rows = store.rows(
        f"""
        select value from labels where kind = 'tag' and about in (select run from runs where {SEEN})
        group by value order by count(*) desc, value limit $most
        """,  # noqa: S608  our own names
        {"viewer": viewer, "most": most},
    )
    return [tag for (tag,) in rows]


def _labels(store: Store, lab: Lab, viewer: str | None, readings: bool = True) -> dict[_Place, _Labelled]:
    """The latest labels of each person on each row. With `readings`, only labels on trials are included; a label on a
    case then counts for the trial that represents the case.
    """
    columns = [f"{of}_{rules}" for of in ("expected", "observed") for rules in RULES]
    rows = store.rows(
        f"""
        with family as ({first_of()})
        select coalesce(first, l.about), l.about, l."case", l.trial, who, kind, value, {", ".join(columns)}
        from labels l left join family on family.run = l.about left join trials t
             on (t.run, t."case", t.trial) = (l.about, l."case", coalesce(nullif(l.trial, ''), $main))
        where kind in ('verdict', 'should') and l.about in (select run from runs where lab = $lab and {SEEN})
              and (not $readings or t.trial is not null)
        order by l."at", l.about, kind, value
        """,  # noqa: S608  our own names
        {"main": lab.listing.main_trial, "lab": lab.name, "viewer": viewer, "readings": readings},
    )
    labels: dict[_Place, _Labelled] = {}
    for first, run, case, trial, who, kind, value, *readings_of_trial in rows:
        name, _, word = value.partition(": ")
        place = (first, case, trial, who)
        if place not in labels or labels[place].run != run:
            labels[place] = _Labelled(run, {}, dict(zip(columns, readings_of_trial, strict=True)))
        labels[place].words[kind, name] = word
    return labels
