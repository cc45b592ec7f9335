"""The interactive agent (AIA), and the interpreter that only sees exemplars (MILAN).

Paper §4; docs/measuring.md §4.4.

The agent asks in text, by a command `PYTHON(function.py inputs)` as in the paper, or by native tool calls if its model
has them. Either way it can call the function and nothing else.
"""

import json
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from ....events import Answered, Message, Prompt, Rules
from ....models.errors import ContentFilterError, ContextLengthError, EmptyAnswerError, ToolsUnsupportedError
from ....parsers import fields
from ....parsers.fields import readable
from ....rulesets import PerRuleset
from ....runs.context import CaseContext
from ....runs.fairness import run_in_thread
from ....sandbox.rewriting import cause
from .. import parse, prompts
from ..box import Box
from ..exemplars import exemplars
from ..functions.numeric import NumericFunction
from ..functions.source import TRIED, why_it_fails
from ..records import Exchange, Probe
from ..tasks import MENDS, SINGLE_ROUND, ProbeSpec

IDLE = 3
"""After this many messages in a row that ask for nothing, the agent is asked to conclude."""


class Conclusion(NamedTuple):
    """The raw text of the final answer and its call; `trouble` says why there is none, or none that counts. `asked`:
    the fields that were requested. `cut`: where the answer was cut, if the updated parser may not read it.
    """

    text: str
    call: str | None
    trouble: str = ""
    asked: parse.Schema = None
    cut: str = ""


class _NoAnswerError(Exception):
    """The interpreter's model gave an empty answer, or its answer was withheld: asking again would give the same."""


class _TooLongError(Exception):
    """The dialogue no longer fits into the model's context."""


class _Dialogue:
    """The turns after the opening, and the state of the dialogue. `tools`: it asks by tool calls."""

    def __init__(self, spec: ProbeSpec, run: CaseContext, box: Box) -> None:
        self.spec, self.run, self.box = spec, run, box
        self.tools = spec.tools and spec.interpreter != "milan"
        self.opening = self._begin(box.probes)
        self.turns: list[Message] = []
        self.round = 0
        self.resets = 0
        self.idle = 0
        self.trouble = ""
        self.concludes = spec.interpreter == "milan"
        self.asked: parse.Schema = None

    def _begin(self, probes: Sequence[Probe]) -> Prompt:
        function = self.box.function
        network = isinstance(function, NumericFunction) and function.mlp is not None
        advised = exemplars(function) if self.spec.prompts and self.spec.interpreter != "aia" else ()
        return prompts.opening(self.spec, probes, self.tools, network, advised)

    @property
    def is_last_word(self) -> bool:
        """Whether rounds or calls are used up, or the agent has asked for nothing for so long that it never will."""
        return self.round >= self.spec.rounds or self.box.calls_left == 0 or self.idle >= IDLE

    async def ask(self) -> Answered:
        """Return the interpreter's next message. Raises _NoAnswerError, _TooLongError, or CallError for a failure that
        may pass.
        """
        self.asked = parse.of_interpreter(self.spec) if self.concludes or self.is_last_word else None
        # When it must conclude, it gets no tool.
        tools = (prompts.tool(self.spec.category),) if self.tools and not self.is_last_word and not self.asked else ()
        self.round += 1
        rounds = self.spec.rounds
        if self.spec.interpreter == "milan":
            rounds = SINGLE_ROUND if self.spec.prompts else 1
        left = 1 if self.asked else max(rounds - self.round + 1, 0)
        slots = prompts.situation(self.spec, self.box.probes, left, self.box.calls_left, self.trouble)
        prompt = fields.with_schema(prompts.going_on(self.opening, self.turns, slots), self.asked)
        try:
            return await self.run.ask(
                "interpreter",
                prompt,
                self.spec.model,
                sampling=fields.sampling(self.spec.exploring, prompt),
                item=_item(self.round),
                repeat=self.resets,
                tools=tools,
            )
        except ContextLengthError as failure:
            raise _TooLongError(failure.message) from failure
        except (EmptyAnswerError, ContentFilterError) as failure:
            raise _NoAnswerError(failure.message) from failure
        except ToolsUnsupportedError:
            if not self.tools:
                raise
            self._go_on_in_text()
            return await self.ask()

    def _go_on_in_text(self) -> None:
        """Continue the same dialogue in the text protocol, because the model accepts no tools."""
        self.tools = False
        self.round -= 1
        self.opening = self._begin([probe for probe in self.box.probes if probe.round == 0])
        self.turns = _as_text(self.turns)

    def tell(self, answered: Answered, *replies: str, **more: object) -> None:
        """Close the round: add the replies, one per tool call if there were any, to the dialogue, and record the
        round.
        """
        self.turns.append(Message(role="assistant", content=answered.text, tool_calls=answered.tool_calls))
        if answered.tool_calls:
            for call, text in zip(answered.tool_calls, replies, strict=True):
                self.turns.append(Message(role="tool", content=text, tool_call_id=call.id))
        else:
            self.turns += [Message(role="user", content=text) for text in replies]
        self.note(answered, told="\n\n".join(replies), **more)

    def note(self, answered: Answered, **more: object) -> None:
        about = {"round": self.round, "call": answered.call, "tools": self.tools}
        exchange = Exchange.model_validate({**about, **self._readings(answered), **more})
        self.run.record(exchange, _item(self.round))

    def left(self) -> dict[str, str]:
        return {"rounds_left": str(max(self.spec.rounds - self.round, 0)), "probes_left": str(self.box.calls_left)}

    def parts(self, answered: Answered) -> parse.Parts:
        """Return the parts of a conclusion in its last message; empty ones if that was cut."""
        text = readable(answered, "repaired", self.asked)
        return parse.interpretation(text or "", "repaired", self.asked)

    def is_final(self, text: str, rules: Rules = "repaired") -> bool:
        return parse.is_final(text, rules, self.asked)

    def concluded(self, answered: Answered, trouble: str = "") -> Conclusion:
        cut = answered.cut_note if readable(answered, "repaired", self.asked) is None else ""
        return Conclusion(answered.text, answered.call, trouble, self.asked, cut)

    def commands(self, answered: Answered) -> list[parse.ProbeCommand]:
        """Return the commands in a message; of a message that was cut, only its tool calls and complete lines."""
        if answered.tool_calls:
            return [parse.tool_command(call) for call in answered.tool_calls]
        command = parse.command(readable(answered, "repaired", lines=True) or "", "repaired")
        if command.name is None and answered.ended == "cut":
            command = parse.ProbeCommand("", error=f"your message was {answered.cut_note}; write a shorter one")
        return [command]

    def _readings(self, answered: Answered) -> dict[str, object]:
        """Return what each parser read in a message. Only the updated one reads tool calls, which the paper did not
        have.
        """

        def read(rules: Rules) -> str:
            if answered.tool_calls:
                return parse.in_words(self.commands(answered)) if rules == "repaired" else ""
            if rules == "repaired" and answered.ended == "cut":
                cut = self.concluded(answered).cut
                return parse.in_words(self.commands(answered)) if cut else "a conclusion"
            final = self.is_final(answered.text, rules)
            return "a conclusion" if final else parse.in_words([parse.command(answered.text, rules)])

        return {"description": self.parts(answered).description, "read": PerRuleset.read_by_each(read)}


def _as_text(turns: Sequence[Message]) -> list[Message]:
    """Convert turns with tool calls to the text protocol."""
    plain = []
    for turn in turns:
        if turn.tool_calls:
            inputs = [text for call in turn.tool_calls for text in parse.tool_command(call).inputs]
            command = "COMMAND: PYTHON(function.py " + " ".join(map(json.dumps, inputs)) + ")"
            plain.append(Message(role="assistant", content=f"{turn.content}\n{command}".strip()))
        elif turn.role == "tool" and plain[-1].role == "user":
            plain[-1] = Message(role="user", content=f"{plain[-1].content}\n\n{turn.content}")
        else:
            plain.append(Message(role="user" if turn.role == "tool" else turn.role, content=turn.content))
    return plain


def _item(round: int) -> str:
    return f"round-{round:02}"


async def milan(spec: ProbeSpec, run: CaseContext, box: Box) -> Conclusion:
    """Ask for one answer from the exemplars, which `box` has been called on. With the paper's prompts it is advised of
    the exemplars, and its second message is the answer, whatever it says. Raises CallError if the model cannot be
    reached.
    """
    dialogue = _Dialogue(spec, run, box)
    try:
        if spec.prompts:
            return await _as_published(dialogue, SINGLE_ROUND)
        answered = await dialogue.ask()
    except (_TooLongError, _NoAnswerError) as failure:
        return Conclusion("", None, str(failure))
    dialogue.note(answered)
    return dialogue.concluded(answered)


async def agent(spec: ProbeSpec, run: CaseContext, box: Box) -> Conclusion:
    """Run the dialogue until the agent concludes, or its rounds or calls are used up and it is asked to conclude.

    Raises CallError if the model cannot be reached. An empty or withheld answer ends the dialogue with that as its
    trouble; a dialogue that no longer fits ends with a conclusion from a summary.
    """
    dialogue = _Dialogue(spec, run, box)
    try:
        return await (_as_published(dialogue) if spec.rules == "paper" else _repaired(dialogue))
    except _TooLongError:
        return await _from_summary(dialogue)
    except _NoAnswerError as failure:
        return Conclusion("", None, str(failure))


async def _repaired(dialogue: _Dialogue) -> Conclusion:
    spec, box = dialogue.spec, dialogue.box
    earlier: Conclusion | None = None
    mends = 0
    while True:
        concluding = dialogue.is_last_word
        answered = await dialogue.ask()
        if dialogue.is_final(answered.text) and not answered.tool_calls:
            if spec.answers == "schema" and not dialogue.asked:
                earlier, dialogue.concludes = dialogue.concluded(answered), True
                dialogue.tell(answered, prompts.follow_up(prompts.BY_FIELDS))
                continue
            if (conclusion := dialogue.concluded(answered)).cut:
                dialogue.note(answered, trouble=f"the conclusion was {conclusion.cut}")
                return earlier or conclusion
            code, trouble = dialogue.parts(answered).code, ""
            if spec.category in TRIED:
                trouble = cause(await run_in_thread(why_it_fails, spec.category, code))
            if trouble and mends < MENDS:
                mends += 1
                earlier = dialogue.concluded(answered)
                dialogue.trouble = trouble
                dialogue.tell(answered, prompts.follow_up("told-mend", trouble=trouble), trouble=trouble)
                continue
            dialogue.note(answered)
            return dialogue.concluded(answered)
        if concluding or earlier:
            dialogue.note(answered, trouble="it was told to conclude and did not")
            return earlier or dialogue.concluded(answered, "it never concluded")
        commands = dialogue.commands(answered)
        inputs = tuple(text for command in commands for text in command.inputs)
        if inputs:
            known = {probe.input for probe in box.probes}
            said = readable(answered, "repaired", lines=True) or ""
            made = await box.probe(inputs, dialogue.round)
            invented = parse.invented_beside(said, inputs, known) if answered.tool_calls else parse.invented(said)
            dialogue.trouble, dialogue.idle = "", 0
            *others, last = _shares(commands, made)
            name, told = "told-invented" if invented else "told-outputs", {"pairs": last}
            more: dict[str, object] = {"inputs": tuple(probe.input for probe in made), "invented": invented}
        else:
            dialogue.trouble = commands[0].error or "there was no command in the message"
            dialogue.idle += 1
            others = [command.error or "" for command in commands[:-1]]
            name, told = "told-trouble-tools" if dialogue.tools else "told-trouble", {"trouble": dialogue.trouble}
            more = {"trouble": dialogue.trouble}
        reply = prompts.follow_up(name, **told, **dialogue.left())
        dialogue.tell(answered, *others, _last_word(dialogue, reply), **more)


def _shares(commands: Sequence[parse.ProbeCommand], made: Sequence[Probe]) -> list[str]:
    """Return the result of each command as the agent is told it: its pairs, or why nothing was run."""
    rest = iter(made)
    return [command.error or prompts.pairs(list(islice(rest, len(command.inputs)))) for command in commands]


def _last_word(dialogue: _Dialogue, reply: str) -> str:
    """Return `reply`, with the order to conclude if nothing more can be run."""
    if not dialogue.is_last_word:
        return reply
    return prompts.follow_up("told-conclude", told=reply, parts=prompts.parts(dialogue.spec))


async def _as_published(dialogue: _Dialogue, last: int | None = None) -> Conclusion:
    """Follow the authors' loop (docs/measuring.md §4.4): the tag anywhere ends it, invented outputs go unnoticed, and a
    message without command and tag sends the agent back to the start. They count a round before they check the
    limit, so one message more than there are rounds can still conclude; after that the description is empty. With
    `last`, the message of that number is the conclusion.
    """
    while dialogue.round <= dialogue.spec.rounds:
        answered = await dialogue.ask()
        if parse.is_final(answered.text, "paper") or dialogue.round == last:
            dialogue.note(answered)
            return dialogue.concluded(answered)
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
            inputs, invented = tuple(probe.input for probe in made), parse.invented(answered.text)
            reply = f"Response: Function input - output pairs: {shown}"
            dialogue.tell(answered, reply, inputs=inputs, invented=invented)
    return Conclusion("", None, f"it did not conclude within {dialogue.spec.rounds} rounds")


async def _from_summary(dialogue: _Dialogue) -> Conclusion:
    """Ask for a conclusion from all that was seen, in one message, because the dialogue no longer fits into the model's
    context.
    """
    seen = prompts.follow_up("told-outputs", pairs=prompts.pairs(dialogue.box.probes), **dialogue.left())
    last = prompts.follow_up("told-conclude", told=seen, parts=prompts.parts(dialogue.spec))
    dialogue.tools, dialogue.concludes = False, True
    *first, task = dialogue.opening.messages
    whole = Message(role="user", content=f"{task.content}\n\n{last}")
    dialogue.opening = dialogue.opening.model_copy(update={"messages": (*first, whole)})
    dialogue.turns.clear()
    try:
        answered = await dialogue.ask()
    except (_TooLongError, _NoAnswerError) as failure:
        return Conclusion("", None, str(failure))
    dialogue.note(answered, trouble="the dialogue had become too long for the model; it saw a summary")
    return dialogue.concluded(answered)
