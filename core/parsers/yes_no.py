"""Yes or no, and what a simulator expects a model to answer when it must say one of the two."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import islice

from .statements import (
    BOTH,
    FIRM,
    LOOSE,
    RE,
    STATED,
    UNKNOWN,
    First,
    Statement,
    begins_with,
    beyond_question,
    cannot_tell,
    declines,
    not_guessed,
    only,
    reply,
    sentences,
    settle,
    stands,
    statements_in,
    values,
    without_open,
)

YES_NO = {"yes": "yes", "yep": "yes", "yeah": "yes", "yup": "yes", "no": "no", "nope": "no"}
TRUE_FALSE = {"true": "yes", "false": "no"}
ALONE = {"y": "yes", "n": "no", "no way": "no", "👍": "yes", "👎": "no"}
first = begins_with(YES_NO | TRUE_FALSE, ALONE)


def plain(text: str) -> str:
    """Return the plain words of a reply to a yes-or-no question, in which "yes or no" and "if so, yes; if not, no" are
    not answers.
    """
    signed = RE.tick_sign.sub(" yes", RE.cross_sign.sub(" no", RE.yes_no_asked.sub("", reply(text))))
    return RE.yes_and_no.sub(
        lambda both: "Answer:" if both[0].endswith(":") else BOTH, without_open(signed, RE.yes_or_no)
    )


def lead(text: str) -> tuple[str, str] | None:
    """Return the yes or no that plain `text` begins with, and the sentence after it; None for "No birds ..", "No. 5
    ..".
    """
    begins = first(text)
    if begins is None:
        return None
    return begins.value, re.split(r"[.!?\n]", text[begins.end :].lstrip(".,;:!) \n\"'"), maxsplit=1)[0]


_AGREES = begins_with(
    values(
        yes="correct|right|absolutely|definitely|certainly|of course|indeed|exactly|that's right|that's correct"
        "|that is right|that is correct|you are right|you're right|that is true|that's true|this is true|it is true"
        "|this is correct",
        no="the claim is false|the statement is false|that is false"
        "|absolutely not|certainly not|definitely not|of course not|not at all|incorrect|wrong|that's wrong"
        "|that is wrong|by no means",
    ),
    form="first_agreement",
)
"""Agreement or denial without a yes or a no: "Absolutely not!"."""


def agreed(words: str) -> str | None:
    """Return the yes or no of a reply that begins by agreeing or denying without one: "Definitely not."."""
    if begins := _AGREES(words):
        return begins.value
    clause = RE.ellipsis.match(words)
    return ("no" if clause["no"] or clause["false"] else "yes") if clause else None


def yes_no(text: str, also: Iterable[Statement] = ()) -> str | None:
    """Return "yes" or "no" from the reply's first words, labels, closing sentence and statements; None if it is not
    clear. `also` are further statements, found by the caller.
    """
    words = plain(text)
    begins, weight = lead(words), FIRM
    if begins is None:
        # It may answer only the first of several questions; a firm answer after it counts.
        begins, weight = lead(beyond_question(words)), LOOSE
    sides = RE.yes_no_split.findall(f"{begins[0]} {begins[1]}") if begins else []
    answers = begins is not None and len(set(sides)) < 2 and not declines(begins[1]) and cannot_tell(begins[1]) is None
    leads = [Statement(begins[0], 0, weight)] if begins and answers else []
    statements = [*leads, *statements_in(words, first), *also]
    if statements or declines(words):
        return settle(statements)
    return agreed(beyond_question(words)) or set_off(words)


def set_off(words: str) -> str | None:
    """Return the yes or no that plain words set off by punctuation ("In everyday use: no, .."); None if they differ,
    unless the last one comes after a "but".
    """
    found = [
        one
        for one in islice(RE.yesno_set_off.finditer(words), _MOST)
        if one["v"] and stands(words, one.start("v"), one.end("v"), doubts=True)
    ]
    values = [one["v"].lower() for one in found]
    turns = found and len(found) > 1 and RE.yesno_but.search(words, found[-2].end(), found[-1].start())
    return values[-1] if turns else only(values)


_SIMULATED = (RE.can_only_be, RE.will_say, RE.call_it, RE.chance, RE.implied, *STATED)
_CLAUSE = 120
"""Characters after a hedge within which the guess that goes with it begins."""


def of_truth(text: str, at: int, until: int) -> bool:
    """Whether the statement says what is true ("The right answer is no") or might be, not what the robot will say."""
    begin = max(0, at - 80)
    clause = re.split(r"[.!?;,\n]|\bbut\b", text[begin:at])[-1] + text[at:until]
    if RE.either.search(text, begin, until) or (RE.might.search(clause) and RE.either.search(text, until, until + 40)):
        return True
    told = (
        RE.others.search(text[begin:at])
        or RE.truth.search(clause)
        or RE.wrong.search(text, begin, at)
        or (RE.actually.search(text, at, until + 12) and RE.but_robot.match(text, until + 4))
    )
    return told is not None and RE.robot.search(RE.ends_it_is.sub("", clause)) is None


def simulated(words: str, first: First, markers: Sequence[re.Pattern[str]]) -> list[Statement]:
    """Return what a simulator's plain words say after the first ones, including that it cannot guess, unless it
    refuses.
    """
    unknown = [] if declines(words) else list(not_guessed(words))
    guesses = list(statements_in(words, first, markers, doubts=False, passes=of_truth))
    if any(hedge.weight > LOOSE for hedge in unknown):
        guesses = [guess for guess in guesses if not RE.might.search(words, max(0, guess.at - 20), guess.at)]
    last_firm = max((guess.at for guess in guesses if guess.weight > LOOSE), default=-1)
    places = sorted(guess.at for guess in guesses)

    def is_overruled(hedge: Statement) -> bool:
        if RE.unsure.match(words, hedge.at) and RE.but_unsure.search(words, max(0, hedge.at - _CLAUSE), hedge.at):
            return any(guess.at < hedge.at for guess in guesses)
        is_argued = RE.cannot_guess.match(words, hedge.at) is not None
        is_revised = is_argued and last_firm > hedge.at
        is_revised = is_revised or (last_firm >= 0 and RE.unsure.match(words, hedge.at) is not None)
        return is_revised or _guesses_after(words, hedge.at, places)

    return [*(hedge for hedge in unknown if not is_overruled(hedge)), *guesses]


def _guesses_after(words: str, hedge: int, guesses: Sequence[int]) -> bool:
    """Whether the writer guesses despite a hedge: "I'm not sure, but ..", "Hard to say. Still, .."."""
    but = RE.all_the_same.match(words, hedge)
    following = bisect_left(guesses, but.end()) if but else len(guesses)
    return but is not None and following < len(guesses) and guesses[following] <= but.end() + _CLAUSE


_OTHER = {"yes": "no", "no": "yes"}


def _affirmed(words: str) -> str:
    """Say in plain words what is said as a denial: "It can't be no" becomes "It would say yes"."""
    words = RE.polite.sub(lambda told: f"reply {'no' if told['v'].lower() == 'negative' else 'yes'}", words)
    words = RE.yesno_no_other.sub(lambda told: f" would say {told['v']}. ", words)
    return RE.yesno_negated.sub(lambda told: f" would say {_OTHER[told['v'].lower()]}. ", words)


def _elliptical(words: str) -> str | None:
    """Return the answer of the last sentence that answers by "it would" or "it wouldn't"."""
    for part in reversed(sentences(words)[-_LAST:]):
        found = [
            clause
            for clause in islice(RE.yesno_does.finditer(part), _MOST)
            if RE.main.fullmatch(part, 0, clause.start())
        ]
        if found and not part.endswith("?"):
            return "no" if bool(found[-1]["not"]) != bool(found[-1]["no"]) else "yes"
    return None


_LAST, _MOST = 2, 20
"""Sentences from the end, and clauses of each, in which such an answer is looked for."""


def simulation(text: str) -> str | None:
    """Return "yes", "no" or "unknown": what the simulator says the robot will answer, not what it considers true. None
    if it is not clear.

    A first "No" about whether one can guess means unknown; a first "Yes" about that is not yet a guess. The closing
    sentence outweighs a reply that begins "Yes, fire needs oxygen, ..", because that beginning says what is true.
    """
    words = RE.yesno_conceded.sub("", plain(text))
    is_bare = RE.yesno_bare.fullmatch(words)
    words = words if is_bare else _affirmed(words)
    statements = simulated(words, first, _SIMULATED)
    begins = lead(words)
    if begins and RE.about_guessing.search(RE.reason_follows.split(begins[1])[0]):
        if begins[0] == "no":
            statements.append(Statement(UNKNOWN, 0, FIRM))
    elif (
        begins
        and not RE.truth.match(words)
        and not RE.uncovering.search(begins[1])
        and all(one.value != UNKNOWN for one in statements)
    ):
        closing = len(words) - len(sentences(words)[-1])
        opening = first(words)
        conceded = (
            opening
            and words.startswith(",", opening.end)
            and any(one.at >= closing > 0 or RE.yesno_but.search(words, opening.end, one.at) for one in statements)
        )
        statements += [] if conceded else [Statement(begins[0], 0, FIRM)]
    elif begins is None and (answered := lead(beyond_question(words))):
        statements.append(Statement(answered[0], 0, LOOSE))
    if not (statements or is_bare or BOTH in words or declines(words)):
        is_open = RE.not_covered.search(words) and not RE.may_guess.search(words)
        return _elliptical(words) or (UNKNOWN if is_open else None)
    return settle(statements)
