"""The reliability of what executes entity functions: the paper's table A1 and figure A4, on every backbone."""

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from core.events import Event, Model, Scored
from core.labs.probe.functions.entities import concepts
from core.labs.probe.reliability import lab
from core.labs.probe.reliability.lab import LAB, Kind, Reliability, ReliabilityReport, ReliabilitySpec, sample
from core.models.catalog import Catalog
from core.runs.engine import RunIO, RunRequest, execute
from core.transcript import Transcript, transcript
from tests.support.stub_server import Fault, StubServer


def nobody(id: str) -> Model:
    raise AssertionError(f"{id} is asked")


class ReliabilityRun:
    """A run over several functions, with the means over all of their outputs so far."""

    def __init__(self, run: Transcript) -> None:
        views = [ReliabilityReport.of(run.case(case)) for case in run.cases]
        self.transcript = run
        self.concepts = [view.reliability for view in views if view.reliability]
        self._means = {figure.metric: figure.score.value for figure in LAB.scores(views)}

    def mean(self, kind: Kind) -> float | None:
        return self._means[f"{kind}_mean"]


def verdict(report: ReliabilityRun) -> str:
    return lab.verdict(report.transcript)


def run_scores(report: ReliabilityRun) -> list[Scored]:
    """The figures of the whole run."""
    return [score for score in report.transcript.scores if not score.case]


def play(
    spec: ReliabilitySpec, catalog: Catalog | None = None, history: list[Event] | None = None, mend: bool = False
) -> tuple[ReliabilityRun, list]:
    events: list[Event] = list(history or [])
    resolve = catalog.get if catalog else nobody
    asyncio.run(execute(RunRequest(LAB, spec, "r", history=history or [], mend=mend), RunIO(resolve, events.append)))
    kept = [event for event in events if event.kind != "token"]
    return ReliabilityRun(transcript(kept)), kept


def stub_catalog(server: StubServer, **changes: object) -> Catalog:
    settings = {"retries": 0, **changes}
    return Catalog(
        home=Path("/dev/null/unused"),
        journals=Path("/dev/null/unused"),
        read=lambda path: [],
        endpoints=[server.config(**settings)],
    )


def knowing(body: dict[str, Any]) -> str:
    """A model that knows every list by heart."""
    prompt = body["messages"][-1]["content"]
    named = [name for name in concepts() if name in prompt]
    return "1" if any(f"Word: {word}\n" in prompt for name in named for word in concepts()[name].words) else "0"


def test_tables_are_selective_by_nature() -> None:
    report, events = play(ReliabilitySpec(concepts=10, words=4))
    assert report.mean("same") == 1.0
    random = report.mean("random")
    assert random is not None and random < 0.05, "a word may stand on two lists"
    assert sum(event.kind == "recorded" and event.record == "reliability" for event in events) == 10
    assert not report.transcript.calls
    assert "by construction" in verdict(report)


def test_the_embedding_backbone_is_as_reliable_as_it_says() -> None:
    """Table A1 in small, every fourth concept: the paper's backbone has 0.846 and 0.079."""
    report, _ = play(ReliabilitySpec(backbone="embedding", concepts=35, words=10, across=False))
    same, random = report.mean("same"), report.mean("random")
    assert same is not None and random is not None
    print(f"same {same:.3f}, random {random:.3f}")
    assert same > 0.85 and random < 0.15
    for one in report.concepts:
        same, random = one.outputs("same"), one.outputs("random")
        assert len(same) == len(random) == 10 and np.mean(same) > np.mean(random)
        assert not set(one.words[10:]) & set(concepts()[one.concept].words)


def test_functions_are_selective() -> None:
    """Figure A4 on a sample: each function answers most to its own concept's words."""
    report, _ = play(ReliabilitySpec(backbone="embedding", concepts=8))
    names = [one.concept for one in report.concepts]

    def mean(one: Reliability, name: str) -> np.floating:
        return np.mean([value for of, value in zip(one.of, one.values, strict=True) if of == name])  # type: ignore[list-item]

    matrix = np.array([[mean(one, name) for name in names] for one in report.concepts])
    assert names == sample(ReliabilitySpec(concepts=8)) and matrix.shape == (8, 8)
    assert (matrix.argmax(axis=1) == np.arange(8)).all() and (matrix.argmax(axis=0) == np.arange(8)).all()
    assert report.mean("same") == pytest.approx(matrix.diagonal().mean())


def test_of_a_run_of_which_one_function_is_kept_whole_the_means_are_of_all() -> None:
    report, events = play(ReliabilitySpec(concepts=3, words=4))
    kept = Transcript(keep=lambda place: place in ("", report.concepts[0].concept))
    for event in events:
        kept.apply(event)
    assert len(ReliabilityRun(kept).concepts) == 1 and verdict(ReliabilityRun(kept)) == verdict(report)


def test_a_language_model_is_asked_word_by_word_and_every_answer_is_kept() -> None:
    spec = ReliabilitySpec(backbone="model", model="stub/stub-model", concepts=3, words=2)
    with StubServer(knowing) as server:
        report, events = play(spec, stub_catalog(server))
        assert server.count == spec.outputs == 18
    assert report.transcript.status == "completed"
    assert report.mean("same") == 1.0 and report.mean("random") == 0.0
    first = report.concepts[0]
    assert set(first.how) == {"logprobs"}
    asked = {event.item for event in events if event.kind == "asked"}
    assert f"{first.concept}: {first.words[0]}" in asked
    scores = {score.metric: (score.value, score.n, score.of) for score in run_scores(report)}
    assert scores == {"same_mean": (1.0, 6, 6), "random_mean": (0.0, 12, 12)}


def test_outputs_without_a_value_are_counted_out() -> None:
    spec = ReliabilitySpec(backbone="model", model="stub/stub-model", concepts=2, words=2)
    own = concepts()[sample(spec)[0]].words[0]
    with StubServer(lambda body: "1" if own in body["messages"][-1]["content"] else "who knows") as server:
        report, _ = play(spec, stub_catalog(server))
    first = report.concepts[0]
    assert first.outputs("same") == [1.0] and first.outputs("random") == []
    assert first.problems[1].startswith("the module wrote 'who knows', neither 0 nor 1; 0 and 1 together have")
    assert verdict(report) == "Only 2 of 8 answers could be read: too few to tell."
    unread = [drop for drop in report.transcript.drops if drop.reason == "unparsed"]
    # Which of the two concepts is done first is chance; which words could not be read is not.
    items = {drop.item for drop in unread}
    assert len(unread) == len(items) == 6
    assert {item for item in items if item.startswith(f"{first.concept}: ")} == {
        f"{first.concept}: {word}" for word, value in zip(first.words, first.values, strict=True) if value is None
    }
    assert f"{first.concept}: {first.words[1]}" in items and f"{first.concept}: {own}" not in items
    score = report.transcript.score("same_mean", "repaired")
    assert score is not None and (score.n, score.of) == (1, 4)


def test_a_failed_call_is_said_and_asked_again() -> None:
    spec = ReliabilitySpec(backbone="model", model="stub/stub-model", concepts=2, words=1)
    with StubServer(knowing, faults={2: Fault("server_error")}) as server:
        catalog = stub_catalog(server, concurrency=1)
        report, events = play(spec, catalog)
        assert report.transcript.status == "completed" and report.concepts[0].values.count(None) == 1
        assert [drop.reason for drop in report.transcript.drops] == ["error"]
        report, _ = play(spec, catalog, events, mend=True)
        assert server.count == 5, "only what failed was asked again"
    assert not report.transcript.drops and report.mean("same") == 1.0 and None not in report.concepts[0].values


def test_a_server_out_of_reach_stops_it_in_words() -> None:
    spec = ReliabilitySpec(backbone="model", model="stub/stub-model", concepts=2, words=1)
    with StubServer(always=Fault("wrong_key")) as server:
        report, _ = play(spec, stub_catalog(server))
    assert report.transcript.status == "failed" and "key" in report.transcript.failures[0].message
    assert verdict(report) == "It gave no values: this backbone cannot carry the functions out."


def test_log_probabilities_that_are_refused_are_done_without() -> None:
    spec = ReliabilitySpec(backbone="model", model="stub/stub-model", concepts=2, words=1)
    with StubServer(knowing, refused=["logprobs"]) as server:
        report, _ = play(spec, stub_catalog(server, concurrency=1))
        assert "logprobs" not in json.dumps(server.seen[-1].body)
    assert report.mean("same") == 1.0 and not report.transcript.drops
    assert {how for one in report.concepts for how in one.how} == {"answer"}


@pytest.mark.parametrize(
    "fields",
    [
        {"backbone": "model"},
        {"model": "a/b"},
        {"seed": -1},
        {"concepts": 1},
        {"concepts": 141},
        {"words": 0},
        {"words": 21},
    ],
)
def test_what_cannot_be_tested_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ReliabilitySpec.model_validate(fields)


def test_sensitive_concepts_come_only_with_all() -> None:
    assert not any(concepts()[name].sensitive for name in sample(ReliabilitySpec(concepts=40)))
    assert sample(ReliabilitySpec(concepts=140)) == list(concepts())
