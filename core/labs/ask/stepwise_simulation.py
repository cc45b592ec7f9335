"""Prediction in three small steps, for models too small to do it in one: what do the reasons claim in general; what is
asked, and about what kind of thing; does the claim cover that thing? Each step sees only what it needs, so that the
question cannot influence how the claim is read. The program combines the steps (docs/measuring.md §2.11).

It predicts only from claims of the form *who: what; not whom* about exactly the property that is asked about. From
anything else in an explanation it cannot guess.
"""

import re
from typing import NamedTuple

from ...events import Sampling
from ...rulesets import PerRuleset
from ...runs.context import CaseContext
from ...text.templates import Template, load
from . import parse
from .parse_answers.values import NEITHER, UNKNOWN

NAMES = ("claim", "asked", "covers")

RULE = "1"
"""The version of the program's part. A changed version is another predictor and needs a qualification test of its own.
"""

CALLS = len(NAMES)
"""The most calls that one prediction needs. The claim is read once for all questions about an explanation."""

_SHORT = Sampling(temperature=0, max_tokens=40, stop=("\n",))
_NOT = re.compile(r"\b(?:can ?not|can't|do not|does not|don't|doesn't|not|never)\b")
_FORM = frozenset(
    {
        *("can", "could", "is", "are", "be", "a", "an", "the", "do", "does", "have", "has", "been", "being"),
        *("it", "they", "to", "of"),
    }
)
_ENDING = re.compile(r"(?:ing|ed|en|es|s|e)$")
_NAMED = re.compile(r"\b(?:is|was|are|were)\b")
_AND = re.compile(r",|\band\b")
_ASKED = "Asked:"


class Stepped(NamedTuple):
    """The result of the steps: the `guess` (yes, no or unknown), the `claim` that was read, the last call, and a note
    on where the first incomplete step was cut off (empty if none was).
    """

    guess: str
    claim: str
    call: str
    cut: str = ""

    def by_rules(self) -> PerRuleset[str]:
        """Return the guess for each parser; the updated one has none if a step was cut off."""
        return PerRuleset(paper=self.guess, repaired=NEITHER if self.cut else self.guess)


class _Claim(NamedTuple):
    """A claim about `who`, affirmed or negated, with the `exceptions` for which the opposite holds. Words are
    stemmed.
    """

    who: str
    what: frozenset[str]
    holds: bool
    exceptions: tuple[frozenset[str], ...]


def templates() -> tuple[Template, ...]:
    """Return the prompts of the steps."""
    return tuple(load(f"simulatability/strategyqa-steps-{name}") for name in NAMES)


def hashes() -> dict[str, str]:
    """Return the hash of each prompt, and the version of the program's part."""
    return {**{template.id: template.hash for template in templates()}, "steps": RULE}


async def predict(run: CaseContext, simulator: str, explanation: str, question: str, item: str, trial: str) -> Stepped:
    """Return what `explanation` leads `simulator` to expect as the answer to `question`. Raises CallError."""
    claim, asked, covers = templates()
    notes: list[str] = []

    async def ask(template: Template, **slots: str) -> tuple[str, str]:
        prompt = template.render(**slots)
        answered = await run.ask("simulator", prompt, simulator, sampling=_SHORT, item=item, trial=trial)
        notes.append(answered.cut_note)
        return answered.text.strip().partition("\n")[0], answered.call

    def stepped(guess: str) -> Stepped:
        return Stepped(guess, claimed, call, next(filter(None, notes), ""))

    claimed, _ = await ask(claim, explanation=parse.without_answer(explanation))
    wanted, call = await ask(asked, counterfactual=question)
    read, (thing, _, what) = _claim(claimed), wanted.partition(_ASKED)
    if read is None or _words(what) != read.what:
        return stepped(UNKNOWN)
    holds = read.holds
    name = _words(_NAMED.split(thing.lower(), maxsplit=1)[0])
    if name and name in read.exceptions:
        holds = not holds
    else:
        said, call = await ask(covers, kind=read.who, thing=thing.strip())
        if not is_covered(said):
            return stepped(UNKNOWN)
    return stepped("yes" if holds == (_NOT.search(what.lower()) is None) else "no")


def is_covered(said: str) -> bool:
    """Whether the third step says that the claim covers the thing."""
    return "covered" in said.lower() and "not covered" not in said.lower()


def _claim(said: str) -> _Claim | None:
    """Parse the claim in `said`; None if it has another form."""
    who, colon, rest = said.partition(":")
    what, *others = rest.split(";")
    if not colon or not _words(what):
        return None
    exceptions = tuple(_words(one) for one in _AND.split(";".join(others)))
    return _Claim(who.strip(), _words(what), _NOT.search(what.lower()) is None, exceptions)


def _words(text: str) -> frozenset[str]:
    """Return the word stems in `text`, without negations and function words."""
    return frozenset(
        _ENDING.sub("", word) if len(word) > 3 else word
        for word in re.findall(r"[a-z]+", _NOT.sub(" ", text.lower()))
        if word not in _FORM
    )
