"""Yes or no, and what a simulator expects a model to answer when it must say one of the two."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import islice

from ..text.patterns import anycase
from .cannot_tell import UNKNOWN, cannot_tell, declines, not_guessed
from .statements import (
    BOTH,
    FIRM,
    LOOSE,
    STATED,
    First,
    Statement,
    begins_with,
    beyond_question,
    reply,
    sentences,
    settle,
    statements_in,
    without_open,
)

_FLAGS = re.IGNORECASE | re.MULTILINE
YES_NO = {"yes": "yes", "yep": "yes", "yeah": "yes", "yup": "yes", "no": "no", "nope": "no"}
TRUE_FALSE = {"true": "yes", "false": "no"}
ALONE = {"y": "yes", "n": "no", "no way": "no", "👍": "yes", "👎": "no"}
first = begins_with(YES_NO | TRUE_FALSE, ALONE)
_BOTH = anycase(
    r"\b(?:(?:possibly|maybe|perhaps) (?:yes|no),? (?:or )?(?:possibly|maybe|perhaps) (?:no|yes)|yes ?(?:/|\||or|and"
    r"|&) ?(?:an? )?no|no ?(?:/|\||or|and|&) ?(?:an? )?yes|yes, no(?= ?(?:[.!?]|$))"
    r"|yes-or-no|yes-no"
    r"|yes,? (?:but|and) (?:also )?no(?=[.!?,;]|$))\b(?!\W{1,4}(?:or )?unknown)(?: ?:)?"
)


def plain(text: str) -> str:
    """Return the plain words of a reply to a yes-or-no question, in which "yes or no" and "if so, yes; if not, no" are
    not answers.
    """
    return _BOTH.sub(lambda both: "Answer:" if both[0].endswith(":") else BOTH, without_open(reply(text), _VALUE))


_VALUE = anycase(r"\b(?:yes|no(?=\W*(?:[.,;:!)\n]|\Z)| (?:if|in|for|otherwise|unless|without)\b))\b")
"""A "yes", or a "no" that is an answer, unlike in "no feathers"."""


def lead(text: str) -> tuple[str, str] | None:
    """Return the yes or no that plain `text` begins with, and the sentence after it; None for "No birds ..", "No. 5
    ..".
    """
    begins = first(text)
    if begins is None:
        return None
    return begins.value, re.split(r"[.!?\n]", text[begins.end :].lstrip(".,;:!) \n\"'"), maxsplit=1)[0]


_AGREES = begins_with(
    dict.fromkeys(
        ("correct", "right", "absolutely", "definitely", "certainly", "of course", "indeed", "exactly"), "yes"
    )
    | dict.fromkeys(("that's right", "that's correct", "that is right", "that is correct", "exactly"), "yes")
    | dict.fromkeys(("absolutely not", "certainly not", "definitely not", "of course not", "not at all"), "no")
    | dict.fromkeys(("incorrect", "wrong", "that's wrong", "that is wrong", "by no means"), "no"),
    after=r"(?=\s{0,2}(?:[.!,;:\n–—]|- |\Z))",
)
"""Agreement or denial without a yes or a no: "Absolutely not!"."""


def _agreed(words: str) -> str | None:
    begins = _AGREES(words)
    return begins.value if begins else None


def yes_no(text: str, also: Iterable[Statement] = ()) -> str | None:
    """Return "yes" or "no" from the reply's first words, labels, closing sentence and statements; None if it is not
    clear. `also` are further statements, found by the caller.
    """
    words = plain(text)
    begins, weight = lead(words), FIRM
    if begins is None:
        # It may answer only the first of several questions; a firm answer after it counts.
        begins, weight = lead(beyond_question(words)), LOOSE
    answers = begins is not None and not declines(begins[1]) and cannot_tell(begins[1]) is None
    leads = [Statement(begins[0], 0, weight)] if begins and answers else []
    statements = [*leads, *statements_in(words, first), *also]
    return settle(statements) if statements else _agreed(words)


_SIMULATED = (
    re.compile(
        r"\b(?:it|that|this|answer)(?:'ll| can only| could only) be\b|\bsettle for\b",
        _FLAGS,
    ),
    # "the robot will likely answer yes"
    re.compile(
        r"\b(?:answer|say|respond|reply|think|guess|predict|expect|conclude|claim|bet|wager)s?"
        r"(?: with| that| it's| on)?:?|\bmy (?:money|bet) (?:is|would be|goes) on\b"
        r"|\b(?:lean(?:s|ing)?|tend(?:s|ing)?)(?: more| \w+ly)?(?: towards?| to)?|\b(?:go(?:es)? (?:for|with)"
        r"|comes? out(?: as)?|(?:which|that|this) means)\b|\b(?:down (?:as|for)|(?:on the )?side of"
        r"|take|pick|return|(?:model|robot|assistant)'s (?:is|would be)):?",
        _FLAGS,
    ),
    # "call it a yes"
    re.compile(r"\b(?:a|another)(?: (?!yes|no)[\w-]+)?(?= (?:yes|no)\b)", _FLAGS),
    # "its explanation commits it to yes"
    re.compile(
        r"\b(?:(?:rule|explanation|reasoning|logic|principle|criterion|claim)s?(?: \w+)? (?:says?|impl(?:y|ies)|means?"
        r"|gives?|yields?|dictates?|entails?|suggests?|demands?|requires?)|makes? (?:it|its answer|the answer)"
        r"|(?:commits?|leads?|brings?|forces?|takes?|points?|flips?|changes?|turns?)"
        r"(?: (?:it|its answer|the robot|the model|us|me))? to) ?(?:an? |say |answer )?"
        r"(?=\W{0,3}(?:yes|no)\b\W{0,3}(?:[.,;:!)\n]|$))",
        _FLAGS,
    ),
    # "the robot's answer to the follow-up question is likely no", never one about the starter question
    *STATED,
)
_ABOUT_GUESSING = anycase(
    r"\b(?:help|helps|helpful|guess|infer|determine|predict|confident|confidently|certain|enough|directly"
    r"|sufficient)\b"
)
_TRUTH = anycase(
    r"\b(?:right|correct|true|actual|real|factual|proper)(?: answer)?\b|\b(?:reality|in fact|factually|truth"
    r"|objectively)\b"
)
_ROBOT = anycase(r"\b(?:robot|model|assistant|bot|ai|it|its|he|she|they|predict\w*|guess\w*|expect\w*|simulat\w*)\b")


_ACTUALLY = anycase(r"\b(?:really|actually|truly)\b")
_BUT_ROBOT = anycase(r"[^.\n]{0,20}\b(?:but|yet|however|while|though)\b[^.\n]{0,40}\b(?:robot|model|it)\b")
_WRONG = anycase(r"\b(?:robot|model|it) (?:is|would be|will be) (?:wrong|mistaken|incorrect)\b")
_EITHER = anycase(r"\bor (?:it |they |he |she )?(?:might|may|could|perhaps|maybe)\b")
_CLAUSE = 120
"""Characters after a hedge within which the guess that goes with it begins."""
_ALL_THE_SAME = anycase(r"[^.!?\n]{0,80}[,;.–—] ?(?:but|still|though|yet|however|nevertheless)\b")
_MIGHT = anycase(r"\b(?:might|may|could)\b")
_BUT_UNSURE = anycase(r"\b(?:yes|no)\b[^.!?;\n]{0,20}\b(?:but|though) \Z")
_UNSURE = anycase(r"(?:i'm|i am) (?:not sure|unsure|uncertain)\b")


def of_truth(text: str, at: int, until: int) -> bool:
    """Whether the statement says what is true ("The right answer is no") or might be, not what the robot will say."""
    begin = max(0, at - 80)
    clause = re.split(r"[.!?;,\n]|\bbut\b", text[begin:at])[-1] + text[at:until]
    if _EITHER.search(text, begin, until) or (_MIGHT.search(clause) and _EITHER.search(text, until, until + 40)):
        return True
    told = (
        _OTHERS.search(text[begin:at])
        or _TRUTH.search(clause)
        or _WRONG.search(text, begin, at)
        or (_ACTUALLY.search(text, at, until + 12) and _BUT_ROBOT.match(text, until + 4))
    )
    return told is not None and _ROBOT.search(_IT_IS.sub("", clause)) is None


_OTHERS = anycase(
    r"\b(?:an?|any|most|many|some|every|you|one|i) (?:want to|(?:[a-z]{2,20} ){0,2}(?:would|will|might|may|could))"
    r"(?: (?:well|also|probably|perhaps|rather))? \Z"
)
_IT_IS = anycase(r"\bit(?:'s| is)\Z")


def simulated(words: str, first: First, markers: Sequence[re.Pattern[str]]) -> list[Statement]:
    """Return what a simulator's plain words say after the first ones, including that it cannot guess, unless it
    refuses.
    """
    unknown = [] if declines(words) else list(not_guessed(words))
    unknown = [hedge for hedge in unknown if not of_truth(words, hedge.at, hedge.at) or _EITHER.search(words)]
    guesses = list(statements_in(words, first, markers, doubts=False, passes=of_truth))
    if any(hedge.weight > LOOSE for hedge in unknown):
        guesses = [guess for guess in guesses if not _MIGHT.search(words, max(0, guess.at - 20), guess.at)]
    is_firm = any(guess.weight > LOOSE for guess in guesses)
    places = sorted(guess.at for guess in guesses)

    def is_overruled(hedge: Statement) -> bool:
        if _UNSURE.match(words, hedge.at) and _BUT_UNSURE.search(words, max(0, hedge.at - _CLAUSE), hedge.at):
            return any(guess.at < hedge.at for guess in guesses)
        return bool(is_firm and _UNSURE.match(words, hedge.at)) or _guesses_after(words, hedge.at, places)

    return [*(hedge for hedge in unknown if not is_overruled(hedge)), *guesses]


def _guesses_after(words: str, hedge: int, guesses: Sequence[int]) -> bool:
    """Whether the writer guesses despite a hedge: "I'm not sure, but ..", "Hard to say. Still, .."."""
    but = _ALL_THE_SAME.match(words, hedge)
    following = bisect_left(guesses, but.end()) if but else len(guesses)
    return but is not None and following < len(guesses) and guesses[following] <= but.end() + _CLAUSE


_SAY = (
    r"(?:(?:be|if|said|now|how|say|saying|says|answer|answering|answers|answered|reply|replying|respond|give|go|going"
    r"|come|to|with"
    r"|for|up|out|as|that|it|they|the"
    r"|an?|this|model|robot|assistant|would|will|could|can|is|think|believe|expect|see|possibly|really|very|well"
    r"|ever|simply|then|clearly|here|also|in|any|way) ){0,9}\"?"
)
_NOT = (
    r"(?:(?<!need )\bnot|\bnever|(?<!i )\bcannot|\bhardly|\bscarcely|\bno way|\bimpossible|\bfar from"
    r"|\bi (?:\w+ )?doubt(?: that)?"
    r"|\bunlikely|\bopposite of|\banything but|(?<!i ca)n't"
    r"|\bi (?:can't|cannot|could not|couldn't) (?:imagine|see|picture)|\b(?:surprised|astonished|odd|strange"
    r"|inconsistent|contradictory|absurd))"
)
_NO_OTHER = anycase(
    r"\b(?:not|cannot|no|nothing|hard|difficult|impossible|never|hardly|n't)\b[^.;\n]{0,60}?(?:\b(?:other (?:\w+ )?than"
    r"|else than"
    r"|but|except)|nothing but) (?:to )?(?:say |answer |with )?(?:an? )?\"?(?P<v>yes|no)\b"
)
_NEGATED = anycase(
    rf"{_NOT} {_SAY}(?P<v>yes|no(?=\"?\s?(?:[.,;:!)\n–—-]|\Z)"
    r"| (?:to|here|in|after|for|on|because|since|as|given|now|again|then|either)\b))\b\"?(?! (?:for|with) (?:sure"
    r"|certain)"
    r"|[^.;\n]{0,60}\b(?:unless|until|if|or|nor)\b)"
)
"""A denial of one of the two answers, which is the other: "it wouldn't say yes"."""
_POLITE = anycase(
    r"\b(?P<verb>answer|repl|respon|say)(?P<rest>\w{0,5}\b[^.;\n]{0,30}?) in the (?P<v>negative|affirmative)\b"
)
_OTHER = {"yes": "no", "no": "yes"}


def _affirmed(words: str) -> str:
    """Say in plain words what is said as a denial: "It can't be no" becomes "It would say yes"."""
    words = _POLITE.sub(lambda told: f"reply {'no' if told['v'].lower() == 'negative' else 'yes'}", words)
    words = _NO_OTHER.sub(lambda told: f" would say {told['v']}. ", words)
    return _NEGATED.sub(lambda told: f" would say {_OTHER[told['v'].lower()]}. ", words)


_WHO = r"(?:it|they|he|she|(?:the|this|that) (?:\w+ )?(?:model|robot|assistant|ai|bot))"
_HOW = (
    r"(?:,? (?:probably|likely|therefore|thus|presumably|surely|certainly|also|still|then|hence|again|\w{2,12}ly),?)?"
)
_DOES = anycase(
    rf"\b{_WHO}{_HOW}(?: (?:would|will|wo)|(?<=\Ait)(?: do| di)(?:es|d)|'d|'ll)(?P<not>n't|{_HOW} not)?{_HOW}"
    r"(?: (?:(?P<no>disagree|reject|deny|dismiss)|agree|accept|approve|confirm|affirm|concur)(?: with)?"
    r"(?: (?:this|that|it|so|the (?:claim|statement|suggestion|idea)))?(?: (?:too|as well|here|now))?)?"
    r"(?= ?(?:[.,;:!)\n]| (?:because|since|as|for|by|given|here|either|too|again|on)\b))"
)
"""A clause that answers without a yes or no: "so it wouldn't", "the model would agree"."""
_BARE = anycase(
    rf"{_WHO} (?:will|would)(?: \w+ly| likely)? (?:not (?:say|answer|reply|respond)(?: with)? \"?(?:yes|no)\"?"
    rf"|(?:dis)?agree)[.!]?"
)
"""A reply that only says what the robot will not say, or that it agrees, without a reason: it may also decline."""
_MAIN = anycase(
    r"(?:.*[,:;–—-] ?)?(?:(?:so|then|therefore|thus|hence|but|yet|still|i|think|believe|guess|say|expect|suspect"
    r"|suppose|assume"
    r"|case|and|no|yes),? ){0,3}"
)
"""What may precede such a clause in its sentence: it depends on nothing else."""


def _elliptical(words: str) -> str | None:
    """Return the answer of the last sentence that answers by "it would" or "it wouldn't"."""
    for part in reversed(sentences(words)[-_LAST:]):
        found = [clause for clause in islice(_DOES.finditer(part), _MOST) if _MAIN.fullmatch(part, 0, clause.start())]
        if found and not part.endswith("?"):
            return "no" if bool(found[-1]["not"]) != bool(found[-1]["no"]) else "yes"
    return None


_LAST, _MOST = 2, 20
"""Sentences from the end, and clauses of each, in which such an answer is looked for."""


_CONCEDED = anycase(
    r"(?:\b(?:although|though|even though|while|whereas) (?:\w+ ){0,3}?(?:one|you|people|persons?|someone|somebody"
    r"|humans?|many|most|common sense|intuition|it|this|that)\b[^.;,\n]{0,80}\b(?:yes|no)\b[^.;,\n]{0,40}, "
    r"|\b(?:(?:one|you|people|someone|somebody|a person|many|most people|(?:normally|usually|personally),? i)"
    r"(?:'d| (?:might|may|could|would))"
    r"(?: \w+){0,3}?"
    r" (?:say|answer|think|expect|guess)\b|it(?:'s| is| may be| might be| would be) (?:tempting|easy|natural) to \w+ )"
    r"[^.;,\n]{0,40}\b(?:yes|no)\b,? but )(?=[^.\n]{0,120}\b(?:robot|model|assistant|it|its)\b)"
)
"""What somebody else would say, conceded before what the robot will say."""


def simulation(text: str) -> str | None:
    """Return "yes", "no" or "unknown": what the simulator says the robot will answer, not what it considers true. None
    if it is not clear.

    A first "No" about whether one can guess means unknown; a first "Yes" about that is not yet a guess. The closing
    sentence outweighs a reply that begins "Yes, fire needs oxygen, ..", because that beginning says what is true.
    """
    words = _CONCEDED.sub("", plain(text))
    is_bare = _BARE.fullmatch(words)
    words = words if is_bare else _affirmed(words)
    statements = simulated(words, first, _SIMULATED)
    begins = lead(words)
    if begins and _ABOUT_GUESSING.search(begins[1]):
        if begins[0] == "no":
            statements.append(Statement(UNKNOWN, 0, FIRM))
    elif begins and not _TRUTH.match(words) and all(one.value != UNKNOWN for one in statements):
        closing = len(words) - len(sentences(words)[-1])
        opening = first(words)
        conceded = opening and words.startswith(",", opening.end) and any(one.at >= closing > 0 for one in statements)
        statements += [] if conceded else [Statement(begins[0], 0, FIRM)]
    elif begins is None and (answered := lead(beyond_question(words))):
        statements.append(Statement(answered[0], 0, LOOSE))
    if not (statements or is_bare or BOTH in words or declines(words)):
        return _elliptical(words)
    return settle(statements)
