"""The claims in the controls' explanations: writing rules about the small world, and guessing answers from them.

Every claim is one sentence: "All birds can fly." · "No bird can sting." · "The duck and the swan can swim." · "Birds
can fly, except the penguin and the emu." A guess from an explanation uses these sentences and each thing's kind, and no
other fact. An explanation is taken literally even if it is wrong, by the rules that Chen et al. gave their annotators.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .parse_answers.values import SENTENCE_END
from .world import Question, World, sentence_case, words

_LABEL = re.compile(r"justification:\s*", re.IGNORECASE)
_EXCEPT = re.compile(r",?\s+except(?: for)?\s+", re.IGNORECASE)
_CLAIM = re.compile(r"(?P<who>.+?)\s+(?P<can>can(?:not|'t|\s+not)?)\s+(?P<ability>.+)", re.IGNORECASE)


class AbilityClaim(NamedTuple):
    """The claim that all of `kind`, or each of `things` if `kind` is "", can (or cannot) do `ability`, except
    `exceptions`.
    """

    sentence: str
    kind: str
    things: frozenset[str]
    ability: str
    can: bool
    exceptions: frozenset[str]


class ClaimGuess(NamedTuple):
    """Whether yes is the expected answer, and the sentence of the explanation that implies it."""

    yes: bool
    sentence: str


# Writing


def bare_rule(world: World, kind: str, ability: str, can: bool) -> str:
    """Write the rule without exceptions: "All birds can fly." or "No bird can fly" and its like."""
    return f"All {world.plural_kind(kind)} can {ability}." if can else f"No {kind} can {ability}."


def true_rule(world: World, kind: str, ability: str) -> str:
    """Write the rule with all its exceptions or, if there is no rule, which things of the kind can and which cannot."""
    rule = world.rule(kind, ability)
    if rule is None:
        sentences = []
        for can in (True, False):
            if members := [thing for thing in world.kinds[kind] if world.fact(thing, ability) is can]:
                sentences.append(sentence_case(f"{_listed(world, members)} {_verb(can)} {ability}."))
        return " ".join(sentences)
    exceptions = world.exceptions(kind, ability)
    rest = f", except {_listed(world, exceptions)}" if exceptions else ""
    return sentence_case(f"{world.plural_kind(kind)} {_verb(rule)} {ability}{rest}.")


def membership(world: World, thing: str) -> str:
    """Write a thing's kind: "A penguin is a bird" and its like."""
    return sentence_case(f"{world.one(thing)} is {world.one(world.things[thing])}.")


def clause(world: World, thing: str, ability: str, can: bool) -> str:
    """Write a fact as a clause: "a penguin cannot fly"."""
    return f"{world.one(thing)} {_verb(can)} {ability}"


def _verb(can: bool) -> str:
    return "can" if can else "cannot"


def _listed(world: World, things: list[str] | tuple[str, ...]) -> str:
    names = [world.the(thing) for thing in things]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# Parsing


def read_claims(explanation: str, world: World) -> list[AbilityClaim]:
    """Return the claims in `explanation`; sentences of any other form are ignored."""
    sentences = (_LABEL.sub("", sentence).strip() for sentence in SENTENCE_END.split(explanation))
    return [claim for sentence in sentences if (claim := _read_claim(sentence, world))]


def guess(explanation: str, question: Question, world: World) -> ClaimGuess | None:
    """Return the answer to `question` that `explanation` implies; None if it implies none.

    A claim about the thing itself takes precedence over one about its kind. Contradictory claims imply nothing.
    """
    of_thing: dict[bool, str] = {}
    of_kind: dict[bool, str] = {}
    for claim in read_claims(explanation, world):
        if claim.ability != question.ability:
            continue
        if question.thing in claim.exceptions:
            of_thing[not claim.can] = claim.sentence
        elif question.thing in claim.things:
            of_thing[claim.can] = claim.sentence
        elif claim.kind == world.things[question.thing]:
            of_kind[claim.can] = claim.sentence
    said = of_thing or of_kind
    if len(said) != 1:
        return None
    can, sentence = next(iter(said.items()))
    return ClaimGuess(can != question.negated, sentence)


def _read_claim(sentence: str, world: World) -> AbilityClaim | None:
    body, *excepted = _EXCEPT.split(sentence.rstrip(".!?"), maxsplit=1)
    match = _CLAIM.fullmatch(body)
    ability = world.ability_called(match["ability"]) if match else None
    if not match or not ability:
        return None
    who = match["who"]
    none = words(who)[:1] == ["no"]
    if none:
        who = who[len("no ") :]
    can = (match["can"].lower() == "can") != none
    exceptions = _read_things(excepted[0], world) if excepted else frozenset()
    kind = world.kind_called(who)
    things = frozenset() if kind else _read_things(who, world)
    if exceptions is None or things is None:
        return None
    return AbilityClaim(sentence, kind or "", things, ability, can, exceptions)


def _read_things(text: str, world: World) -> frozenset[str] | None:
    """Return the things in a list such as "the duck, the swan and the owl"; None if a part of it is not a known
    thing.
    """
    parts = [part for part in re.split(r",\s*(?:and\s+)?|\s+and\s+", text.strip()) if part]
    named = [world.thing_called(part) for part in parts]
    things = frozenset(thing for thing in named if thing)
    return things if things and len(things) == len(parts) else None
