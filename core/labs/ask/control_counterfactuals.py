"""The counterfactuals that the controls write.

A sequence depends only on the starter and a key (a text that names the robot and the seed), and is the same on every
machine.
"""

import random
from collections.abc import Iterator

from .tasks import OPERATIONS
from .world import Question, World, clause

_PLAN = ("again", "elsewhere", "member", "member", "member", "member", "member", "member")
"""Of eight draws, one repeats an earlier one, so that its removal can be seen, and one is not covered by the
explanation.
"""

_OPENINGS = ("Is it true that", "Is it so that", "Is it the case that", "Do you think that")
_BEFORE_THING = ("typical", "ordinary", "normal", "common")
_BEFORE_ABILITY = ("really", "actually", "usually", "normally")


def aware(world: World, starter: Question, draw: int, key: str) -> Question:
    """Return counterfactual number `draw` (from 0) of a generator that has seen the explanation: mostly about other
    members of the thing's kind.

    Members that follow the rule and exceptions alternate.
    """
    chance = random.Random(f"{key}|{starter}")
    members = _members(world, starter, chance)
    elsewhere = _elsewhere(world, starter, chance)
    drawn: list[Question] = []
    plan: list[str] = []
    while len(drawn) <= draw:
        if not plan:
            plan = chance.sample(_PLAN, len(_PLAN))
        step = plan.pop()
        if step == "again" and not drawn:
            plan.insert(0, step)
        elif step == "again":
            drawn.append(chance.choice(drawn))
        elif step == "member" and (question := next(members, None)):
            drawn.append(question)
        else:
            drawn.append(next(elsewhere, starter))
    return drawn[draw]


def blind(world: World, starter: Question, operation: str, draw: int, key: str) -> str:
    """Return counterfactual number `draw` (from 0) of a generator that has not seen the explanation. In a run the four
    operations take turns.

    When an operation has no more variations, they repeat. Raises ValueError if the operation is not in OPERATIONS.
    """
    variations = _variations(world, starter, operation)
    random.Random(f"{key}|{starter}|{operation}").shuffle(variations)
    return variations[draw // len(OPERATIONS) % len(variations)]


def _members(world: World, starter: Question, chance: random.Random) -> Iterator[Question]:
    """Yield questions about other things of the starter's kind with its ability, alternating those that can and those
    that cannot.
    """
    able: list[Question] = []
    unable: list[Question] = []
    for thing in world.kinds[world.things[starter.thing]]:
        can = world.fact(thing, starter.ability)
        if thing != starter.thing and can is not None:
            (able if can else unable).append(Question(thing, starter.ability))
    chance.shuffle(able)
    chance.shuffle(unable)
    sides = [able, unable] if chance.random() < 0.5 else [unable, able]
    while sides[0] or sides[1]:
        if sides[0]:
            yield sides[0].pop()
        sides.reverse()


def _elsewhere(world: World, starter: Question, chance: random.Random) -> Iterator[Question]:
    """Yield questions that an explanation of the starter does not cover: the thing with another ability, the ability
    with another kind.
    """
    thing, ability, _ = starter
    kind = world.things[thing]
    own = [question for question in world.known_of(thing) if question.ability != ability]
    others = [question for question in world.known_to(ability) if world.things[question.thing] != kind]
    chance.shuffle(own)
    chance.shuffle(others)
    while own or others:
        side = own if own and (not others or chance.random() < 0.5) else others
        yield side.pop()


def _variations(world: World, starter: Question, operation: str) -> list[str]:
    thing, ability, negated = starter
    written = world.write(starter)
    if operation == "negation":
        return [f"{opening} {clause(world, thing, ability, can=negated)}?" for opening in _OPENINGS]
    if operation == "insert":
        changed = [f"{written.removesuffix(f'{ability}?')}{word} {ability}?" for word in _BEFORE_ABILITY]
        if world.one(thing) != thing:
            changed += [written.replace(world.one(thing), world.one(thing, word), 1) for word in _BEFORE_THING]
        return changed
    if operation == "lexical":
        alike = world.known_to(ability)
    elif operation == "resemantic":
        alike = world.known_of(thing)
    else:
        raise ValueError(f"no such operation: {operation!r}. Available: {', '.join(OPERATIONS)}")
    changed = [world.write(question._replace(negated=negated)) for question in alike]
    return [text for text in changed if text != written] or [written]
