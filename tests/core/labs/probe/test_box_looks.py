"""What a call of the function returns, input by input, and how an output is written."""

import asyncio
import math
from collections.abc import Callable, Sequence

import pytest

from core.events import Event
from core.labs.base.report import Case
from core.labs.probe import box as module
from core.labs.probe.box import Box, real, value_text
from core.labs.probe.functions.source import load
from core.labs.probe.lab import LAB
from core.labs.probe.records import Probe
from core.labs.probe.tasks import ProbeSpec
from core.runs.context import CaseContext
from core.runs.engine import RunIO, RunRequest, execute
from core.sandbox.sandbox import evaluate

DRAWS = "import random\ndef f(x):\n    return x + random.random()"


def with_box(spec: ProbeSpec, work: Callable[[Box], object], history: Sequence[Event] = ()) -> list[Event]:
    """The events of a run that only does `work` with its function."""

    async def measure(spec: ProbeSpec, case: Case, run: CaseContext) -> None:
        done = work(Box(spec, run, load(spec)))
        if asyncio.iscoroutine(done):
            await done

    events: list[Event] = list(history)
    lab = LAB.with_changes(measure=measure)
    asyncio.run(
        execute(RunRequest(lab, spec, "r", history=history, mend=True), RunIO(lambda name: None, events.append))
    )
    assert not [event for event in events if event.kind == "failed"], events
    return events


def seen(spec: ProbeSpec, *commands: Sequence[str]) -> list[list[Probe]]:
    looks: list[list[Probe]] = []
    with_box(spec, lambda box: [looks.append(box.call(inputs, n)) for n, inputs in enumerate(commands, start=1)])
    return looks


def test_code_that_draws_draws_the_same_for_a_seed_as_ever() -> None:
    """A run made again from its settings sees what it saw, with another version of the app too."""
    looks = seen(ProbeSpec(own=DRAWS, own_kind="code", model="m/m", seed=3), ["0", "0"], ["0"])
    drawn = [*evaluate(DRAWS, [0.0, 0.0], seed=391_849_362).values, *evaluate(DRAWS, [0.0], seed=2_127_006_215).values]
    assert [probe.value for probe in [*looks[0], *looks[1]]] == drawn and len(set(drawn)) == 3
    other = seen(ProbeSpec(own=DRAWS, own_kind="code", model="m/m", seed=4), ["0", "0"])
    assert not {probe.value for probe in other[0]} & set(drawn)


def test_one_bad_input_of_a_command_is_told_in_its_place() -> None:
    spec = ProbeSpec(own="def f(x):\n    return 1 / x", own_kind="code", model="m/m", probes=9)
    [first, second] = seen(spec, ["4", "four", "0", "8"], ["1"])
    assert [(probe.number, probe.round, probe.input) for probe in [*first, *second]] == [
        (1, 1, "4"), (2, 1, "four"), (3, 1, "0"), (4, 1, "8"), (5, 2, "1"),
    ]  # fmt: skip
    assert [probe.value for probe in first] == [0.25, None, None, 0.125] and second[0].value == 1
    assert [probe.output for probe in first if not probe.problem] == ["0.25", "0.125"]
    assert "'four' is not a number" in first[1].problem and "zero" in first[2].problem
    assert all(probe.output == f"no output: {probe.problem}" for probe in first[1:3])
    assert [probe.how for probe in first] == ["code", "function", "function", "code"]


def test_a_formula_too_tells_what_it_has_no_value_for() -> None:
    [made] = seen(ProbeSpec(own="1 -> 1\n2 -> four", own_kind="pairs", model="m/m", probes=3), ["1", "7", "2", "1"])
    assert [(probe.number, probe.value) for probe in made] == [(1, 1.0), (2, None), (3, None)]
    assert made[1].problem == "it is not among the pairs" and made[2].output == "four" and not made[2].problem
    assert {probe.how for probe in made} == {"function"}


@pytest.mark.parametrize("own", [DRAWS, "1 -> 1\n2 -> 4"])
def test_what_a_journal_holds_is_given_again_and_only_the_rest_is_made(
    own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = ProbeSpec(own=own, own_kind="pairs" if "->" in own else "code", model="m/m", probes=5)
    first: list[Probe] = []
    events = with_box(spec, lambda box: (first.extend(box.call(["1", "2"], 1)), box.record(first)))
    again: list[Probe] = []

    def look(box: Box) -> None:
        with monkeypatch.context() as patched:
            # All of it is known: nothing is started for it.
            patched.setattr(module.sandbox, "evaluate", None)  # type: ignore[attr-defined]
            again.extend(box.call(["1", "2"], 1))
            assert box.calls_left == 3

    with_box(spec, look, events)
    assert again == first
    mixed: list[Probe] = []
    with_box(spec, lambda box: mixed.extend(box.call(["1", "5", "3"], 1)), events)
    assert mixed[0] == first[0] and [probe.input for probe in mixed] == ["1", "5", "3"]
    assert [probe.number for probe in mixed] == [1, 2, 3]


def test_a_command_and_an_input_have_their_limits() -> None:
    spec = ProbeSpec(own="1 -> 1", own_kind="pairs", model="m/m", probes=300)
    made: list[list[Probe]] = []

    async def work(box: Box) -> None:
        for inputs in ([str(n) for n in range(101)], ["7" * 501, "7" * 500, "7" * 499]):
            made.append(await box.probe(inputs, 1))

    events = with_box(spec, work)
    assert [probe.input for probe in made[0]] == [str(n) for n in range(100)]
    assert [len(probe.input) for probe in made[1]] == [500, 500, 499]
    recorded = [event.item for event in events if event.kind == "recorded" and event.record == "probe"]
    assert recorded == [f"probe-{n:04}" for n in range(1, 104)], "each call is in the journal, in order"


@pytest.mark.parametrize(
    ("value", "number", "text"),
    [
        (2, 2.0, "2"),
        (0.1 + 0.2, 0.1 + 0.2, "0.3"),
        (1 / 3, 1 / 3, "0.3333333333"),
        (1e300, 1e300, "1e+300"),
        (-0.5, -0.5, "-0.5"),
        (complex(2, 0), 2.0, "2+0j"),
        (complex(2, 1), None, "2+1j"),
        (math.inf, None, "inf"),
        (math.nan, None, "nan"),
        ("2", None, "2"),
        ("", None, ""),
        (None, None, "undefined"),
    ],
)
def test_a_number_is_finite_and_real_and_written_to_ten_digits(
    value: float | complex | str | None, number: float | None, text: str
) -> None:
    assert real(value) == number and value_text(value) == text


def test_a_text_is_the_same_by_its_words_and_what_had_no_value_by_having_none() -> None:
    oak, elm = (Probe(number=1, round=1, input="x", output=output) for output in ("oak", "elm"))
    cut, late = (oak.model_copy(update={"output": why, "problem": why}) for why in ("cut", "late"))
    assert module._is_same(oak, oak) and not module._is_same(oak, elm)
    assert module._is_same(cut, late) and not module._is_same(oak, cut)
