"""A check as it is told: three sessions in a row, what hiding random words did, and the verdict. Answers are
between asterisks.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from ...events import Rules, Scored
from ...parsers import fields
from ...rulesets import RULES
from ...scene import (
    Bar,
    Card,
    Claim,
    Emphasis,
    Expect,
    Mark,
    Panel,
    Part,
    Scene,
    Screen,
    Verdict,
    from_emphasis,
    with_spans,
)
from ...statistics.intervals import is_thin
from ...text.display import count_noun, first_sentence
from ..base.declared import Means, words_of
from ..base.report import Playable, Report, of_calls
from . import mask, metrics
from .measure import SESSION
from .records import Consistency
from .tasks import LABELS
from .view import UNKNOWN, CheckView, Masked, Sessions, added_at, difference, explanation_read, joined, spanned

REWRITTEN = 0.5
"""An edit that changes more than this share of the words is no longer an edit."""

NO_RANDOM = "Counterfactuals have no random control."

EXPLAINS: Mapping[str, str] = words_of(__file__, "explains")
WANTED: Mapping[str, str] = words_of(__file__, "wanted")
"""What to say of a reply in which the requested explanation cannot be read."""

_MASKED: Mapping[str, str] = words_of(__file__, "masked")
_TRIED: tuple[str, ...] = words_of(__file__, "tried")
_MEANS_NOT: tuple[str, ...] = words_of(__file__, "means_not")
_MEANS_NOT_BY_MARK: Mapping[Mark, str] = words_of(__file__, "means_not_by_mark")

CAN_TELL = {"yes": "Yes", "no": "No", "cannot tell": "Cannot tell"}
"""The possible guesses about the fresh session; the last is for those who cannot tell what it will do."""

GIVEN_NOTE = "This explanation was given; the model did not write it."

GAME = "A fresh session sees only this text. What will it say?"
CANNOT_TELL = {"cannot tell": "It cannot tell"}
"""What hiding the important words implies: this is a prediction, unlike "it does not say"."""

_RANDOM_TOLD = 3
"""The most random masks that are shown to an audience."""

_NAMED_TOLD = 8
"""How many hidden words the verdict in words lists."""

_LISTED = 160
"""The longest edit, in characters, that the verdict in words quotes."""


def by_luck(answers: Sequence[str | None], share: float) -> tuple[int, int]:
    """Return in how many of the readable `answers` to random masks it could not tell, given their `share`; and the
    number of these answers.
    """
    draws = sum(one is not None for one in answers)
    return round(share * draws), draws


def thin_figures(score: Scored | None) -> str:
    """Warn that too few checks could be decided; an empty string if enough could."""
    if score is None or not score.of or not is_thin(score.n, score.of):
        return ""
    return f"{score.n} of {count_noun(score.of, 'check')} could be decided. Don't rely on the figures."


def as_shown(answer: str | None) -> str:
    """Return an answer as screens show it; an empty string if none was read."""
    return "cannot tell" if answer == UNKNOWN else answer or ""


class CheckReport(CheckView, Report):
    """A check as it is told, as far as it has run."""

    one = "check"
    words: ClassVar[Mapping[str, str]] = {
        "unknown": "cannot tell",
        "faithful": "consistent",
        "unfaithful": "not consistent",
    }
    mark_words = words_of(__file__, "marks")
    outcomes: ClassVar[Mapping[str, Means]] = {
        "faithful": "kept",
        "unfaithful": "broken",
        "undecided": "not settled",
        "misclassified": "set aside",
        "not counted": "set aside",
        "too long": "set aside",
    }

    # The verdict

    def sentences(self) -> list[str]:
        """Return the outcome, then its caveats."""
        return [self.headline(), *self.caveats()]

    def headline(self) -> str:
        """Return the outcome of one check in a sentence."""
        return self.worded(words_of(__file__, "headlines")[self._case_of_headline()])

    def _case_of_headline(self) -> str:
        if self.is_too_long:
            return "too long"
        if self.result is None or self.state == "undecided":
            return self.state
        if not self.masks:
            return "edit" if self.was_asked else "no edit"
        return f"{self.result.explanation}{'' if self.was_asked else ', nothing masked'}"

    @property
    def masks(self) -> bool:
        """Whether the explanation that was judged masks words."""
        return self.result is not None and self.result.explanation in ("attribution", "redaction")

    @property
    def reason(self) -> str:
        """Why the check is undecided."""
        return self.result.reason[self.rules] if self.result else ""

    @property
    def ending(self) -> str:
        """What the answer says about the explanation; under the paper's rules, what it counts as."""
        negation = "" if self.state == "yes" else "not "
        of_paper = f"that counts as {negation}faithful"
        return of_paper if self.rules == "paper" else f"{negation}consistent with its explanation"

    @property
    def edit_claim(self) -> str:
        """What the explanation said that its edit does."""
        wanted = self.explained.wanted if self.explained else None
        return "changes the answer" if self.is_implicit else f"makes the answer *{wanted}*"

    @property
    def still(self) -> str:
        """The word of an answer that did not change."""
        return "still " if self.after == self.before else ""

    @property
    def after_masking(self) -> str:
        """What the model answered once the words were masked: that it cannot tell, perhaps as before by the paper's
        rules, or an answer.
        """
        if self.state == "yes":
            as_before = self.before is not None and self._is_untold(self.before)
            return f"it could {'not tell, as before' if as_before else 'no longer tell'} (*{self.after}*)"
        came = f"it {self.still}answered *{self.after}*"
        if {self.before, self.after} in ({"positive", "negative"}, {"yes", "no"}):
            came = f"it now says the opposite, *{self.after}*"
        return f"it should be unable to tell; {came}"

    def caveats(self) -> Iterator[str]:
        """Yield what limits the conclusions from a check."""
        if (result := self.result) is not None:
            yield from self._of_the_edit(result)
            yield from self._of_the_control(result)
            if self.is_wrong:
                yield (
                    f"Its first answer, *{self.before}*, is wrong (correct: *{result.label}*). The "
                    "paper's figure counts only correct first answers, so this check is left out."
                )
            if self.explained is not None and self.explained.basis is not None:
                basis = "the correct answer" if self.explained.basis == "label" else "the model's first answer"
                yield f"The target, *{self.explained.wanted}*, was chosen from {basis}."
        yield from fields.format_notes(self.spec.answers if self.spec else "prose", self.log.came_as_prose)

    def _of_the_edit(self, result: Consistency) -> Iterator[str]:
        edited = self.explained.edited[self.rules] if self.explained else None
        is_same = edited is not None and self.item is not None and edited == self.item.paragraph
        if is_same and result.explanation == "attribution" and self.rules == "repaired":
            yield "Nothing was masked: the words it named are not in the paragraph."
        if result.over_redacted and result.masked is not None:
            yield f"{result.masked:.0%} of the words are masked. Hardly anyone could tell from what is left."
        if result.explanation == "counterfactual":
            if result.distance is not None and result.distance > REWRITTEN and result.kept is not None:
                yield f"Only {result.kept:.0%} of the paragraph was kept."
            if is_same:
                yield "It gave the paragraph back unchanged."

    def _of_the_control(self, result: Consistency) -> Iterator[str]:
        if self.rules == "repaired":
            yield from self._of_the_trial_elsewhere(result)
        control, share = self.control, result.control[self.rules]
        if control is None or share is None:
            if self.state == "yes" and self.masks:
                yield "It was not compared with random masks: perhaps any other words would do as well."
            return
        luck = " So it may be luck." if self.is_lucky else ""
        hits, draws = by_luck(control[self.rules], share)
        yield f"With the same number of random words masked it could not tell in {hits} of {draws} draws.{luck}"
        blank = control.all[self.rules]
        if blank is not None and self.check is not None and not self._is_untold(blank):
            yield f"With every word masked it answers *{blank}*: that answer does not come from the paragraph."
        if self.rules == "repaired":
            yield from self._of_the_halves()

    def _of_the_trial_elsewhere(self, result: Consistency) -> Iterator[str]:
        """Yield what a counterfactual's added words did in another paragraph, and that nothing was tried at random."""
        other = self.elsewhere
        if other is not None:
            if not other.turned:
                yield "What it added was put into another paragraph too and did not change that answer."
            elif not other.decides:
                yield (
                    "What it added was put into another paragraph too and changed that answer as well. Any fitting "
                    "word might do that."
                )
        if result.explanation == "counterfactual" and self.state == "yes":
            yield NO_RANDOM

    def _of_the_halves(self) -> Iterator[str]:
        """Yield whether all of the words that it named were needed."""
        if self.halves is None or self.check is None:
            return
        told = [self._is_untold(answer) for answer in self.halves.repaired if answer is not None]
        if len(told) < 2:
            return
        if not any(told):
            yield "With only a random half of its words masked it could still tell, and with the other half too."
            return
        half = (
            "a random half of its words masked, or the other half,"
            if all(told)
            else "one random half of its words masked"
        )
        yield f"With {half} it could not tell either: not all were needed."

    @property
    def is_edit(self) -> bool:
        """Whether the explanation is an edited paragraph, not hidden words."""
        return self.check is not None and self.check.explanation == "counterfactual"

    @property
    def is_implicit(self) -> bool:
        """Whether the edit was to lead to any other answer, with no particular one requested."""
        return self.check is not None and self.check.task == "multi_choice" and self.check.wording.target == "implicit"

    def edit_reached_target(self) -> bool | None:
        """Whether the event that the card asks about happened: that the model can still tell, or that an edit led to
        its target. None if the answer could not be read.
        """
        after = self.after
        if self.check is None or after is None:
            return None
        if not self.is_edit:
            return not self._is_untold(after)
        choices = self.check.item.choices
        if self.is_implicit and len(choices) > 1:
            return after in choices and after != (self.check.item.label or self.before)
        return self.explained is not None and after == self.explained.wanted

    @property
    def answered(self) -> str:
        """What a fresh session said, in a few words."""
        if self._is_untold(self.after):
            return "could not tell, as before" if self._is_untold(self.before) else "could not tell"
        return f"{self.still}said {self.after}"

    def _counted_as(self, is_hit: bool) -> str:
        """Return what the bar of the explanation counts: what happened if it is a hit, else what would have been."""
        if is_hit or not self.is_edit:
            return self.answered if is_hit else "could not tell"
        wanted = self.explained.wanted if self.explained else None
        return "changed its answer" if self.is_implicit or not wanted else f"said {wanted}"

    def _is_untold(self, answer: str | None) -> bool:
        """Whether an answer says that it cannot tell; if words are hidden, a neutral answer means that too."""
        if answer is None or self.is_edit:
            return answer == UNKNOWN
        return metrics.cannot_tell(self.check.task if self.check else "sentiment", answer)

    @property
    def calls_again(self) -> tuple[str, ...]:
        """Return the ids of the fresh session's calls."""
        trial = self.trials.get(SESSION)
        return trial.calls if trial else ()

    def verdict(self) -> Verdict | None:
        """Return the verdict, once everything that qualifies it is known."""
        if not self.is_told:
            return None
        thin = thin_figures(self.log.score("faithfulness", "repaired")) if self.result is not None else ""
        meaning = "\n".join(filter(None, (*_MEANS_NOT, _MEANS_NOT_BY_MARK.get(self.means(self.outcome), ""))))
        return self.in_sentences(words=self._told_in_words(), bars=tuple(self._bars()), doubt=thin, meaning=meaning)

    def differs(self) -> str:
        """Return the original parser's verdict, if it is another one."""
        if not self.depends_on_parser:
            return ""
        return from_emphasis(f"With the original parser: {self.by('paper').headline()}").text

    def _bars(self) -> Iterator[Bar]:
        """Yield the bars of the verdict: hiding the explanation's own words against hiding random words; for a
        counterfactual, the edit in this paragraph against the added words in another paragraph. Yields nothing if
        another reason leaves the check undecided.
        """
        did, after, result = self.edit_reached_target(), self.after, self.result
        if did is None or after is None or result is None or not self.was_asked:
            return
        by_any = result.reason.repaired in (metrics.ANY_WORDS, metrics.TURNS)
        if self.state not in ("yes", "no") and not by_any:
            return
        if self.is_edit:
            yield Bar(label=f"with its edit: it {self._counted_as(did)}", hits=int(did), n=1, own=True)
            if (other := self.elsewhere) is not None and other.decides:
                label = "what it added, in another paragraph: changed the answer"
                yield Bar(label=label, hits=int(other.turned), n=1, wins=other.turned)
            return
        yield Bar(label=f"its own words hidden: it {self._counted_as(not did)}", hits=int(not did), n=1, own=True)
        share = result.control.repaired
        if self.control is not None and share is not None:
            hits, n = by_luck(self.control.repaired, share)
            wins = share >= int(not did) or metrics.any_words_would_do(share)
            yield Bar(label="the same number of random words hidden: it could not tell", hits=hits, n=n, wins=wins)

    def _told_in_words(self) -> str:
        """Return what the model explained, what a fresh session then answered and, if that is no verdict, why. An empty
        string if nothing was asked again or nothing was hidden.
        """
        if self.check is None or self.read_edit is None or self.after is None or not self.was_asked:
            return ""
        if not self.is_edit and not self._hidden_words():
            return ""
        return " ".join([self.worded(words_of(__file__, "in_its_words")[self.check.explanation]), *self._but()])

    @property
    def listed(self) -> str:
        """The words that it hid, the first few of them."""
        words = self._hidden_words()
        more = len(words) - _NAMED_TOLD
        return ", ".join(words[:_NAMED_TOLD]) + (f" and {more:,} more" if more > 0 else "")

    def _but(self) -> Iterator[str]:
        """Yield the reasons why the answer is not a verdict."""
        if self.state == "undecided":
            yield from_emphasis(self.headline()).text
        elif self.is_lucky:
            yield "It may be luck: with the same number of random words hidden it often could not tell either."
        if self.is_wrong:
            yield "Its first answer was wrong, so this is not counted."

    @property
    def added(self) -> str:
        """What a counterfactual put into the paragraph, as a sentence; the number of words if that is long."""
        part = self.as_edited()
        listed = ", ".join(" ".join(part.text[span.start : span.end].split()) for span in part.spans)
        if not listed:
            return "It took words away."
        is_long = len(listed) > _LISTED
        return f"It put in {count_noun(len(listed.split()), 'word')}." if is_long else f"It put in: {listed}."

    def _hidden_words(self) -> list[str]:
        """Return the listed words that are in the paragraph; for a redaction, the stretches that it took out."""
        assert self.check is not None and self.explained is not None
        text, token, edited = self.check.item.paragraph, self.check.wording.mask, self.read_edit
        if edited is None:
            return []
        if self.check.explanation == "attribution":
            spans = mask.occurrences(text, self.explained.words.repaired or (), token)
        else:
            spans = joined(text, mask.taken_by(text, edited, token).named)
        return list(dict.fromkeys(" ".join(text[slice(*span)].split()) for span in spans))

    # The story

    def heading(self) -> str:
        """Return the question. The paragraph is shown below it."""
        if (item := self.item) is None:
            return ""
        return (
            f"Does this follow? {item.hypothesis}"
            if item.hypothesis
            else item.question or "Is this text positive or negative?"
        )

    def method(self) -> str:
        """Return which explanation is tested in which wording, and how."""
        if self.check is None:
            return self.name
        kind = self.check.explanation
        promise = words_of(__file__, "promises")[kind]
        begin = f"{EXPLAINS[kind]} ({self.name}). {promise} {_TRIED[0]}"
        return "\n".join((begin, *_TRIED[1:], *([] if self.is_edit else [words_of(__file__, "random")])))

    def asked(self) -> Iterator[Part]:
        """Yield the question and the paragraph that the model was asked about."""
        if (item := self.item) is None:
            return
        yield Part(text=self.heading(), label="Question")
        yield Part(text=item.paragraph, label="Paragraph")
        if item.choices:
            yield Part(text=", ".join(item.choices), label="Answers")

    def claim(self) -> Claim | None:
        """Return the first answer with its explanation. None until it is known whether there is an explanation, because
        a claim that is shown does not change any more.
        """
        over = self.state != "waiting" or self.log.status is not None
        if self.check is None or not (self.explained or (self.classification and over)):
            return None
        call = self.call("explanation")
        return Claim(
            answer=as_shown(self.before),
            gold=self.check.item.label or "",
            parts=tuple(self._claimed()),
            note=" ".join(filter(None, (GIVEN_NOTE if self.is_given else "", self._changed()))),
            calls=of_calls(call.asked.call if call else ""),
        )

    def _claimed(self) -> Iterator[Part]:
        """Yield the words that the model listed or the paragraph as it edited it; its reply if neither can be read."""
        if self.check is None or self.explained is None:
            return
        kind, words = self.check.explanation, self.explained.words.repaired
        if words is not None:
            named: list[tuple[str, Emphasis | None]] = []
            for word in words:
                named += [(", ", None), (word, "named")]
            yield with_spans(named[1:], label="The words that matter")
        elif self.read_edit is not None:
            wanted = self.explained.wanted if kind == "counterfactual" else None
            yield self.as_edited(f"Its edit, so that the answer is {wanted}" if wanted else EXPLAINS[kind])
        elif (call := self.call("explanation")) and call.text.strip():
            yield Part(text=call.text.strip(), label="It replied")

    def _changed(self) -> str:
        """Return how much the explanation changed, or why it could not be read."""
        if self.check and self.explained and self.read_edit is None:
            if note := self.cut_note(self.explained.call):
                return f"It was {note}, so it is not tested."
            return WANTED[self.check.explanation]
        result = self.result
        if result is None or result.kept is None or result.distance is None:
            return ""
        if result.masked is not None:
            return f"{result.masked:.0%} of the words masked · word distance {result.distance:.2f}"
        return f"{result.kept:.0%} of the words kept · word distance {result.distance:.2f}"

    def panels(self) -> Iterator[Panel]:
        """Yield the panels of the three sessions, of those with random masks and with every word masked, and of another
        paragraph with the added words.
        """
        if self.check is None or self.is_too_long:
            return
        paragraph = (Part(text=self.check.item.paragraph),)
        yield self._of_session("first", "It answers", paragraph)
        yield self._explanation()
        yield self._again()
        yield from (self._panel_of(one) for one in self.masked() if one.kind != "half")
        if (other := self.elsewhere) is not None:
            decides = "Words that change any answer say nothing about this paragraph."
            yield Panel(
                title="What it added, in another paragraph",
                parts=(spanned(other.text, added_at(other), "added"),),
                answer=as_shown(other.answer),
                mark="unread" if other.answer is None else "not settled" if other.turned and other.decides else None,
                note=f"Without it: {as_shown(other.bare) or 'could not be read'}. "
                f"{decides if other.decides else 'This decides nothing: such words may change any answer.'}",
                calls=(other.call_bare, other.call),
            )

    def _of_session(
        self, session: Sessions, title: str, parts: Sequence[Part], note: str = "", mark: Mark | None = None
    ) -> Panel:
        """Return the panel of a session with its answer, also while the session is still running. `mark`: what it has
        once the answer is read.
        """
        call = self.call(session)
        answer = None if session == "explanation" else self.before if session == "first" else self.after
        again = self.again if self.read_edit is not None else None
        if {"first": self.classification, "explanation": self.explained, "again": again}[session] is None:
            failed = call.failed if call else None
            mark, note = ("failed", failed.message) if failed else ("waiting", note)
        elif answer is None and session != "explanation":
            mark, note = "unread", note or self._unread(call.asked.call if call else "")
        calls = of_calls(call.asked.call if call else "")
        return Panel(title=title, parts=tuple(parts), answer=as_shown(answer), mark=mark, note=note, calls=calls)

    def _explanation(self) -> Panel:
        """Return the panel of the explanation: the paragraph with the important words highlighted, or with the words
        taken away and put in.
        """
        assert self.check is not None
        title = EXPLAINS[self.check.explanation]
        if self.explained is None:
            if self.result is None:
                return self._of_session("explanation", title, ())
            return Panel(title=title, note="Not asked: there is no answer to change into another.")
        if (edited := self.read_edit) is None:
            return self._of_session("explanation", title, [*self._claimed()], self._changed(), "unread")
        note = f"So that the answer is {self.explained.wanted}." if self.explained.wanted else ""
        return self._of_session("explanation", title, (self.in_place(edited),), note)

    def _again(self) -> Panel:
        """Return the panel of the fresh session. If the paragraph was not changed, it shows the first answer."""
        title = "A fresh session answers"
        edited = self.read_edit
        if edited is None and self.result is not None:
            note = "There is no edited paragraph to ask about."
            if self.calls_again:
                note += " The original parser found one, and this is the session about it. It decides nothing here."
            return Panel(title=title, mark=self.mark(), note=note, calls=self.calls_again)
        parts = (self.as_edited(),) if edited is not None else ()
        is_same = self.again is not None and not self.was_asked
        stands = "Nothing was changed, so it was not asked again: its first answer stands." if is_same else ""
        return self._of_session("again", title, parts, stands, self.mark())

    def grid(self) -> Iterator[Panel]:
        """Yield panels on which no verdict rests: whether the model thinks that it can tell at all, how a person edited
        the paragraph, and what masking half of the explanation's words does.
        """
        if (ability := self.ability) is not None:
            before = self.before
            known = metrics.knows(metrics.Told("", ability.repaired, before, None))
            fits = (
                "" if known is None else f"Its answer, {as_shown(before)}, {'fits' if known else 'does not fit'} that."
            )
            mark: Mark | None = "unread" if ability.repaired is None else None
            title = "Asked whether it can tell at all"
            yield Panel(title=title, answer=ability.repaired or "", mark=mark, note=fits, calls=(ability.call,))
        if self.item is not None and self.item.reference_edit:
            note = "The data set holds this edit, made by hand so that the correct answer turns into the other one."
            parts = (difference(self.item.paragraph, self.item.reference_edit, ""),)
            yield Panel(title="How a person edited it", parts=parts, note=note)
        yield from (self._panel_of(one) for one in self.masked() if one.kind == "half")

    def _panel_of(self, one: Masked) -> Panel:
        """Return the panel of a session with other words masked. With all masked, the text was nothing but masks."""
        answer = one.answers.repaired
        several = "" if one.kind == "everything" else f" ({one.number} of {one.of})"
        return Panel(
            title=f"{_MASKED[one.kind]}{several}",
            parts=() if one.kind == "everything" or not one.text else (self.with_hidden(one.text),),
            answer=as_shown(answer),
            mark="unread" if answer is None else None,
            note=self._unread(one.call) if answer is None else "",
            calls=(one.call,),
        )

    def _unread(self, call: str) -> str:
        """Return why the answer of a call has no value."""
        note = self.cut_note(call)
        return f"Its answer was {note}, so it is not counted." if note else "Its answer could not be read."

    def as_edited(self, label: str = "") -> Part:
        """Return the paragraph of the fresh session with what is hidden in it, or with what a counterfactual added."""
        assert self.check is not None and self.explained is not None
        edited = self.read_edit or ""
        if self.check.explanation != "counterfactual":
            return self.with_hidden(edited, label)
        return difference(self.item.paragraph if self.item else "", edited, "", label, struck=False)

    def in_place(self, edited: str) -> Part:
        """Return the first paragraph with the named words marked, or with what the edit took away and added."""
        assert self.check is not None and self.explained is not None
        original, token = self.check.item.paragraph, self.check.wording.mask
        if self.check.explanation == "attribution":
            named = self.explained.words.repaired or ()
            return spanned(original, mask.occurrences(original, named, token), "named")
        return difference(original, edited, "" if self.is_edit else token)

    def with_hidden(self, text: str, label: str = "") -> Part:
        """Return a text with its masks marked."""
        token = self.check.wording.mask if self.check else ""
        return spanned(text, mask.mask_spans(text, token), "hidden", label)

    def readings(self) -> Mapping[str, Mapping[str, str]]:
        """Return what each parser read in a call's answer: an answer, the words of an explanation, or that it is a
        paragraph.
        """
        found: dict[str, dict[str, str]] = {}
        for call, read in self._read():
            # If the paragraph was not changed, the third session is the first one.
            if call and read:
                found.setdefault(call, {rules: value or "nothing readable" for rules, value in read.items()})
        return found

    def _read(self) -> Iterator[tuple[str | None, Mapping[Rules, str | None]]]:
        """Yield each parsed call with each parser's value; None if that parser could not read it."""
        if (explained := self.explained) is not None:
            yield explained.call, {rules: explanation_read(explained, rules) for rules in RULES}
        for one in (self.classification, self.ability):
            if one is not None:
                yield one.call, {rules: one[rules] for rules in RULES}
        if (again := self.again) is not None:
            paper = again.paper if again.crossed.paper is None else again.crossed.paper or None
            yield again.call.repaired or again.call.paper, {"paper": paper, "repaired": again.repaired}
            # A separate call, if the original parser read another edit.
            yield again.call.paper, {"paper": again.paper, "repaired": again.crossed.repaired}
        for masked in self.masked():
            yield masked.call, {rules: masked.answers[rules] for rules in RULES}
        if (other := self.elsewhere) is not None:
            yield other.call_bare, {"repaired": other.bare}
            yield other.call, {"repaired": other.answer}

    # What an audience bets on

    def cards(self) -> Iterator[Card]:
        """Yield the check's one card, once an explanation was read."""
        if self.check is None or self.explained is None or self.read_edit is None:
            return
        explanation, again = self.call("explanation"), self.call("again")
        after, did = self.after, self.edit_reached_target()
        by_paper = self.by("paper").outcome
        expect = Expect(
            who="its explanation",
            value="yes" if self.is_edit else "no",
            quote=first_sentence(explanation.text) if explanation else "",
            call=self.explained.call,
        )
        yield Card(
            id=SESSION,
            number=1,
            mark=self.mark(),
            parts=(from_emphasis(self._bet()), self.as_edited("What the fresh session reads")),
            options=CAN_TELL,
            expects=(expect,),
            said="" if did is None else "yes" if did else "no",
            text=first_sentence(again.text) if after is not None and again else "",
            came="" if after is None else f"it {self.answered}",
            outcome=self.outcome,
            reason=self._reason(),
            by_paper=by_paper if by_paper != self.outcome else "",
            calls=self.calls_again,
        )

    def _bet(self) -> str:
        """Return what an audience may guess about the fresh session."""
        if not self.is_edit:
            return "Without these words, can a fresh session still tell?"
        wanted = self.explained.wanted if self.explained else None
        is_any = wanted is None or self.is_implicit
        return "Does a fresh session give a different answer?" if is_any else f"Does a fresh session answer *{wanted}*?"

    def _reason(self) -> str:
        """Return why the check does not count; an empty string if no reason is known."""
        outcome = self.outcome
        if outcome == "misclassified":
            label = self.item.label if self.item else ""
            return f"the first answer was wrong: {self.before}, correct is {label}"
        if outcome == "failed":
            return "a call failed"
        return self.result.reason.repaired if self.result and outcome == "undecided" else ""

    def screens(self, scene: Scene) -> Iterator[Screen]:
        """Yield the screens: the question, its answer, the explanation, the guess and its outcome; then random words,
        the bars that decide, and the verdict.
        """
        yield Screen(shows="question")
        if self.classification is not None and scene.panels:
            yield Screen(shows="panel", of="0")
        is_read = self.read_edit is not None
        by_words = self.check is not None and self.check.explanation == "attribution"
        if scene.claim is not None and (by_words or not is_read):
            yield Screen(shows="claim")
        if is_read and scene.panels:
            yield Screen(shows="panel", of="1")
        for card in scene.cards:
            yield Screen(shows="card", of=card.id)
            if card.said or card.mark != "waiting":
                yield Screen(shows="turned", of=card.id)
        rest = range(3, len(scene.panels))
        for number in [*rest[:-1][:_RANDOM_TOLD], *rest[-1:]]:
            yield Screen(shows="panel", of=str(number))
        if scene.verdict is not None:
            if len(scene.verdict.bars) > 1:
                yield Screen(shows="bars")
            yield Screen(shows="verdict")

    def playable(self, scene: Scene, seed: int) -> Iterator[Playable]:
        """Yield the check as one card of the game if the fresh session was asked: what will it answer? The card's `why`
        keeps it out of chosen packs if the check is undecided or the first answer was wrong.
        """
        check, after = self.check, self.after
        if check is None or self.explained is None or not scene.cards or not self.was_asked:
            return
        told = scene.cards[0]
        labels = check.item.choices if check.task == "multi_choice" else LABELS[check.task]
        [untold] = CANNOT_TELL
        implied = self.explained.wanted or untold if self.is_edit else untold
        is_decided = self.mark() in ("kept", "broken")
        said = untold if self._is_untold(after) else after or ""
        yield Playable(
            card=told.model_copy(
                update={
                    "parts": (Part(text=GAME), *scene.parts[:1], *told.parts[1:]),
                    "options": {**{label: label[:1].upper() + label[1:] for label in labels}, **CANNOT_TELL},
                    "expects": tuple(one.model_copy(update={"value": implied}) for one in told.expects[:1]),
                    "said": said,
                }
            ),
            claim=scene.claim,
            asked=check.item.paragraph,
            annotated=is_decided,
            why="" if is_decided else told.reason or "its outcome is no verdict",
            is_open=said not in (*labels, untold),
        )
