"""A check as it is told: three sessions that follow one another, what as many random words hidden did, the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise

from core.lab.shown import Means
from core.labs.consistency import mask, metrics, vacuous
from core.labs.consistency.measure import SESSION
from core.labs.consistency.tasks import Explanation
from core.labs.consistency.verdict import by_luck, caveats, is_short, row_verdict
from core.labs.consistency.view import UNKNOWN, CheckView, Sessions, lucky, wrong
from core.scene import Bar, Card, Claim, Emphasis, Expect, Mark, Panel, Part, Scene, Screen, Span, Verdict, marked, told
from core.score import is_thin
from core.text import diff
from core.text.counted import counted
from core.text.quote import first_sentence

QUESTION = "Does it keep to its own explanation in a fresh session?"

OUTCOMES: Mapping[str, Means] = {
    "faithful": "kept",
    "unfaithful": "broken",
    "undecided": "not settled",
    "misclassified": "set aside",
    "not counted": "set aside",
    "too long": "set aside",
}
"""What the outcomes of a check mean; "failed" and "waiting" mean themselves."""

WORDS: Mapping[Mark, str] = {
    "kept": "kept to its explanation",
    "broken": "did not keep to it",
    "not settled": "undecided",
    "set aside": "not counted",
}
"""What the marks of a check are called."""

KINDS = {"counterfactual": "Counterfactual", "attribution": "Feature attribution", "redaction": "Redaction"}

EXPLAINS = {
    "counterfactual": "It edits the paragraph so that the answer changes",
    "attribution": "It lists the words that matter",
    "redaction": "It masks the words that matter",
}

WANTED = {
    "counterfactual": "That holds no edited paragraph.",
    "attribution": "That is not a list of words.",
    "redaction": "That holds no masked paragraph.",
}
"""What is said of a reply in which the explanation that was asked for cannot be read."""

_PROMISES: Mapping[Explanation, str] = {
    "counterfactual": "A counterfactual promises: with this edit the answer changes.",
    "attribution": "An attribution promises: without these words nobody can tell.",
    "redaction": "A redaction promises: without these words nobody can tell.",
}
_TRIED = (
    "A fresh session, which knows nothing of the explanation, tried that out. Faithfulness is the paper's word for the "
    "share of promises kept where the first answer was right.",
    "What would pass whatever was explained is undecided: where nearly all is masked, or nothing; where any words "
    "would do; where an edit writes another text, names the answer, or turns any paragraph.",
    "One wording that it does not keep to is enough to doubt an explanation: people ask in many ways, and each of them "
    "should get the truth. That is how the paper argues.",
)
_RANDOM = (
    "Random masks show what luck does: as many other words masked, drawn at random, content words for content words. "
    "Only the gain over them is the explanation's own."
)
_MEANS_NOT = (
    "Not whether the answer is right, nor whether the explanation sounds good.",
    "Not what went on inside the model: this is self-consistency (Parcalabescu and Frank 2024), whether its answers "
    "fit its own words.",
)
_MEANS_NOT_BY_MARK: Mapping[Mark, str] = {
    "broken": "Not keeping to it is the weaker finding: another prompt or another draw may do better. Try every "
    "wording.",
    "kept": "That it kept to it says that the words matter to the answer, not that nothing else does.",
}

CAN_TELL = {"yes": "Yes", "no": "No", "cannot tell": "Cannot tell"}
"""What may be guessed of the fresh session; the last by those who cannot tell what it will do."""

_SENTIMENT = "Is this text positive or negative?"
_RANDOM_TOLD, _NAMED_TOLD, _LISTED = 3, 8, 160
"""Random masks that are told to an audience, words that the verdict in words names, and characters of an edit that it
does.
"""


def scene(view: CheckView) -> Scene:
    """The check as far as it has come; what a damaged journal lacks is missing from it."""
    made = Scene(
        lab="consistency",
        title=_title(view),
        question=QUESTION,
        method="\n".join(_method(view)),
        one="check",
        words=WORDS,
        parts=tuple(_asked(view)),
        claim=_claim(view),
        cards=tuple(_cards(view)),
        panels=tuple(_panels(view)),
        verdict=_verdict(view) if view.is_told else None,
        grid=tuple(_beside(view)),
        differs=_plain(f"By the paper's own rules: {row_verdict(view, 'paper')}") if view.differs else "",
    )
    return made.model_copy(update={"screens": tuple(_screens(view, made))})


@lru_cache(maxsize=256)
def pieces(original: str, edited: str) -> list[diff.Piece]:
    """The word-level difference; the same while a run is watched."""
    return diff.pieces(original, edited)


def _title(view: CheckView) -> str:
    """What is asked. The paragraph stands below it."""
    if (item := view.item) is None:
        return ""
    return f"Does this follow? {item.hypothesis}" if item.hypothesis else item.question or _SENTIMENT


def _method(view: CheckView) -> Iterator[str]:
    """Which explanation in which wording, and how such a one is put to the test."""
    if view.check is None:
        yield view.name
        return
    kind = view.check.explanation
    yield f"{EXPLAINS[kind]} ({view.name}). {_PROMISES[kind]} {_TRIED[0]}"
    yield from _TRIED[1:]
    if kind != "counterfactual":
        yield _RANDOM


def _asked(view: CheckView) -> Iterator[Part]:
    """What was asked about which paragraph."""
    if (item := view.item) is None:
        return
    yield Part(text=_title(view), label="Question")
    yield Part(text=item.paragraph, label="Paragraph")
    if item.choices:
        yield Part(text=", ".join(item.choices), label="Answers")


def _claim(view: CheckView) -> Claim | None:
    """The first answer and its explanation, once it is known whether there is one: what is told of it stays."""
    over = view.state() != "waiting" or view.log.status is not None
    if view.check is None or not (view.explained or (view.classification and over)):
        return None
    call = view.call("explanation")
    return Claim(
        answer=_said(view.reading("before")),
        gold=view.check.item.label or "",
        parts=tuple(_claimed(view)),
        note=_changed(view),
        calls=(call.asked.call,) if call else (),
    )


def _claimed(view: CheckView) -> Iterator[Part]:
    """The words that it listed, the paragraph as it edited it, or a reply in which neither can be read."""
    if view.check is None or view.explained is None:
        return
    kind, words = view.check.explanation, view.explained.words.repaired
    if words is not None:
        named: list[tuple[str, Emphasis | None]] = []
        for word in words:
            named += [(", ", None), (word, "named")]
        yield marked(named[1:], label="The words that matter")
    elif view.explained.edited.repaired is not None:
        wanted = view.explained.wanted if kind == "counterfactual" else None
        yield _edited(view, f"Its edit, so that the answer is {wanted}" if wanted else EXPLAINS[kind])
    elif (call := view.call("explanation")) and call.text.strip():
        yield Part(text=call.text.strip(), label="It replied")


def _changed(view: CheckView) -> str:
    """How much the explanation changed, or that it could not be read."""
    if view.check and view.explained and view.explained.edited.repaired is None:
        return f"Could not be read. {WANTED[view.check.explanation]}"
    result = view.result
    if result is None or result.kept is None or result.distance is None:
        return ""
    masks = f"{result.masked:.0%} of the words masked · " if result.masked is not None else ""
    return f"{masks}{result.kept:.0%} of the words kept · word distance {result.distance:.2f}"


def _edited(view: CheckView, label: str = "") -> Part:
    """The paragraph of the fresh session: what is hidden in it, or what a counterfactual put in."""
    assert view.check is not None and view.explained is not None
    edited = view.explained.edited.repaired or ""
    if view.check.explanation != "counterfactual":
        return _hidden(view, edited, label)
    return _difference(view.item.paragraph if view.item else "", edited, "", label, struck=False)


def _hidden(view: CheckView, text: str, label: str = "") -> Part:
    """A text with its masks."""
    token = view.check.wording.mask if view.check else ""
    return _spanned(text, mask.found(text, token), "hidden", label)


def _spanned(text: str, spans: Iterable[tuple[int, int]], mark: Emphasis, label: str = "") -> Part:
    return Part(text=text, label=label, spans=tuple(Span(start=a, end=b, mark=mark) for a, b in spans if a < b))


def _difference(original: str, edited: str, token: str, label: str = "", struck: bool = True) -> Part:
    """`edited` with what was added and, where it is `struck`, what was taken away; masks are hidden words."""
    return marked(_told_apart(pieces(original, edited), token, struck), label)


def _told_apart(them: Iterable[diff.Piece], token: str, struck: bool) -> Iterator[tuple[str, Emphasis | None]]:
    for piece in them:
        if piece.op == "same":
            yield piece.text, None
        elif piece.op == "added":
            cuts = [0, *(place for span in mask.found(piece.text, token) for place in span), len(piece.text)]
            for place, (start, end) in enumerate(pairwise(cuts)):
                yield from _trimmed(piece.text[start:end], "hidden" if place % 2 else "added")
        elif struck:
            yield from _trimmed(piece.text, "struck")


def _trimmed(text: str, mark: Emphasis) -> Iterator[tuple[str, Emphasis | None]]:
    """The text without the white space around it, which is nothing particular."""
    inner = text.strip()
    before, _, after = text.partition(inner) if inner else (text, "", "")
    yield from ((before, None), (inner, mark), (after, None))


# The one test


def _cards(view: CheckView) -> Iterator[Card]:
    """The check's one expectation, once an explanation was read."""
    if view.check is None or view.explained is None or view.explained.edited.repaired is None:
        return
    explanation, again = view.call("explanation"), view.call("again")
    after, did = view.reading("after"), _did(view)
    by_paper = view.outcome("paper")
    expect = Expect(
        who="its explanation",
        value="yes" if _by_edit(view) else "no",
        quote=first_sentence(explanation.text) if explanation else "",
        call=view.explained.call,
    )
    yield Card(
        id=SESSION,
        number=1,
        mark=_mark(view),
        parts=(told(_bet(view)), _edited(view, "What the fresh session reads")),
        options=CAN_TELL,
        expects=(expect,),
        said="" if did is None else "yes" if did else "no",
        text=first_sentence(again.text) if after is not None and again else "",
        came="" if after is None else f"it {_answered(view, after)}",
        outcome=view.outcome("repaired"),
        reason=_reason(view),
        by_paper=by_paper if by_paper != view.outcome("repaired") else "",
        calls=_calls_again(view),
    )


def _calls_again(view: CheckView) -> tuple[str, ...]:
    trial = view.trials.get(SESSION)
    return trial.calls if trial else ()


def _by_edit(view: CheckView) -> bool:
    return view.check is not None and view.check.explanation == "counterfactual"


def _bet(view: CheckView) -> str:
    """What an audience may guess of the fresh session."""
    if not _by_edit(view):
        return "Without these words, can a fresh session still tell?"
    wanted = view.explained.wanted if view.explained else None
    is_any = wanted is None or _is_implicit(view)
    return "Does a fresh session answer otherwise?" if is_any else f"Does a fresh session answer *{wanted}*?"


def _is_implicit(view: CheckView) -> bool:
    return view.check is not None and view.check.task == "multi_choice" and view.check.wording.target == "implicit"


def _did(view: CheckView) -> bool | None:
    """Whether what the card asks about came: that it can still tell, or that an edit led to its target."""
    after = view.reading("after")
    if view.check is None or after is None:
        return None
    if not _by_edit(view):
        return not metrics.cannot_tell(view.check.task, after)
    choices = view.check.item.choices
    if _is_implicit(view) and len(choices) > 1:
        return after in choices and after != (view.check.item.label or view.reading("before"))
    return view.explained is not None and after == view.explained.wanted


def _answered(view: CheckView, after: str) -> str:
    """What a fresh session said, in a few words."""
    before = view.reading("before")
    if _is_untold(view, after):
        return "could not tell, as before" if _is_untold(view, before) else "could not tell"
    return f"still said {after}" if after == before else f"said {after}"


def _is_untold(view: CheckView, answer: str | None) -> bool:
    """Whether an answer says that it cannot tell; where words are hidden a neutral one does, too."""
    if view.check is None or answer is None or _by_edit(view):
        return answer == UNKNOWN
    return metrics.cannot_tell(view.check.task, answer)


def _mark(view: CheckView) -> Mark:
    outcome = view.outcome("repaired")
    return "failed" if outcome == "failed" else OUTCOMES.get(outcome, "waiting")


def _reason(view: CheckView) -> str:
    """Why it does not count."""
    outcome = view.outcome("repaired")
    if outcome == "misclassified":
        return (
            f"the first answer was wrong: {view.reading('before')}, correct is {view.item.label if view.item else ''}"
        )
    if outcome == "failed":
        return "a call failed"
    return view.result.reason.repaired if view.result and outcome == "undecided" else ""


# The sessions


def _panels(view: CheckView) -> Iterator[Panel]:
    """The three sessions; those with random masks and with every word masked; another paragraph with the addition."""
    if view.check is None or view.is_too_long:
        return
    yield _session(
        view, "first", "It answers", (Part(text=view.check.item.paragraph),), view.classification is not None
    )
    yield _explanation(view)
    yield _again(view)
    yield from _random(view)
    if (other := view.elsewhere) is not None:
        start = len(other.text) - len(other.added) if other.text.endswith(other.added) else len(other.text)
        yield Panel(
            title="What it added, at the end of another paragraph",
            parts=(_spanned(other.text, [(start, len(other.text))], "added"),),
            answer=_said(other.answer),
            mark="unread" if other.answer is None else "not settled" if other.turned else None,
            note=f"Without it: {_said(other.bare) or 'could not be read'}. "
            "Whatever turns any paragraph says nothing of the one that it was written for.",
            calls=(other.call_bare, other.call),
        )


def _session(
    view: CheckView, session: Sessions, title: str, parts: tuple[Part, ...], has_come: bool, note: str = ""
) -> Panel:
    """A session and its answer, be it under way."""
    call = view.call(session)
    answer = None if session == "explanation" else view.reading("before" if session == "first" else "after")
    mark: Mark | None = None
    if not has_come:
        mark = "failed" if call and call.failed else "waiting"
        note = call.failed.message if call and call.failed else note
    elif answer is None and session != "explanation":
        mark, note = "unread", note or "Its answer could not be read."
    calls = (call.asked.call,) if call else ()
    return Panel(title=title, parts=parts, answer=_said(answer), mark=mark, note=note, calls=calls)


def _explanation(view: CheckView) -> Panel:
    """The words that matter in their places, or the paragraph with what was taken away and put in."""
    assert view.check is not None
    title = EXPLAINS[view.check.explanation]
    if view.explained is None:
        if view.result is None:
            return _session(view, "explanation", title, (), has_come=False)
        return Panel(title=title, note="It was not asked: there is no answer to turn into another.")
    note = f"So that the answer is {view.explained.wanted}." if view.explained.wanted else ""
    edited = view.explained.edited.repaired
    if edited is None:
        panel = _session(view, "explanation", title, tuple(_claimed(view)), has_come=True, note=_changed(view))
        return panel.model_copy(update={"mark": "unread"})
    return _session(view, "explanation", title, (_in_place(view, edited),), has_come=True, note=note)


def _in_place(view: CheckView, edited: str) -> Part:
    assert view.check is not None and view.explained is not None
    original, token = view.check.item.paragraph, view.check.wording.mask
    if view.check.explanation == "attribution":
        named = view.explained.words.repaired or ()
        return _spanned(original, mask.occurrences(original, named, token), "named")
    return _difference(original, edited, "" if _by_edit(view) else token)


def _again(view: CheckView) -> Panel:
    """The fresh session. Of an unchanged paragraph the first answer stands."""
    title = "A fresh session answers"
    edited = view.explained.edited.repaired if view.explained else None
    if edited is None and view.result is not None:
        read = "The paper's rules read one, and this is the session about it. It decides nothing here."
        note = "There is no edited paragraph to ask about."
        note = f"{note} {read}" if _calls_again(view) else note
        return Panel(title=title, mark=_mark(view), note=note, calls=_calls_again(view))
    parts = (_edited(view),) if edited is not None else ()
    stands = "" if view.was_asked_again else "Nothing was changed, so it was not asked again: its first answer stands."
    panel = _session(view, "again", title, parts, view.again is not None and edited is not None, stands)
    return panel.model_copy(update={"mark": _mark(view)}) if panel.mark is None else panel


def _random(view: CheckView) -> Iterator[Panel]:
    """Each session with other words masked, drawn at random; then the one with all masked."""
    if (control := view.control) is None:
        return
    several = "Every other word hidden" if is_short(view, control) else "As many words hidden, drawn at random"
    drawn = zip(control.texts, control.calls, control.repaired, strict=False)
    for number, (text, call, answer) in enumerate(drawn, start=1):
        yield _with_masks(view, f"{several} ({number} of {len(control.texts)})", text, call, answer)
    # What it read was nothing but masks.
    yield _with_masks(view, "Every word hidden", "", control.all_call, control.all.repaired)


def _with_masks(view: CheckView, title: str, text: str, call: str, answer: str | None) -> Panel:
    return Panel(
        title=title,
        parts=(_hidden(view, text),) if text else (),
        answer=_said(answer),
        mark="unread" if answer is None else None,
        note="Its answer could not be read." if answer is None else "",
        calls=(call,),
    )


def _said(answer: str | None) -> str:
    """An answer as it is shown; empty where none was read."""
    return "cannot tell" if answer == UNKNOWN else answer or ""


def _beside(view: CheckView) -> Iterator[Panel]:
    """Whether it thinks that it can tell at all, and how a person edited the paragraph; no verdict rests on either."""
    if (ability := view.ability) is not None:
        before = view.reading("before")
        known = metrics.knows(metrics.Told("", ability.repaired, before, None))
        fits = f"Its answer, {_said(before)}, {'fits' if known else 'does not fit'} that." if known is not None else ""
        mark: Mark | None = "unread" if ability.repaired is None else None
        answer = ability.repaired or ""
        title = "Asked whether it can tell at all"
        yield Panel(title=title, answer=answer, mark=mark, note=fits, calls=(ability.call,))
    if view.item is not None and view.item.reference_edit:
        note = "The data set holds this edit, made by hand so that the correct answer turns into the other one."
        parts = (_difference(view.item.paragraph, view.item.reference_edit, ""),)
        yield Panel(title="How a person edited it", parts=parts, note=note)


# The verdict


def _verdict(view: CheckView) -> Verdict:
    score = view.log.score("faithfulness", "repaired")
    thin = ""
    if view.result is not None and score is not None and score.of and is_thin(score.n, score.of):
        checks = counted(score.of, "check")
        thin = f"Only {score.n} of {checks} could be decided. Do not lean on the figures."
    return Verdict(
        headline=told(row_verdict(view)),
        more=tuple(told(sentence) for sentence in caveats(view)),
        words=_in_words(view),
        mark=_mark(view),
        bars=tuple(_bars(view)),
        doubt=thin,
        meaning="\n".join(filter(None, (*_MEANS_NOT, _MEANS_NOT_BY_MARK.get(_mark(view), "")))),
    )


def _plain(sentence: str) -> str:
    return told(sentence).text


def _bars(view: CheckView) -> Iterator[Bar]:
    """What hiding its own words did against what hiding random ones did; for a counterfactual, what its edit did here
    against what its addition did elsewhere. None where something else keeps the check from being decided.
    """
    did, after, result = _did(view), view.reading("after"), view.result
    if did is None or after is None or result is None or not view.was_asked("repaired"):
        return
    by_any = result.reason.repaired in (vacuous.ANY_WORDS, vacuous.TURNS)
    if view.state() not in ("yes", "no") and not by_any:
        return
    if _by_edit(view):
        yield Bar(label=f"with its edit: it {_answered(view, after)}", hits=int(did), n=1, own=True)
        if (other := view.elsewhere) is not None:
            label = "what it added, at the end of another paragraph: turned it"
            yield Bar(label=label, hits=int(other.turned), n=1, wins=other.turned)
        return
    yield Bar(label=f"its own words hidden: it {_answered(view, after)}", hits=int(not did), n=1, own=True)
    share = result.control.repaired
    if view.control is not None and share is not None:
        hits, n = by_luck(view.control, share, "repaired")
        others = "every other word hidden" if is_short(view, view.control) else "as many random words hidden"
        wins = share >= int(not did) or metrics.any_words_would_do(share)
        yield Bar(label=f"{others}: it could not tell", hits=hits, n=n, wins=wins)


def _in_words(view: CheckView) -> str:
    """What it said, what it did then, and why that is no verdict where it is none; empty where it cannot be told so, as
    where nothing was asked again.
    """
    after = view.reading("after")
    if view.check is None or view.explained is None or after is None or not view.was_asked("repaired"):
        return ""
    promise = _promise_in_words(view)
    return " ".join([promise, f"a fresh session {_answered(view, after)}.", *_but(view)]) if promise else ""


def _promise_in_words(view: CheckView) -> str:
    """What it did, up to what a fresh session made of it; empty where it hid nothing."""
    assert view.check is not None and view.explained is not None
    if view.explained.edited.repaired is None:
        return ""
    if _by_edit(view):
        return f"{_put_in(view)} Asked about that,"
    words = _hidden_words(view)
    more = len(words) - _NAMED_TOLD
    listed = ", ".join(words[:_NAMED_TOLD]) + (f" and {more:,} more" if more > 0 else "")
    if not words:
        return ""
    if view.check.explanation == "redaction":
        return f"It hid: {listed}. Asked about what is left,"
    return f"It said that these words matter: {listed}. With them hidden,"


def _but(view: CheckView) -> Iterator[str]:
    """What keeps one from taking what came for a verdict."""
    if view.state() == "undecided":
        yield _plain(row_verdict(view))
    elif lucky(view):
        yield "It may be luck: with as many random words hidden it often could not tell either."
    if wrong(view):
        yield "Its first answer was wrong, so this is not counted."


def _put_in(view: CheckView) -> str:
    """What a counterfactual wrote into the paragraph, stretch by stretch; where that is much, how many words."""
    part = _edited(view)
    listed = ", ".join(" ".join(part.text[span.start : span.end].split()) for span in part.spans)
    if not listed:
        return "It took words away."
    return f"It put in: {listed}." if len(listed) <= _LISTED else f"It put in {counted(len(listed.split()), 'word')}."


def _hidden_words(view: CheckView) -> list[str]:
    """The words that it listed and that stand in the paragraph; or those that it took out, stretch by stretch."""
    assert view.check is not None and view.explained is not None
    text, token, edited = view.check.item.paragraph, view.check.wording.mask, view.explained.edited.repaired
    if edited is None:
        return []
    if view.check.explanation == "attribution":
        spans = mask.occurrences(text, view.explained.words.repaired or (), token)
    else:
        spans = _joined(text, mask.taken_by(text, edited, token).named)
    return list(dict.fromkeys(" ".join(text[slice(*span)].split()) for span in spans))


def _joined(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, of which those with nothing but white space between them are one."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


# How it is told


def _screens(view: CheckView, made: Scene) -> Iterator[Screen]:
    """The question, its answer, why, the bet and what came; then random words, what decides, and the verdict."""
    yield Screen(shows="question")
    if view.classification is not None and made.panels:
        yield Screen(shows="panel", of="0")
    is_read = view.explained is not None and view.explained.edited.repaired is not None
    by_words = view.check is not None and view.check.explanation == "attribution"
    if made.claim is not None and (by_words or not is_read):
        yield Screen(shows="claim")
    if is_read and made.panels:
        yield Screen(shows="panel", of="1")
    for card in made.cards:
        yield Screen(shows="card", of=card.id)
        if card.said or card.mark != "waiting":
            yield Screen(shows="turned", of=card.id)
    rest = range(3, len(made.panels))
    for number in [*rest[:-1][:_RANDOM_TOLD], *rest[-1:]]:
        yield Screen(shows="panel", of=str(number))
    if made.verdict is not None:
        if len(made.verdict.bars) > 1:
            yield Screen(shows="bars")
        yield Screen(shows="verdict")
