"""The small world of the controls: things, their kinds, what each can do, and questions and claims about it.

All facts are in `data/controls/world.toml`, which explains its format at the top. The world knows nothing else.
"""

import difflib
import random
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from ...package_data import table
from ...text.display import joined
from .records import OPERATIONS, SENTENCE_END

_ARTICLES = frozenset({"a", "an", "the", "any", "all", "every", "each", "most"})
_INSERTED = frozenset({"really", "actually", "usually", "normally", "generally", "please"})
_ORDINARY = frozenset({"typical", "ordinary", "normal", "common", "healthy", "adult", "grown"})
_IDLE = _ARTICLES | _INSERTED | _ORDINARY
"""Words that do not change the meaning of a question about this world."""

_PREAMBLE = re.compile(r"(?:is it (?:true|so|case|correct|possible)|do you think|would you say)(?: that)? ")
_ASKING = re.compile(r"(?:can|could|would|will|do|does) (?P<rest>.+)")
_ABLE = re.compile(r"(?:is|are) (?P<thing>.+) able to (?P<ability>.+)")
_STATING = re.compile(r"(?P<thing>.+?) (?:can|could) (?P<ability>.+)")

_LONGEST_ASKED = 200
"""How many characters of a text are used to find the nearest known questions."""


class _Entry(BaseModel):
    """A table of the world file. A misspelt key is an error, so that no fact is lost silently; tests check the rest."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class _Claiming(_Entry):
    can: tuple[str, ...] = ()
    cannot: tuple[str, ...] = ()

    @property
    def claims(self) -> dict[str, bool]:
        """What it claims: whether it can, by ability."""
        return {**dict.fromkeys(self.can, True), **dict.fromkeys(self.cannot, False)}


class _Thing(_Claiming):
    """An entry about one thing: its word forms, and how it differs from its kind."""

    plural: str = ""
    article: str | None = None
    also: tuple[str, ...] = ()


class _Kind(_Claiming):
    """A kind: its rules and its members."""

    plural: str
    things: dict[str, _Thing]


class _File(_Entry):
    abilities: dict[str, tuple[str, ...]]
    kinds: dict[str, _Kind]


class Question(NamedTuple):
    """The question whether `thing` can do `ability`; if `negated`, whether it cannot.

    Its repr, which includes the class name, seeds the robots' draws. If the class were renamed, no recorded run could
    be reproduced.
    """

    thing: str
    ability: str
    negated: bool = False


def words(text: str) -> list[str]:
    """Return the words of `text` in lower case, with negations split off: "Can't it?" -> ["can", "not", "it"]."""
    text = text.lower().replace("’", "'").replace("-", " ")
    text = text.replace("cannot", "can not").replace("can't", "can not").replace("n't", " not")
    return re.findall(r"[\w']+", text)


def lookup_form(text: str) -> str:
    """Return `text` in the form used for look-ups: lower case, without punctuation and idle words."""
    return " ".join(word for word in words(text) if word not in _IDLE)


def sentence_case(text: str) -> str:
    """Return `text` with its first letter in upper case; the other letters stay as they are ("iPod", "Mars")."""
    return text[:1].upper() + text[1:]


class World:
    """A world. `things` maps each thing to its kind, `kinds` each kind to its members, spelt as in the file."""

    def __init__(self, file: _File) -> None:
        self.abilities = tuple(file.abilities)
        self.kinds = {name: tuple(kind.things) for name, kind in file.kinds.items()}
        self.things = {thing: name for name, kind in file.kinds.items() for thing in kind.things}
        self._plural_kinds = {name: kind.plural for name, kind in file.kinds.items()}
        self._entries = {thing: entry for kind in file.kinds.values() for thing, entry in kind.things.items()}
        self._rules = {
            (name, ability): can for name, kind in file.kinds.items() for ability, can in kind.claims.items()
        }
        self._own = {
            (thing, ability): can for thing, entry in self._entries.items() for ability, can in entry.claims.items()
        }
        of_things = {thing: (thing, self.plural(thing), *entry.also) for thing, entry in self._entries.items()}
        self._thing_forms = _by_form(of_things)
        self._ability_forms = _by_form({name: (name, *also) for name, also in file.abilities.items()})
        self._kind_forms = _by_form({name: (name, kind.plural) for name, kind in file.kinds.items()})
        self._facts = {
            (thing, ability): self._own.get((thing, ability), self._rules.get((kind, ability)))
            for thing, kind in self.things.items()
            for ability in self.abilities
        }

    # Facts

    def rule(self, kind: str, ability: str) -> bool | None:
        """Whether members of the kind can do `ability` as a rule; None if the world has no such rule."""
        return self._rules.get((kind, ability))

    def fact(self, thing: str, ability: str) -> bool | None:
        """Whether `thing` can do `ability`, by its own entry or else its kind's rule; None if neither says."""
        return self._facts.get((thing, ability))

    def truth(self, question: Question) -> bool | None:
        """Whether yes is the correct answer; None if the world does not know."""
        can = self.fact(question.thing, question.ability)
        return None if can is None else can != question.negated

    def exceptions(self, kind: str, ability: str) -> tuple[str, ...]:
        """Return the members of `kind` that differ from its rule for `ability`; none if it has no rule."""
        rule = self.rule(kind, ability)
        return tuple(thing for thing in self.kinds[kind] if rule is not None and self.fact(thing, ability) is not rule)

    def known(self) -> Iterator[Question]:
        """Yield every question, not negated, that the world can answer."""
        for thing in self.things:
            yield from self.known_of(thing)

    def known_of(self, thing: str) -> list[Question]:
        """Return the questions about one thing that the world can answer."""
        return [Question(thing, ability) for ability in self.abilities if self.fact(thing, ability) is not None]

    def known_to(self, ability: str) -> list[Question]:
        """Return the questions about one ability that the world can answer."""
        return [Question(thing, ability) for thing in self.things if self.fact(thing, ability) is not None]

    # Names

    def plural(self, thing: str) -> str:
        """Return the plural of a thing: "ostriches". A thing without an article is its own plural."""
        entry = self._entries[thing]
        return entry.plural or (thing if entry.article == "" else thing + "s")

    def plural_kind(self, kind: str) -> str:
        """Return the plural of a kind: "bird" -> "birds". Raises KeyError for an unknown kind."""
        return self._plural_kinds[kind]

    def one(self, name: str, adjective: str = "") -> str:
        """Return a thing or a kind with its indefinite article: "an ostrich", "a typical ostrich", "a bird"; but
        "Paris".
        """
        entry = self._entries.get(name)
        article = entry.article if entry else None
        phrase = f"{adjective} {name}".strip()
        if article is None or (article and adjective):
            article = "an" if phrase[0].lower() in "aeiou" else "a"
        return f"{article} {phrase}".strip()

    def the(self, thing: str) -> str:
        """Return a thing with its definite article: "the ostrich", "Paris"."""
        return thing if self._entries[thing].article == "" else f"the {thing}"

    # Questions

    def write(self, question: Question) -> str:
        """Write a question: "Can an ostrich fly?"; negated: "Is it true that an ostrich cannot fly?"."""
        thing, ability, negated = question
        if negated:
            return f"Is it true that {self.one(thing)} cannot {ability}?"
        return f"Can {self.one(thing)} {ability}?"

    def read(self, text: str) -> Question | None:
        """Parse the question in `text`; None if it does not ask what a thing of this world can do.

        In a negated question ("Can't a penguin fly?", "Is it true that penguins cannot fly?") yes means that the thing
        cannot.
        """
        asked = _PREAMBLE.sub("", lookup_form(text) + " ", count=1).split()
        negated = "not" in asked
        if asked.count("not") > 1:
            return None
        statement = " ".join(word for word in asked if word != "not")
        if match := _ASKING.fullmatch(statement):
            rest = match["rest"].split()
        elif match := _ABLE.fullmatch(statement) or _STATING.fullmatch(statement):
            rest = [*match["thing"].split(), *match["ability"].split()]
        else:
            return None
        for end in range(1, len(rest)):
            thing = self.thing_called(" ".join(rest[:end]))
            ability = self.ability_called(" ".join(rest[end:]))
            if thing and ability:
                return Question(thing, ability, negated)
        return None

    def thing_called(self, text: str) -> str | None:
        """Return the thing that `text` names in any of its forms, with or without an article; None if there is none."""
        return self._thing_forms.get(lookup_form(text))

    def kind_called(self, text: str) -> str | None:
        """Return the kind that `text` names, in the singular or the plural; None if there is none."""
        return self._kind_forms.get(lookup_form(text))

    def ability_called(self, text: str) -> str | None:
        """Return the ability that `text` names, in the form that follows "can"; None if there is none."""
        return self._ability_forms.get(lookup_form(text))

    def suggestions(self, text: str) -> tuple[str, ...]:
        """Suggest three questions that the world knows: the nearest to `text`, then the nearest about other kinds and
        abilities.

        Only abilities that split a kind are suggested (some birds can fly, some cannot), because there an explanation
        may fail.
        """
        text = lookup_form(text[:_LONGEST_ASKED])
        named = {
            name for forms in (self._kind_forms, self._ability_forms) for form, name in forms.items() if form in text
        }
        matcher = difflib.SequenceMatcher(autojunk=False)  # it caches its analysis of the second text
        matcher.set_seq2(text)

        def nearness(question: Question) -> tuple[int, float]:
            about = {question.ability, self.things[question.thing]}
            matcher.set_seq1(f"can {lookup_form(question.thing)} {lookup_form(question.ability)}")
            telling = set(lookup_form(question.thing).split()) - set(lookup_form(question.ability).split())
            shared = len(about & named) + (not telling.isdisjoint(text.split()))
            return shared, matcher.ratio()

        chosen: list[Question] = []
        covered: set[str] = set()
        for question in sorted(filter(self._splits_its_kind, self.known()), key=nearness, reverse=True):
            kind = self.things[question.thing]
            if len(chosen) < 3 and covered.isdisjoint((kind, question.ability)):
                chosen.append(question)
                covered |= {kind, question.ability}
        return tuple(self.write(question) for question in chosen)

    def _splits_its_kind(self, question: Question) -> bool:
        members = self.kinds[self.things[question.thing]]
        return len({self.fact(member, question.ability) for member in members} - {None}) == 2


def _by_form(spelt: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the name that each form stands for."""
    return {lookup_form(form): name for name, forms in spelt.items() for form in forms}


@cache
def load() -> World:
    """Load the robots' world."""
    return World(_File.model_validate(table("controls/world")))


# The claims in the controls' explanations: writing rules about the small world, and guessing answers from them.
#
# Every claim is one sentence: "All birds can fly." · "No bird can sting." · "The duck and the swan can swim." ·
# "Birds can fly, except the penguin and the emu." A guess from an explanation uses these sentences and each thing's
# kind, and no other fact. An explanation is taken literally even if it is wrong, by the rules that Chen et al. gave
# their annotators.


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
        sides = {can: [one for one in world.kinds[kind] if world.fact(one, ability) is can] for can in (True, False)}
        claims = (f"{_listed(world, members)} {_verb(can)} {ability}." for can, members in sides.items() if members)
        return " ".join(map(sentence_case, claims))
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
    return joined([world.the(thing) for thing in things])


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


# The counterfactuals that the controls write.
#
# A sequence depends only on the starter and a key (a text that names the robot and the seed), and is the same on
# every machine.


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
