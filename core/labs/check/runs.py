"""What a run of several checks is told as: its sentence, how often it kept to its word, and what random masks did."""

from __future__ import annotations

from collections.abc import Iterator

from ...events import Scored
from ...scene import Bar, FigureLine, Mark, Verdict, told
from ...score import is_thin
from ...transcript import Transcript
from ..base.lab import InRuns
from .scene import WORDS
from .verdict import summary
from .view import agreement


def verdict_of(run: Transcript) -> Verdict:
    """The run's sentence and the bars that decide; a doubt where too few of the checks could be decided."""
    score = run.score("faithfulness", "repaired")
    doubt = ""
    if score is not None and score.of and is_thin(score.n, score.of):
        doubt = f"Only {score.n} of {score.of} checks could be decided. Do not lean on the figures."
    bars = tuple(_bars(run, score)) if score else ()
    return Verdict(headline=told(summary(run)), mark=_mark(run, bars), bars=bars, doubt=doubt)


def _mark(run: Transcript, bars: tuple[Bar, ...]) -> Mark | None:
    """Kept where it kept to all, and hiding words at random is shown to do less; broken where it kept to none."""
    if not bars or not bars[0].hits:
        return "broken" if bars else None
    gain = run.score("faithfulness_gain", "repaired")
    is_shown = gain is None or gain.value is None or (gain.low or 0.0) > 0
    return "kept" if is_shown and bars[0].hits == bars[0].n else "not settled"


def _bars(run: Transcript, score: Scored) -> Iterator[Bar]:
    """Of the checks that count those that it kept to; where words were hidden, how often hiding its own had the effect,
    and how often hiding as many drawn at random.
    """
    agree = agreement({case: str((one.result or {}).get("outcome_repaired")) for case, one in run.cases.items()})
    if not agree.decided:
        return
    known = score.n == agree.decided
    yield Bar(label="kept to its explanation", hits=agree.faithful, n=agree.decided, own=True,
              low=score.low if known else None, high=score.high if known else None)  # fmt: skip
    gain, control = (run.score(f"faithfulness_{name}", "repaired") for name in ("gain", "control"))
    if gain is None or control is None or gain.value is None or control.value is None:
        return
    did, masks = round((gain.value + control.value) * gain.n), int(control.detail.get("random_masks") or 0)
    if gain.n != agree.decided:
        yield Bar(label="its own words hidden", hits=did, n=gain.n)
    at_random = control.value * control.n * masks
    if masks and abs(at_random - round(at_random)) < 1e-6:
        # With masks that could not be read the share is of fewer than were drawn, and no such count.
        yield Bar(label="as many at random hidden", hits=round(at_random), n=control.n * masks,
                  wins=gain.value <= 0)  # fmt: skip


def figures_of(run: Transcript) -> Iterator[FigureLine]:
    """Other ways to count how often it kept to its word."""
    score, answerable = (run.score(name, "repaired") for name in ("faithfulness", "answerable"))
    if answerable and (always := answerable.detail.get("always_yes")) is not None:
        yield FigureLine(title="Knew what it can tell, by always saying yes", value=f"{always:.2f}", n=answerable.n,
                         of=answerable.of)  # fmt: skip
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
            title="Faithfulness, read by the paper's own rules", value=value, n=paper.n, of=paper.of,
            help=f"{differing} of {len(run.cases)} outcomes depend on which rules read the answers.",
        )  # fmt: skip


IN_RUNS = InRuns(verdict=verdict_of, figures=figures_of, one="check", words=WORDS)
