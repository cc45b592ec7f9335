"""Sentences for a paper or a worksheet: what was run and how, from the store. They describe whole runs, for a figure
over rows chosen by their outcomes would mean nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..datasets.items import Loaded
from ..datasets.own import without_folder
from ..events import Sampling, Served, Started
from ..labs.base.declared import Metric
from ..labs.base.lab import Lab
from ..models.ids import CONTROL
from ..paper_figures import source
from ..runs.engine import app_version
from ..runs.library import IMPORTED
from ..runs.verify import Verified
from ..score import Score
from ..statistics.groups import group_statistics, grouped
from ..statistics.intervals import FEW
from ..store.store import Store
from ..text import templates
from ..text.display import count_noun
from ..text.templates import PREFIX
from ..transcript import Difference, RecordReader, differences, name_of
from . import run_scene

if TYPE_CHECKING:
    from pandas import DataFrame


_OURS = "('', 'repaired')"

_LONGEST_QUOTE = 500
"""Most characters of a system prompt that are quoted."""


def sentences(store: Store, runs: Sequence[str], figures: bool = True) -> list[str]:
    """A paragraph for each lab that has some of `runs`, in the order in which labs are registered. Without `figures`,
    the numbers are left out, for a reader who has them in tables.
    """
    return [*filter(None, (" ".join(_of_lab(store, lab, list(runs), figures)) for lab in store.labs.values()))]


def _of_lab(store: Store, lab: Lab, runs: list[str], figures: bool) -> Iterator[str]:
    def ask(sql: str, *values: object) -> list[tuple[Any, ...]]:
        with store.cursor() as cursor:
            return cursor.execute(sql, [runs, *values]).fetchall()

    began = ask(
        """
        select run, "at", seed, app, commit, prompts, status, reread_from from runs
        where run = any(?) and lab = ? and about = '' order by "at", run
        """,
        lab.name,
    )
    if not began:
        return
    runs = [run for run, *_ in began]
    yield from _made(lab, began)
    yield from _data_sets(ask)
    yield from _asked(ask, began)
    yield from _counted(ask)
    if figures:
        yield from _of_groups(store, lab, runs) if len(runs) > 1 else _of_run(ask, lab)
    yield from _limits(ask, began)


def _made(lab: Lab, began: list[tuple[Any, ...]]) -> Iterator[str]:
    days = sorted({f"{at:%Y-%m-%d}" for _, at, *_ in began if at})
    when = f", begun {days[0]}{f' to {days[-1]}' if len(days) > 1 else ''} (UTC)" if days else ""
    versions = _listed(f"{app} ({commit})" if commit else app for _, _, _, app, commit, *_ in began if app)
    made = f", made with Explain Yourself {versions}" if versions else ""
    yield f"{count_noun(len(began), 'run')} of {lab.title} (“{lab.question}”){when}{made}."
    seeds = _listed(str(seed) for _, _, seed, *_ in began if seed is not None)
    yield f"Seeds: {seeds}."


def _data_sets(ask: Any) -> Iterator[str]:
    """For each data set its digest and rows, how many items each seed sampled, and how many of them are distinct. A
    file that changed between runs is listed once for each of its contents.
    """
    held: dict[tuple[str, str], list[Loaded]] = {}
    sampled: dict[tuple[str, str], dict[int, set[str]]] = {}
    rows = ask(
        """
        select data, seed, (select list(distinct split_part("case", '/', 1)) from cases where cases.run = records.run)
        from records join runs using (run) where run = any(?) and record = 'loaded' order by runs."at", run
        """
    )
    for data, seed, items in rows:
        if (loaded := RecordReader().read(Loaded, json.loads(data))) is not None:
            content = without_folder(loaded.dataset), loaded.digest
            held.setdefault(content, []).append(loaded)
            sampled.setdefault(content, {}).setdefault(seed, set()).update(items or ())
    for (name, digest), several in held.items():
        # Each run parses only the rows that it samples, so the runs differ in how many broken rows they found.
        of = max(one.items + sum(one.left_out.values()) for one in several)
        reasons: Counter[str] = Counter()
        for one in several:
            reasons |= Counter(one.left_out)
        known = f" (SHA-256 {digest})" if digest else ""
        left_out = f"; left out: {_listed(f'{n:,} {reason}' for reason, n in reasons.items())}" if reasons else ""
        by_seed = sampled[name, digest]
        seeds = _listed(f"{len(items):,} by seed {seed}" for seed, items in by_seed.items())
        distinct = count_noun(len(set().union(*by_seed.values())), "distinct item")
        yield f"Data set: {name}{known}, {count_noun(of, 'row')}{left_out}. Sampled: {seeds}; {distinct}."


def _asked(ask: Any, began: list[tuple[Any, ...]]) -> Iterator[str]:
    roles = ask("select distinct role, model from roles where run = any(?) order by all")
    if roles:
        yield f"Models: {_by(roles)}."
    [(calls, failed, cached)] = ask(
        "select count(*), count(*) filter (error is not null), count(*) filter (cached) from calls where run = any(?)"
    )
    again = f", {cached:,} of them answered from the cache" if cached else ""
    yield f"{count_noun(calls, 'call')}{again}; {failed:,} failed."
    yield from _sent(ask)
    used = {prompt for (prompt,) in ask("select distinct prompt from calls where run = any(?)")}
    hashes = {pair for run in began for pair in json.loads(run[5] or "{}").items() if pair[0] in used}
    if hashes:
        yield f"Prompts: {whose_prompts(name for name, _ in hashes)}."
        yield f"Prompt templates, with their hashes: {_listed(f'{name} {hash}' for name, hash in sorted(hashes))}."
    yield from _system_prompts(ask)


def _system_prompts(ask: Any) -> Iterator[str]:
    """The system prompts that people set, with their hashes."""
    quoted = []
    for spec, prompts in ask("select distinct spec, prompts from runs where run = any(?) order by all"):
        if text := str(json.loads(spec or "{}").get("system") or ""):
            hashes = json.loads(prompts or "{}")
            hash = hashes.get(text) or hashes.get(templates.ID, "")
            quoted.append(f"“{' '.join(text.replace('*', '').split())[:_LONGEST_QUOTE]}” {hash}".strip())
    if quoted:
        yield f"System prompt of the model under test, with its hash: {_listed(quoted)}."


def whose_prompts(ids: Iterable[str]) -> str:
    """Return in words whose prompts the templates with these ids are: "the paper's prompts", "our prompts", or both."""
    of_paper = [id.startswith(PREFIX) for id in ids]
    if not any(of_paper):
        return "our prompts"
    return "the paper's prompts" if all(of_paper) else "the paper's prompts, and ours where the paper has none"


def _sent(ask: Any) -> Iterator[str]:
    """The settings that were sent, which models answered, and how many answers were cut or ended for unknown
    reasons.
    """
    rows = ask(
        """
        select role, model, sampling, sent, served_model, served_fingerprint, count(*) from calls
        where run = any(?) and text is not null and sampling is not null group by all order by all
        """
    )
    calls = [_Sent.of(row) for row in rows]
    yield from _temperature(calls)
    for title, names in _SETTINGS.items():
        known = {(one.role, one.sent[name]) for one in calls for name in names if name in one.sent}
        if known:
            yield f"{title}: {_by(sorted((role, _in_words(value)) for role, value in known))}."
    answers: Counter[str] = Counter()
    found: Counter[Difference] = Counter()
    for one in calls:
        answers[one.model] += one.n
        for difference in differences(one.model, one.sampling, one.sent, one.served):
            # These are reported above and below.
            if difference.name != "temperature" and difference.kind != "served":
                found[difference] += one.n
    yield from run_scene.request_notes(found, answers)
    served = {(one.model, _server(one.served)) for one in calls if one.served is not None}
    if served:
        yield f"Answered by, as the servers say: {_by(sorted(served))}."
    [(cut, unknown)] = ask(
        "select count(*) filter (ended = 'cut'), count(*) filter (ended = 'unknown') from calls where run = any(?)"
    )
    if cut:
        yield f"{count_noun(cut, 'answer')} {'was' if cut == 1 else 'were'} cut at a token limit."
    if unknown:
        yield f"The server did not say how {count_noun(unknown, 'answer')} ended."


_SETTINGS = {
    "Top p": ("top_p",),
    "Top k": ("top_k",),
    "Repetition penalty": ("repetition_penalty", "repeat_penalty"),
    "Reasoning effort": ("reasoning_effort",),
    "Most tokens of an answer, thinking included": ("max_tokens", "max_completion_tokens"),
}
"""Settings that are reported as they were sent, by the names that servers give them."""


class _Sent(NamedTuple):
    """The number of answered calls with the same role, model, settings, sent parameters and server."""

    role: str
    model: str
    sampling: Sampling
    sent: dict[str, Any]
    served: Served | None
    n: int

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> _Sent:
        role, model, sampling, sent, served, fingerprint, n = row
        by = Served(model=served, fingerprint=fingerprint or "") if served else None
        return cls(role, model, Sampling.model_validate_json(sampling), json.loads(sent or "{}"), by, n)


def _temperature(calls: Sequence[_Sent]) -> Iterator[str]:
    """The temperature as it was sent; for models that are not asked over HTTP, as it was requested."""
    sent = {
        (one.role, _in_words(one.sent.get("temperature", one.sampling.temperature)))
        for one in calls
        if not one.sent or "temperature" in one.sent
    }
    refused = {(one.role, one.model) for one in calls if one.sent and "temperature" not in one.sent}
    told = [_by(sorted(sent))] if sent else []
    if refused:
        is_one = len({model for _, model in refused}) == 1
        of = "" if is_one and not sent else f" to {_by(sorted(refused))}"
        servers = "server refuses" if is_one else "servers refuse"
        told.append(f"not sent{of}; the {servers} it. The provider's default applied")
    if told:
        yield f"Temperature: {'; '.join(told)}."


def _in_words(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _server(served: Served) -> str:
    """A model as its server names it, with the server's name for its configuration."""
    configuration = f", configuration {run_scene.shown(served.fingerprint)}" if served.fingerprint else ""
    return f"{run_scene.shown(served.model)}{configuration}"


def _counted(ask: Any) -> Iterator[str]:
    [(cases, done)] = ask("select count(*), count(*) filter (status = 'done') from cases where run = any(?)")
    [(trials, repaired, paper, differ)] = ask(
        """
        select count(*), count(*) filter (counts_repaired), count(*) filter (counts_paper),
               count(*) filter (outcome_repaired is distinct from outcome_paper)
        from trials where run = any(?)
        """
    )
    yield (
        f"{count_noun(cases, 'case')}, of which {done:,} came to an end, with {count_noun(trials, 'trial')}: "
        f"{repaired:,} count with the updated parser and {paper:,} with the original one. The two "
        f"disagree on the outcome of {differ:,}."
    )
    reasons = ask(
        f"""
        select reason, count(distinct (run, "case", item)) as n from drops where run = any(?) and rules in {_OURS}
        group by reason order by n desc, reason
        """  # noqa: S608  our own words
    )
    reasons_listed = _listed(f"{n:,} {reason}" for reason, n in reasons)
    yield f"Excluded with the updated parser: {reasons_listed or 'nothing'}."


def _of_run(ask: Any, lab: Lab) -> Iterator[str]:
    """The figures as the run published them."""
    published = ask(
        """
        select metric, value, n, "of", low, high, null,
            {'how': detail->>'$.interval', 'reason': detail->>'$.reason', 'median_of': detail->>'$.median_of'}
        from scores where run = any(?) and "case" = '' and item = '' and rules = 'repaired'
        """
    )
    scores = {metric: Score(*score) for metric, *score in published}
    for metric in lab.metrics:
        if metric.leads and metric.name in scores:
            yield _figure(metric, scores[metric.name])


def _of_groups(store: Store, lab: Lab, runs: list[str]) -> Iterator[str]:
    """The figures of several runs, pooled for each model and method. A question that several runs ask is one item, and
    counts once.
    """
    frame = _cases(store, runs)
    for metric in (metric for metric in lab.metrics if metric.leads):
        rows = frame[frame["metric"] == metric.name]
        groups = group_statistics(rows, ["model", "way"], kind=metric.kind, ends=metric.ends)
        for group in groups.astype(object).where(groups.notna(), None).itertuples(index=False):
            score = Score(group.macro, group.items, group.items_of, group.low, group.high, detail={"how": group.how})
            yield _figure(metric, score, f"{group.model} ({group.way})" if group.way else group.model)


def _cases(store: Store, runs: list[str]) -> DataFrame:
    """A row for each figure of a case, by the updated parser; for a run of one case, the run's own figure."""
    return store.query(
        """
        with shown as (select distinct run, "case", title, model, how from items where run = any(?) and "case" <> ''),
             alone as (
                 select run, any_value("case") as "case" from shown group by run having count(distinct "case") = 1
             )
        select shown.model, shown.how as way, shown.title as item, metric, value, n, greatest(n, "of") as "of"
        from shown join scores on scores.run = shown.run and scores.item = '' and rules = 'repaired'
             and (scores."case" = shown."case"
                  or (scores."case" = '' and shown.run in (select run from alone)))
        qualify row_number() over (partition by shown.run, shown."case", metric order by scores."case" desc) = 1
        """,
        [runs],
    )


def _figure(metric: Metric, score: Score, of: str = "") -> str:
    """A figure of one run, or pooled for the group `of`, with its n, its interval, and any caution."""
    name = f"{metric.title_of_several} of {of}" if of else metric.title_with(score.detail)
    rests = f"n = {score.n:,} of {score.of:,}{' items' if of else ''}"
    if score.value is None:
        return f"{name}: undefined ({rests}{f'; {score.reason}' if score.reason else ''})."
    text = f"{name}: {score.value:{metric.format}}{metric.unit} ({rests}"
    if score.low is not None and score.high is not None:
        how = f", {score.detail['how']}" if score.detail["how"] else ""
        text += f"; 95 % interval {score.low:{metric.format}} to {score.high:{metric.format}}{how}"
    few = f" That is fewer than {FEW}: interpret it with caution." if score.n < FEW else ""
    thin = " It rests on less than 70 % of what it should." if score.is_thin else ""
    return f"{text}).{few}{thin}"


def _limits(ask: Any, began: list[tuple[Any, ...]]) -> Iterator[str]:
    """What a reader has to know before trusting the rest; each sentence appears only if it applies."""
    stopped = ["not finished" if status == "running" else status for *_, status, _ in began if status != "completed"]
    if stopped:
        ends = _listed(f"{stopped.count(one)} {one}" for one in sorted(set(stopped)))
        yield f"Not all runs were completed: {ends}."
    [(faults,)] = ask("select count(*) from faults where run = any(?)")
    if faults:
        yield f"{count_noun(faults, 'line')} of the journals could not be read, and what stood there is missing."
    yield from _imported(ask)
    if len({seed for _, _, seed, *_ in began}) == 1:
        yield "Everything was sampled with one seed, so it is not known how much other samples would differ."
    robots = ask("select distinct model from roles where run = any(?) and starts_with(model, ?) order by all", CONTROL)
    if robots:
        yield f"These are robots with known behaviour, not language models: {_listed(model for (model,) in robots)}."
    if again := sum(bool(reread) for *_, reread in began):
        yield f"{count_noun(again, 'run')} read older answers again, and asked no model."


def _imported(ask: Any) -> Iterator[str]:
    """Which runs were imported and from whom, and which of them have figures that their answers do not give."""
    said = """
        select {what} from records join runs using (run)
        where runs.about = any(?) and record = ? group by all order by all
    """
    senders = ask(said.format(what="json_extract_string(data, '$.sender') as sender, count(*)"), IMPORTED)
    if not senders:
        return
    from_whom = _listed(f"{sender or 'an unnamed sender'} ({runs:,})" for sender, runs in senders)
    yield f"Imported runs, made by others according to their files: {from_whom}."
    signers = ask(said.format(what="json_extract_string(data, '$.signed') as signed, count(*)"), IMPORTED)
    if signed := _listed(f"{signer} ({runs:,})" for signer, runs in signers if signer):
        yield f"Signed by their senders' keys: {signed}."
    found = ask(said.format(what="runs.about, max(json_array_length(data, '$.differ'))"), name_of(Verified))
    if differ := [run for run, many in found if many]:
        yield f"Scored again from their answers, these have other figures: {_listed(differ)}."
    if unknown := sum(runs for _, runs in senders) - len(found):
        yield f"Not scored again from its answers: {count_noun(unknown, 'imported run')}."


def _by(roles: Sequence[tuple[Any, ...]]) -> str:
    """Each second part of the pairs, with all first parts that belong to it."""
    named = grouped((what, role) for role, what in roles)
    return _listed(f"{what} ({_listed(mine)})" for what, mine in named.items())


def _listed(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(words))


# BibTeX for the app and for the papers that labs follow. CITATION.cff holds the same facts.


TITLE = "Explain Yourself: an explorer that holds language models to their own explanations"
AUTHOR = "The Explain Yourself maintainers"
YEAR = "2026"
"""Of this version."""


def bibtex(runs: Iterable[Started]) -> str:
    """Return the entry of the app, with the versions that made `runs`, and an entry for the paper of each of their
    labs. Without a known version it is the current one.
    """
    runs = list(runs)
    versions = dict.fromkeys(f"{run.app} ({run.commit})" if run.commit else run.app for run in runs if run.app)
    # The braces keep the author in one piece and the title in its capitals.
    app = {"author": f"{{{AUTHOR}}}", "title": f"{{{TITLE}}}", "year": YEAR}
    app["version"] = ", ".join(versions) or app_version()
    papers = [paper for lab in dict.fromkeys(run.lab for run in runs) if (paper := source(lab))]
    return "\n\n".join([_entry("software", "explain_yourself", app), *map(_paper, papers)])


def _paper(paper: dict[str, str]) -> str:
    surname = paper["bibtex"].partition(",")[0].lower()
    fields = {"author": paper["bibtex"], "title": f"{{{paper['title']}}}", "year": paper["year"]}
    on_arxiv = {"eprint": paper["arxiv"], "archiveprefix": "arXiv"}
    return _entry("misc", f"{surname}{paper['year']}", fields | on_arxiv)


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@{kind}{{{key},\n{lines}}}"
