"""The black box as an interpreter meets it: it can be called, within a budget, and that is all.

Every call is recorded, and what a journal holds already is not called again. A resumed run would not see what it saw
otherwise: a module's call that had failed is asked again and may succeed, code that ran out of time may come through.
The interpreter's next messages rest on what it saw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.events import CallFailed
from core.labs.find.functions.base import FindFunction, UndefinedInput, Value, as_number
from core.labs.find.functions.entities import EntityFunction
from core.labs.find.functions.modules import module
from core.labs.find.functions.own import CodeFunction
from core.labs.find.functions.relations import RelationFunction
from core.labs.find.module_calls import ModuleCalls
from core.labs.find.records import Probe
from core.labs.find.tasks import ProbeSpec
from core.runs.run import Run
from core.runs.turns import beside
from core.sandbox import sandbox
from core.text.embed import NoEncoder

LONGEST = 500
"""Characters of one input; what is longer is cut."""

AT_ONCE = 100
"""Inputs of one command; what is beyond is left out, and the interpreter sees that."""

_PROBES = 7
"""Tells this stream of random numbers from those that draw the function itself."""


class Box:
    """The function with a counter. `probes` are the calls made so far, in order."""

    def __init__(self, spec: ProbeSpec, run: Run, function: FindFunction) -> None:
        self.function = function
        self.probes: list[Probe] = []
        self._spec = spec
        self._run = run
        self._known = run.recorded(Probe)
        self._calls = ModuleCalls(run, spec.module)
        self._module = (
            module(function, spec.backbone, self._calls.ask)
            if isinstance(function, EntityFunction | RelationFunction)
            else None
        )

    @property
    def left(self) -> int:
        """Calls that the budget still allows."""
        return self._spec.probes - len(self.probes)

    def is_another(self) -> bool:
        """Whether the function no longer gives what it gave when the journal was written: a newer version may draw
        another function for the same seed. Of functions that are carried out here; what they draw is drawn again.
        """
        if self._module is not None or isinstance(self.function, CodeFunction):
            return False
        return any(not _is_same(self._plain(one.number, one.input, one.round), one) for one in self._known.values())

    async def probe(self, inputs: Sequence[str], round: int) -> list[Probe]:
        """Call the function on as many of `inputs` as the budget allows, and record each call.

        Raises CallFailed where a language model answers for the function and could not be reached for any input.
        """
        inputs = [text[:LONGEST] for text in inputs[: min(self.left, AT_ONCE)]]
        if self._module is None:
            made = await beside(self.look, inputs, round)
        else:
            made = await self._from_module(inputs, round)
            self.probes += made
        self.keep(made)
        return made

    def look(self, inputs: Sequence[str], round: int) -> list[Probe]:
        """The same without recording, for functions without a module, from any thread."""
        inputs = inputs[: self.left]
        numbered = list(enumerate(inputs, start=len(self.probes) + 1))
        known = {number: probe for number, text in numbered if (probe := self._known_probe(number, text))}
        if len(known) < len(inputs):
            known = {probe.number: probe for probe in self._made(numbered, round)} | known
        probes = [known[number] for number, _ in numbered]
        self.probes += probes
        return probes

    def keep(self, probes: Sequence[Probe]) -> None:
        """Record calls that `look` made."""
        for probe in probes:
            self._run.record(probe, _item(probe.number))

    def _known_probe(self, number: int, text: str) -> Probe | None:
        known = self._known.get(_item(number))
        return known if known is not None and known.input == text else None

    def _made(self, numbered: Sequence[tuple[int, str]], round: int) -> list[Probe]:
        if isinstance(self.function, CodeFunction):
            return self._by_code(self.function, numbered, round)
        return [self._plain(number, text, round) for number, text in numbered]

    def _plain(self, number: int, text: str, round: int) -> Probe:
        rng = np.random.default_rng([self._spec.seed, _PROBES, number])
        try:
            value = self.function(self.function.read(text), rng)
        except UndefinedInput as problem:
            return _undefined(number, round, text, str(problem))
        return _probe(number, round, text, value, typed=self.function.category == "numeric")

    def _by_code(self, function: CodeFunction, numbered: Sequence[tuple[int, str]], round: int) -> list[Probe]:
        """All inputs in one program of the sandbox."""
        read: list[Any] = []
        problems: dict[int, str] = {}
        for number, text in numbered:
            try:
                read.append(function.read(text))
            except UndefinedInput as problem:
                read.append(0.0)
                problems[number] = str(problem)
        # Another stretch of chance with each command, as a box that draws at random has.
        chance = np.random.default_rng([self._spec.seed, _PROBES, numbered[0][0]])
        result = sandbox.evaluate(function.code, read, seed=int(chance.integers(2**31)))
        made = []
        for place, (number, text) in enumerate(numbered):
            value = function.typed(result.values[place])
            why = problems.get(number) or ("" if value is not None else str(result.errors[place]))
            made.append(_undefined(number, round, text, why) if why else _probe(number, round, text, value, "code"))
        return made

    async def _from_module(self, inputs: Sequence[str], round: int) -> list[Probe]:
        assert self._module is not None
        numbered = list(enumerate(inputs, start=len(self.probes) + 1))
        wanted = [text for number, text in numbered if self._known_probe(number, text) is None]
        self._calls.failure = None
        try:
            outputs = {output.input: output for output in await self._module.value(list(dict.fromkeys(wanted)))}
        except NoEncoder as missing:
            raise CallFailed(str(missing), "Or choose another backbone for the function.") from missing
        if self._calls.failure is not None and all(output.value is None for output in outputs.values()):
            raise self._calls.failure
        made = []
        for number, text in numbered:
            if (before := self._known_probe(number, text)) is not None:
                made.append(before)
                continue
            output = outputs[text]
            if output.value is None:
                made.append(_undefined(number, round, text, output.problem, output.how))
            else:
                value = output.value if isinstance(output.value, float) else None
                made.append(
                    Probe(number=number, round=round, input=text, output=output.text, value=value, how=output.how)
                )
        return made


def _is_same(now: Probe, then: Probe) -> bool:
    if now.value is None or then.value is None:
        return now.output == then.output or bool(now.problem and then.problem)
    # The last digits are the machine's.
    return math.isclose(now.value, then.value, rel_tol=1e-6, abs_tol=1e-9)


def _item(number: int) -> str:
    return f"probe-{number:04}"


def _undefined(number: int, round: int, text: str, why: str, how: str = "function") -> Probe:
    return Probe(number=number, round=round, input=text, output=f"no output: {why}", problem=why, how=how)


def _probe(
    number: int, round: int, text: str, value: Value | None, how: str = "function", typed: bool = False
) -> Probe:
    known = as_number(value) if typed and isinstance(value, str) else real(value)
    return Probe(number=number, round=round, input=text, output=written(value), value=known, how=how)


def real(value: Value | None) -> float | None:
    """`value` as a finite real number; None for anything else."""
    if type(value) is float:  # most are, and there are hundreds for each function
        return value if math.isfinite(value) else None
    if isinstance(value, complex) and value.imag == 0:
        value = value.real
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return None


def written(value: Value | None) -> str:
    """An output as an interpreter reads it: numbers to ten digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, complex):
        return f"{value:.10g}"
    return "undefined" if value is None else f"{value:.10g}"
