"""One of several options: those that a question offers, or one of two responses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from ..text.patterns import anycase
from .cannot_tell import UNKNOWN, cannot_tell, declines, is_silent, without_open_question
from .labels import all_named, committed, stated
from .statements import (
    ADVERBS,
    BOTH,
    FIRM,
    IS,
    OPENING,
    SO,
    WOULD,
    Begins,
    Statement,
    only,
    reply,
    sentences,
    settle,
    stands,
    statements_in,
    without_open,
)
from .yes_no import lead, simulated

_FLAGS = re.IGNORECASE | re.MULTILINE

# Options that a question offers.

_LETTER = anycase(
    r"[\W_]{0,6}(?:(?:the )?(?:letter )?(?P<named>option|choice|answer"
    r"|letter)\s{0,3}[:#]?\s{0,3})?\(?\b(?P<v>[a-z]|(?<=\w )\d)\b(?![\w'])\s{0,3}"
    r"(?P<mark>[).:\]–—-]*|,(?= (?:because|since|as|for)\b))[ \t]{0,9}"
)


_BEFORE_NAME = (
    r"[\W_]{0,6}(?:(?:most likely|probably|likely|definitely|it is|it's|he is|she is|in|at|on|to"
    r"|the|a|an)[ :]{1,2}){0,4}[\W_]{0,4}"
)
_BEHIND_NAME = (
    r"(?=\s{0,3}(?:\Z|[.;:!)\](\n\"'–—]| - |,(?! ?(?:or |and )?(?:[a-z]\) ?)?[\"']?(?:@)\b)"
    r"|(?:because|since|as|due|given|according|based)\b))"
)


_DOLLARS = re.compile(r"\$\s?\(?([A-Za-z])\)?\s?\$")
"""A letter in TeX notation."""


def choice(text: str, choices: Sequence[str]) -> str | None:
    """Return one of `choices`, which were offered as a), b), …, or "unknown"; None if there is no clear choice. If a
    letter and the option's words disagree, the words count.
    """
    options = [*choices, UNKNOWN]
    bare, names = _names(options)
    named = re.compile(rf"{_BEFORE_NAME}(?P<v>{names})(?!\w){_BEHIND_NAME.replace('@', names)}")

    def first(text: str) -> Begins | None:
        return _first_option(text, options, bare, named)

    words = without_open(
        _DOLLARS.sub(r"\1", reply(text)), re.compile(rf"(?<!\w)(?:{_names(choices)[1]})(?!\w)", _FLAGS)
    )
    words, accepted = _judged(_by_name(words, choices), options)
    statements = committed(words, first)
    if len(accepted) == 1 or not statements:
        statements += [Statement(option, 0, FIRM) for option in accepted]
    if statements:
        return settle(statements)
    claimed = _option_claimed(words, options)
    return None if claimed == UNKNOWN and BOTH in words else claimed


_COUNTED = ("first", "second", "third", "fourth", "fifth", "sixth")
_CARDINAL = ("one", "two", "three", "four", "five", "six")
_NTH = r"first|second|third|fourth|fifth|sixth|last|final|bottom|[1-6](?:st|nd|rd|th)"
_PLACE = anycase(
    rf"(?:\bthe (?:very )?(?!final (?:answer|choice))|\A(?=[1-6fst])(?!final))(?P<nth>{_NTH})"
    r"(?: (?:option|one|choice|answer|candidate|alternative|possibility|item"
    rf"|entry)\b"
    r"(?: (?:in|on|of) the (?:list|row))?| (?:in|on|of) the (?:list|row|two|three|four|five|six|options|choices)\b"
    r"|(?=[.!]?\Z))"
    rf"|(?:\b(?:option|choice|answer) )?(?:\b(?:number|no\.|nr\.?)|#) ?(?P<n>[1-6]|{'|'.join(_CARDINAL)})\b(?!%| \w)"
    rf"|\b(?:option|choice) (?P<word>{'|'.join(_CARDINAL)})\b"
)
"""An option that is named by its place: "the third one", "number 3"."""


def _by_name(words: str, choices: Sequence[str]) -> str:
    """Name the option that the last sentence names by its place."""
    if any(_PLACE.search(choice) or choice.strip().isdigit() for choice in choices):
        return words
    last = sentences(words)[-1] if words.strip() else ""
    at = words.rfind(last)

    def name(place: re.Match[str]) -> str:
        told = (place["nth"] or place["n"] or place["word"]).lower()
        known = next((names.index(told) for names in (_COUNTED, _CARDINAL) if told in names), None)
        index = (
            len(choices) - 1 if told in ("last", "final", "bottom") else int(told[0]) - 1 if known is None else known
        )
        return choices[index] if index < len(choices) else place[0]

    return words[:at] + _PLACE.sub(name, words[at:])


_ACCEPTS = anycase(r"✓|✔|✅|☑|\b(?:yes|true|right|correct|fits?|works?|matche?s?|possible|plausible|valid)\b")
_REJECTS = anycase(
    r"✗|✘|❌|✖|\b(?:no|not|false|wrong|incorrect|out|excluded|eliminated|impossible|unlikely|too|never|neither|nor"
    r"|cannot)\b|n't\b"
)


_SIGN = (
    r"(?:, (?=(?:yes|no)\b)| ?(?:[:=→?✓✔✅☑✗✘❌✖(]|[-=]>|[–—-] )| (?:is|was|does|fits?|works?|yes|no|true|false"
    r"|right|wrong|out)\b)"
)
_ITEM_START = r"(?:\A|(?<=\n)|(?<=[.!?;,|✓✔✅☑✗✘❌✖] )|(?<=\b(?:yes|and) )|(?<=\bno )|(?<=\btrue )|(?<=\bfalse ))"
_ITEM_END = re.compile(r"[.!]\s|\n|\Z")


def _judged(words: str, options: Sequence[str]) -> tuple[str, list[str]]:
    """Return a reply without its list of options, if it goes through them one by one, and the options that the list
    accepts. Such a list has all options but two ("unknown" and the answer); it accepts none if it rejects none.
    """
    bare, names = _names(options)
    letters = "".join(chr(ord("a") + number) for number in range(min(len(options), 26)))
    item = re.compile(
        rf"{_ITEM_START}(?:option |choice )?(?:[\[(]?(?P<l>[{letters}])\b[\])]?|(?:the )?(?P<n>{names})(?!\w))"
        rf"(?:{_SIGN}|[.)]? ?(?=(?:yes|no|true|false|{names})\b))",
        _FLAGS,
    )
    found = list(islice(item.finditer(words), len(options) + 1))
    told = [bare[one["n"].lower()] if one["n"] else options[ord(one["l"].lower()) - ord("a")] for one in found]
    if len(told) < max(2, len(options) - 2) or len(set(told)) < len(told):
        return words, []
    end = _ITEM_END.search(words, found[-1].end())
    ends = [*(one.start() for one in found[1:]), end.end() if end else len(words)]
    said = [words[one.start() : until] for one, until in zip(found, ends, strict=True)]
    verdicts = [(_ACCEPTS.search(item), _REJECTS.search(item)) for item in said]
    accepted = [
        option
        for option, (yes, no) in zip(told, verdicts, strict=True)
        if yes and not (no and no.start() < yes.start())
    ]
    if (any(no for _, no in verdicts) and 0 < len(accepted) < len(told)) or "\n" in words[found[0].start() : ends[-1]]:
        rest = f"{words[: found[0].start()]}\n{words[ends[-1] :]}".strip()
        return rest, accepted if len(accepted) < len(told) else []
    return words, []


def _bare(text: str) -> str:
    between = re.search(r"\w(?:.*\w)?", text.casefold(), re.DOTALL)
    return between[0] if between else ""


def _names(options: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return the options by their bare names, and a pattern of these names, longest first; it matches nothing if there
    are none.
    """
    bare = {name: option for option in reversed(options) if (name := _bare(option))}
    return bare, "|".join(re.escape(name) for name in sorted(bare, key=len, reverse=True)) or r"(?!)"


def _first_option(text: str, options: Sequence[str], bare: Mapping[str, str], named: re.Pattern[str]) -> Begins | None:
    text = text[:_READ].lstrip()
    line, _, below = text.partition("\n")
    if _bare(line) in bare:
        return Begins(bare[_bare(line)], len(line))
    letter = _LETTER.match(line)
    if letter is None or (not letter["mark"] and not letter["named"] and line[letter.end() :].strip(" .,")):
        found = named.match(line.casefold())  # not a letter: "a" and "I" are words
        return Begins(bare[found["v"]], found.end("v")) if found else None
    if not letter["v"].isascii():
        return None
    rest = re.split(r"\b(?:because|since|as|not|rather)\b", line[letter.end() :])[0]
    following = chr(ord(letter["v"].lower()) + 1)
    if re.search(rf"^\W{{0,4}}{following}[).]", below, _FLAGS) or re.search(
        rf"(?:^|[\s,;(])(?:[b-z]\)|{following}\. )", rest, re.IGNORECASE
    ):
        return None  # the options repeated, or a list
    if _bare(line[letter.end() :]) in bare:
        return Begins(bare[_bare(line[letter.end() :])], len(line))
    index = int(letter["v"]) - 1 if letter["v"].isdigit() else ord(letter["v"].lower()) - ord("a")
    return Begins(options[index], letter.end("v")) if 0 <= index < len(options) else None


_READ = 2_000
"""Characters within which an option must begin and end."""


def _option_claimed(text: str, options: Sequence[str]) -> str | None:
    """Return the option of the last sentence that concludes; else "unknown" if a sentence says that it cannot be told;
    else the only letter or option that is mentioned.
    """
    if declines(text) or all_named(text, [_bare(option) for option in options]):
        return None

    def mentions(text: str) -> bool:
        return any(_mentioned([text], options[:-1]))

    main = _ASIDE.sub(lambda aside: " " if mentions(aside[0]) else aside[0], text)
    text = main if mentions(main) else text
    parts = stated(text)
    concluding = [part[found.end() :] for part in parts if (found := _CONCLUDES.search(part))]
    concluding += [found[found.lastgroup or "a"] for part in parts if (found := _REMAINS.search(part))]
    named = _mentioned(concluding, options[:-1]), _mentioned([part[:_CLOSE] for part in concluding], options[:-1])
    conclusions = [one for names, close in zip(*named, strict=True) if (one := only(names) or only(close))]
    if concluding and not conclusions and (letter := _LETTER_LEFT.fullmatch(concluding[-1])):
        conclusions = [*options[:-1]][ord(letter[1].lower()) - ord("a") :][:1]
    if conclusions:
        return conclusions[-1]
    if any(cannot_tell(part) is not None or is_silent(part) for part in parts):
        return None if _between_two(parts, options) else UNKNOWN
    if _CONTRASTS.search(" ".join(parts[-2:])):
        last = _CONTRASTS.split(parts[-1])[-1]
        named_last = _mentioned([last, _QUOTED.sub(" ", last)], options[:-1])
        contrasted = None if _NEGATED.search(last) else only(named_last[0]) or only(named_last[1])
        if contrasted:
            return contrasted
    said = [match[1] or match[2] or match[3] for match in _LETTER_SAID.finditer(text)]
    letters = {ord(letter.lower()) - ord("a") for letter in said if letter.isascii()}
    if len(letters) == 1 and max(letters) < len(options):
        return options[max(letters)]
    return only(name for names in _mentioned(parts, options[:-1]) for name in names)


_CLOSE = 20
"""Characters after a conclusion such as "is now" within which the chosen place is named, before a former one."""

_ASIDE = anycase(
    r"\([^()\n]{1,200}\)|\b(?:although|(?:even )?though|even if|despite|while|whereas)\b[^,.;\n]{1,160},(?=[^\n]{12})"
    r"|, (?:although|(?:even )?though|even if|despite)\b[^.;\n]{1,160}"
    r"|\b(?:some|many|most|one|people|you|others)\b[^.;,\n]{0,30}\b(?:say|think|pick|choose|guess|answer"
    r"|expect)\b[^.;,\n]{1,80}"
    r"|\b(?:at first|first|initially|originally)\b[^.;\n]{0,20}\b(?:i|we) (?:thought|considered|wanted|leaned|picked"
    r"|took)[^.;\n]{1,80}"
    r"|\b(?:before that,?|earlier|previously) [^,.;\n]{1,160}|\b(?:before \w{2,20}ing|after leaving)\b[^,.;\n]{1,160}"
)
"""What a reply concedes, or says about an earlier state. It counts only if nothing else names an option."""

_CONCLUDES = anycase(
    r"(?:^|[,;:–—] ?|\band )(?:so|now|therefore|thus|hence|overall|in conclusion|based on|which means|meaning)\b"
    r"|, leaving\b|\b(?:which|that|this|ruled out,|excluded,|eliminated,) (?:leaves|leaving|makes)\b"
    r"|(?:(?:\bis|\bare|'s)(?= [^.;\n]{1,40} now\b)|\b(?:is|are) (?:still|now|currently|therefore|thus|finally)"
    r"|\bremains?|\bmust be|\bend(?:s|ed)(?: up)?|\bsettled? on)\b"
    r"|\b(?:last|latest|final|most recent)(?: \w{1,20}){0,3} (?:is|was)\b"
)
_REMAINS = anycase(
    r"\bonly (?P<a>[^.;\n]{1,60}?) (?:remains?|is left|was|is|has|fits?|works?|matches)\b"
    r"|(?:\A|[:,] )(?P<e>[^.;:,\n]{1,40}?) (?:remains|survives|is left)\b(?! (?:in|at|on|to|with|by)\b)"
    r"|(?:\A|[:,\n] )(?P<b>[^.!?;:,\n]{1,60}?) it is\b(?=\W*\Z)"
    r"|(?:\A|[:,] )(?P<c>[^.;:,\n]{1,60}?) (?:is|was) (?:what's|what is|all that(?:'s| is)"
    r"|the only (?:\w+ )?(?:that's )?) ?left\b"
    r"|\b(?:everything|anything|all(?: of them)?|none|nothing) (?:except(?: for)?|but) (?P<d>[^.;\n]{1,60}?) (?:is"
    r"|are|can|has|have|was|were)\b"
)
"""Names the option that is left when the others are ruled out."""
_CONTRASTS = anycase(
    r"\b(?:while|although|though|whereas|but|however|yet|instead|neither|either|both|nevertheless|nonetheless)\b"
    r"|(?:\A|[.!?;] )still,"
)
"""Introduces the answer in a sentence that first names what is not: "Both are named, but the text gives Faro"."""
_QUOTED = re.compile(r"\"[^\"\n]{1,200}\"")
_LETTER_LEFT = anycase(r"\W{0,4}(?:option |choice |only )?([a-z])\W{0,4}")
_DENIED = (
    r"(?:(?<!\w)(?:not|never|no longer|neither|nor|rather than|instead of)|n't) "
    r"(?:(?:is|was|it|in|at|on|to|by|with|for|of|inside|into|from|be|been|a|an|the) ){0,9}"
)
_LETTER_SAID = anycase(
    r"(?<!not )(?<!could )(?<!might )(?<!may )\b(?:is|be|it's|option|choice|answer|letter|with|for|choose|pick|select)"
    r" \(?([a-z])(?!\)?\s*(?:,|/|or\b|and\b)\s*(?:or |and )?\(?[a-z](?![\w']))(?:\)|(?=[.,;:!]|$| here\b))"
    r"|(?<![\w(])\(?([a-z])\) (?:is|must be|would be|seems|fits|matches)\b(?! (?:\w+ )?(?:out|ruled|excluded"
    r"|eliminated|wrong|incorrect|false|not|impossible|unlikely))"
    r"|(?<![\w(])([b-z]) (?:is|seems|looks) (?:the )?(?:correct|right)\b"
)


_NEGATED = re.compile(r"\b(?:no|not|neither|nor|cannot)\b|n't\b")


def _between_two(parts: Sequence[str], options: Sequence[str]) -> bool:
    """Whether a sentence considers two options possible ("b or c, I can't tell"), which is more than not being able to
    tell.
    """
    _, names = _names(options)
    name = rf"(?:{names}|[a-z](?=\W|\Z))"
    two = rf"(?<!\w){name}\)?(?: \w{{1,15}}){{0,3}},? or (?:(?:in|at|the|a|an) ){{0,2}}\(?{name}(?!\w)"
    found = ((part, re.search(two, part)) for part in (without_open_question(part).casefold() for part in parts))
    return any(pair and not _NEGATED.search(part, 0, pair.start()) for part, pair in found)


def _mentioned(sentences: Sequence[str], choices: Sequence[str]) -> list[list[str]]:
    """Return the choices that each sentence mentions as whole words, the longest if they overlap, leaving out denied
    ones.
    """
    bare, names = _names(choices)
    name = rf"(?:(?:in|at|on|the|a|an) ){{0,3}}(?:{names})(?!\w)"
    denied = re.compile(
        rf"{_DENIED}(?:{names})(?!\w)(?:(?:, {name}){{0,20}},? (?:or|nor) {name})?"
        rf"|(?<!\w)(?:{names}) (?:is|are|was) (?:wrong|incorrect|out|(?:ruled )?out|excluded|eliminated)\b"
    )
    mentioned = re.compile(rf"(?<!\w)(?:{names})(?!\w)")
    return [
        [bare[match] for match in mentioned.findall(denied.sub(" ", sentence.casefold()))] for sentence in sentences
    ]


# One of two responses.

_VALUES = {"1": "1", "2": "2", "a": "1", "b": "2", "one": "1", "two": "2", "first": "1", "second": "2"}
_NOUN = r"(?:response|option|candidate|answer|reply)"
# "Candidate Response 1", "response #2", "Option B", "the first response", "the second one"
_CHOICE = (
    rf"(?:(?:the )?(?:candidate )?{_NOUN} ?(?:#|no\. |number )?\"?(?=(?:1|2|a|b|one|two)\b)|"
    rf"(?:the )?(?=(?:first|second) (?:(?:candidate )?{_NOUN}|one)\b))"
    rf"(?P<v>1|2|a|b|one|two|first|second)\b\"?(?: (?:(?:candidate )?{_NOUN}|one)\b)?"
)
# A letter alone needs a bracket or the end of the line, because "a" is a word.
_BARE = r"(?P<bare>[12]|[ab](?=\)|[\W_]{0,3}$))\b(?!\.\d)(?= ?(?:$|[^\w\s]|(?:because|since|as)\b))"
_WITHIN = r"(?:(?!\b(?:response|option|candidate|reply|but|less|not|than|while|whereas|neither)\b|n't)[^.\n]){0,80}?"
_BETTER = (
    r"(?:(?:more|most) (?:\w{1,15}(?:,| and|, and) (?:more )?){0,3}(?:helpful|useful)\b|"
    r"\bbetter\b|\bbest\b|\bpreferable\b|\bsuperior\b|\bthe winner\b)"
)
_JUDGED = (
    # "Candidate Response 2 explores more and is therefore more helpful"
    re.compile(
        rf"\b{_CHOICE}(?: ?\([^)\n]{{0,40}}\))?,?{_WITHIN} "
        rf"(?:is|was|seems|appears|looks|feels|would be|remains|comes across as){_WITHIN} {_BETTER}",
        _FLAGS,
    ),
    # "I find Candidate Response 2 more helpful"
    re.compile(rf"\bfind{OPENING}(?:{_CHOICE})(?: to be)?{_WITHIN} {_BETTER}", _FLAGS),
)
# "the more helpful response is"
_BETTER_IS = re.compile(
    rf"\b(?:more helpful|most helpful|more useful|better|best|preferred|preferable|winning"
    rf"|stronger) (?:(?:candidate )?{_NOUN}|one)"
    r"(?: (?:to|for|here|in|of|between)\b[^.\n]{0,80}?)??(?: is|'s| was| would be):?",
    _FLAGS,
)
_PREFER = re.compile(
    r"\b(?:choose|pick|prefer|select|favou?r|recommend|go with|opt for|vote for|lean towards?)(?= )", _FLAGS
)
_PREDICTED = (
    # "the robot will likely choose Candidate Response 2", but not one that it finds less helpful
    re.compile(
        rf"\b(?:will|would|'ll|likely to|going to)(?: (?!not\b|never\b)\w{{1,12}}){{0,2}} "
        rf"(?:choose|pick|prefer|select|favou?r|go with|opt for|find"
        rf"|consider)(?!{OPENING}{_CHOICE.replace('?P<v>', '?:')}{_WITHIN} less\b)",
        _FLAGS,
    ),
    re.compile(r"\b(?:guess|predict|expect)(?: that)?(?: it is| it's)?:?", _FLAGS),
    IS,
)
_RESPONSE = re.compile(rf"{OPENING}(?:{ADVERBS})?{OPENING}(?:{_CHOICE}|{_BARE})", _FLAGS)
_FIRST_LINE = anycase(
    rf"[\W_]{{0,4}}(?:{_CHOICE}|{_BARE})(?:[,;]| [–—-] | (?:because|since|as)\b|[^\w:)\n]{{0,3}}(?:\n|\Z)"
    rf"|(?<=\W[12]\))\Z)"
)


def _first_response(text: str) -> Begins | None:
    match = _RESPONSE.match(text)
    return Begins(_VALUES[(match["v"] or match["bare"]).lower()], match.end()) if match else None


def _judgements(words: str) -> Iterator[Statement]:
    for pattern in _JUDGED:
        for match in islice(pattern.finditer(words), 200):
            if weight := stands(words, match.start(), match.start("v"), doubts=True):
                yield Statement(_VALUES[match["v"].lower()], match.start(), weight)


def _first_response_alone(words: str) -> list[Statement]:
    """Return a choice at the beginning of the reply that ends its first clause or line. "Response 1:" opens a
    comparison, "1)" a list.
    """
    match = _FIRST_LINE.match(words)
    return [Statement(_VALUES[(match["v"] or match["bare"]).lower()], 0, FIRM)] if match else []


def better_response(text: str, answer_first: bool) -> str | None:
    """Return "1" or "2" from the reply's first words, labels, closing line and judgements; None if it is not clear. If
    the prompt asks for the answer first, a judgement that opens the reply counts as firm.
    """
    words = reply(text)
    markers = (_BETTER_IS, _PREFER, IS, WOULD, SO)
    statements = [*_first_response_alone(words), *statements_in(words, _first_response, markers), *_judgements(words)]
    if answer_first:
        statements = [named._replace(weight=FIRM) if named.at == 0 else named for named in statements]
    return settle(statements)


def simulated_response(text: str) -> str | None:
    """Return "1", "2" or "unknown"; None if it is not clear. A "No" at the beginning says that the guess cannot be
    made: unknown.
    """
    words = reply(text)
    statements = [*_first_response_alone(words), *simulated(words, _first_response, _PREDICTED)]
    begins = lead(words)
    if begins and begins[0] == "no":
        statements.append(Statement(UNKNOWN, 0, FIRM))
    return settle(statements)
