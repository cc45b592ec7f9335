"""One of several options: those that a question offers, one of two responses, or a label such as a sentiment."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from string import ascii_lowercase

from ..text.reply import LETTERS
from .statements import (
    BOTH,
    FIRM,
    LOOSE,
    RE,
    UNKNOWN,
    Begins,
    First,
    Statement,
    begins_with,
    beyond_question,
    cannot_tell,
    declines,
    one_of,
    only,
    reply,
    sentences,
    settle,
    stands,
    statements_in,
    values,
    without_open,
    without_open_question,
)
from .yes_no import ALONE, TRUE_FALSE, YES_NO, agreed, lead, plain, set_off, simulated
from .yes_no import first as yes_or_no

# Labels: a sentiment, whether a statement follows, whether a question can be answered.
#
# What the reply commits itself to (`statements.py`) counts. If there is nothing, what its sentences claim counts; if
# they differ, the last one, because reasoning comes before its conclusion. If there is no claim either, the only
# label that is mentioned counts.


def committed(words: str, first: First) -> list[Statement]:
    """Return what plain words commit themselves to, including the first words."""
    begins, statements = first(words), list(statements_in(words, first))
    if begins is None and all(one.weight < FIRM for one in statements):
        begins = first(beyond_question(words))
    return [*([Statement(begins.value, 0, FIRM)] if begins else []), *statements]


def all_named(text: str, labels: Iterable[str]) -> bool:
    """Whether one sentence names every label, or each label has its own line: a repetition of the options, not an
    answer.
    """
    labels = list(labels)
    lines = {RE.label_item.sub("", line) for line in re.split(r"[\n|]", text.casefold())}
    return lines.issuperset(labels) or any(
        all(re.search(rf"(?<!\w){re.escape(label)}(?!\w)", sentence) for label in labels)
        for sentence in sentences(text.casefold())
    )


_MOST_SENTENCES = 500
"""Only this many sentences are read, from the end, where the conclusion is."""


def stated(text: str) -> list[str]:
    """Return the last sentences of a text without its questions, unless it consists of questions only."""
    parts = sentences(text)[-_MOST_SENTENCES:]
    return [part for part in parts if not part.endswith("?")] or parts


_OPPOSITE = {"yes": "no", "no": "yes", "positive": "negative", "negative": "positive"}


def _label(text: str, first: First, options: Iterable[str], claims: Callable[[str], str | None]) -> str | None:
    further = list(islice(RE.further_item.finditer(text), 9))
    if len({item["name"] for item in further}) < len(further):  # the model goes on with items of its own
        text = text[: further[0].start()]
    statements = committed(text, first)
    if any(statement.weight > LOOSE for statement in statements):
        value = settle(statements)
        closing = len(text) - len((sentences(text) or [""])[-1])
        sums_up = RE.sums_up.search(text, closing) and all(one.at < closing for one in statements)
        return None if sums_up and _OPPOSITE.get(claims(text[closing:]) or "") == value else value
    if all_named(text, options):
        return None
    value = claims(_undeclined(text)) or settle(statements)
    return None if value == UNKNOWN and declines(text) else value


def _undeclined(text: str) -> str:
    """Remove the sentences that refuse something; the claims of other sentences still count."""
    return "\n".join(part for part in sentences(text) if not declines(part)) if declines(text) else text


def _claimed(parts: Iterable[str], claims: Sequence[tuple[str, re.Pattern[str]]]) -> list[str]:
    """Return what each of the sentences claims: the first value whose pattern it contains, if there is one."""
    values = (next((value for value, says in claims if says.search(part)), None) for part in parts)
    return [value for value in values if value]


# Sentiment.

_TONES = values(positive="positive", negative="negative", neutral="neutral|mixed|ambivalent")
_TONES |= values(unknown="unknown|unclear|undetermined")
_first_tone = begins_with(_TONES, values(positive="pos|👍", negative="neg|👎", neutral="neu"), form="first_tone")


def sentiment(text: str) -> str | None:
    """Return "positive", "negative", "neutral" (also for "mixed") or "unknown"; None if it is not clear."""
    words = RE.listed.sub("", without_open(reply(text), RE.polar))
    words = RE.tone_unreal.sub(" ", words)
    words = RE.leans.sub(lambda tone: f" is {tone['tone']}" if tone.start() else tone["tone"], words)
    words = RE.label_no_other.sub(r" is \g<tone>\g<only>", words)
    words = RE.opposite.sub(
        lambda tone: f" is {'negative' if tone[tone.lastgroup or ''].lower() == 'positive' else 'positive'}", words
    )
    value = _label(words, _first_tone, ("positive", "negative", "neutral", UNKNOWN), _tone_claimed)
    return None if value == UNKNOWN and BOTH in words else value


def _tone_claimed(text: str) -> str | None:
    claims, mentions = [], []
    for sentence in (without_open_question(RE.label_conceded.sub("", part)) for part in stated(text)):
        claim, unknown_at = _tone_of(sentence), cannot_tell(sentence)
        if claim and (unknown_at is None or claim.at < unknown_at or " but " in sentence[unknown_at : claim.at]):
            claims.append(claim.value)
        elif unknown_at is not None or ("sentiment" in sentence and RE.silent.search(sentence)):
            claims.append(UNKNOWN)
        elif RE.both_tones.search(sentence):
            mentions.append("neutral")
        else:
            mentions += [_TONES[word["tone"].lower()] for word in RE.tone_word.finditer(sentence) if not word["not"]]
    return claims[-1] if claims else only(mentions)


def _tone_of(sentence: str) -> Statement | None:
    """Return what the sentence calls the sentiment, the tone or the answer, or else what it says about anything; None
    if it names no tone.
    """
    named = [claim for claim in statements_in(sentence, _first_tone) if claim.at < len(sentence)]
    if named:
        return named[-1]
    if begins := _first_tone(sentence):
        return Statement(begins.value, 0, LOOSE)
    claims = list(RE.tone_claim.finditer(sentence))
    claim = next(
        (one for one in claims if not RE.may.search(sentence, max(0, one.start() - 40), one.start())),
        claims[0] if claims else None,
    )
    return Statement(_TONES[claim[1].lower()], claim.start(), LOOSE) if claim else None


# Entailment.

_VERDICTS = (
    YES_NO
    | TRUE_FALSE
    | values(
        yes="entailment|entailed|entails|correct|supported",
        no="contradiction|contradicted|contradicts|not entailment|no entailment|not entailed|not_entailment"
        "|non-entailment|non_entailment|not_entailed|incorrect|not true|not supported|unsupported",
        unknown="unknown|neutral|undetermined|unclear",
    )
)
_word = begins_with(_VERDICTS, ALONE | {"right": "yes", "wrong": "no"})
_VERDICT_CLAIMS = ((UNKNOWN, RE.claims_unknown), ("no", RE.claims_no), ("yes", RE.claims_yes))
_OPTIONS = {"1": "yes", "2": "no", "3": UNKNOWN}


def _first_verdict(text: str) -> Begins | None:
    """Return the verdict at the beginning of a text: a word, or the number of an option. If they disagree ("2) yes"),
    the word counts. None if there is no verdict, or if the options are only repeated.
    """
    text = re.sub(r"\A\W{0,3}[a-c]\) ", "", text)
    number = RE.option_number.match(text)
    behind_number = number.end() if number else 0
    word = _word(text[behind_number:])
    end = behind_number + word.end if word else behind_number
    if RE.options_again.match(text, end) or (number and RE.options_list.search(text)):
        return None
    if word:
        is_unknown = word.value == "no" and RE.surely_unknown.search(sentences(text)[0])
        return Begins(UNKNOWN if is_unknown else word.value, end)
    # A number stands for an option in "2)", "option 2" and "2" alone, and for an amount in "2 men".
    names_option = number and (number["mark"] or number["named"] or number["alone"] is not None)
    if number and names_option and not RE.numbers_follow.search(text):
        return Begins(_OPTIONS[number["v"]], number.end("v"))
    return None


def _numbered(place: re.Match[str]) -> str:
    """Name an option by its number: "the third option" is "option 3"."""
    told = place["nth"].lower()
    return f"option {1 if told in ('first', '1st') else 2 if told in ('second', '2nd') else 3}"


def entailment(text: str) -> str | None:
    """Return "yes", "no" or "unknown"; None if it is not clear. If a number and a word disagree ("2) yes"), the word
    counts.
    """
    words = RE.label_place.sub(_numbered, plain(text if "{" in text else RE.statement.sub("it", text)))
    value = _label(words, _first_verdict, ("yes", "no", UNKNOWN), _verdict_claimed)
    if value or UNKNOWN in words or committed(words, _first_verdict):
        return value
    return agreed(words) or set_off(words)


def _verdict_claimed(text: str) -> str | None:
    verdicts = [] if text.startswith(BOTH) else _claimed(map(without_open_question, stated(text)), _VERDICT_CLAIMS)
    return verdicts[-1] if verdicts else None


# Ability.

_ABILITY_CLAIMS = (("no", RE.unable_to_answer), ("yes", RE.able_to_answer))


def ability(text: str) -> str | None:
    """Return "yes" or "no", for whether a question can be answered; None if it is not clear."""
    return _label(plain(text), yes_or_no, ("yes", "no"), _able)


def _able(text: str) -> str | None:
    return next(iter(_claimed(sentences(text), _ABILITY_CLAIMS)), None)


# Options that a question offers.


class _Options:
    """The options of a question, by their bare names, and the patterns of these names."""

    def __init__(self, options: Sequence[str]) -> None:
        self.options = options
        self.by_name = {name: option for option in reversed(options) if (name := _bare(option))}
        self.by_name |= _other_forms(self.by_name)
        self.counts = not any(char.isdigit() for option in options for char in option)
        """Whether a number can only stand for an option."""
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


def _other_forms(by_name: Mapping[str, str]) -> dict[str, str]:
    """Return the options by their names without an article, and in the singular or plural if they are one word; without
    forms that several have.
    """
    found: dict[str, set[str]] = {}
    for name, option in by_name.items():
        bare = RE.article.sub("", name)
        forms = {bare}
        if bare.isalpha() and len(bare) > 2:
            forms |= {RE.plural.sub("", bare), bare + "s", _IRREGULAR.get(bare, bare)}
            forms |= {re.sub(one, other, bare) for one, other in _PLURALS}
        for form in forms - by_name.keys() - {UNKNOWN, ""}:
            found.setdefault(form, set()).add(option)
    return {form: one for form, several in found.items() for one in several if len(several) == 1}


_PLURALS = ((r"ves\Z", "f"), (r"ies\Z", "y"), (r"f\Z", "ves"), (r"y\Z", "ies"), (r"(?<=[sxh])\Z", "es"))
_IRREGULAR = {"mice": "mouse", "men": "man", "women": "woman", "children": "child", "geese": "goose"}
_IRREGULAR |= {one: several for several, one in _IRREGULAR.items()}


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
    if (any(no for _, no in verdicts) and 0 < len(accepted) < len(told)) or "\n" in words[
        found[0].start() : found[-1].start()
    ]:
        above = re.sub(r"\b1[.)]\s*\Z", "", words[: found[0].start()])
        rest = f"{above}\n{words[ends[-1] :]}".strip()
        return rest, accepted if len(accepted) < len(told) else []
    return words, []


def _first_option(text: str, of: _Options, named: re.Pattern[str]) -> Begins | None:
    bare = of.by_name
    text = text[:_READ].lstrip()
    line, _, below = text.partition("\n")
    if of.counts and (number := RE.option_digit.match(line)):
        return _numbered_option(line, below, number, of)
    letter = RE.option_letter.match(line)
    if letter and letter["named"] and not letter["mark"] and RE.about_option.match(line, letter.end("v")):
        return None
    if letter is None or (not letter["mark"] and not letter["named"] and line[letter.end() :].strip(" .,")):
        found = named.match(line.casefold())  # not a letter: "a" and "I" are words
        return Begins(bare[found["v"]], found.end("v")) if found else None
    if not letter["v"].isascii():
        return None
    rest = re.split(r"\b(?:because|since|as|not|rather)\b", line[letter.end() :])[0]
    following = chr(ord(letter["v"].lower()) + 1)
    if re.search(rf"^\W{{0,4}}{following}[).]", below, re.MULTILINE | re.IGNORECASE) or re.search(
        rf"(?:^|[\s,;(])(?:[b-z]\)|{following}[.:] )", rest, re.IGNORECASE
    ):
        return None  # the options repeated, or a list
    if _bare(line[letter.end() :]) in bare:
        return Begins(bare[_bare(line[letter.end() :])], len(line))
    lettered = of.at(chr(ord("a") + int(letter["v"]) - 1) if letter["v"].isdigit() else letter["v"])
    return Begins(lettered[0], letter.end("v")) if lettered else None


def _numbered_option(line: str, below: str, number: re.Match[str], of: _Options) -> Begins | None:
    """Return the option whose number the line begins with, unless this is the first item of a list."""
    rest = line[number.end() :]
    is_list = re.search(rf"^\W{{0,4}}{int(number['v']) + 1}[).]", below, re.MULTILINE)
    stands_for = not rest.strip(" .*") or (
        number["mark"] and (RE.gives_reason.match(rest) or _bare(rest) in of.by_name)
    )
    option = of.at(chr(ord("a") + int(number["v"]) - 1))
    return Begins(option[0], number.end("v")) if option and stands_for and not is_list else None


_READ = 2_000
"""Characters within which an option must begin and end."""


def _option_claimed(text: str, offered: _Options, options: _Options) -> str | None:
    """Return the option of the last sentence that concludes; else "unknown" if a sentence says that it cannot be told;
    else the only letter or option that is mentioned.
    """
    if declines(text) or RE.breaks_off.search(text) or all_named(text, map(_bare, options.options)):
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
    if any(cannot_tell(part) is not None or RE.silent.search(part) for part in parts):
        return None if _between_two(parts, options) else UNKNOWN
    if RE.contrasts.search(" ".join(parts[-2:])):
        last = RE.contrasts.split(parts[-1])[-1]
        contrasted = only(offered.mentioned(last)) or only(offered.mentioned(RE.option_quoted.sub(" ", last)))
        if contrasted and not RE.option_negated.search(last):
            return contrasted
    if parts and (closing := _named_at_end(parts[-1], offered)):
        return closing
    letters = {(said[1] or said[2] or said[3]).lower() for said in RE.letter_said.finditer(text)}
    lettered = only(letter for letter in letters if letter.isascii())
    if lettered and (option := options.at(lettered)):
        return option[0]
    return only(option for part in parts for option in offered.mentioned(part)) or _only_capital(text, options)


def _named_at_end(sentence: str, offered: _Options) -> str | None:
    """Return the one option that the last sentence names in its last clause ("..: the one on the left is Faro"), or
    that it puts first ("It was Ada who .."); None if it is denied or doubted.
    """
    at = [0, *(found.end() for found in RE.option_clause.finditer(sentence))][-1]
    clause = cleft[1] if (cleft := RE.option_cleft.match(sentence)) else sentence[at:]
    if (
        RE.option_negated.search(clause)
        or RE.doubted.search(clause)
        or not stands(sentence, at, len(sentence), doubts=True)
    ):
        return None
    names = cleft or RE.option_names.search(clause) or sentence[:at].endswith("= ")
    return only(offered.mentioned(clause)) if names else None


def _only_capital(text: str, options: _Options) -> str | None:
    """Return the option whose letter is the only capital letter that stands alone, as in another language."""
    capital = only(one["v"] for one in RE.capital.finditer(text) if one["v"] != "I")
    option = options.at(capital) if capital and not RE.option_negated.search(text) else ()
    return option[0] if option else None


_CLOSE = 20
"""Characters after a conclusion such as "is now" within which the chosen place is named, before a former one."""


def _between_two(parts: Sequence[str], options: _Options) -> bool:
    """Whether a sentence considers two options possible ("b or c, I can't tell"), which is more than not being able to
    tell.
    """
    two = options.pattern("two_options")
    found = (
        (part, two.search(part))
        for part in (without_open_question(part).casefold() for part in parts)
        if len(set(options.mentioned(part))) < len(options.options) - 1
    )
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
