"""How far people's labels agree with the parsers and the models that simulate, and with each other.

Anyone who labels chose the rows and saw the parser's result, so these are counts and not rates. A blind audit measures
accuracy (`core.store.audits`).
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from ..labs.base.declared import Judgement
from ..labs.base.lab import Lab
from ..rulesets import PARSER_NAMES, RULES
from ..runs.labels import Scheme
from ..statistics import Interval, alpha, kappa_interval
from .audits import UNREAD as UNREAD
from .queries import SEEN
from .rereadings import first_of
from .store import Store


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
    models = _models(store, judged.role)
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
        select about, "case", who, substr(value, length($scheme) + 3) from labels
        where kind = 'own' and trial = '' and starts_with(value, $scheme || ': ')
              and about in (select run from runs where {SEEN})
        order by about, "case", who, value
        """,  # noqa: S608  our own names
        {"scheme": scheme, "viewer": viewer},
    )
    found: defaultdict[tuple[str, str], dict[str, frozenset[str]]] = defaultdict(dict)
    for run, case, who, label in rows:
        found[run, case][who] = found[run, case].get(who, frozenset()) | {label}
    return dict(found)


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
               json_extract_string(detail, '$.passed'), value, low, high, coalesce(n, 0)
        from runs left join (select * from scores where "case" = '' and item = '' and rules = 'repaired') s using (run)
        where run in (select who from labels where kind = 'judge') and {SEEN}
        order by runs."at" desc, run
        """,  # noqa: S608  our own names
        {"viewer": viewer},
    )
    passed = {"true": True, "false": False}
    return [Judge(run, model, question, passed.get(said), *score) for run, model, question, said, *score in rows]


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


def _models(store: Store, role: str) -> dict[str, str]:
    """Which model each run asked as `role`; several are joined by commas."""
    sql = "select run, string_agg(model, ', ' order by model) from roles where role = ? group by run"
    return dict(store.rows(sql, [role]))
