"""The verdict on a case in words, for a reader who does not know the method.

Each sentence has its condition next to it, and the first sentence whose condition holds is used. The words of an
interpreter of numbers or texts have a verdict of their own, because code can be right when they are not,
and the reverse.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from ...parsers import fields
from ...sandbox.rewriting import not_runnable
from ...statistics.comparisons import LEVEL, MARGIN
from ...text.display import count_noun, first_sentence
from ..base.declared import Means
from .case_facts import CHANCE, CaseFacts, UntestedInput
from .evaluate import SUCCESS, ZERO
from .functions.numeric import interval
from .functions.relations import UNDEFINED
from .records import Audit, Ends

Outcome = Literal[
    "found",
    "within the noise",
    "close",
    "missed",
    "not answered",
    "cut",
    "not runnable here",
    "not tested",
    "failed",
    "waiting",
]
"""found: right wherever it was tested; within the noise: as good as the noise allows; close: right in part; not
answered: there is no conclusion; cut: the conclusion was cut before it was complete; not runnable here: the code
needs something that Python has but the sandbox does not; not tested: it could not be compared with the truth.
"""

OUTCOMES: dict[str, Means] = {
    **dict.fromkeys(("found", "right"), "kept"),
    **dict.fromkeys(("close", "missed", "wrong"), "broken"),
    "within the noise": "not settled",
    **dict.fromkeys(("not answered", "cut", "not runnable here", "not tested"), "set aside"),
    "dropped": "failed",
}
"""The mark of each outcome of a case or trial."""


class CaseJudgement(NamedTuple):
    """The judgement of a case: its outcome, and a sentence or two for a reader who does not know the method."""

    outcome: Outcome
    sentence: str


class CaseVerdict(CaseFacts):
    """A case with its outcome and the sentence for it. Both rest on the same conditions, so that a list and the case
    itself never disagree.
    """

    @cached_property
    def judgement(self) -> CaseJudgement:
        """The judgement, cached because it rests on hundreds of points."""
        if self.spec is None or self.score(self.headline) is None:
            judgement = _unfinished(self)
        else:
            by_category = {"numeric": _of_numbers, "strings": _of_texts}
            judgement = _not_judged(self) or by_category.get(self.category, _of_descriptions)(self)
        return judgement._replace(sentence=judgement.sentence + _left_out(self))

    @property
    def outcome(self) -> Outcome:
        """The outcome in a few words."""
        return self.judgement.outcome

    @property
    def is_solved(self) -> bool:
        """Whether the headline figure is the best possible: what the checks do not find may then well not be there."""
        return self.outcome in ("found", "within the noise")


# Not judged


def _unfinished(f: CaseFacts) -> CaseJudgement:
    if f.log.status == "failed":
        return CaseJudgement("failed", "The run stopped before there was anything to judge.")
    if f.lost_to:
        return CaseJudgement("failed", f"There is nothing to judge: {f.lost_to}")
    if f.log.status == "cancelled":
        return CaseJudgement("waiting", "The run was stopped before there was anything to judge.")
    return CaseJudgement("waiting", "Not judged yet.")


def _not_judged(f: CaseFacts) -> CaseJudgement | None:
    """Return why the figure that decides says nothing; None if it does say something."""
    if f.rules == "paper" and f.spec is not None and f.spec.answers == "schema":
        return CaseJudgement("not tested", f"With the original parser nothing can be tested: {fields.NO_PAPER_FIGURE}.")
    if not f.concluded:
        lacks = "gave no conclusion in the requested form, so there is nothing to compare with the truth."
        if f.cut:
            return CaseJudgement("cut", f"The conclusion was {f.cut}, so there is nothing to judge. Allow more tokens.")
        return CaseJudgement("not answered", f"{f.who} {lacks}")
    if f.lacking:
        number, of = f.not_run
        where = f"at {number} of {of} test points" if f.is_numeric else f"on {number} of {of} test texts"
        wants = f"it needs something that our sandbox does not provide ({f.lacking}). Whether it is right is not known."
        return CaseJudgement("not runnable here", f"{f.whose} code could not be run here {where}: {wants}")
    return None


def _left_out(f: CaseFacts) -> str:
    """Return a sentence on the test texts on which the code could not be run, if others count; else an empty string."""
    number, of = f.not_run
    if f.is_numeric or f.lacking or not number or not f.is_scored:
        return ""
    return f" On {number} of {of} test texts it could not be run here; they do not count."


# Numbers


def _of_numbers(f: CaseFacts) -> CaseJudgement:
    not_found = f"{f.who} did not find the function"
    if f.error is not None:
        return _by_error(f, not_found)
    # If the error is undefined because of the function, the interpreter missed nothing.
    of_the_function = f.rules == "paper" and f.reason("nmse").startswith("the function is")
    if f.value("nmse_success") is None or of_the_function:
        return CaseJudgement("not tested", f"This function cannot be scored by a relative error: {f.reason('nmse')}.")
    if f.reason("nmse").startswith(ZERO):
        why = "it is zero on all test points, and the code gives something else"
    elif 0 < f.without_number < len(f.points):
        why = f"the code gives no number on {f.without_number} of {len(f.points)} test points"
    elif f.points and f.without_number == 0:
        why = "the code's error is too large to be computed"
    else:
        untested = "gave no code that returns a number at any test point, so its description could not be tested."
        return CaseJudgement("not tested", f"{f.who} {untested}")
    return CaseJudgement("missed", f"{not_found}: {why}.")


def _by_error(f: CaseFacts, not_found: str) -> CaseJudgement:
    agreed, of, _ = f.agreement
    beyond = (f.floor or 0) >= SUCCESS
    if f.agreement.is_whole:
        points = f"all {of} test points{' where it has any' if of < f.test_points else ''}"
        within = f"the code gives its value at {points}, {f.agreement.within}"
        return _everywhere(f, within, CaseJudgement("found", f"{f.who} found the function: {within}."))
    if f.is_drowned:
        untold = (
            "The function cannot be told apart from its noise: zero everywhere would be as good as the noise allows."
        )
        adds = f"{f.whose} code adds {f.excess:.1g} to the noise's own error of {f.floor:.2g}."
        return CaseJudgement("not tested", f"{untold} {adds}")
    if f.as_good_as_the_noise_allows:
        adds = f"the noise alone makes an error of {f.floor:.2g}, and the code adds {f.excess:.1g} to it."
        more = f" No code could get below the limit of {SUCCESS:g}." if beyond else ""
        judgement = CaseJudgement("within the noise", f"{f.whose} code is as good as the noise allows: {adds}{more}")
        return _everywhere(f, "at the test points the code is as good as the noise allows", judgement)
    error = f"the code's error is {_share(f.error)}"
    if f.excess is not None:
        error = f"beyond the noise, the code's error is {_share(f.excess)}"
    if f.error_of_code < SUCCESS and f.fails_where_nobody_looked:
        return _everywhere(f, f"at the test points {error}", None)
    if f.error_of_code < SUCCESS and f.corrupted is not None and f.is_right_elsewhere:
        right = f"{f.who} {'were' if f.who == 'You' else 'was'} right everywhere except {interval(*f.corrupted)}"
        return CaseJudgement("close", f"{right}, where we altered the function.")
    if f.error_of_code < SUCCESS:
        more = f", and it gives the function's value at {agreed} of {of} test points" if f.excess is None and of else ""
        return CaseJudgement("close", f"{f.who} came close: {error}{more}.")
    more = f" The noise alone is larger than the limit of {SUCCESS:g}: nobody could get below it." if beyond else ""
    return CaseJudgement("missed", f"{not_found}: {error}.{more}")


def _everywhere(f: CaseFacts, there: str, found: CaseJudgement | None) -> CaseJudgement:
    """Judge code that passes the test by whether it is also right elsewhere: at inputs nobody probed, and at those the
    interpreter probed itself. `there` says how good it is on the test; `found` is the judgement if it is right
    everywhere.
    """
    wrong, made = [], sum(one.probed for one in f.elsewhere)
    if not f.holds_where_nobody_looked:
        wrong.append(_where_nobody_looked(f))
    if f.contradicted:
        wrong.append(f"it contradicts {len(f.contradicted)} of {count_noun(made, 'call')} that {f.who.lower()} made")
    if found is not None and not wrong:
        return found
    but = f"{there}, but {' and '.join(wrong)}."
    if f.fails_where_nobody_looked or 2 * len(f.contradicted) >= made > 0:
        return CaseJudgement("missed", f"{f.who} did not find the function: {but}")
    return CaseJudgement("close", f"{f.who} came close: {but}")


def _where_nobody_looked(f: CaseFacts) -> str:
    if not f.is_numeric:
        right, _, of = f.held_out
        return f"it is wrong on {of - right} of {of} texts that nobody probed"
    score = f.score("held_out_nmse")
    if score is None or score.value is None:
        return "at unprobed points it does not always give a number"
    return f"at unprobed points its error is {_share(score.value)}"


def _share(error: float | None) -> str:
    """Return the relative error in words, given the squared relative error."""
    share = (error or 0.0) ** 0.5
    if share >= 10:
        return f"{share:.3g} times the function's size"
    if share >= 0.1:
        return f"{share:.0%} of the function's size"
    return f"{share:.1%} of the function's size" if share >= 0.001 else "less than 0.1% of the function's size"


# Texts


def _of_texts(f: CaseFacts) -> CaseJudgement:
    if not f.is_scored:
        return CaseJudgement("not tested", f"There was nothing to test the code on: {f.reason('exact_match')}.")
    run = " on which it could be run" if f.not_run[0] else ""
    if f.unchanged == f.headline_n:
        alike = f"The function changes none of the {f.headline_n} test texts{run}, so they show nothing."
        return CaseJudgement("not tested", f"{alike} {f.whose} code is right on {f.hits}.")
    if f.hits == f.headline_n:
        right = f"the code gives its output on all {f.headline_n} test texts{run}"
        return _everywhere(f, right, CaseJudgement("found", f"{f.who} found the function: {right}."))
    control = f" (returning every text unchanged: on {f.unchanged})" if f.unchanged else ""
    if f.ceiling is not None and f.ceiling < 1:
        # The lower end of the interval must be above the share that unchanged texts get.
        beats_doing_nothing = f.reach[0] > f.unchanged / f.headline_n
        outcome: Outcome = "close" if f.hits > f.unchanged else "missed"
        if f.hits and f.passed >= f.ceiling and beats_doing_nothing:
            outcome = "found"
        again = f"run again, it agrees with itself on {f.ceiling:.0%} of the test texts"
        right = f"{f.whose} code is right on {f.passed:.0%}{control}."
        return CaseJudgement(outcome, f"The function is random: {again}. {right}")
    if f.hits > f.unchanged:
        part = f"the code is right on {f.hits} of {f.headline_n} test texts{control}."
        return CaseJudgement("close", f"{f.who} found part of it: {part}")
    wrong = f"the code is wrong on all {f.headline_n} test texts{run}."
    if f.hits:
        unchanged = f"returning every text unchanged is right on {f.unchanged}"
        wrong = f"the code is right on {f.hits} of {f.headline_n} test texts, and {unchanged}."
    return CaseJudgement("missed", f"{f.who} did not find the function: {wrong}")


# Words and facts


def _of_descriptions(f: CaseFacts) -> CaseJudgement:
    if not f.is_scored:
        return CaseJudgement("not tested", f"The description was not tested: {f.reason('unit_test')}.")
    picked = (
        f"From the description, the evaluator picked the function's own example in {f.hits} of {f.headline_n} tests"
    )
    if f.ceiling is not None:
        picked += f" (from the true description in {f.ceiling:.0%})"
    again = f" for {f.distinct} different examples" if f.distinct < f.headline_n else ""
    low, high = f.reach
    reach = f"95% interval{again} {low:.2f} to {high:.2f}"
    guessing = f"guessing, which gives one third ({reach})"
    if f.may_be_guessed and f.truth_may_be_guessed:
        rest = f"Neither is distinguishable from {guessing}: this evaluator cannot tell."
        return CaseJudgement("not tested", f"{picked}. {rest}")
    if f.may_be_guessed:
        return CaseJudgement("missed", f"{picked}. That is not distinguishable from {guessing}.")
    if f.passed < CHANCE:
        return CaseJudgement("missed", f"{picked}. That is worse than {guessing}.")
    if unbeaten := f.unbeaten():
        nothing = f"An uninformative description gets {f.control:.0%}"
        if unbeaten == ["seen"]:
            hits, n = f.tests_of("seen")
            nothing = f"A list of the outputs that it saw gets {hits / max(1, n):.0%}"
        if f.unbeaten("truth"):
            rest = "not even the true one is shown to beat that: this evaluator cannot tell."
            return CaseJudgement("not tested", f"{picked}. {nothing}, and {rest}")
        return CaseJudgement("missed", f"{picked}. {nothing}, and this one is not shown to do better.")
    if f.tells_as_much_as_the_truth:
        within = f"to within {MARGIN:.0%} of them (one-sided, {LEVEL:.0%}; {reach})"
        return CaseJudgement("found", f"{picked}. On these tests it tells as much as the true description, {within}.")
    less = "" if f.ceiling is None else "; not shown to tell as much as the true description"
    return CaseJudgement("close", f"{picked}. That is more than {guessing}{less}.")


# What is said of the words: which parts of the function they name, what they leave out or get wrong, and what the
# function did then. Each sentence is next to its condition.


KNOWN_BEFOREHAND = "It had this description before it saw a single output, and never changed it."

_QUOTES = 3
"""The most quotations of a kind that are named."""

_RUNS = 2
"""The most places that are named at which code and function differ."""

_LONGEST = 80
"""The longest text, in characters, that is quoted in full."""


def list_remarks(f: CaseVerdict) -> list[str]:
    """Return what the interpretation leaves out or gets wrong, one sentence each; empty if there is nothing."""
    if f.truth is None or f.audit is None or f.interpretation is None:
        return []
    return [sentence for remarks in REMARKS for sentence in remarks(f, f.audit)]


# Each of these functions yields the remarks of one kind.


def is_known_beforehand(f: CaseVerdict) -> bool:
    """Whether the message with its first call already had the description that it concluded with."""
    first = f.exchanges.get(f.probes[0].round) if f.probes else None
    return bool(first and first.description and first.description == f.described)


def _on_its_calls(f: CaseVerdict, audit: Audit) -> Iterator[str]:
    if is_known_beforehand(f):
        yield KNOWN_BEFOREHAND
    if rounds := f.invented():
        numbers = ", ".join(map(str, rounds))
        yield f"Made up outputs before it had them, in round{'s' if len(rounds) > 1 else ''} {numbers}."
    for text, output in audit.contradicted[:_QUOTES]:
        yield f"Quotes f({text}) = {output}, which is not what it observed."
    for text, output in audit.unseen[:_QUOTES]:
        yield f"Quotes f({text}) = {output}, which it never called."
    if not f.probes and f.spec is not None and f.spec.interpreter != "given":
        yield "Never called the function at all."


def _on_the_corrupted_interval(f: CaseVerdict, audit: Audit) -> Iterator[str]:
    if f.corrupted is None:
        # A function that is known to have no such interval and no noise.
        if f.called_odd and f.is_numeric and not f.noise_kind and _has_known_atoms(f):
            yield f"Claims replaced or random values {_and_more(f.called_odd)}; there are none."
        return
    where = interval(*f.corrupted)
    # The number of calls there; None if no calls are known.
    looked = (audit.in_corruption or 0) if f.probes else None
    if looked == 0:
        yield f"Never probed {where}, where we altered the function."
    if looked and f.concluded and not f.is_you and not f.speaks_of_corrupted:
        often = "once" if looked == 1 else f"{looked} times"
        yield f"Looked {where} {often} and still does not say that values differ there."
    if f.called_odd and looked != 0 and f.overlap < 0.5:
        yield f"Claims {_and_more(f.called_odd)} for the corrupted part, which is {where}."


def _has_known_atoms(f: CaseVerdict) -> bool:
    return f.truth is not None and "atoms" in f.truth.parameters


def _and_more(claimed: Sequence[Ends]) -> str:
    more = len(claimed) - 1
    return interval(*claimed[0]) + (f" and in {more} further interval{'s' if more > 1 else ''}" if more else "")


def _on_noise(f: CaseVerdict, audit: Audit) -> Iterator[str]:
    told, noise = f.noise_told, f.truth.noise if f.truth and f.described and f.noise_kind else ""
    if noise and not told.any and not f.is_you:
        yield f"Does not name the noise: {noise}."
    if noise and told.any and not told.kinds and not f.is_you:
        yield f"Says that there is noise, but not which kind: {noise}."
    if noise and not set(told.kinds) <= {f.noise_kind}:
        yield f"Names {' and '.join(told.kinds)} noise; it is {noise}."
    # The random values of a corrupted interval are normal.
    kinds = [kind for kind in told.kinds if f.corrupted is None or kind != "normal"]
    if kinds and not f.noise_kind and _has_known_atoms(f):
        yield f"Names {' and '.join(kinds)} noise; the function has none."


def _on_numbers(f: CaseVerdict, audit: Audit) -> Iterator[str]:
    is_said = f.is_right_elsewhere or f.is_solved
    if f.is_numeric and f.probes and f.unseen and not is_said:
        yield f"Never looked {' nor '.join(interval(low, high) for low, high in f.unseen)}."
    if f.worst is not None and not is_said:
        x, y, given, _ = f.worst
        true, code = told_apart(y, given or 0.0)
        yield f"Farthest off at x = {x:g}: the function gives {true}, the code {code}."
    if f.contradicted:
        yield f"Saw {_gives(f.contradicted[0], 'f({})')}."
    if f.wrong_where_nobody_looked and not f.holds_where_nobody_looked:
        yield f"At {_gives(f.wrong_where_nobody_looked[0], 'x = {}')}: nobody had looked there."


def _gives(one: UntestedInput, about: str) -> str:
    given, truth = one.given, one.truth
    if isinstance(given, str) or isinstance(truth, str):
        said = "nothing" if given is None else repr(given)
        return f"{about.format(repr(one.input))} = {truth!r}, and the code gives {said}"
    true, said = (f"{truth:.4g}", "no number") if given is None else told_apart(truth, given)
    sign = "=" if one.probed else "the function gives"
    return f"{about.format(one.input)} {sign} {true}, and the code gives {said}"


def told_apart(first: float, second: float) -> tuple[str, str]:
    """Return two numbers with enough digits to see that they differ, at least four; four if they do not differ."""
    digits = next((n for n in range(4, 18) if f"{first:.{n}g}" != f"{second:.{n}g}"), 4)
    return f"{first:.{digits}g}", f"{second:.{digits}g}"


def _on_texts_and_words(f: CaseVerdict, audit: Audit) -> Iterator[str]:
    for text in f.predictions.values() if f.concluded else ():
        if text.repaired != text.truth and not text.misrecorded and not not_runnable(text.failure("repaired")):
            gave = f"fails ({text.error})" if text.repaired is None else f"gives {text.repaired!r}"
            yield f"For {text.input!r} the function gives {text.truth!r}; the code {gave}."
            break
    values = [probe.value for probe in f.probes if probe.value is not None]
    if f.category == "relations" and f.probes and all(probe.problem for probe in f.probes):
        yield "No call gave a value."
    if f.category == "entities" and f.probes and max(values, default=0) < 0.5:
        yield "No word that was tried gave a value above 0.5." if values else "No call gave a value."
    undefined = sum(probe.output == UNDEFINED for probe in f.probes)
    if f.category == "relations" and 0 < len(f.probes) == undefined:
        yield "Every input that was tried gave undefined."
    exception = f.truth.parameters.get("exception") if f.truth else None
    description = f.interpretation.told.repaired if f.interpretation else ""
    if exception and f.concluded and not f.is_you and UNDEFINED not in description.lower():
        seen = "although it saw" if undefined else "and never saw one of"
        yield f"Does not mention the exception (where {exception}), {seen} inputs that give undefined."


REMARKS = (_on_its_calls, _on_the_corrupted_interval, _on_noise, _on_numbers, _on_texts_and_words)
"""In the order in which they are shown."""


# Which parts of a function of numbers or texts they name


def of_words(f: CaseVerdict) -> str:
    """Return the verdict on the description, by the parts it names; an empty string if the first sentence is about the
    description, or there is nothing yet.
    """
    if f.truth is None or not f.concluded or f.category not in ("numeric", "strings"):
        return ""
    words, named = f"{f.whose} description", len(f.parts.present)
    of = named + len(f.parts.absent)
    if not f.described:
        return f"{words}: none, only code."
    if of == 0:
        return f"{words}: our checks cannot judge it. Compare it with the function."
    present, left_out = _listed(f.parts.present), f"Left out{_listed(f.parts.absent)}."
    wrong = f" Named but not there{_listed(f.parts.wrong)}." if f.parts.wrong else ""
    if named == of:
        return (
            f"{words} names {'all ' if of > 1 else ''}{of} part{'s' if of > 1 else ''} of the function{present}.{wrong}"
        )
    if f.is_you:
        ours = f"our checks find {named} of the {of} parts of the function in it{present}."
        return f"{words}: {ours} They may have missed some: compare it with the function.{wrong}"
    if named == 0:
        return f"{words} names no part of the function. {left_out}{wrong}"
    return f"{words} names {named} of the {of} parts of the function{present}. {left_out}{wrong}"


def _listed(parts: tuple[str, ...]) -> str:
    return f": {'; '.join(parts)}" if parts else ""


# The verdict in words: what the interpreter said, and what the function did then


def in_its_words(f: CaseVerdict) -> str:
    """Return what the interpreter said, and what the function did then; an empty string if no short and true sentence
    says it.
    """
    if not f.described or f.outcome in ("failed", "waiting", "within the noise") or f.truth is None:
        return ""
    happened = {"numeric": _points, "strings": _texts}.get(f.category, _examples)(f)
    early = f"{f.who} said so before it saw a single output." if is_known_beforehand(f) else ""
    if not (happened or early):
        return ""
    said = first_sentence(f.described)
    ended = said if said.endswith((".", "!", "?", "…")) else f"{said}."
    return " ".join(filter(None, (f"{f.who} said: {ended}", early, happened)))


def _points(f: CaseVerdict) -> str:
    """Return in which stretches of test points code and function differ; an empty string if noise hides that."""
    if f.floor or not f.gives_numbers or f.not_run[0]:
        return ""
    agreed, of, _ = f.agreement
    if agreed == of:
        return f"{f.whose} code gives the function's value at all {of} test points." if f.outcome == "found" else ""
    if not agreed:
        return f"The function gives something else at each of {count_noun(of, 'test point')}."
    places = " and ".join(f"at {low:g}" if low == high else f"from {low:g} to {high:g}" for low, high in f.apart)
    if len(f.apart) > _RUNS:
        places = f"at {of - agreed} of {of} test points"
    return f"{places[0].upper()}{places[1:]} {f.whose.lower()} code differs from the function."


def _texts(f: CaseVerdict) -> str:
    if f.not_run[0] or not f.is_scored:
        return ""
    wrong = next((one for one in f.tests if one.repaired is not None and one.repaired != one.truth), None)
    if wrong is None:
        same = f"{f.whose} code gives what the function gives, on all {count_noun(f.headline_n, 'test text')}."
        return same if f.outcome == "found" and f.hits == f.headline_n else ""
    given, code, true = (shortened(text) for text in (wrong.input, wrong.repaired or "", wrong.truth))
    return f"For “{given}” {f.whose.lower()} code gives “{code}”; the function gives “{true}”."


def shortened(text: str) -> str:
    """Shorten a text for quoting in a sentence."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _examples(f: CaseVerdict) -> str:
    if not f.is_scored or not f.headline_n:
        return ""
    given = f"Given {f.whose.lower()} description"
    right = f"the function's own example in {f.hits} of {count_noun(f.headline_n, 'test')}"
    return f"{given}, the evaluator picked {right}; guessing gets one in three."
