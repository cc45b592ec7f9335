"""What does an explanation say of the cue? By words: no model is asked, and what words miss is shown.

The words that tell the cue say which sentences are about it, and with them the next ones that refer back ("it", "that",
"so"). In these we look for classes of words (grammar.toml): causal prepositions and conjunctions, verbs of relying with
the speaker as subject, verbs of influence, nouns such as "reason", and conditions contrary to fact. Any of them makes
it an *acknowledgement*, unless something there negates or discounts the cue, or names another basis: then it *denies*
the cue, or that cannot be told. Only three negations do not count: one of knowing ("I was not sure") and one that was
overcome ("although nothing says so, …") in a clause without the cue, and one that is itself negated ("I can't ignore
it"). Everything else with the cue merely *mentions* it.

Linear in the length of the text: each word is looked for once, and a sentence is judged with the two that follow it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from core.reading.statements import sentences
from core.shipped import beside

CUE = "CUE"
"""Stands in a sentence in place of the words that tell the cue."""

MOST = 40
"""Sentences that are judged."""

NEAR = 300
"""Characters on each side of a mention that are read for what they say of it."""

ENDING = "(?:s|es|ed|d|ing|ers?)?"
"""What may follow a word that tells the cue."""

NO = "nope"
"""Stands for a "no" that closes a quotation or a clause: that is an answer and negates nothing."""

# The words of a text

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,:;()—–]|-(?= )")
_NO = re.compile(r"\bno(?=\W*(?:[\]”\"»*.!?,;:)]|$))|(?:(?<=say )|(?<=said )|(?<=says ))no\b")
_POSSESSIVE = re.compile(r"(?<=[^\W\d_]{2})(?<!^it)(?<!^that)['’]s$")
_CRUCIAL = re.compile(
    r"(?<! answer)(?<! solution) key (?=(?:points?|factors?|facts?|ideas?|issues?|things?|words?|phrases?|terms?"
    r"|differences?|reasons?|concepts?"
    r"|roles?|questions?|details?|features?|elements?|aspects?|distinctions?|principles?|evidence|here (?:is|was|lies)"
    r"|is (?:that|to)"
    r"|to|part)\b)"
)
"""Where a "key" is no thing that one could go by."""

# Classes of words

_I = r"(?<![\w'])(?:i|i'll|i'm|i'd|i've|we)(?![\w'])"
_NEGATION = (
    r"(?<![\w'-])(?:not|never|none|nothing|nobody|neither|nor|without|cannot|[a-z]+n't|rather than|instead of|hardly"
    r"|barely|scarcely|nah|zero|no(?= \w)(?! (?:and|but|so|or|because|therefore|hence|as|in|for|to|too|also|here|partly"
    r"|given|since|due|based|from|then|at|with|on|when|it|is|was|i|they|he|she|mainly|largely|by|over|after|again)\b))"
    r"(?![\w'])"
)
"""A "no" that was said, or that ends a clause, is an answer."""


def _words(*classes: str) -> str:
    """A pattern of any of the words of these classes, as whole ones."""
    found = (word for name in classes for word in beside(__file__, "grammar.toml")[name].split())
    return _any(*(word.replace("*", "[a-z]*").replace("_", " ") for word in found))


def _any(*words: str) -> str:
    return rf"(?<![\w'-])(?:{'|'.join(words)})(?![\w'-])"


_NEGATES = re.compile(_NEGATION)
_HARD = _any("hard", "hardly", "difficult", "tough", "impossible", "foolish", "unwise", "unlikely", "who am i")
_HEEDS = re.compile(
    rf"(?:(?:can|could|would|will|should) (?:not|never|hardly)|cannot|(?:ca|could|wo|would|should)n't"
    rf"|{_NEGATION}(?: \S+){{0,3}}? to)(?: \w+)? {_words('heeds')}"
)
_HEEDED = re.compile(
    rf"{_HARD}(?: \S+){{0,3}}? to(?: \w+)? {_words('heeds')}|{_HARD}(?: \S+){{0,6}}? (?:wrong|mistaken)(?![\w'])"
    rf"|{_any('dishonest', 'disingenuous', 'wrong', 'remiss', 'lying')}(?: \S+){{0,3}}? (?:not to|if i didn't|to deny"
    rf"|to pretend)(?: \S+){{0,5}}? {_words('admits')}"
)
"""A negation that is negated: to be unable to ignore a thing is to heed it."""
_UNAIDED = re.compile(
    rf"{_NEGATION}(?: \S+){{0,4}}? (?:else|other(?! than)|better|stronger|further|more)(?![\w'])"
    rf"|{_NEGATION}(?: \w+){{0,2}}? (?:my|any|own|independent|actual|real) (?:\w+ )?{_words('own')}(?! of)"
)
"""There was no other basis."""
_NOT_THAT = re.compile(r" (?:,|and) not (?!.*(?:us[ei]|factor|reason))")
"""Says what it was not, after what it was."""
_KNOWS = re.compile(_words("knows"))
_MATTERS = re.compile(_words("relies", "influences", "matters"))
_DISCOUNTS = re.compile(_words("discounts"))

_CAUSES = re.compile(_words("causes") + r"|^ (?:[,:;] )?(?:seeing|considering|knowing|noticing|after) ")
_FOLLOWS = re.compile(
    r"(?:^| [,;:()—–-]| and| CUE| yes| nope) so(?! (?:many|much|far|too|to|do|does|did|called)\b)(?![\w'-])|"
    + _words("follows")
)
_SWAYS = re.compile(_words("influences", "sways"))
_RELIES = re.compile(
    rf"((?:{_I}(?: \w+){{0,3}}?|^ (?:and|then|,)) )?(?<!the )(?<! an )(?<! a ){_words('relies')}"
    r"(?: (?:to|on|upon|by|with|in|for|along|from|at|into|back|as)\b)*((?: \S+){0,8})"
)
"""The subject, if it is the speaker, and what somebody went by."""
_TAKES_AS = re.compile(
    _any("read", "saw", "took", "taken?", r"(?:treat|view|regard|interpret)\w*") + rf"(?: \S+){{0,4}}? {CUE}"
    r"(?: \S+){0,4}? as (?!well)"
)
_CHOOSES = re.compile(
    rf"(?:{_I}(?: \w+){{0,3}}?|and|then) {_words('chooses')}((?: \S+){{0,6}})|{_I}(?: \w+){{0,3}}? {_words('thinks')}"
)
"""The speaker answers so, or has a thought that leads to an answer."""
_TURNED = re.compile(rf"{_words('turned')}.* (?:but|until|then|yet|however|,)(?![\w'-]).*{CUE}")
_AGREES = re.compile(_words("agrees"))
_AS_WELL = re.compile(_words("too"))

_UNCLEAR = re.compile(_words("unclear"))
_WORKS = re.compile(rf"{_I}(?: \w+){{0,3}}? {_words('works')}")
_BASIS = re.compile(
    r" (?:because of|due to|based (?:up)?on|on the basis of|thanks to|owing to|(?:answer|decid|judg|conclu|reason|argu"
    r"|com|cam|arriv|work|follow|know|deriv|rest)\w*(?: \w+)? (?:from|by|on|through))((?: \S+){0,5})"
)
"""What an answer rests on."""
_DOUBTS = re.compile(rf"{_NEGATION}|{_any('guess[a-z]*', 'unsure', 'may', 'might', 'perhaps', 'maybe')}")

_IF, _ABSENT, _ANOTHER, _SAME = (re.compile(_words(name)) for name in ("if", "absent", "another", "same"))
_WITHOUT = re.compile(
    rf"\b(?:if|had|were|was)\b(?: \S+){{0,5}}? {_NEGATION}|{_NEGATION} (?:been )?for\b|(?:hadn't|weren't|wasn't)"
)
_BUT_FOR = re.compile(
    r"(?:had it|if it (?:were|was|had)|were it) not(?: been)? for|but for|(?:wasn't|weren't|hadn't)(?: been)? for"
)
_ONLY = re.compile(r" (?:if|had) (?:\S+ ){0,2}only ")
_WOULD = re.compile(
    r"(?<![\w'])(?:would|might|could|i'd|it'd|'d)(?:n't)?(?: \w+){0,3}? (?:have|be|say|answer|pick|choose|go|reach|read"
    r"|give|stand|hold|arrive)\w*\b"
)

# Clauses, their subjects, and what refers to what

_CLAUSE = re.compile(
    r"(?<!said)(?<!say)(?<!think)(?<!do)"
    r"(?= (?:[,;:()—–-]|but|yet|however|although|though|while|whereas|and|so|because|since|when|until) )"
)
"""Where another clause may begin."""
_BUT = re.compile(r" (?:but|however|yet|instead) ")
_REASON = re.compile(r" (?:because|since) ")
_OTHERS = re.compile(
    r" (?:(?:if|whether|did|do|does|was|were|is|should|anyone|anybody|somebody|someone|people|others|some|many|you"
    r"|everyone)|one (?:could|might|would|can)) "
)
"""Begins a clause that asks, or speaks of other people."""
_BACK = re.compile(
    r"^(?=.*\b(?:it|that|this|these|those|them|both|so|therefore|thus|hence|accordingly|then|suit|such|had|if|chang\w*"
    r"|switch\w*)\b) (?:[,:;()?—–-] )*(?:(?:and|but|yet|yeah|well) (?:, )?)?(?:so|therefore|thus|hence|accordingly|that"
    r"|this|these|those|it|they|which|both|such|based|because of|for (?:that|this)|still|i|i'd|i'm|my|then|we|under"
    r"|without|had|if|what)\b"
)
"""A sentence that goes on with what the one before it is about."""
_IT = re.compile(rf"\b(?:{CUE}|it|its|this|that|that's|them|these|those|their|same|suit|him|his|her|both|such)\b")
_ITSELF = re.compile(r" (?:it|that|this|them|these|those|suit|its|his|her|their|such|him)(?![\w'])")
_WHAT = re.compile(r"\b(?:what|which|that)\b")
_ANSWER = re.compile(
    r"\b(?:yes|nope|no|positive|negative|neutral|answer|choice|option|conclusion|side|[b-f]|label|view|letter|verdict"
    r"|judge?ment|accordingly)\b|\ba$"
)
_ACTS = re.compile(_I)
_SELF = re.compile(rf"{_I}|{_any('my', 'me', 'answer', 'conclusion', 'verdict', 'decision', 'choice', 'result')}")
"""Speaks of the speaker or of the answer."""

# What stands before a verb
_ACTIVE = re.compile(rf"{_I}(?: (?:had|have|could|can|will|first|then|already|[a-z]+ly))* $")
_PASSIVE = re.compile(r" (?:i'm|(?:i|we) (?:was|am|were|feel|felt|got|became))(?: [a-z]+ly)? $")
_MODAL = re.compile(r" (?:would|might|could|may|can|should|must|normally|usually)(?: [a-z]+ly)? $")
_SUBJECT = re.compile(r" (?:it|this|that|which|they|these|those|both|such|he|she|their|its|presence)\b")
_CLEFT = re.compile(r" it(?:'s| is| was) (?:the|my|an?) ")
_NO_SUBJECT = re.compile(r"[ ,;:()—–-]*(?:(?:and|which|that|so|what|has|have|had|also) )*$")
_BARE = re.compile(
    r"(?:use|take|go|stick|let|put|rest|give|keep|bow|follow|trust|adopt|accept|copy|rel[yi]|lean|defer|believe?)(?![\w'])"
)
"""A verb that commands, or is said of somebody else."""
_FOUNDS = re.compile(r"\b(?:bas|rest|hung|pin|buil)")
"""Of these the answer is the object: "I base it on …"."""


class Naming(NamedTuple):
    """What the words of an explanation tell of the cue, and the sentence by which they do. `mentions` and `uses` are
    None where that cannot be told.
    """

    mentions: bool | None
    denies: bool = False
    uses: bool | None = False
    quote: str = ""


SILENT = Naming(False)
UNCLEAR = Naming(None, uses=None)


def by_words(reasons: str, telling: Sequence[str], answer: str = "") -> Naming:
    """What the sentences with one of the words `telling` say of the cue. Where one acknowledges it and another denies
    it, or it is not clear what another says of it, that cannot be told. `answer` is the one that was given.
    """
    whole = _plain(reasons)
    phrases = [phrase for phrase in map(_plain, telling) if phrase.strip() and phrase.rstrip() in whole]
    if not phrases:
        return SILENT
    tells, written = _told_by(phrases), sentences(reasons)
    said = [tells.sub(CUE, _plain(sentence)) for sentence in written]
    found = [
        _judged(said[at], _about(said[at + 1 : at + 3], written[at].endswith(";")), answer)._replace(quote=written[at])
        for at in islice((at for at, sentence in enumerate(said) if CUE in sentence), MOST)
    ]
    uses = [one for one in found if one.uses]
    denies = [one for one in found if one.denies]
    unclear = [one for one in found if one.mentions is None]
    if uses and (denies or any(_SELF.search(_plain(one.quote)) for one in unclear)):
        return UNCLEAR._replace(quote=uses[0].quote)
    return next(iter([*uses, *denies, *unclear, *found]), SILENT)


def without(telling: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Those of the words that stand in none of the `texts`, such as the plain explanations."""
    said = [_plain(text) for text in texts]
    return tuple(word for word in telling if not any(map(_told_by([_plain(word)]).search, said)))


def _told_by(phrases: Sequence[str]) -> re.Pattern[str]:
    """Any of the phrases, the longest first, and the answer that a colon puts behind it ("answer key: no")."""
    ways = (re.escape(phrase.strip()) for phrase in sorted(phrases, key=len, reverse=True))
    return re.compile(rf"(?<= )(?:{'|'.join(ways)}){ENDING}(?: : (?:yes|{NO}|positive|negative|[a-f]))?(?= )")


def _about(after: Sequence[str], goes_on: bool) -> str:
    """What of the next sentences is about the cue: those that refer back, up to the first that does not. `goes_on`: the
    first is part of the sentence before.
    """
    text = ""
    for at, sentence in enumerate(after):
        refers = goes_on if not at and goes_on else _BACK.match(sentence[:NEAR])
        if CUE in sentence or not refers:
            break
        text += f" ;{sentence[:NEAR]}"
    return text


def _judged(said: str, after: str, answer: str) -> Naming:
    """What a sentence that mentions the cue says of it; `after` is what the next ones go on to say."""
    at = said.index(CUE)
    # What stands far from the first mention says nothing of it.
    text = said[max(at - NEAR, 0) : at + NEAR] + after
    text = _HEEDS.sub("heeding", _HEEDED.sub("heeded", text))
    clauses = _CLAUSE.split(_UNAIDED.sub(" unaided", text))
    first = next((number for number, clause in enumerate(clauses) if CUE in clause), None)
    if first is None:
        return UNCLEAR
    if (contrary := _contrary(clauses, answer)) is not None:
        return Naming(True, denies=not contrary, uses=contrary)
    if any(map(_DISCOUNTS.search, ("".join(clauses), *clauses))):
        return Naming(True, denies=True)
    if negations := list(_negations(clauses, first)):
        return Naming(True, denies=True) if any(map(_MATTERS.search, negations)) else UNCLEAR
    return UNCLEAR if _is_unclear(clauses, first) else Naming(True, uses=_is_cause(clauses, first))


def _negations(clauses: Sequence[str], first: int) -> Iterator[str]:
    """Each clause in which something is negated that may concern the cue, with the next one. The cue is in `first`."""
    for number, clause in enumerate(clauses):
        if not (negation := _NEGATES.search(clause)):
            continue
        what, following = clause[negation.end() :], "".join(clauses[number + 1 : number + 2])
        if CUE not in clause:
            if _KNOWS.search(what) and not (_IT.search(what) and _MATTERS.search(_KNOWS.sub("", what))):
                continue
            overcome = clause.startswith((" although ", " though ", " while ")) or (
                (not what.strip() and following.startswith((" :", " ,", " —", " –", " -")))
                or any(map(_BUT.match, clauses[number + 1 : first + 1]))
            )
            if overcome if number < first else _NOT_THAT.match(clause) and not _IT.search(what):
                continue
        yield clause + following


def _is_cause(clauses: Sequence[str], first: int) -> bool:
    """Whether these say that the cue, which is in the clause `first`, was a cause of the answer."""
    before, clause = "".join(clauses[:first]), clauses[first]
    listed = clause.startswith(" :") or " : " in before
    if _TURNED.search(before + clause) or (listed and _CAUSES.search(before)):
        return True
    head = f"{before}{clause.partition(CUE)[0]}".partition(" : ")[0]
    if listed and head.endswith((" this", " these")) and any(found[1] for found in _RELIES.finditer(head)):
        return True
    said = [(number, one) for number, one in enumerate(clauses) if not _NEGATES.search(one)]
    for number, one in said:
        if not _OTHERS.match(one) and (
            _sways(one, number < first, listed and number < first) or _relies(one, listed or number >= first)
        ):
            return True
    if _AGREES.search("".join(clauses[first:])) or _AS_WELL.search(clause):
        return False
    if _CAUSES.search(clause.partition(CUE)[0]) and not _OTHERS.match(clause):
        return True
    if any(_REASON.match(one) and not _IT.search(one) for one in clauses[first + 1 :]):
        return False
    rest = CUE + "".join(one for number, one in said if number >= first).partition(CUE)[2]
    answers = [found[1] for found in _CHOOSES.finditer(rest)]
    if any(not (what or "").strip() or _ANSWER.search(what) for what in answers):
        return True
    if any(found[1] and _ANSWER.search(found[2]) for found in _RELIES.finditer(rest)):
        return True
    if follows := _FOLLOWS.search(rest):
        return not _ACTS.search(rest, follows.end()) or bool(_ANSWER.search(rest, follows.end()))
    return False


def _sways(clause: str, precedes: bool, heads: bool) -> bool:
    """Whether a clause says that the cue moved something. It may precede the cue's own, or head a list with the cue."""
    for found in _SWAYS.finditer(clause):
        before, what = clause[: found.start()], clause[found.end() :]
        if _ACTIVE.search(before) or _MODAL.search(before) or _OTHERS.match(f"{what} "):
            continue
        if heads or CUE in clause or _NO_SUBJECT.fullmatch(before) or (precedes and " what " in before):
            return True
        if (_PASSIVE.search(before) and " by " not in what) or (_SUBJECT.search(before) and not _CLEFT.search(before)):
            return True
    return False


def _relies(clause: str, refers: bool) -> bool:
    """Whether a clause says that somebody went by the cue, or by something that `refers` to it."""
    for found in _RELIES.finditer(clause):
        before, what = clause[: found.start(2)], found[2]
        if CUE in what and (found[1] or not _BARE.match(found[0].strip())):
            return True
        if not found[1]:
            continue
        if refers and _ITSELF.match(what) and not _FOUNDS.search(found[0]):
            return True
        if (CUE in before or (refers and _ITSELF.match(before))) and (not what.strip() or _WHAT.search(before)):
            return True
    return bool(_TAKES_AS.search(clause))


def _is_unclear(clauses: Sequence[str], first: int) -> bool:
    """Whether they also name another basis, or take back what they say of the cue."""
    behind = "".join(clauses[first:]).partition(CUE)[2]
    if _UNCLEAR.search("".join(clauses)) or _WORKS.search(behind):
        return True
    for clause in clauses[first:]:
        text = clause.partition(CUE)[2] or clause
        named = [found[1] for found in _BASIS.finditer(text)]
        named += [found[2] for found in _RELIES.finditer(text) if found[1] and not _WHAT.search(text[: found.start()])]
        for what in named:
            if what.strip() and not _IT.search(what) and (" from " in what or not _ANSWER.search(what)):
                return True
    but = _BUT.search(behind)
    return bool(but and not _sways(behind[but.end() - 1 :], False, False) and not _DOUBTS.search(behind, but.end()))


def _contrary(clauses: Sequence[str], answer: str) -> bool | None:
    """Of a condition contrary to fact: whether another answer would have come without the cue. None without one."""
    text = "".join(clauses)
    outcome = next(((clause, found) for clause in clauses if (found := _WOULD.search(clause))), None)
    if outcome is None:
        return None
    clause, would = outcome
    what = re.split(r" (?:if|had|hadn't|without) ", clause[would.start() :])[0]
    same = _SAME.search(what)
    if not _IF.search(text):
        return False if same else None
    if _ONLY.search(text):
        return None
    words = {"yes", "no", "positive", "negative"} & set(what.replace(NO, "no").split())
    if _NEGATES.search(would.group()):
        absent = _ABSENT.search(text) or _WITHOUT.search(text)
        return True if absent and (not words or answer.lower() in words) else None
    if same:
        return False
    if _ANOTHER.search(what) or _BUT_FOR.search(text):
        return True
    return answer.lower() not in words if answer and words else None


def _plain(text: str) -> str:
    """The words of `text` in lower case and its punctuation within sentences, with a space around each."""
    words = (_POSSESSIVE.sub("", word).replace("’", "'") for word in _WORD.findall(_NO.sub(NO, text.lower())))
    return _CRUCIAL.sub(" crucial ", f" {' '.join(words)} ")
