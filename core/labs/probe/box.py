"""The black box as an interpreter meets it: it can be called within a budget, and nothing else.

Every call is recorded, and a call in the journal is not made again. Otherwise a resumed run could see something else
than before: a module's call that had failed may succeed, code that ran out of time may finish. The interpreter's next
messages depend on what it saw.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import files
from ...events import Answered, CallError, Prompt, Sampling
from ...models.errors import RequestRefusedError
from ...runs.context import CaseContext
from ...runs.fairness import run_in_thread
from ...sandbox import sandbox
from ...text import embed
from ...text.embed import NoEncoderError
from .functions import base
from .functions.entities import INSIDE, LEAST, OUTSIDE, EntityFunction, concepts
from .functions.modules import ModuleFunction, Output, outputs_of
from .functions.relations import UNDEFINED, RelationFunction, relations, same_answer
from .functions.source import CodeFunction
from .records import Fidelity, FidelityReading, Probe, item
from .tasks import MODULE_CHECKS, ProbeSpec

# The calls behind a function that a language model carries out.


class ModuleCalls:
    """Asks `model` for one output per call; `failure` is the last call that gave none. A call's item is `about` and the
    input; if each output is a trial of its own, that is also the trial's id.
    """

    def __init__(self, run: CaseContext, model: str, about: str = "input", trials: bool = False) -> None:
        self.failure: CallError | None = None
        self._run = run
        self._model = model
        self._about = about
        self._trials = trials
        self._no_logprobs = False

    async def ask(self, prompt: Prompt, sampling: Sampling, text: str) -> Answered:
        """Make one call. If a server refuses log-probabilities, it is asked for the digit alone. Raises CallError if
        that fails too.
        """
        plainly = sampling.model_copy(update={"top_logprobs": None})
        try:
            try:
                chosen = plainly if self._no_logprobs else sampling
                return await self._ask(prompt, chosen, text)
            except RequestRefusedError as failure:
                if chosen == plainly or "logprobs" not in failure.message:
                    raise
                self._no_logprobs = True
                return await self._ask(prompt, plainly, text)
        except CallError as failure:
            self.failure = failure
            raise

    async def outputs(
        self, function: ModuleFunction, backbone: base.Backbone, inputs: Sequence[str], prompts: str | None = None
    ) -> list[Output]:
        """Return what the function gives for each input (`outputs_of`). Raises CallError if there is no encoder, or if
        no input has a value because calls failed.
        """
        self.failure = None
        try:
            outputs = await outputs_of(function, backbone, inputs, self.ask, prompts)
        except NoEncoderError as missing:
            raise CallError(str(missing), "Or choose another backbone for the function.") from missing
        if self.failure is not None and all(output.value is None for output in outputs):
            raise self.failure
        return outputs

    async def _ask(self, prompt: Prompt, sampling: Sampling, text: str) -> Answered:
        about = item(self._about, text)
        trial = about if self._trials else ""
        return await self._run.ask("module", prompt, self._model, sampling=sampling, item=about, trial=trial)


LONGEST = 500
"""The longest input in characters; the rest is cut."""

AT_ONCE = 100
"""The most inputs of one command; the rest are ignored, and the interpreter sees that."""

_PROBES = 7
"""Separates this stream of random numbers from those that generate the function itself."""


class _Call(NamedTuple):
    """One call of the function, before its output is known."""

    number: int
    round: int
    input: str

    def gave(self, output: str, value: float | None, how: str = "function") -> Probe:
        return Probe(**self._asdict(), output=output, value=value, how=how)

    def failed(self, why: str, how: str = "function") -> Probe:
        return Probe(**self._asdict(), output=f"no output: {why}", problem=why, how=how)


class Box:
    """The function with a call counter. `probes` are the calls made so far, in order."""

    def __init__(self, spec: ProbeSpec, run: CaseContext, function: base.FindFunction) -> None:
        self.function = function
        self.probes: list[Probe] = []
        self._spec = spec
        self._run = run
        self._known = {probe.number: probe for probe in run.recorded(Probe).values()}
        self._asking = ModuleCalls(run, spec.module)

    @property
    def calls_left(self) -> int:
        """How many calls the budget still allows."""
        return self._spec.probes - len(self.probes)

    def is_another(self) -> bool:
        """Whether the function gives something else than when the journal was written: a newer version may generate
        another function for the same seed. It compares only functions that are computed here; their random outputs
        repeat.
        """
        if isinstance(self.function, ModuleFunction | CodeFunction):
            return False
        return any(
            not _is_same(self._plain(_Call(then.number, then.round, then.input)), then) for then in self._known.values()
        )

    async def probe(self, inputs: Sequence[str], round: int) -> list[Probe]:
        """Call the function on as many of `inputs` as the budget allows, and record each call.

        Raises CallError if a language model carries the function out and could not be reached for any input.
        """
        inputs = [text[:LONGEST] for text in inputs[: min(self.calls_left, AT_ONCE)]]
        if isinstance(self.function, ModuleFunction):
            calls = self._calls(inputs, round)
            new = [call for call in calls if self._recorded(call) is None]
            made = self._took(calls, await self._from_module(self.function, new))
        else:
            made = await run_in_thread(self.call, inputs, round)
        self.record(made)
        return made

    def call(self, inputs: Sequence[str], round: int) -> list[Probe]:
        """Call the function without recording, from any thread. For functions without a module."""
        calls = self._calls(inputs[: self.calls_left], round)
        if all(map(self._recorded, calls)):
            return self._took(calls, [])
        if isinstance(self.function, CodeFunction):
            return self._took(calls, self._by_code(self.function, calls))
        return self._took(calls, list(map(self._plain, calls)))

    def record(self, probes: Sequence[Probe]) -> None:
        """Record calls that `call` made."""
        for probe in probes:
            self._run.record(probe, f"probe-{probe.number:04}")

    def _calls(self, inputs: Sequence[str], round: int) -> list[_Call]:
        return [_Call(number, round, text) for number, text in enumerate(inputs, start=len(self.probes) + 1)]

    def _recorded(self, call: _Call) -> Probe | None:
        """Return what the journal has for a call; None if it is new."""
        probe = self._known.get(call.number)
        return probe if probe is not None and probe.input == call.input else None

    def _took(self, calls: Sequence[_Call], made: Sequence[Probe]) -> list[Probe]:
        """Add the calls to `probes`: as the journal has them, else as they were `made` now."""
        new = {probe.number: probe for probe in made}
        probes = [self._recorded(call) or new[call.number] for call in calls]
        self.probes += probes
        return probes

    def _plain(self, call: _Call) -> Probe:
        rng = np.random.default_rng([self._spec.seed, _PROBES, call.number])
        try:
            value = self.function(self.function.read(call.input), rng)
        except base.UndefinedInputError as problem:
            return call.failed(str(problem))
        is_typed = self.function.category == "numeric" and isinstance(value, str)
        return call.gave(value_text(value), base.as_number(str(value)) if is_typed else real(value))

    def _by_code(self, function: CodeFunction, calls: Sequence[_Call]) -> list[Probe]:
        """Run all inputs in one program of the sandbox."""
        read: list[Any] = []
        problems: dict[int, str] = {}
        for call in calls:
            try:
                read.append(function.read(call.input))
            except base.UndefinedInputError as problem:
                read.append(0.0)
                problems[call.number] = str(problem)
        # Each command gets new random numbers, so that code with random outputs does not repeat them.
        chance = np.random.default_rng([self._spec.seed, _PROBES, calls[0].number])
        result = sandbox.evaluate(function.code, read, seed=int(chance.integers(2**31)))
        made = []
        for call, output, error in zip(calls, result.values, result.errors, strict=True):
            value = function.typed(output)
            why = problems.get(call.number) or ("" if value is not None else str(error))
            made.append(call.failed(why) if why else call.gave(value_text(value), real(value), "code"))
        return made

    async def _from_module(self, function: ModuleFunction, calls: Sequence[_Call]) -> list[Probe]:
        wanted = list(dict.fromkeys(call.input for call in calls))
        outputs = await self._asking.outputs(function, self._spec.backbone, wanted, self._spec.prompts)
        by_input = {output.input: output for output in outputs}
        return [
            call.failed(one.problem, one.how) if one.value is None else call.gave(one.text, real(one.value), one.how)
            for call in calls
            for one in [by_input[call.input]]
        ]


def _is_same(now: Probe, then: Probe) -> bool:
    if now.value is None or then.value is None:
        return now.output == then.output or bool(now.problem and then.problem)
    # The last digits depend on the machine.
    return math.isclose(now.value, then.value, rel_tol=1e-6, abs_tol=1e-9)


def real(value: base.Value | None) -> float | None:
    """Return `value` as a finite real number; None for anything else."""
    if isinstance(value, complex) and value.imag == 0:
        value = value.real
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def value_text(value: base.Value | None) -> str:
    """Return an output as an interpreter reads it: numbers to ten digits."""
    if isinstance(value, str):
        return value
    return "undefined" if value is None else f"{value:.10g}"


# Whether the box that carries out an entity or relation function agrees with the function's own stated truth. It is
# measured before the box is used, because an interpreter can be no better than what it is shown.
#
# The truth of a published function is its ten published examples; of any other function, our own words or facts. The
# inputs outside are one input of every other function of the category, the same for all.


HALF = 0.5
"""From this value on an entity function says that a word is related."""


class Stated(NamedTuple):
    """One input with what the function's truth says about it. `inside`: whether it belongs to the function."""

    input: str
    expected: str
    inside: bool


def _published(spec: ProbeSpec) -> list[Stated]:
    """Return what the published tests state; empty if the function has none."""
    if not spec.is_published:
        return []
    try:
        tests = base.published_triplets(files.resolve_named(str(spec.find_dir)), spec.category)[spec.function]
    except (base.BenchmarkError, KeyError):
        return []
    true = dict.fromkeys(test.true for test in tests)
    return [Stated(one[0], one[1] if len(one) > 1 else "1", True) for one in true]


def _ours(function: ModuleFunction) -> list[Stated]:
    if isinstance(function, EntityFunction):
        return [Stated(word, "1", True) for word in function.related_words()]
    facts = function.relation.facts if function.relation else ()
    return [Stated(fact.inputs[0], function.output(fact), True) for fact in facts]


def _other_words(function: EntityFunction) -> list[Stated]:
    """Return one word of each other subject that is not sensitive."""
    rng = np.random.default_rng(0)
    drawn = {name: str(rng.choice(concept.words)) for name, concept in concepts().items()}
    others = (name for name, one in concepts().items() if name not in function.names and not one.sensitive)
    return [Stated(drawn[name], "0", False) for name in others]


def _other_inputs(function: RelationFunction) -> list[Stated]:
    """Return one input of each relation about another kind of thing, unless this relation has a fact about it too."""
    rng = np.random.default_rng(0)
    drawn = [(other, str(rng.choice([fact.inputs[0] for fact in other.facts]))) for other in relations().values()]
    own = function.relation
    texts = (text for _, text in drawn if function.is_of_other_kind(text) and not (own and own.fact(text)))
    return [Stated(text, UNDEFINED, False) for text in dict.fromkeys(texts)]


async def measure_fidelity(spec: ProbeSpec, function: ModuleFunction, calls: ModuleCalls | None = None) -> Fidelity:
    """Ask the box that `spec` names about the inputs of its truth. A language model gets only `MODULE_CHECKS` inputs
    inside and as many outside, evenly from the list, because each is a call.

    Raises CallError as `calls` does. Without `calls`, which only a language model needs, raises
    core.text.embed.NoEncoderError if there is no encoder.
    """
    published = _published(spec)
    outside = _other_words(function) if isinstance(function, EntityFunction) else _other_inputs(function)
    inside = published or _ours(function)
    known = {one.input for one in inside}
    truths = inside + [one for one in outside if one.input not in known]
    if spec.backbone == "model":
        truths = [one for side in (True, False) for one in _evenly([t for t in truths if t.inside is side])]
    asked = function, spec.backbone, [one.input for one in truths]
    outputs = await (calls.outputs(*asked, spec.prompts) if calls else outputs_of(*asked))
    by = spec.module or (embed.encoder(embed.SMALL).name if spec.backbone == "embedding" else "")
    return Fidelity(
        category=function.category,
        backbone=spec.backbone,
        by=by,
        published=bool(published),
        inputs=tuple(one.input for one in truths),
        inside=tuple(one.inside for one in truths),
        expected=tuple(one.expected for one in truths),
        outputs=tuple(output.text for output in outputs),
        readings=tuple(_read(function, *pair) for pair in zip(truths, outputs, strict=True)),
    )


def is_fidelity_of(found: Fidelity, spec: ProbeSpec, function: ModuleFunction) -> bool:
    """Whether all inputs that `found` lists as the function's own still belong to it."""
    own = {one.input for one in _published(spec) or _ours(function)}
    return own.issuperset(text for text, inside in zip(found.inputs, found.inside, strict=True) if inside)


def _evenly(truths: Sequence[Stated]) -> list[Stated]:
    places = np.linspace(0, len(truths), min(MODULE_CHECKS, len(truths)), endpoint=False).astype(int)
    return [truths[place] for place in places]


def _read(function: ModuleFunction, truth: Stated, output: Output) -> FidelityReading:
    if output.value is None:
        return "no value"
    if isinstance(output.value, float):
        return "right" if (output.value >= HALF) is truth.inside else "wrong"
    assert isinstance(function, RelationFunction)
    if output.value == truth.expected or _same(function, truth, output.value):
        return "right"
    return "undefined" if output.value == UNDEFINED else "wrong"


def _same(function: RelationFunction, truth: Stated, output: str) -> bool:
    """Whether `output` says the same as the truth, or both are answers that our facts accept."""
    if UNDEFINED in (output, truth.expected):
        return False
    tolerance = function.relation.tolerance if function.relation else 0.0
    accepted = bool(function.accepts(truth.input, output) and function.accepts(truth.input, truth.expected))
    return accepted or same_answer(output, truth.expected, tolerance)


def pooled_fidelity(found: Sequence[Fidelity]) -> Fidelity:
    """Join several boxes of one category and backbone, input by input. Raises ValueError if there are none."""
    if not found:
        raise ValueError("no box was measured")
    fields = ("inputs", "inside", "expected", "outputs", "readings")
    joined = {name: tuple(value for one in found for value in getattr(one, name)) for name in fields}
    return found[0].model_copy(update=joined)


# In words


def fidelity_sentences(found: Fidelity) -> list[str]:
    """Return how far the box can be trusted, with its counts, in plain sentences. Names neither the function nor an
    input.
    """
    counted = f"Measured against its own truth, {_counts(found)}."
    lacking = found.count("no value")
    if lacking:
        counted += f" {lacking} of {len(found.inputs)} inputs got no value."
    return [counted, _trust(found)]


def _counts(found: Fidelity) -> str:
    own, others, given = found.total(inside=True), found.total(inside=False), found.count("wrong", inside=False)
    right, wrong, undefined = (found.count(reading, inside=True) for reading in ("right", "wrong", "undefined"))
    if found.category == "entities":
        outside = f"{given} of {others} words outside the subject come out at {HALF:g} or above"
        words = "published words" if found.published else "words"
        inside = f"{right} of {own} {words} of the subject and {outside}"
        return inside if own else f"{outside}; no words inside it are known"
    outside = f"{given} of {others} inputs of other kinds get an answer"
    facts = "published examples" if found.published else "facts"
    inside = f"of {own} {facts} {right} come out right, {wrong} wrong and {undefined} undefined; {outside}"
    return inside if own else f"{outside}; no facts of it are known"


def _trust(found: Fidelity) -> str:
    chance = found.all_right
    if chance is None:
        return "So it cannot be said how far the box can be trusted."
    kinds = f"{INSIDE} that belong to the function, {OUTSIDE} that do not"
    draws = f"Ten exemplars ({kinds}) would all come out right in {int(100 * chance)}% of draws"
    if found.contradicts:
        return (
            f"{draws}, less than {LEAST:.0%}: this box contradicts its truth, and even a true description may look "
            "wrong beside what it gives."
        )
    if found.backbone == "table" and not found.published:
        return f"{draws}, by construction: it answers from our lists alone, and says where they do not hold an input."
    return f"{draws}, {LEAST:.0%} or more: the box can be used."
