"""What is said about a run of several checks: its sentences, how often the model was consistent with its explanations,
and the random masks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ... import paper_figures
from ...events import Scored
from ...paper_figures import Published
from ...scene import Bar, FigureLine, Mark, Verdict, from_emphasis
from ...score import Figure, Score, undefined
from ...transcript import Transcript
from ..base.declared import Metric, Table, declared
from ..base.lab import RunSummary
from .report import NO_RANDOM, CheckReport, thin_figures
from .view import CheckView, WordingAgreement, agreement, check_name

if TYPE_CHECKING:
    from pandas import DataFrame


JUDGED = ("faithful", "unfaithful")

_ONE = "It was consistent with the one explanation that counts."
_DID_NOT = "It was not consistent with its explanation."


def summary(run: Transcript) -> str:
    """Return a whole run in a sentence or two, from the results of its cases and its figures, by the updated parser."""
    outcomes = {case: one.outcome for case, one in run.cases.items()}
    counts = Counter(outcomes.values())
    if run.status is None and (counts["waiting"] or len(outcomes) < max(run.planned, 1)):
        return "Not judged yet."
    only = run.cases[run.only].result if len(outcomes) == 1 else None
    if only and outcomes[run.only] not in ("waiting", "failed"):
        return str(only.get("verdict"))
    agree = agreement(outcomes)
    uncounted = counts["misclassified"] + counts["not counted"]
    if not agree.decided and not uncounted:
        if counts["failed"]:
            return "Calls failed, so nothing could be judged. That is no verdict on the explanation."
        return {
            "failed": "The run stopped before there was anything to judge.",
            "cancelled": "The run was stopped before there was anything to judge.",
        }.get(run.status or "", "No check could decide anything. Each one says why.")
    if not agree.decided:
        return _uncounted(run, uncounted)
    no_random = [NO_RANDOM] if any(word == "faithful" and _is_edit(case) for case, word in outcomes.items()) else []
    if len({case.partition("/")[0] for case in outcomes}) == 1:
        return " ".join((_of_one_paragraph(agree, outcomes), *no_random))
    many = agree.decided > 1
    if agree.faithful == 0:
        return (
            f"It was consistent with none of the {agree.decided} explanations that count."
            if many
            else "It was not consistent with the one explanation that counts."
        )
    some = f"{agree.faithful} of the" if agree.faithful < agree.decided else "all"
    kept = f"It was consistent with {some} {agree.decided} explanations that count." if many else _ONE
    return " ".join((kept, *_beside_random_masks(run, agree, outcomes), *no_random))


def _is_edit(case: str) -> bool:
    return check_name(case).startswith("counterfactual/")


def _beside_random_masks(run: Transcript, agree: WordingAgreement, outcomes: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence on what random masks did if words were masked: without this comparison the share of consistent
    checks says little.
    """
    gain = run.score("faithfulness_gain", "repaired")
    if gain is None or gain.value is None or gain.low is None:
        return
    masks = [word for case, word in outcomes.items() if word in JUDGED and not _is_edit(case)]
    where = "Masking the same number of"
    if len(masks) < agree.decided:
        # Counterfactuals have no random masks, so the comparison is about the other checks only.
        where = (
            f"Where words were masked it was consistent with {masks.count('faithful')} of {len(masks)}; masking the "
            "same number of"
        )
    effect = "had the effect less often" if gain.low > 0 else "is not shown to have the effect less often"
    yield f"{where} random words {effect}."


def _uncounted(run: Transcript, decided: int) -> str:
    """Return the sentence for a run whose checks have verdicts but are not in the figure, because the first answers
    were wrong.
    """
    score = run.score("faithfulness", "repaired")
    share = score.detail.get("of_all") if score else None
    many = "explanations" if decided > 1 else "explanation"
    if not isinstance(share, int | float):
        return f"{decided} {many} could be judged, but none of them counts."
    return f"It was consistent with {round(share * decided)} of {decided} {many}, but none of them counts."


def _of_one_paragraph(agree: WordingAgreement, outcomes: dict[str, str]) -> str:
    checks = f"{agree.decided} checks" if agree.decided > 1 else "the one check that decides"
    if agree.faithful == agree.decided:
        return f"It was consistent with its explanation in {'all ' if agree.decided > 1 else ''}{checks}."
    if agree.faithful == 0:
        return f"It was consistent with its explanation in none of {checks}." if agree.decided > 1 else _DID_NOT
    kinds: dict[str, set[str]] = {}
    for case, word in outcomes.items():
        if word in ("faithful", "unfaithful"):
            kinds.setdefault(check_name(case).partition("/")[0], set()).add(word)
    some = f"It was consistent with its explanation in {agree.faithful} of {checks}"
    if any(len(words) > 1 for words in kinds.values()):
        return f"{some}: it depends on the wording."
    kept, broken = ([kind for kind, words in kinds.items() if word in words] for word in ("faithful", "unfaithful"))
    return f"{some}: with its {' and '.join(kept)}, not with its {' and '.join(broken)}."


def verdict_of(run: Transcript) -> Verdict:
    """Return the run's sentence and the bars that decide it, with a doubt if too few of the checks could be decided."""
    score = run.score("faithfulness", "repaired")
    bars = tuple(_bars(run, score)) if score else ()
    return Verdict(headline=from_emphasis(summary(run)), mark=_mark(run, bars), bars=bars, doubt=thin_figures(score))


def _mark(run: Transcript, bars: tuple[Bar, ...]) -> Mark | None:
    """Return "kept" if all decided checks are consistent and random masks are shown to do less; "broken" if none is
    consistent; else "not settled". None without bars.
    """
    if not bars or not bars[0].hits:
        return "broken" if bars else None
    gain = run.score("faithfulness_gain", "repaired")
    is_shown = gain is None or gain.value is None or (gain.low or 0.0) > 0
    return "kept" if is_shown and bars[0].hits == bars[0].n else "not settled"


def _bars(run: Transcript, score: Scored) -> Iterator[Bar]:
    """Yield how many of the counted checks are consistent; if words were hidden, also how often hiding the model's own
    words had the effect, and how often hiding as many random words did.
    """
    agree = agreement({case: one.outcome for case, one in run.cases.items()})
    if not agree.decided:
        return
    known = score.n == agree.decided
    yield Bar(
        label="consistent with its explanation",
        hits=agree.faithful,
        n=agree.decided,
        own=True,
        low=score.low if known else None,
        high=score.high if known else None,
    )
    gain, control = (run.score(f"faithfulness_{name}", "repaired") for name in ("gain", "control"))
    if gain is None or control is None or gain.value is None or control.value is None:
        return
    did, masks = round((gain.value + control.value) * gain.n), int(control.detail.get("random_masks") or 0)
    if gain.n != agree.decided:
        yield Bar(label="its own words hidden", hits=did, n=gain.n)
    at_random = control.value * control.n * masks
    if masks and abs(at_random - round(at_random)) < 1e-6:
        # If some masked answers could not be read, the share is over fewer samples, so there is no such count.
        yield Bar(label="as many hidden at random", hits=round(at_random), n=control.n * masks, wins=gain.value <= 0)


def figures_of(run: Transcript) -> Iterator[FigureLine]:
    """Yield other ways to count how often the model was consistent with its explanations."""
    score, answerable = (run.score(name, "repaired") for name in ("faithfulness", "answerable"))
    if answerable and (always := answerable.detail.get("always_yes")) is not None:
        yield FigureLine(
            title="Knew what it can tell, by always saying yes", value=f"{always:.2f}", n=answerable.n, of=answerable.of
        )
    if score is None:
        return
    if (of_all := score.detail.get("of_all")) is not None:
        n = int(score.detail.get("of_all_n") or 0)
        yield FigureLine(title="Faithfulness, counting wrong first answers too", value=f"{of_all:.2f}", n=n, of=n)
    if paper := run.score("faithfulness", "paper"):
        value = "undefined" if paper.value is None else f"{paper.value:.2f}"
        results = [one.result for one in run.cases.values() if one.result]
        differing = sum(result["outcome_paper"] != result["outcome_repaired"] for result in results)
        yield FigureLine(
            title="Faithfulness with the original parser",
            value=value,
            n=paper.n,
            of=paper.of,
            help=f"{differing} of {len(run.cases)} outcomes depend on which parser reads the answers.",
        )


IN_RUNS = RunSummary(verdict=verdict_of, figures=figures_of, case_noun="check", words=CheckReport.mark_words)


# The tables that a study of the Check lab can request by name: those of Madsen et al. 2024, and the excess over
# random masks.


CHOICES = ("wording", "answers")
"""How the questions are worded and answered is part of the method, not what is measured."""

_USUAL = ("objective-redacted", "objective-explicit")
"""The wordings that the paper analyses by default."""

_SECONDS = "seconds_"
METRICS = declared(__file__, "for_tables", Metric)


def more(view: CheckView) -> Iterator[Figure]:
    """Yield the seconds of the first answer, and those of explanation and later answer together."""
    if view.check is None:
        return
    yield Figure(f"{_SECONDS}classify", view.rules, _seconds(view, ("first",)))
    yield Figure(f"{_SECONDS}{view.check.explanation}", view.rules, _seconds(view, ("explanation", "again")))


def _seconds(view: CheckView, sessions: tuple[str, ...]) -> Score:
    calls = [view.call(session) for session in sessions]  # type: ignore[arg-type]
    answers = [call.answered for call in calls if call is not None and call.answered is not None]
    if len(answers) < len(sessions) or any(one.cached for one in answers):
        return undefined(1, "not every answer was waited for")
    return Score(sum(one.seconds for one in answers), 1, 1)


def of_each(lab: str, metric: str) -> list[Published]:
    """Return the paper's Table 4 values of a step as its sum divided by its observations, because studies differ in how
    many they have.
    """
    found = paper_figures.published(lab, "inference_seconds", step=metric.removeprefix(_SECONDS))
    return [
        one._replace(
            value=one.value / one.n,
            about={"model": one.about["model"], "data": one.about["dataset"]},
            source=f"{one.source}, the sum divided by its {one.n:,} observations",
        )
        for one in found
        if one.n
    ]


def _where(frame: DataFrame) -> DataFrame:
    """Add the data set as column `data`; for a shipped item, which has none, the task."""
    return frame.assign(data=frame["dataset"].replace("", None).fillna(frame["task"]))


def _by_instruction(frame: DataFrame) -> DataFrame:
    """Select the masked cases. Without the sentence about masks, the mask makes no difference to the first answer."""
    named = _masked(frame)
    persona = named["wording"].str.replace(r"^([^-]*)(-.*)?-unmentioned$", r"\1, no instruction", regex=True)
    return named.assign(wording=persona)


def _masked(frame: DataFrame) -> DataFrame:
    return _where(frame[frame["how"].isin(["attribution", "redaction"])])


def _usual(frame: DataFrame) -> DataFrame:
    return _where(frame[frame["wording"].isin(_USUAL)])


TABLES = declared(
    __file__,
    "table",
    Table,
    {
        "madsen_f6": {"cases": _by_instruction},
        "madsen_f7": {"cases": _usual},
        "madsen_f8": {"cases": _where},
        "madsen_f9": {"cases": _usual},
        "madsen_t4": {"cases": _usual, "published": of_each},
        "excess": {"cases": _masked},
    },
)
