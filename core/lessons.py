"""Lessons for a class (`data/lessons/*.toml`): what a teacher does and says, step by step, and a worksheet made from
packs of the game and recorded runs. Every number in a lesson is computed from these (`Facts`).
"""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from pydantic import ConfigDict, Field, ValidationError

from . import home
from .errors import ExplainError
from .events import Frozen
from .labs.base.lab import Lab
from .package_data import DATA
from .report import standalone_html
from .report.game.pack import PackCard, load_pack
from .rooms import cards
from .runs.context import complaints

LESSONS = DATA / "lessons"

WITH_RUN, WITH_PACK = ("/wall", "/case", "/stories"), ("/wall", "/play")
"""Pages to which a lesson may link, with the query parameter that says what they open."""

SHEETS = ("worksheet", "solutions")
"""The sheets of a lesson; a lesson may link to them by these names."""


class LessonError(ExplainError, ValueError):
    """A lesson that is not there or cannot be used; the message says why."""


class _Strict(Frozen):
    model_config = ConfigDict(extra="forbid")


Text = Annotated[str, Field(min_length=1)]
Texts = tuple[Text, ...]


class CardChoice(_Strict):
    """Cards by what they come from, a `run` or a `pack`: those at `places`, from 1, or all if none is named."""

    run: str = ""
    pack: str = ""
    places: tuple[Annotated[int, Field(ge=1)], ...] = ()


class LessonLink(_Strict):
    """A link. `to` is a page of the app, with its query, or one of SHEETS."""

    words: Text
    to: Text


class ClassQuestion(_Strict):
    """A question to the class, and what a good answer contains. A worksheet leaves `lines` lines for the answer."""

    ask: Text
    good: Text
    lines: Annotated[int, Field(ge=1, le=6)] = 2


class LessonStep(_Strict):
    """A step: what the teacher does (`act`) and says, what usually happens, and what to ask the class."""

    title: Text
    minutes: Annotated[int, Field(ge=1, le=60)]
    act: Texts
    links: tuple[LessonLink, ...] = ()
    say: Texts = ()
    happens: str = ""
    questions: tuple[ClassQuestion, ...] = ()


class SheetPart(CardChoice):
    """A part of a worksheet: students predict these cards. With `own`, they write that many questions about the one
    explanation that all the cards share, and the solutions list the cards.
    """

    title: Text
    task: Text
    own: Annotated[int, Field(ge=0, le=8)] = 0


class Worksheet(_Strict):
    """A worksheet: its parts, and further questions."""

    title: Text
    parts: Annotated[tuple[SheetPart, ...], Field(min_length=1)]
    questions: tuple[ClassQuestion, ...] = ()


class Lesson(_Strict):
    """A lesson. Its `name` is that of its file. Texts name the numbers of `facts` as `{NAME.FIELD}` (`Facts`)."""

    name: Text
    title: Text
    minutes: int
    about: Text
    learns: Texts
    prepare: Texts
    facts: Mapping[str, CardChoice] = {}
    steps: Annotated[tuple[LessonStep, ...], Field(min_length=1)]
    worksheet: Worksheet


class Facts(NamedTuple):
    """Numbers of the cards of a pack or a run: how many there are, on how many the reason implies an answer
    (`decided`), on how many of these the model gave it (`kept`) or another (`misled`), on how many it gave the correct
    one (`correct`) or *yes* (`yes`), and on how many cards the reason implies nothing (`open`). `real` and `real_kept`
    count only cards of models that are no robots. Of the trials from which a pack was made, readers judged `annotated`
    and disagreed on `differed`.
    """

    cards: int
    decided: int
    kept: int
    misled: int
    correct: int
    yes: int
    open: int
    real: int
    real_kept: int
    annotated: int
    differed: int


def facts_of(of: CardChoice, labs: Mapping[str, Lab]) -> Facts:
    """Count what happens on these cards to a person who goes by the reasons. Raises GamePackError and LessonError."""
    found = _cards(of, labs)
    decided = [one for one in found if one.going != "does not say"]
    kept = sum(one.going == "comes true" for one in decided)
    real = [one for one in found if not one.who.is_robot]
    pack = load_pack(of.pack) if of.pack else None
    return Facts(
        cards=len(found),
        decided=len(decided),
        kept=kept,
        misled=len(decided) - kept,
        correct=sum(one.truth == one.card.said for one in decided),
        yes=sum(one.card.said == "yes" for one in decided),
        open=len(found) - len(decided),
        real=len(real),
        real_kept=sum(one.going == "comes true" for one in real),
        annotated=pack.annotated if pack else 0,
        differed=pack.differed if pack else 0,
    )


def read(path: Path, labs: Mapping[str, Lab]) -> Lesson:
    """The lesson in that file, with its numbers. Raises LessonError if a field is unknown, if a number, a pack, a
    recording or a page is not there, or if the minutes do not add up.
    """
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
        facts = {name: facts_of(CardChoice.model_validate(of), labs) for name, of in given.get("facts", {}).items()}
        lesson = Lesson.model_validate({**_filled(given, facts), "name": path.stem})
        if (used := sum(step.minutes for step in lesson.steps)) != lesson.minutes:
            raise LessonError(f"its steps take {used} minutes, and not {lesson.minutes}")
        for link in (link for step in lesson.steps for link in step.links):
            _check_link(link.to, labs)
        for part in lesson.worksheet.parts:
            _predicted(part, labs)
    except ValidationError as error:
        raise LessonError(f"{path.name}: {'; '.join(complaints(error)[:3])[:500]}") from None
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise LessonError(f"{path.name}: {error}") from None
    return lesson


def _filled(value: Any, facts: Mapping[str, Facts]) -> Any:
    """The value of a TOML file, with its numbers put in. Raises KeyError, AttributeError and ValueError."""
    if isinstance(value, dict):
        return {name: _filled(one, facts) for name, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, facts) for one in value]
    return value.format_map(facts) if isinstance(value, str) else value


def _cards(of: CardChoice, labs: Mapping[str, Lab]) -> list[PackCard]:
    """The cards, in the order of `places`. Raises GamePackError where there is no such pack or recording, and
    LessonError where there is no such card.
    """
    known = cards.source(of.run, "", labs, (home.recordings(),)).cards if of.run else load_pack(of.pack).cards
    if max(of.places, default=0) > len(known):
        raise LessonError(f"{of.run or of.pack} has no card {max(of.places)}: it has {len(known)}")
    return [known[place - 1] for place in of.places] or list(known)


def _check_link(to: str, labs: Mapping[str, Lab]) -> None:
    parts = urlsplit(to)
    query = parse_qsl(parts.query, strict_parsing=True) if parts.query else []
    place = parts.path if not (parts.scheme or parts.netloc) else ""
    if to in SHEETS or (not query and place in ("/", *(f"/{lab.path}" for lab in labs.values()))):
        return
    for name, pages in (("run", WITH_RUN), ("pack", WITH_PACK)):
        if [one for one, _ in query] == [name] and place in pages:
            _cards(CardChoice.model_validate(dict(query)), labs)
            return
    raise LessonError(f"{to!r} is no page of this app")


def _predicted(part: SheetPart, labs: Mapping[str, Lab]) -> list[PackCard]:
    """The cards of a part. Raises GamePackError, and LessonError where one has no reason, where readers understood one
    differently, or where questions of their own would be about several explanations.
    """
    found = _cards(part, labs)
    if any(one.claim is None or one.card.doubt for one in found):
        raise LessonError(f"{part.title!r} has a card without a reason, or one that readers understood differently")
    if part.own and len({(one.run, one.case) for one in found}) != 1:
        raise LessonError(f"{part.title!r} is not about one explanation")
    return found


def lessons(labs: Mapping[str, Lab]) -> dict[str, Lesson]:
    """The lessons that come with the app by name, the shortest first. Raises LessonError."""
    found = [read(path, labs) for path in LESSONS.glob("*.toml")]
    return {one.name: one for one in sorted(found, key=lambda one: one.minutes)}


def list_page(found: Iterable[Lesson]) -> bytes:
    """The page that lists the lessons."""
    return standalone_html.page("lessons.html", standalone_html.part("lesson.css"), "", lessons=list(found))


def lesson_page(lesson: Lesson) -> bytes:
    """The page that leads a teacher through a lesson: one step at a time, or all of them in print or without
    scripts.
    """
    return standalone_html.page(
        "lesson.html", standalone_html.part("lesson.css"), standalone_html.part("lesson.js"), lesson=lesson
    )


def sheet_page(lesson: Lesson, is_solved: bool, labs: Mapping[str, Lab]) -> bytes:
    """The worksheet of a lesson, or its solutions, as a page to print. Raises GamePackError."""
    parts = [_part(part, is_solved, labs) for part in lesson.worksheet.parts]
    questions = [
        {"ask": one.ask, "lines": one.lines, "good": one.good if is_solved else ""}
        for one in lesson.worksheet.questions
    ]
    return standalone_html.page(
        "worksheet.html",
        standalone_html.part("worksheet.css"),
        "document.querySelector('button').onclick = () => print();\n",
        title=lesson.worksheet.title,
        is_solved=is_solved,
        parts=parts,
        questions=questions,
        models=sorted({one.who.name for part in lesson.worksheet.parts for one in _predicted(part, labs)}),
    )


def _part(part: SheetPart, is_solved: bool, labs: Mapping[str, Lab]) -> dict[str, Any]:
    """A part as it is drawn. Without `is_solved` it is made from what is asked alone: fields of a card are named one
    by one, so that no answer can be among them.
    """
    predicted = _predicted(part, labs)
    asked = predicted[: 1 if part.own else None]
    return {
        "title": part.title,
        "task": part.task,
        "own": part.own,
        "cards": [
            {
                "title": one.title,
                "answer": one.claim.answer if one.claim else "",
                "reason": " ".join(text.text for text in one.claim.parts) if one.claim else "",
                "asked": "" if part.own else one.card.parts[0].text,
            }
            for one in asked
        ],
        "solved": [
            {
                "asked": one.card.parts[0].text,
                "implied": "" if one.going == "does not say" else one.card.expects[0].value,
                "why": one.card.expects[0].quote if one.card.expects else "",
                "said": one.card.said,
                "words": one.card.text,
                "truth": one.truth,
                "going": one.going,
            }
            for one in (predicted if is_solved else ())
        ],
    }
