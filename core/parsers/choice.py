"""One of several options: those that a question offers, or one of two responses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from string import ascii_lowercase

from ..text.reply import LETTERS
from .cannot_tell import UNKNOWN, cannot_tell, declines, is_silent, without_open_question
from .labels import all_named, committed, stated
from .phrases import RE
from .statements import (
    BOTH,
    FIRM,
    Begins,
    Statement,
    one_of,
    only,
    reply,
    sentences,
    settle,
    stands,
    statements_in,
    without_open,
)
from .yes_no import lead, simulated

# Options that a question offers.


class _Options:
    """The options of a question, by their bare names, and the patterns of these names."""

    def __init__(self, options: Sequence[str]) -> None:
        self.options = options
        self.by_name = {name: option for option in reversed(options) if (name := _bare(option))}
        self.names = one_of(self.by_name)
        self._denied, self._mentioned = self.pattern("denied_option"), self.pattern("an_option")

    def pattern(self, form: str, **parts: str) -> re.Pattern[str]:
        return RE(form, names=self.names, **parts)

    def at(self, letter: str) -> Sequence[str]:
        """Return the option with this letter in a list; nothing if there is none."""
        index = ord(letter.lower()) - ord("a")
        return self.options[index : index + 1] if index >= 0 else ()

    def mentioned(self, sentence: str) -> list[str]:
        """Return the options that a sentence mentions as whole words, the longest if they overlap, without denied
        ones.
        """
        said = self._denied.sub(" ", sentence.casefold())
        return [self.by_name[name] for name in self._mentioned.findall(said)]


def _bare(text: str) -> str:
    between = re.search(r"\w(?:.*\w)?", text.translate(LETTERS).casefold(), re.DOTALL)
    return between[0] if between else ""


def choice(text: str, choices: Sequence[str]) -> str | None:
    """Return one of `choices`, which were offered as a), b), …, or "unknown"; None if there is no clear choice. If a
    letter and the option's words disagree, the words count.
    """
    offered, options = _Options(choices), _Options([*choices, UNKNOWN])
    named = options.pattern("named_option")

    def first(text: str) -> Begins | None:
        return _first_option(text, options, named)

    words = without_open(RE.dollars.sub(r"\1", reply(text)), offered.pattern("an_option"))
    words, accepted = _judged(_by_name(words, choices), options)
    statements = committed(words, first)
    if len(accepted) == 1 or not statements:
        statements += [Statement(option, 0, FIRM) for option in accepted]
    if statements:
        return settle(statements)
    claimed = _option_claimed(words, offered, options)
    return None if claimed == UNKNOWN and BOTH in words else claimed


_COUNTED = ("first", "second", "third", "fourth", "fifth", "sixth")
_CARDINAL = ("one", "two", "three", "four", "five", "six")


def _by_name(words: str, choices: Sequence[str]) -> str:
    """Name the option that the last sentence names by its place."""
    if any(RE.option_place.search(choice) or choice.strip().isdigit() for choice in choices):
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

    return words[:at] + RE.option_place.sub(name, words[at:])


def _judged(words: str, of: _Options) -> tuple[str, list[str]]:
    """Return a reply without its list of options, if it goes through them one by one, and the options that the list
    accepts. Such a list has all options but two ("unknown" and the answer); it accepts none if it rejects none.
    """
    options = of.options
    item = of.pattern("judged_option", letters=f"[{ascii_lowercase[: len(options)]}]")
    found = list(islice(item.finditer(words), len(options) + 1))
    told = [of.by_name[one["n"].casefold()] if one["n"] else of.at(one["l"])[0] for one in found]
    if len(told) < max(2, len(options) - 2) or len(set(told)) < len(told):
        return words, []
    end = RE.item_end.search(words, found[-1].end())
    ends = [*(one.start() for one in found[1:]), end.end() if end else len(words)]
    said = [words[one.start() : until] for one, until in zip(found, ends, strict=True)]
    verdicts = [(RE.accepts.search(item), RE.rejects.search(item)) for item in said]
    accepted = [
        option
        for option, (yes, no) in zip(told, verdicts, strict=True)
        if yes and not (no and no.start() < yes.start())
    ]
    if (any(no for _, no in verdicts) and 0 < len(accepted) < len(told)) or "\n" in words[found[0].start() : ends[-1]]:
        rest = f"{words[: found[0].start()]}\n{words[ends[-1] :]}".strip()
        return rest, accepted if len(accepted) < len(told) else []
    return words, []


def _first_option(text: str, of: _Options, named: re.Pattern[str]) -> Begins | None:
    bare = of.by_name
    text = text[:_READ].lstrip()
    line, _, below = text.partition("\n")
    if _bare(line) in bare:
        return Begins(bare[_bare(line)], len(line))
    letter = RE.option_letter.match(line)
    if letter is None or (not letter["mark"] and not letter["named"] and line[letter.end() :].strip(" .,")):
        found = named.match(line.casefold())  # not a letter: "a" and "I" are words
        return Begins(bare[found["v"]], found.end("v")) if found else None
    if not letter["v"].isascii():
        return None
    if (name := _bare(line[letter.start("v") :])) in bare:  # "Answer: a book"
        return Begins(bare[name], len(line))
    rest = re.split(r"\b(?:because|since|as|not|rather)\b", line[letter.end() :])[0]
    following = chr(ord(letter["v"].lower()) + 1)
    if re.search(rf"^\W{{0,4}}{following}[).]", below, re.MULTILINE | re.IGNORECASE) or re.search(
        rf"(?:^|[\s,;(])(?:[b-z]\)|{following}\. )", rest, re.IGNORECASE
    ):
        return None  # the options repeated, or a list
    if _bare(line[letter.end() :]) in bare:
        return Begins(bare[_bare(line[letter.end() :])], len(line))
    lettered = of.at(chr(ord("a") + int(letter["v"]) - 1) if letter["v"].isdigit() else letter["v"])
    return Begins(lettered[0], letter.end("v")) if lettered else None


_READ = 2_000
"""Characters within which an option must begin and end."""


def _option_claimed(text: str, offered: _Options, options: _Options) -> str | None:
    """Return the option of the last sentence that concludes; else "unknown" if a sentence says that it cannot be told;
    else the only letter or option that is mentioned.
    """
    if declines(text) or all_named(text, [_bare(option) for option in options.options]):
        return None
    main = RE.option_aside.sub(lambda aside: " " if offered.mentioned(aside[0]) else aside[0], text)
    text = main if offered.mentioned(main) else text
    parts = stated(text)
    concluding = [part[found.end() :] for part in parts if (found := RE.option_concludes.search(part))]
    concluding += [found[found.lastgroup or "a"] for part in parts if (found := RE.remains.search(part))]
    named = [only(offered.mentioned(part)) or only(offered.mentioned(part[:_CLOSE])) for part in concluding]
    conclusions = [one for one in named if one]
    if concluding and not conclusions and (letter := RE.letter_left.fullmatch(concluding[-1])):
        conclusions = [*offered.at(letter[1])]
    if conclusions:
        return conclusions[-1]
    if any(cannot_tell(part) is not None or is_silent(part) for part in parts):
        return None if _between_two(parts, options) else UNKNOWN
    if RE.contrasts.search(" ".join(parts[-2:])):
        last = RE.contrasts.split(parts[-1])[-1]
        contrasted = only(offered.mentioned(last)) or only(offered.mentioned(RE.option_quoted.sub(" ", last)))
        if contrasted and not RE.option_negated.search(last):
            return contrasted
    letters = {(said[1] or said[2] or said[3]).lower() for said in RE.letter_said.finditer(text)}
    lettered = only(letter for letter in letters if letter.isascii())
    if lettered and (option := options.at(lettered)):
        return option[0]
    return only(option for part in parts for option in offered.mentioned(part))


_CLOSE = 20
"""Characters after a conclusion such as "is now" within which the chosen place is named, before a former one."""


def _between_two(parts: Sequence[str], options: _Options) -> bool:
    """Whether a sentence considers two options possible ("b or c, I can't tell"), which is more than not being able to
    tell.
    """
    two = options.pattern("two_options")
    found = ((part, two.search(part)) for part in (without_open_question(part).casefold() for part in parts))
    return any(pair and not RE.option_negated.search(part, 0, pair.start()) for part, pair in found)


# One of two responses.

_VALUES = {"1": "1", "2": "2", "a": "1", "b": "2", "one": "1", "two": "2", "first": "1", "second": "2"}
# "Candidate Response 1", "response #2", "Option B", "the first response", "the second one"
# A letter alone needs a bracket or the end of the line, because "a" is a word.
_JUDGED = (RE.is_better, RE.found_better)
_PREDICTED = (RE.will_choose, RE.i_guess, RE.answer_is)


def _first_response(text: str) -> Begins | None:
    match = RE.opens_with_response.match(text)
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
    match = RE.first_line.match(words)
    return [Statement(_VALUES[(match["v"] or match["bare"]).lower()], 0, FIRM)] if match else []


def better_response(text: str, answer_first: bool) -> str | None:
    """Return "1" or "2" from the reply's first words, labels, closing line and judgements; None if it is not clear. If
    the prompt asks for the answer first, a judgement that opens the reply counts as firm.
    """
    words = reply(text)
    markers = (RE.better_is, RE.prefer, RE.answer_is, RE.would, RE.so)
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
