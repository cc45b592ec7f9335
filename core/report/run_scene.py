"""The scene of a run with several cases: one function for every lab, from its summary and its words for runs."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

from ..events import Scored
from ..labs.base.declared import Metric
from ..labs.base.lab import Lab
from ..models.ids import GIVEN
from ..scene import Bar, FigureLine, Mark, RunScene, Scene, Tally, Tile, Verdict, from_emphasis
from ..statistics.comparisons import PairedComparison, compare
from ..statistics.groups import grouped
from ..text.display import count_noun, joined
from ..transcript import CaseProgress, Difference, Transcript, is_version

# Explanations from several sources (an expert, another model), compared on the questions that both explain.


COLUMN = "source"
"""The column of a case that says whose explanation is given."""
MOST_SOURCES = 8
"""How many sources are compared, the most frequent ones."""


class SourcePair(NamedTuple):
    """Two sources, and the lab's headline figure of their explanations over the questions that both have; `items` is
    paired by question.
    """

    first: str
    second: str
    items: PairedComparison


def compared_sources(lab: Lab, run: Transcript) -> Iterator[SourcePair]:
    """Yield each pair of sources of a run with given explanations, by the updated parser. Several explanations of one
    question by one source count as their mean.
    """
    held: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    cases: Counter[str] = Counter()
    for case, progress in run.cases.items():
        source = progress.columns.get(COLUMN, "")
        log = run.case(case)
        given = next((call.asked for call in log.calls.values() if call.asked.model == GIVEN), None)
        score = log.score(lab.headline, "repaired")
        if source and given is not None:
            cases[source] += 1
            if score is not None and score.value is not None:
                held[source][given.messages[0].content].append(score.value)
    kind = lab.metric(lab.headline).kind
    means = {one: {asked: sum(all) / len(all) for asked, all in held[one].items()} for one in cases}
    for first, second in combinations((one for one, _ in cases.most_common(MOST_SOURCES)), 2):
        yield SourcePair(first, second, compare(means[first], means[second], kind))


def source_lines(lab: Lab, run: Transcript) -> Iterator[FigureLine]:
    """Yield a line for each pair of sources that have a question in common."""
    metric = lab.metric(lab.headline)
    for one in compared_sources(lab, run):
        of = one.items
        if of.difference is None or of.mean_a is None or of.mean_b is None:
            continue
        ends = "" if of.low is None or of.high is None else f", {of.low:+.2f} to {of.high:+.2f}"
        yield FigureLine(
            title=f"{metric.title}: {one.first} − {one.second}",
            value=f"{of.difference:+.2f}{ends}",
            help=f"The difference over the questions that both explain ({of.mean_a:.2f} and {of.mean_b:.2f}).",
            n=of.n,
            of=of.of,
        )


# Sentences on how a run's calls were sent and served, if that differs from what was requested.


_LONGEST = 80
"""The most characters of a model's name, which a server may make as long as it likes."""

_MOST = 3
"""How many substitute models are named."""


def notes_of_run(run: Transcript) -> list[str]:
    """Sentences on how the run's calls were sent and served; empty if all was as requested."""
    return request_notes(run.differences, run.answers)


def request_notes(found: Mapping[Difference, int], answers: Mapping[str, int]) -> list[str]:
    """A sentence for each difference. `found` counts the answers that have it; `answers` counts all, by the model that
    was asked.
    """
    return [*_not_sent(found), *_system_text(found), *_served(found, answers)]


def _not_sent(found: Mapping[Difference, int]) -> Iterator[str]:
    refused = grouped((one.model, setting(one.name)) for one in sorted(found) if one.kind == "not sent")
    by_settings = grouped((tuple(settings), shown(model)) for model, settings in refused.items())
    for names, models in by_settings.items():
        listed = joined(names)
        were, them = ("was", "it") if len(names) == 1 else ("were", "them")
        refuse = "refuses" if len(models) == 1 else "refuse"
        yield f"{listed[:1].upper()}{listed[1:]} {were} not sent: {joined(models)} {refuse} {them}."


def _system_text(found: Mapping[Difference, int]) -> Iterator[str]:
    models = sorted(shown(one.model) for one in found if one.kind == "system text")
    if models:
        takes = "takes" if len(models) == 1 else "take"
        yield f"The system text was put into the first user message: {joined(models)} {takes} no system message."


def _served(found: Mapping[Difference, int], answers: Mapping[str, int]) -> Iterator[str]:
    served = sorted((one for one in found if one.kind == "served"), key=lambda one: (-found[one], one))
    for one in served[:_MOST]:
        n, of, asked = found[one], answers.get(one.model, 0), shown(one.model)
        some = f" in {n:,} of {count_noun(of, 'call')}" if n < of else ""
        if is_version(one.model, one.name):
            yield f"{asked} was served as {shown(one.name)}{some}."
        else:
            yield f"{shown(one.name)} answered instead of {asked}{some}."
    if len(served) > _MOST:
        yield f"{count_noun(len(served) - _MOST, 'more model')} answered in another model's place."


def setting(name: str) -> str:
    """A setting's name in words."""
    return {"top_logprobs": "log probabilities"}.get(name, name.replace("_", " "))


def shown(model: str) -> str:
    """A model's name for a sentence, without characters that mark emphasis, shortened if too long."""
    name = " ".join(model.replace("*", "").split())
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"


MOST_FIGURES = 200
"""The most lines: a figure may appear once for each of a thousand explanations."""


Status = Literal["empty", "running", "failed", "cancelled", "interrupted", "done"]

_JUDGED = ("kept", "broken", "not settled")


def of_run(lab: Lab, run: Transcript, active: bool = False) -> RunScene:
    """The scene of the run so far; `active`: it is in progress. Never raises because a damaged journal lacks
    something.
    """
    tiles = tuple(_tile(lab, run, case, one, active) for case, one in run.in_order.items())
    ledger = tuple(_ledger(lab, tiles))
    status = _status(run, active)
    made = lab.run_summary.verdict(run)
    if made is None:
        bars = () if status in ("empty", "running") else tuple(_bars(ledger))
        made = Verdict(headline=from_emphasis(lab.summary(run)), bars=bars)
    return RunScene(
        lab=lab.name,
        run=run.started.run if run.started else "",
        status=status,
        planned=run.planned,
        one=lab.run_summary.case_noun,
        words=lab.run_summary.words,
        verdict=with_caution(made, lab, run),
        tiles=tiles,
        ledger=ledger,
        figures=(*lab.run_summary.figures(run), *source_lines(lab, run), *_figures(lab, run)),
    )


def with_caution(verdict: Verdict, lab: Lab, run: Transcript) -> Verdict:
    """The verdict with cautions: how many answers of the run were cut, and what was sent or served differently from
    what was requested.
    """
    words = " ".join(filter(None, (_cut_answers(lab, run), *notes_of_run(run))))
    return verdict.model_copy(update={"caution": from_emphasis(words)}) if words else verdict


def _cut_answers(lab: Lab, run: Transcript) -> str:
    """Return how many answers of the run a token limit cut short, and which setting would help; '' if none was cut."""
    cut = run.cut.total()
    if not cut:
        return ""
    of = count_noun(max(run.finished_calls, cut), "answer")
    were = "was cut at its token limit" if cut == 1 else "were cut at their token limit"
    return f"{cut:,} of {of} {were}. {_help(lab, run)}"


def _help(lab: Lab, run: Transcript) -> str:
    """The settings that would help: the token limit that a person sets for these roles, and the room for thinking."""
    limits = lab.spec.LENGTH_FIELDS
    fields = dict.fromkeys(limits[role] for role in run.cut if role in limits)
    titles = [f"*{title}*" for name in fields if (title := lab.spec.model_fields[name].title)]
    ways = [f"allow more tokens ({', '.join(titles)})"] if titles else []
    if run.cut_in_thought or not ways:
        ways.append("give a model that thinks more *room for thinking* on the Models page")
    said = ", or ".join(ways)
    return f"{said[0].upper()}{said[1:]}."


def in_run(scene: Scene, lab: Lab, run: Transcript, outcome: str) -> Scene:
    """A case with the marks that its run gives: a lab may judge cards and verdicts by all cases of the run. `outcome`
    is the case's own, by the updated parser.
    """
    mark = lab.run_summary.mark(outcome, run)
    if mark is None:
        return scene
    cards = tuple(
        card.model_copy(update={"mark": lab.mark(card.outcome, run)}) if card.outcome else card for card in scene.cards
    )
    verdict = scene.verdict
    if verdict is not None and verdict.mark in _JUDGED:
        # The run may settle what kept the case by itself from a verdict.
        doubt = "" if verdict.mark == "not settled" != mark else verdict.doubt
        verdict = verdict.model_copy(update={"mark": mark, "doubt": doubt})
    return scene.model_copy(update={"cards": cards, "verdict": verdict})


def _tile(lab: Lab, run: Transcript, case: str, one: CaseProgress, active: bool) -> Tile:
    result = one.result or {}
    mark: Mark = lab.mark(one.outcome, run)
    return Tile(
        case=case,
        number=one.number,
        title=one.title,
        mark="stopped" if mark == "waiting" and not active else mark,
        outcome=one.outcome,
        sentence=from_emphasis(str(result.get("verdict") or "")),
    )


def _ledger(lab: Lab, tiles: tuple[Tile, ...]) -> Iterator[Tally]:
    """Each outcome with its number of cases, the most frequent first; cases that were not reached count as an
    outcome.
    """
    marks = {tile.outcome: tile.mark for tile in tiles}
    for outcome, n in Counter(tile.outcome for tile in tiles).most_common():
        words = "not reached" if marks[outcome] == "stopped" else lab.report.words.get(outcome, outcome)
        yield Tally(n=n, words=words, mark=marks[outcome], reason=lab.run_summary.reasons.get(outcome, ""))


def _bars(ledger: Sequence[Tally]) -> Iterator[Bar]:
    """A bar for each outcome of the cases that decide something, consistent ones first."""
    deciding = sorted((one for one in ledger if one.mark in _JUDGED), key=lambda one: _JUDGED.index(one.mark))
    n = sum(one.n for one in deciding)
    yield from (Bar(label=one.words, hits=one.n, n=n, own=one.mark == "kept") for one in deciding)


def _figures(lab: Lab, run: Transcript) -> Iterator[FigureLine]:
    scores = [score for score in run.scores if not score.case and score.rules == "repaired"]
    found = [(metric, score) for metric in lab.metrics for score in scores if score.metric == metric.name]
    for metric, score in found[:MOST_FIGURES]:
        title = f"{metric.title} · {in_words(score.item)}" if score.item else metric.title_with(score.detail)
        yield FigureLine(title=title, value=_value(metric, score), help=metric.help, n=score.n, of=score.of)


def in_words(item: str) -> str:
    """What a figure is about, from the parts of its id."""
    return item.replace("/", ", ").replace("-", ", ")


def _value(metric: Metric, score: Scored) -> str:
    if score.value is None:
        return "undefined"
    number = f"{{:{metric.format}}}".format
    if score.low is None or score.high is None:
        return number(score.value) + metric.unit
    return f"{number(score.value)}{metric.unit}, {number(score.low)} to {number(score.high)}"


def _status(run: Transcript, active: bool) -> Status:
    if run.started is None:
        return "empty"
    ended: Mapping[str, Status] = {"completed": "done", "failed": "failed", "cancelled": "cancelled"}
    return ended.get(run.status or "", "running" if active else "interrupted")
