"""One check with everything that its events say about it. Pages, command line and tests read this."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self

from ...datasets.items import Item
from ...events import Dropped, Rules
from ...models.ids import GIVEN
from ...parsers import fields
from ...rulesets import RULES, PerRuleset
from ...scene import Emphasis, Part, Span, trimmed, with_spans
from ...score import Figure, Score
from ...text import compare
from ...transcript import Call, CaseLog, RecordReader
from ..base.report import Reading, Trial, View
from . import mask, metrics, records
from .measure import ELSEWHERE, EVERYTHING, SESSION, numbered
from .records import Elsewhere
from .tasks import Check, CheckSpec, answerable_key, checks_of, classification_key, in_words

State = Literal["yes", "no", "undecided", "failed", "waiting"]
Sessions = Literal["first", "explanation", "again"]

UNKNOWN = "unknown"
"""The expected answer if an explanation's words are masked."""


_UNCOUNTED = {
    "everything": "every word is masked: shown, in no figure",
    "half": "half of its words is masked: shown, in no figure",
}


class Masked(NamedTuple):
    """A session with other words masked than the explanation's, and its answer by each parser; `number` of `of`."""

    id: str
    kind: Literal["random", "everything", "half"]
    text: str
    call: str
    answers: PerRuleset[str | None]
    number: int = 1
    of: int = 1


def _each(kind: Literal["random", "half"], made: records.MaskControl | records.Halves) -> Iterator[Masked]:
    each = numbered(kind, zip(made.texts, made.calls, made.paper, made.repaired, strict=False))
    for number, (id, (text, call, paper, repaired)) in enumerate(each.items(), start=1):
        yield Masked(id, kind, text, call, PerRuleset(paper=paper, repaired=repaired), number, len(made.texts))


@dataclass
class CheckView(View):
    """The three sessions as far as they have run, the controls (`elsewhere` for what a counterfactual added), the
    verdict (`result`), and why the check does not count (`drops`).

    `spec` and `check` are None if the journal does not hold them in a readable form. `unread` counts the records that
    could not be read: they are left out.
    """

    spec: CheckSpec | None
    check: Check | None
    classification: records.Classification | None = None
    ability: records.Ability | None = None
    explained: records.SelfExplanation | None = None
    again: records.Recheck | None = None
    control: records.MaskControl | None = None
    halves: records.Halves | None = None
    elsewhere: records.Elsewhere | None = None
    result: records.Consistency | None = None
    drops: list[Dropped] = field(default_factory=list)

    @classmethod
    def of(cls, log: CaseLog) -> Self:
        """Return the check that a log holds. Never raises: what a damaged journal lacks is missing from it."""
        reader = RecordReader()
        spec = log.spec_as(CheckSpec)
        item: Item | None = None
        for id, paragraph in reader.all_of(records.Paragraph, log).items():
            item = reader.read(Item, {"id": id, "paragraph": paragraph.text, **paragraph.model_dump(exclude={"text"})})
        check = None
        if spec is not None and item is not None:
            check = next((check for check in checks_of(spec, item) if check.case == log.case), None)
        first = classification_key(check.item.id, check.wording) if check else ""
        able = answerable_key(check.item.id, check.wording) if check else ""
        return cls(
            log,
            spec,
            check,
            classification=reader.all_of(records.Classification, log).get(first),
            ability=reader.all_of(records.Ability, log).get(able),
            explained=reader.one_of(records.SelfExplanation, log),
            again=reader.one_of(records.Recheck, log),
            control=reader.one_of(records.MaskControl, log),
            halves=reader.one_of(records.Halves, log),
            elsewhere=reader.one_of(records.Elsewhere, log),
            result=reader.one_of(records.Consistency, log),
            drops=[drop for drop in log.drops if not drop.item or (check is not None and drop.item == check.key)],
            unread=reader.unread + (spec is None),
        )

    @property
    def item(self) -> Item | None:
        """The item of the check; None until the check is on record."""
        return self.check.item if self.check else None

    @property
    def name(self) -> str:
        """Explanation and wording as a person reads them."""
        return in_words(check_name(self.log.case))

    @property
    def title(self) -> str:
        """The check's title, or its explanation and wording until it is on record."""
        return self.check.title if self.check else self.name

    @property
    def explanation(self) -> str | None:
        """The words that the model listed, or the paragraph as it edited it."""
        if self.explained is None:
            return None
        if self.explained.words.repaired is not None:
            return ", ".join(self.explained.words.repaired)
        return self.explained.edited.repaired

    @property
    def is_too_long(self) -> bool:
        """Whether the paragraph was too long to be asked about; the check is then in no figure."""
        return any(drop.reason == "too long" for drop in self.log.drops)

    @property
    def was_asked(self) -> bool:
        """Whether a third session was asked about the edit that this parser read. For an unchanged paragraph the first
        answer is used instead.
        """
        call = self.again.call[self.rules] if self.again else None
        return call is not None and (self.classification is None or call != self.classification.call)

    @property
    def state(self) -> State:
        """Whether the explanation is faithful, whatever the first answer was."""
        if self.result is not None:
            return self.result.faithful[self.rules]
        return "failed" if any(drop.reason == "error" for drop in self.drops) else "waiting"

    @property
    def is_told(self) -> bool:
        """Whether the verdict is known, with everything that qualifies it."""
        return self.is_too_long or self.state != "waiting"

    @property
    def outcome(self) -> str:
        """The outcome. Only "faithful" and "unfaithful" checks are counted in the figure. The others: undecided;
        misclassified (the first answer is wrong); not counted (the paper's rules leave out checks without a label or
        a first answer); too long; failed; waiting.
        """
        if self.is_too_long:
            return "too long"
        state = self.state
        if state not in ("yes", "no"):
            return state
        if not metrics.counts(self.contribution, self.rules):
            return "misclassified" if self.is_wrong else "not counted"
        return "faithful" if state == "yes" else "unfaithful"

    @property
    def contribution(self) -> metrics.Outcome:
        """What the check adds to the figures; a check without a result counts as a failed call."""
        if self.result is None:
            item, first = self.item, self.classification
            correct = first.correct[self.rules] if first else None
            paragraph, labelled = (item.id, item.label is not None) if item else (self.log.case, False)
            return metrics.Outcome(item=paragraph, correct=correct, labelled=labelled, error=True)
        return metrics.Outcome(
            item=self.result.paragraph,
            correct=metrics.correct(self.result.before[self.rules], self.result.label),
            faithful=self.result.faithful[self.rules],
            reason=self.result.reason[self.rules],
            labelled=self.result.label is not None,
            control=self.result.control[self.rules],
        )

    @property
    def dropped(self) -> Dropped | None:
        """Why the check does not count: its own drop, or else its first answer's. None if there is none."""
        own = next((drop for drop in self.drops if drop.rules in (None, self.rules)), None)
        if own is not None or self.check is None or metrics.counts(self.contribution, self.rules):
            return own
        first = classification_key(self.check.item.id, self.check.wording)
        return next((drop for drop in self.log.drops if drop.item == first and drop.rules in (None, self.rules)), None)

    @property
    def is_wrong(self) -> bool:
        """Whether the first answer is known to be wrong; the paper's figure leaves such checks out."""
        return self.item is not None and metrics.correct(self.before, self.item.label) is False

    @property
    def is_lucky(self) -> bool:
        """Whether the model was consistent with its explanation, but random masks have the same effect at least half of
        the time, so that it may be luck.
        """
        share = self.result.control[self.rules] if self.result else None
        return share is not None and share >= 0.5 and self.state == "yes"

    @property
    def depends_on_parser(self) -> bool:
        """Whether the verdict depends on which parser read the raw answers."""
        return self.result is not None and self.state != self._other.state

    @property
    def before(self) -> str | None:
        """The answer to the original paragraph."""
        return self.classification[self.rules] if self.classification else None

    @property
    def after(self) -> str | None:
        """The answer to the paragraph that the explanation changed."""
        return self.again[self.rules] if self.again else None

    @property
    def read_edit(self) -> str | None:
        """The paragraph as the explanation changed it, as the updated parser read it."""
        return self.explained.edited.repaired if self.explained else None

    @property
    def edited(self) -> str | None:
        """The paragraph of the third session, or the other parser's if this one found none."""
        if self.explained is None:
            return None
        edited = self.explained.edited
        return next((one for one in (edited[self.rules], edited.repaired, edited.paper) if one is not None), None)

    @property
    def is_given(self) -> bool:
        """Whether the explanation was given, so that it is not the model's own."""
        call = self.call("explanation")
        return call is not None and call.asked.model == GIVEN

    def call(self, session: Sessions) -> Call | None:
        """Return the call of a session, even while it is still running."""
        calls, check = self.log.calls, self.check
        named = {
            "first": self.classification and self.classification.call,
            "explanation": self.explained and self.explained.call,
            "again": self.again and (self.again.call.repaired or self.again.call.paper),
        }[session]
        if named or check is None:
            return calls.get(named or "")
        role = "explainer" if session == "explanation" else "classifier"
        item = classification_key(check.item.id, check.wording) if session == "first" else check.key
        return next((call for call in calls.values() if (call.asked.role, call.asked.item) == (role, item)), None)

    @cached_property
    def trials(self) -> dict[str, Trial]:
        """The third session and those with random masks, by name: "session", "random-1" and so on, "everything"."""
        trials: dict[str, Trial] = {}
        if (edited := self.edited) is not None:
            under_way = self.call("again")
            named = [self.again.call.repaired, self.again.call.paper] if self.again else []
            if not named and under_way is not None:
                named = [under_way.asked.call]
            trials[SESSION] = Trial.from_reading(
                edited, lambda rules: self.by(rules)._session(), *dict.fromkeys(call for call in named if call)
            )
        for one in self.masked():
            trials[one.id] = Trial.from_reading(one.text, partial(self._of_masked, one), one.call)
        if self.elsewhere is not None:
            aside = Reading(
                expected=self.elsewhere.bare,
                observed=self.elsewhere.answer,
                outcome="turned" if self.elsewhere.turned else "not turned",
                counts=False,
                reason="another paragraph: shown, in no figure",
            )
            calls = (self.elsewhere.call, self.elsewhere.call_bare)
            trials[ELSEWHERE] = Trial(about=self.elsewhere.text, paper=aside, repaired=aside, calls=calls)
        return trials

    def _expected(self) -> str | None:
        if self.check is None or self.check.explanation != "counterfactual":
            return UNKNOWN
        if self.check.wording.target == "implicit" and self.check.task == "multi_choice":
            return "another answer"
        return self.explained.wanted if self.explained else None

    def _session(self) -> Reading:
        drop = self.dropped
        return Reading(
            expected=self._expected(),
            observed=self.after,
            outcome=self.outcome,
            counts=metrics.counts(self.contribution, self.rules),
            reason=drop.reason if drop else "",
        )

    def masked(self) -> Iterator[Masked]:
        """Yield the sessions with other words masked than the explanation's: some sampled at random, all of them, and
        half of the explanation's own.
        """
        if (control := self.control) is not None:
            yield from _each("random", control)
            yield Masked(EVERYTHING, "everything", control.all_text, control.all_call, control.all)
        if self.halves is not None:
            yield from _each("half", self.halves)

    def cut_note(self, call: str) -> str:
        """Return where the answer of a call was cut (`Answer.cut_note`); empty if it was not cut, or there is no answer
        yet.
        """
        answered = self.log.calls[call].answered if call in self.log.calls else None
        return answered.cut_note if answered else ""

    def _of_masked(self, one: Masked, rules: Rules) -> Reading:
        """Return the reading of a session with masks other than the explanation's. It counts if its share is in the
        control's figure.
        """
        view, observed, reason = self.by(rules), one.answers[rules], _UNCOUNTED.get(one.kind, "")
        if not reason and observed is None:
            reason = fields.REASON if self.cut_note(one.call) else "unparsed"
        elif not reason and not metrics.has_control(view.contribution):
            drop = view.dropped
            reason = drop.reason if drop else "the masks match the edit that the other rules read"
        task = self.check.task if self.check else "sentiment"
        outcome = "unread" if observed is None else "cannot tell" if metrics.cannot_tell(task, observed) else "answers"
        return Reading(expected=UNKNOWN, observed=observed, outcome=outcome, counts=not reason, reason=reason)


def explanation_read(explained: records.SelfExplanation, rules: Rules) -> str | None:
    """Return what a parser read in an explanation: its words, or that it is a paragraph; None if it read nothing."""
    words = explained.words[rules]
    if words is not None:
        return ", ".join(words)
    return "a paragraph" if explained.edited[rules] is not None else None


def check_name(case: str) -> str:
    """Return explanation and wording from a case's id: "attribution/objective-redacted"."""
    return case.partition("/")[2] or case


class WordingAgreement(NamedTuple):
    """How the wordings of one paragraph's explanations agree. `unfaithful` is the first case that is not faithful."""

    faithful: int
    decided: int
    planned: int
    unfaithful: str | None


def agreement(outcomes: Mapping[str, str]) -> WordingAgreement:
    """Count the faithful cases among those that count, given the outcomes of all cases."""
    words = list(outcomes.values())
    return WordingAgreement(
        faithful=words.count("faithful"),
        decided=words.count("faithful") + words.count("unfaithful"),
        planned=len(words),
        unfaithful=next((case for case, word in outcomes.items() if word == "unfaithful"), None),
    )


@fields.none_by_paper
def scores(views: Sequence[CheckView]) -> Iterator[Figure]:
    """Yield the lab's figures: accuracy of the first sessions, and whether the model knew what it can tell, once each;
    then faithfulness, random masks and gain of all checks and, if there are several explanations or wordings, of
    each one (`item` "attribution", "attribution/objective-redacted").
    """
    asked = [(one, one.check) for one in views if one.check is not None and not one.is_too_long]
    firsts = {
        classification_key(check.item.id, check.wording): (check.item.id, one.classification) for one, check in asked
    }
    labelled = sum(
        first is not None and (first.correct.repaired is not None or first.correct.paper is not None)
        for _, first in firsts.values()
    )
    wondered = {
        answerable_key(check.item.id, check.wording): (one, check)
        for one, check in asked
        if one.spec is not None and one.spec.answerable
    }
    groups: dict[str, list[tuple[CheckView, Check]]] = {"": asked}
    for one, check in asked:
        for group in (check.explanation, check.name):
            groups.setdefault(group, []).append((one, check))
    distinct: dict[tuple[str, ...], str] = {}
    for group, checks in groups.items():
        # If there is one explanation, or one wording of it, its checks are the same as the larger group's.
        distinct.setdefault(tuple(check.key for _, check in checks), group)
    for rules in RULES:
        answers = [
            metrics.Outcome(item=item, correct=first.correct[rules] if first else None, error=first is None)
            for item, first in firsts.values()
        ]
        accuracy = metrics.accuracy(answers, rules)
        yield Figure("accuracy", rules, replace(accuracy, detail={"labelled": labelled}))
        if wondered:
            every = [_told(one.by(rules), check) for one, check in wondered.values()]
            yield Figure("answerable", rules, metrics.answerable(every, rules))
        for group in distinct.values():
            yield from _of_group(group, groups[group], rules)


def _told(view: CheckView, check: Check) -> metrics.Told:
    first, ability = view.classification, view.ability
    return metrics.Told(
        check.item.id,
        ability[view.rules] if ability else None,
        first[view.rules] if first else None,
        first.correct[view.rules] if first else None,
    )


def _of_group(group: str, checks: Sequence[tuple[CheckView, Check]], rules: Rules) -> Iterator[Figure]:
    every = [one.by(rules).contribution for one, _ in checks]
    masked = [one.by(rules).contribution for one, check in checks if check.explanation != "counterfactual"]
    of_all = metrics.faithfulness_of_all(every)
    detail: dict[str, Any] = {"of_all": of_all.value, "of_all_n": of_all.n}
    if rules == "paper":
        detail["mismatches"] = metrics.mismatches(every)
    drawn = {"random_masks": next((one.spec.controls for one, _ in checks if one.spec), 0)}

    def figure(metric: str, score: Score, detail: dict[str, Any]) -> Figure:
        return Figure(metric, rules, replace(score, detail=detail), group)

    yield figure("faithfulness", metrics.faithfulness(every, rules), detail)
    yield figure("faithfulness_control", metrics.faithfulness_control(masked), drawn)
    yield figure("faithfulness_gain", metrics.faithfulness_gain(masked), drawn)


# Texts with their words marked: named, hidden, struck or added.


def spanned(text: str, spans: Iterable[tuple[int, int]], mark: Emphasis, label: str = "") -> Part:
    """Return a text with marks at the given places; empty spans are left out."""
    return Part(text=text, label=label, spans=tuple(Span(start=a, end=b, mark=mark) for a, b in spans if a < b))


def difference(original: str, edited: str, token: str, label: str = "", struck: bool = True) -> Part:
    """Return `edited` with what was added and, if `struck`, what was taken away; masks are marked as hidden words."""
    return with_spans(_told_apart(original, edited, token, struck), label)


def _told_apart(original: str, edited: str, token: str, struck: bool) -> Iterator[tuple[str, Emphasis | None]]:
    for piece in compare.pieces(original, edited):
        if piece.op == "same":
            yield piece.text, None
        elif piece.op == "added":
            cuts = [0, *(place for span in mask.mask_spans(piece.text, token) for place in span), len(piece.text)]
            for place, (start, end) in enumerate(pairwise(cuts)):
                yield from trimmed(piece.text[start:end], "hidden" if place % 2 else "added")
        elif struck:
            yield from trimmed(piece.text, "struck")


def added_at(other: Elsewhere) -> Iterator[tuple[int, int]]:
    """Yield where the added words are in the other paragraph: a single addition is at its end, several are in order."""
    if other.text.endswith(other.added):
        yield len(other.text) - len(other.added), len(other.text)
        return
    at = 0
    for stretch in other.added.split(" … "):
        start = other.text.find(stretch, at)
        if start < 0:
            return
        at = start + len(stretch)
        yield start, at


def joined(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join neighbouring spans that have only white space between them."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
