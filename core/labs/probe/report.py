"""A black box as it is told: what was asked, how the function was described, where that is right, and the function
itself.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from ...errors import name_in_journals
from ...events import Rules
from ...models.errors import ToolsUnsupportedError
from ...parsers import fields
from ...rulesets import RULES
from ...scene import (
    Bar,
    Card,
    Claim,
    Expect,
    Mark,
    Panel,
    Part,
    Plot,
    Scene,
    Screen,
    Verdict,
    card_screens,
    ending,
    pick_cards,
    with_spans,
)
from ...text.compare import letters
from ...text.display import count_noun, first_sentence, visible
from ..base.declared import words_of
from ..base.report import Report, Trial
from . import box
from .charts import plot_of
from .evaluate import agrees
from .functions.numeric import interval
from .records import TELL_NOTHING, Exchange, Fidelity, Interpretation, Probe, UnitTest, item
from .tasks import NAMES
from .verdict import (
    KNOWN_BEFOREHAND,
    OUTCOMES,
    CaseVerdict,
    in_its_words,
    is_known_beforehand,
    list_remarks,
    of_words,
    shortened,
    told_apart,
)
from .view import GRID

# The tests of an interpretation as cards: a point, a text, or three examples of which one is the function's own.


POINTS = 4
"""How many evenly spread test points of a function of numbers become cards; the point where the code is farthest off is
added.
"""

ALIKE = {"yes": "The same", "no": "Something else"}
"""The guesses on a test of code: does the function give what the code gives?"""

JUDGED: Mapping[str, str] = words_of(__file__, "judged")
"""What is put to an evaluator, by what a unit test is about."""


NOT_MEANT: tuple[str, ...] = words_of(__file__, "means_not")
"""What a verdict does not say."""

BOXES: Mapping[str, str] = words_of(__file__, "boxes")
"""What the category alone says about a black box."""

ONE = {"numeric": "test point", "strings": "test text"}
"""What a test is called if it is not a unit test."""

PICKED = {True: "right", False: "wrong", None: "neither: it picks no example"}
"""The words for what was read in an evaluator's reply."""

HIGHEST = 12
"""The most words with the highest values that are listed."""

_LONGEST = 160
"""The longest line about a round, in characters."""


class ProbeReport(CaseVerdict, Report):
    """A black box as it is told, as far as it has run. Only the plot's truth, the cards and the verdict give the
    function away.
    """

    mark_words = words_of(__file__, "marks")
    outcomes = OUTCOMES

    @property
    def one(self) -> str:
        """What a test is called, by the category."""
        return ONE.get(self.category, "unit test")

    # The tests as cards: for texts and examples a card has its trial's id; of a function of numbers, whose one trial is
    # all test points, a few points are shown.

    def cards(self) -> Iterator[Card]:
        """Yield the cards of the tests that have run so far."""
        points = tuple(self._points())
        yield from points
        trials = {name: trial for name, trial in self.trials.items() if name != GRID}
        for number, (name, trial) in enumerate(trials.items(), start=len(points) + 1):
            card = self.card_of(name, trial, number)
            if name in self.predictions:
                card = card.model_copy(update=self._text(name))
            elif name in self.units:
                card = card.model_copy(update=self._unit(name, trial))
            yield card

    def _compared(self, about: str, code: str | None, why: str, function: str, is_right: bool) -> dict[str, Any]:
        """Return the fields of a card that compares code with the function: what the code gives for an input, or why it
        gives nothing, and what the function gives.
        """
        gives = code if code is not None else f"(nothing: {why or 'no value'})"
        own = f"{self.whose} code"
        return {
            "parts": (Part(label="For", text=about), Part(label=f"{own} gives", text=gives)),
            "options": ALIKE if code is not None else {},
            "expects": (Expect(who=own.lower(), value="yes", quote=code),) if code is not None else (),
            "columns": (Part(label=own, text=gives), Part(label="The function", text=function)),
            "said": "yes" if is_right else "no",
            "text": function,
            "came": f"the function gives {shortened(function)}",
        }

    def _points(self) -> Iterator[Card]:
        points = sorted(self.points, key=lambda point: point.x)
        if not self.gives_numbers:
            return
        chosen = {points[len(points) * (2 * place + 1) // (2 * POINTS)] for place in range(POINTS)}
        chosen |= {self.worst} if self.worst is not None else set()
        is_noise = self.outcome == "within the noise"
        for number, (x, y, code, holds) in enumerate(sorted(chosen, key=lambda point: point.x), start=1):
            mark: Mark = "kept" if holds else "not settled" if is_noise else "broken"
            outcome = "right" if holds else "within the noise" if is_noise else "wrong"
            if code is None and self.not_run[0]:
                mark, outcome = "set aside", "not tested"
            true, shown = (f"{y:.4g}", None) if code is None else told_apart(y, code)
            fields = self._compared(f"x = {x:g}", shown, "no number", true, holds)
            yield Card(id=f"point-{number}", number=number, mark=mark, outcome=outcome, **fields)

    def _text(self, name: str) -> dict[str, Any]:
        one = self.predictions[name]
        code = None if one.repaired is None else _shown(one.repaired)
        right, why = one.repaired == one.truth, one.failure("repaired")
        fields = self._compared(_shown(one.input), code, why, _shown(one.truth), right)
        return {**fields, "origin": "not probed before" if one.kind == "held out" else ""}

    def _unit(self, name: str, trial: Trial) -> dict[str, Any]:
        """Return the fields of a unit test's card: which of three examples does the description fit? With what
        evaluators picked from other descriptions.
        """
        one = self.units[name]
        return {
            "parts": tuple(Part(label=f"Example {n}", text=text) for n, text in enumerate(one.options, start=1)),
            "options": {str(place): f"Example {place}" for place in range(1, len(one.options) + 1)},
            "expects": tuple(map(self._expect, (one, *self._others.get(_place(name), ())))),
            "said": str(one.correct),
            "text": trial.repaired.observed or "",
            "came": f"the function's own is example {one.correct}",
        }

    @cached_property
    def _others(self) -> dict[str, list[UnitTest]]:
        """The unit tests of other descriptions by test number, in the order of JUDGED."""
        found: dict[str, list[UnitTest]] = {}
        for about in JUDGED:
            for name, test in self.units.items():
                if test.about == about != "interpretation":
                    found.setdefault(_place(name), []).append(test)
        return found

    def _expect(self, test: UnitTest) -> Expect:
        """Return what an evaluator picked and, if it is a model, its words."""
        call = self.log.calls.get(test.call or "")
        return Expect(
            who=test.evaluator,
            arm="" if test.about == "interpretation" else JUDGED[test.about],
            value=str(test.picked) if test.picked and test.repaired is not None else "",
            quote=first_sentence(call.text) if call else "",
            call=test.call or "",
        )

    # The verdict

    def sentences(self) -> list[str]:
        """Return the verdict on the code and on the words, then what the interpretation leaves out or gets wrong, and
        last how answers were requested if that was not in prose.
        """
        return [self.first_sentences, *filter(None, [of_words(self)]), *self._remarks, *self._format_notes]

    @property
    def first_sentences(self) -> str:
        """The verdict in a sentence or two. If the description was there before a single output was, that comes first,
        because it tells more than any figure.
        """
        is_early = self.truth is not None and is_known_beforehand(self)
        return " ".join([KNOWN_BEFOREHAND] * is_early + [self.judgement.sentence])

    @property
    def _remarks(self) -> list[str]:
        """What the interpretation missed, without what the first sentences already say."""
        return [one for one in list_remarks(self) if one not in self.first_sentences]

    @property
    def _format_notes(self) -> list[str]:
        return fields.format_notes(self.spec.answers if self.spec else "prose", self.log.came_as_prose)

    @property
    def is_told(self) -> bool:
        """Whether there is a verdict. It comes with the run's result, when no further figure can follow."""
        return self.outcome != "waiting" and bool(self.log.of_type("result") or self.log.status)

    def verdict(self) -> Verdict | None:
        """Return the verdict; None while there is none."""
        if not self.is_told:
            return None
        return Verdict(
            headline=Part(text=self.first_sentences),
            more=tuple(self._more()),
            words=in_its_words(self),
            mark=self.mark(),
            bars=tuple(self._bars()),
            doubt=box.fidelity_sentences(self.fidelity)[-1] if self.fidelity and self.fidelity.contradicts else "",
            meaning=" ".join(NOT_MEANT),
        )

    def _more(self) -> Iterator[Part]:
        if words := of_words(self):
            yield Part(text=words)
        if self.truth is not None:
            yield Part(label="The function", text=self.truth.description)
            if self.truth.note:
                yield Part(text=self.truth.note)
            remarks = self._remarks
            if not remarks and self.is_scored:
                sees = (
                    "Nothing that our checks can see." if self.is_solved else "Our checks cannot say: compare the two."
                )
                remarks = [sees]
            title = "What you missed" if self.is_you else "What it missed"
            yield from (Part(label="" if place else title, text=remark) for place, remark in enumerate(remarks))
        yield from (Part(text=sentence) for sentence in self._format_notes)

    def differs(self) -> str:
        """Return the original parser's verdict, if it is another one."""
        other = self.by("paper").judgement
        if not self.is_told or other.outcome == self.outcome:
            return ""
        begin = "With the original parser"
        return other.sentence if other.sentence.startswith(begin) else f"{begin}: {other.sentence}"

    # The bars of the verdict

    def _bars(self) -> Iterator[Bar]:
        """Yield the shares that decide: of test points, if no noise blurs them; of test texts; of unit tests."""
        if self.score(self.headline) is None or not self.concluded or self.lacking:
            return
        if self.is_numeric:
            yield from self._of_points()
        elif self.is_scored and self.headline_n:
            yield from self._of_texts() if self.category == "strings" else self._of_examples()

    def _of_points(self) -> Iterator[Bar]:
        """Yield the code's bar and, for comparison, that of zero everywhere, which is the unit of the code's error."""
        if self.floor or not self.gives_numbers:
            return
        agreed, of, bound = self.agreement
        zero = sum(agrees(point.truth, 0.0, bound) for point in self.points)
        yield Bar(label=f"{self.whose} code", hits=agreed, n=of, own=True)
        yield Bar(label="Zero everywhere", hits=zero, n=of, wins=zero >= agreed)

    def _of_texts(self) -> Iterator[Bar]:
        yield Bar(label=f"{self.whose} code", hits=self.hits, n=self.headline_n, own=True)
        wins = self.unchanged >= self.hits
        yield Bar(label="Returning every text unchanged", hits=self.unchanged, n=self.headline_n, wins=wins)

    def _of_examples(self) -> Iterator[Bar]:
        """Yield the description's bar, with guessing (one in three), descriptions that tell nothing, and the true
        description as the upper limit.
        """
        yield Bar(label=f"{self.whose} description", hits=self.hits, n=self.headline_n, own=True)
        yield Bar(label="Guessing", hits=1, n=3, wins=self.may_be_guessed or 3 * self.hits <= self.headline_n)
        for about in (*TELL_NOTHING, "truth"):
            hits, n = self.tests_of(about)
            is_limit = about == "truth"
            wins = not is_limit and (hits * self.headline_n >= self.hits * n or not self.beats(about))
            if n:
                yield Bar(label=JUDGED[about], hits=hits, n=n, wins=wins, limit=is_limit)

    # What was asked, and what was claimed

    def method(self) -> str:
        """Return who interprets."""
        return NAMES[self.spec.interpreter] if self.spec else ""

    def asked(self) -> Iterator[Part]:
        """Yield what is known about the box, the interpreter's budget, and why an agent that was to ask by tool calls
        continued in text.
        """
        if self.category in BOXES:
            yield Part(label="The black box", text=BOXES[self.category])
        if self.spec is not None:
            yield Part(label="Budget", text=self.budget())
        failures, wanted = (call.failed for call in self.log.calls.values()), name_in_journals(ToolsUnsupportedError)
        if why := next((failed.message for failed in failures if failed and failed.error == wanted), ""):
            yield Part(label="Continued in plain text", text=why)

    def budget(self) -> str:
        """Return who interprets, how much of the budget is used, and what carries the function out; an empty string if
        the specification cannot be read.
        """
        if (spec := self.spec) is None:
            return ""
        name = NAMES[spec.interpreter]
        text = f"{name[0].upper()}{name[1:]} · {len(self.probes)} of {spec.probes} calls of the function"
        if spec.interpreter in ("aia", "aia+milan"):
            text += f" · {min(len(self.exchanges), spec.rounds)} of {spec.rounds} rounds"
            text += " · it asks by tool calls" if spec.tools else ""
        text += self.carried_out()
        if spec.category == "entities" and any(one.how == "answer" and one.value is not None for one in self.probes):
            text += " · where the model gives no probabilities, values are 0 or 1"
        return text

    def carried_out(self) -> str:
        """Return what carries the function out, if it is not a formula."""
        if (spec := self.spec) is None or not spec.is_module:
            return ""
        table = (
            "our word lists: a word that is not listed gives 0"
            if spec.category == "entities"
            else "our list of facts: an input that is not listed gives undefined"
        )
        by = {"table": table, "embedding": "sentence embeddings", "model": spec.module}
        return f" · the function runs on {by[spec.backbone]}"

    def claim(self) -> Claim | None:
        """Return the description, domain and code; None before the conclusion."""
        if (said := self.interpretation) is None:
            return None
        trouble = self.estimate.trouble.repaired if self.estimate else ""
        given = "" if said.interval is None else f"Exception, given as two numbers: {interval(*said.interval)}."
        return Claim(
            parts=(Part(text=said.description.repaired),) if said.description.repaired else (),
            note=" ".join(filter(None, (given, trouble))),
            domain=said.domain.repaired,
            code=said.code.repaired,
            calls=(said.call,) if said.call else (),
        )

    def readings(self) -> dict[str, dict[str, str]]:
        """Return what each parser read in a call's answer: a message, the conclusion, an evaluator's pick."""
        found: dict[str, dict[str, str]] = {}
        for one in self.exchanges.values():
            found[one.call] = {rules: words for rules, words in one.read if words}
        if (said := self.interpretation) is not None and said.call:
            found[said.call] = {rules: parts_read(said, rules) for rules in RULES}
        for test in self.units.values():
            if test.call:
                found[test.call] = {rules: PICKED[test[rules]] for rules in RULES}
        return found

    # What was tried

    def plot(self) -> Plot | None:
        """Return the function of numbers with its calls and its code."""
        return plot_of(self)

    def panels(self) -> Iterator[Panel]:
        """Yield how well the box computes its function, the rounds, the calls that the words quote, and the words with
        the highest values.
        """
        if self.fidelity is not None:
            yield self._box(self.fidelity)
        numbers = sorted({*self.exchanges, *(probe.round for probe in self.probes)})
        for number in numbers:
            is_over = number != numbers[-1] or number in self.exchanges or self.interpretation is not None
            yield self._round(number, is_over)
        yield from self._quoted()
        if self.category == "entities":
            yield from self._highest()

    def _box(self, found: Fidelity) -> Panel:
        """Return a panel on how far the box agrees with its own truth. The inputs are shown only after the truth,
        because they would give it away.
        """
        rows = zip(found.inputs, found.inside, found.expected, found.outputs, found.readings, strict=False)
        parts = [
            Part(
                label=f"{text} ({'belongs to the function' if inside else 'does not belong'})",
                text=f"its truth: {expected}; the box: {output} ({reading})",
            )
            for text, inside, expected, output, reading in sorted(rows, key=lambda row: row[4] == "right")
        ]
        shown, answer = tuple(parts) if self.truth is not None else (), " ".join(box.fidelity_sentences(found))
        return Panel(title="How well the box computes its function", parts=shown, answer=answer)

    def _round(self, number: int, is_over: bool) -> Panel:
        """Return one round: what the interpreter asked for, and what it was told. Its summary line comes when the round
        is over.
        """
        exchange, made = self.exchanges.get(number), self.of_round(number)
        behind = self._behind(made) if self.truth is not None else ()
        return Panel(
            title=f"Round {number}" if number else "Exemplars shown to it",
            parts=(*self._message(number), *map(self._call, made)),
            answer=_in_a_line(exchange, made) if is_over else "",
            note="It made up outputs before it had them." if exchange and exchange.invented else "",
            calls=(*((exchange.call,) if exchange else ()), *behind),
        )

    def _message(self, number: int) -> Iterator[Part]:
        exchange, before = self.exchanges.get(number), self.exchanges.get(number - 1)
        if exchange is None:
            return
        if exchange.invented:
            yield Part(label="Made up in its message", text=exchange.invented)
        is_new = before is None or exchange.description != before.description
        if exchange.description and exchange.inputs and is_new:
            yield Part(label="Description so far", text=exchange.description)

    def _behind(self, made: list[Probe]) -> tuple[str, ...]:
        """Return the calls of the model that carried the function out; their prompts name the answer."""
        if self.spec is None or not self.spec.is_module:
            return ()
        items = {item("input", probe.input) for probe in made}
        calls = self.log.calls.items()
        return tuple(name for name, call in calls if call.asked.role == "module" and call.asked.item in items)

    def _call(self, probe: Probe) -> Part:
        """Return a call; for a text, with the box's changes marked."""
        given, output = visible(probe.input), visible(probe.output) or "(empty)"
        if probe.problem:
            return Part(label=f"f({given})", text=f"(no output: {probe.problem})")
        pieces = letters(probe.input, probe.output) if self.category == "strings" and probe.output else []
        if not pieces:
            return Part(label=f"f({given})", text=output)
        marks = {"removed": "struck", "added": "added", "same": None}
        seen = [(visible(one.text, every=one.op != "same"), marks[one.op]) for one in pieces]
        return with_spans(seen, f"{given} → {output}")  # type: ignore[arg-type]

    def _quoted(self) -> Iterator[Panel]:
        """Yield a panel on whether the calls that its words quote were made."""
        if (audit := self.audit) is None:
            return
        kinds = {
            "as observed": audit.supported,
            "not what was observed": audit.contradicted,
            "never called": audit.unseen,
        }
        parts = [Part(label=f"f({one}) = {given}", text=how) for how, pairs in kinds.items() for one, given in pairs]
        if parts:
            held = f"{len(audit.supported)} of {count_noun(len(parts), 'quoted call')} correct."
            yield Panel(title="Calls that its description quotes", parts=tuple(parts), answer=held)

    def _highest(self) -> Iterator[Panel]:
        """Yield the tried words with the highest values; a word tried twice has its last value."""
        values = {probe.input: probe for probe in self.probes if probe.value is not None}
        first = sorted(values.values(), key=lambda probe: (-(probe.value or 0.0), probe.number))[:HIGHEST]
        if first:
            parts = tuple(Part(label=probe.input, text=f"{probe.value:.2f}") for probe in first)
            yield Panel(title="The words with the highest values", parts=parts)

    # The order of the screens

    def screens(self, scene: Scene) -> Iterator[Screen]:
        """Yield the screens. For numbers: the calls, the claim, a guess at a point where code and function differ, then
        the truth. For all others: a round, the claim, three guesses, then all tests together. At the end the bars that
        decide, and the verdict.
        """
        yield Screen(shows="question")
        if scene.plot is not None and scene.plot.points:
            yield Screen(shows="plot")
        else:
            rounds = [(n, one) for n, one in enumerate(scene.panels) if one.title.startswith(("Round", "Exem"))]
            # The first round with invented outputs, else the first with calls.
            told = [n for n, one in rounds if one.note] or [n for n, one in rounds if one.parts]
            yield from (Screen(shows="panel", of=str(number)) for number in told[:1])
        if scene.claim is not None:
            yield Screen(shows="claim")
        yield from card_screens(self._parted(scene.cards) if scene.plot is not None else pick_cards(scene.cards))
        yield from ending(scene)

    def _parted(self, found: tuple[Card, ...]) -> list[Card]:
        """Return a point where code and function agree, and the one where they are farthest apart."""
        about = "" if self.worst is None else f"x = {self.worst.x:g}"
        kept = [card for card in found if card.mark == "kept"]
        apart = sorted(
            (card for card in found if card.mark in ("broken", "not settled")),
            key=lambda card: not card.parts or card.parts[0].text != about,
        )
        return sorted([*kept[:1], *apart[:1]], key=lambda card: card.number)


def _in_a_line(exchange: Exchange | None, made: list[Probe]) -> str:
    if made:
        calls = ", ".join(f"f({probe.input}) = {probe.output or probe.problem}" for probe in made)
        line = f"{count_noun(len(made), 'call')}: {calls}"
    else:
        line = exchange.trouble if exchange and exchange.trouble else "Conclusion."
    line = " ".join(line.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def parts_read(said: Interpretation, rules: Rules) -> str:
    """Return which parts of a conclusion one parser found, and how long they are."""
    named = {"description": said.description[rules], "domain": said.domain[rules], "code": said.code[rules]}
    there = [f"{name} of {len(text)} characters" for name, text in named.items() if text]
    return " and ".join(there) or "nothing"


def _shown(text: str) -> str:
    return visible(text) or "(empty)"


def _place(item: str) -> str:
    return item.rpartition("-")[2]
