"""The interactive agent (AIA), and the one that only sees exemplars (MILAN). FIND, section 4; protocol §4.

The dialogue is text: a command `PYTHON(function.py inputs)` can call the function and nothing else.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from core.events import Answered, Message
from core.labs.find import parse, prompts, sandbox
from core.labs.find.box import Box
from core.labs.find.records import Exchange
from core.labs.find.tasks import EXPLORING, MENDS, ProbeSpec
from core.models.errors import ContentFiltered, ContextTooLong, EmptyAnswer
from core.runs.run import Run

IDLE = 3
"""Messages in a row that ask for nothing; after these it is told to conclude."""

TESTED: dict[str, tuple[float | str, ...]] = {"numeric": (-100.0, -1.0, 0.5, 100.0), "strings": ("Hello 1", "abc")}
"""Inputs on which the code of a conclusion must work at least once."""


class Conclusion(NamedTuple):
    """The raw text of the final answer and its call; `trouble` says why there is none, or none that counts."""

    text: str
    call: str | None
    trouble: str = ""


class _NoAnswer(Exception):
    """The interpreter's model answers with nothing, or its answer was withheld: asking again would bring the same."""


class _TooLong(Exception):
    """The dialogue no longer fits into the model's context."""


class _Dialogue:
    """The turns after the opening, and what each round came to."""

    def __init__(self, spec: ProbeSpec, run: Run, box: Box) -> None:
        self.spec, self.run, self.box = spec, run, box
        self.opening = prompts.opening(spec, box.probes)
        self.turns: list[Message] = []
        self.round = 0
        self.resets = 0
        self.idle = 0
        self.trouble = ""

    @property
    def is_last_word(self) -> bool:
        """Whether rounds or calls are used up, or it has asked for nothing for so long that it never will."""
        return self.round >= self.spec.rounds or self.box.left == 0 or self.idle >= IDLE

    async def ask(self) -> Answered:
        """The interpreter's next message. Raises _NoAnswer, _TooLong, and CallFailed for what may pass."""
        self.round += 1
        left = max(self.spec.rounds - self.round + 1, 0)
        slots = prompts.situation(self.spec, self.box.probes, left, self.box.left, self.trouble)
        try:
            return await self.run.ask(
                "interpreter",
                prompts.going_on(self.opening, self.turns, slots),
                self.spec.model,
                sampling=EXPLORING,
                item=_item(self.round),
                repeat=self.resets,
            )
        except ContextTooLong as failure:
            raise _TooLong(failure.message) from failure
        except (EmptyAnswer, ContentFiltered) as failure:
            raise _NoAnswer(failure.message) from failure

    def tell(self, answered: Answered, told: str, **fields: object) -> None:
        """Close the round: what was told goes into the dialogue and on record."""
        self.turns += [
            Message(role="assistant", content=answered.text),
            Message(role="user", content=told),
        ]
        self.note(answered, told=told, **fields)

    def note(self, answered: Answered, **fields: object) -> None:
        exchange = Exchange.model_validate({"round": self.round, "call": answered.call, **fields})
        self.run.record(exchange, _item(self.round))

    def left(self) -> dict[str, str]:
        return {"rounds_left": str(max(self.spec.rounds - self.round, 0)), "probes_left": str(self.box.left)}


def _item(round: int) -> str:
    return f"round-{round:02}"


async def milan(spec: ProbeSpec, run: Run, box: Box) -> Conclusion:
    """One answer from the exemplars, which `box` has been called on. Raises CallFailed."""
    dialogue = _Dialogue(spec, run, box)
    try:
        answered = await dialogue.ask()
    except (_TooLong, _NoAnswer) as failure:
        return Conclusion("", None, str(failure))
    dialogue.note(answered)
    return Conclusion(answered.text, answered.call)


async def agent(spec: ProbeSpec, run: Run, box: Box) -> Conclusion:
    """The dialogue until the agent concludes, or its rounds or calls are used up and it is told to conclude.

    Raises CallFailed where the model cannot be reached; an answer that is empty, withheld or no longer fits ends the
    dialogue with that as its trouble.
    """
    dialogue = _Dialogue(spec, run, box)
    try:
        return await (_as_published(dialogue) if spec.rules == "paper" else _repaired(dialogue))
    except _TooLong:
        return await _from_summary(dialogue)
    except _NoAnswer as failure:
        return Conclusion("", None, str(failure))


async def _repaired(dialogue: _Dialogue) -> Conclusion:
    spec, box = dialogue.spec, dialogue.box
    earlier: Conclusion | None = None
    mends = 0
    while True:
        concluding = dialogue.is_last_word
        answered = await dialogue.ask()
        if parse.is_final(answered.text, "repaired"):
            trouble = await asyncio.to_thread(_of_code, spec, answered.text)
            if trouble and mends < MENDS:
                mends += 1
                earlier = Conclusion(answered.text, answered.call)
                dialogue.trouble = trouble
                dialogue.tell(answered, prompts.follow_up("told-mend", trouble=trouble), trouble=trouble)
                continue
            dialogue.note(answered)
            return Conclusion(answered.text, answered.call)
        if concluding or earlier:
            dialogue.note(answered, trouble="it was told to conclude and did not")
            return earlier or Conclusion(answered.text, answered.call, "it never concluded")
        command = parse.command(answered.text, "repaired")
        if command.inputs:
            made = await box.probe(command.inputs, dialogue.round)
            invented = parse.invented(answered.text)
            name = "told-invented" if invented else "told-outputs"
            told = prompts.follow_up(name, pairs=prompts.pairs(made), **dialogue.left())
            dialogue.trouble = ""
            dialogue.idle = 0
            dialogue.tell(
                answered,
                _last_word(dialogue, told),
                inputs=tuple(probe.input for probe in made),
                invented=invented,
            )
        else:
            dialogue.trouble = command.error or "there was no command in your message"
            dialogue.idle += 1
            told = prompts.follow_up("told-trouble", trouble=dialogue.trouble, **dialogue.left())
            dialogue.tell(answered, _last_word(dialogue, told), trouble=dialogue.trouble)


def _last_word(dialogue: _Dialogue, told: str) -> str:
    """`told`, and where nothing more can be run the order to conclude."""
    if not dialogue.is_last_word:
        return told
    return prompts.follow_up("told-conclude", told=told, parts=prompts.PARTS[dialogue.spec.category])


def _of_code(spec: ProbeSpec, text: str) -> str:
    """Why the code of a conclusion cannot be run at all; empty where it can, or where none is wanted."""
    if spec.category not in TESTED:
        return ""
    code = parse.interpretation(text, "repaired").code
    result = sandbox.evaluate(code, TESTED[spec.category])
    if any(value is not None for value in result.values):
        return ""
    return result.error or str(result.errors[0])


async def _as_published(dialogue: _Dialogue) -> Conclusion:
    """As the authors' loop (protocol §4): the tag anywhere ends it, invented outputs pass unseen, a message without
    command and tag sends the agent back to the start, and more rounds than there are make an empty description.
    """
    while dialogue.round < dialogue.spec.rounds:
        answered = await dialogue.ask()
        if parse.is_final(answered.text, "paper"):
            dialogue.note(answered)
            return Conclusion(answered.text, answered.call)
        command = parse.command(answered.text, "paper")
        if command.name is None:
            dialogue.note(answered, trouble="neither a command nor a conclusion: it starts again")
            dialogue.turns.clear()
            dialogue.resets += 1
        elif command.error:
            dialogue.tell(answered, f"Response: {command.error}", trouble=command.error)
        else:
            made = await dialogue.box.probe(command.inputs, dialogue.round)
            shown = " ".join(f"({probe.input}, {probe.output})" for probe in made)
            dialogue.tell(
                answered,
                f"Response: Function input - output pairs: {shown}",
                inputs=tuple(probe.input for probe in made),
                invented=parse.invented(answered.text),
            )
    return Conclusion("", None, f"it did not conclude within {dialogue.spec.rounds} rounds")


async def _from_summary(dialogue: _Dialogue) -> Conclusion:
    """The dialogue no longer fits into the model's context: all that was seen in one message, and a conclusion."""
    seen = prompts.follow_up("told-outputs", pairs=prompts.pairs(dialogue.box.probes), **dialogue.left())
    last = prompts.follow_up("told-conclude", told=seen, parts=prompts.PARTS[dialogue.spec.category])
    *first, task = dialogue.opening.messages
    whole = Message(role="user", content=f"{task.content}\n\n{last}")
    dialogue.opening = dialogue.opening.model_copy(update={"messages": (*first, whole)})
    dialogue.turns.clear()
    try:
        answered = await dialogue.ask()
    except (_TooLong, _NoAnswer) as failure:
        return Conclusion("", None, str(failure))
    dialogue.note(answered, trouble="the dialogue had become too long for the model; it saw a summary")
    return Conclusion(answered.text, answered.call)
