"""The starter questions and preference pairs shipped with the lab, stored under `data/questions/`."""

import random
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Annotated, Any, Literal

from pydantic import StringConstraints

from ...events import Frozen
from ...models.ids import is_control
from ...package_data import DATA
from ...text.shared_words import content_words
from ..base.cases import Case
from .tasks import PERSON, AskSpec, Starter, WrittenQuestion, cases

QUESTIONS = DATA / "questions"

_Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]


class StarterQuestion(Frozen):
    """A yes/no question and its correct answer. `world`: the control robots can answer it too."""

    id: _Slug
    question: str
    answer: Literal["yes", "no"]
    topic: str
    why: str
    world: bool = False


class StarterPair(Frozen):
    """A post with two responses. `preferred` is the number of the more helpful one, "1" or "2"."""

    id: _Slug
    context: str
    response_1: str
    response_2: str
    preferred: Literal["1", "2"]
    topic: str
    why: str


@cache
def questions() -> tuple[StarterQuestion, ...]:
    """Return every shipped yes/no question, in the order of the file."""
    return tuple(StarterQuestion.model_validate(entry) for entry in _entries("yes_no.toml", "question"))


class FollowUps(Frozen):
    """A yes-or-no question with its correct answer, and new questions that were written in advance to follow it."""

    question: str
    gold: Literal["yes", "no"]
    given: tuple[WrittenQuestion, ...]


CARDS = 4
"""How many follow-up questions a visitor predicts."""


@cache
def with_follow_ups() -> tuple[FollowUps, ...]:
    """Return the questions offered to a visitor who predicts a real model, in the order of the file. Each has the first
    follow-ups in the file of which two are correctly answered yes and two no, so that the facts favour no answer.
    """
    return tuple(
        FollowUps(question=one["question"], gold=one["gold"], given=_balanced(one["follow_ups"]))
        for one in _entries("outguess.toml", "question")
        if one.get("offered")
    )


def predicted_by_person(model: str, **asked: Any) -> AskSpec:
    """Return a run in which `model` answers a question and its follow-ups, and visitors predict; `asked` holds the
    fields of `FollowUps`, and the run `given_from` which the follow-ups come, if any. No other calls are made: no
    question is written, no model predicts, and nothing is compared.
    """
    return AskSpec.model_validate({"model": model, "simulator": PERSON, **asked})


def _balanced(follow_ups: Sequence[Mapping[str, str]]) -> tuple[WrittenQuestion, ...]:
    """Return the first CARDS follow-ups, in their order, of which half have each answer."""
    chosen: dict[str, list[str]] = {"yes": [], "no": []}
    for one in follow_ups:
        chosen[one["gold"]].append(one["question"])
    kept = {question for questions in chosen.values() for question in questions[: CARDS // 2]}
    return tuple(WrittenQuestion(text=one["question"]) for one in follow_ups if one["question"] in kept)


@cache
def pairs() -> tuple[StarterPair, ...]:
    """Return every shipped preference pair, in the order of the file."""
    return tuple(StarterPair.model_validate(entry) for entry in _entries("preferences.toml", "pair"))


def another(spec: AskSpec, starter: Starter, seed: str) -> Starter | None:
    """Return a shipped question on another subject than `starter`, always the same for one seed; None if there is none.
    A control gets a question from its own world.
    """
    if spec.task == "strategyqa":
        of_world = is_control(spec.model)
        shipped = [Starter({"question": one.question}, one.answer) for one in questions() if one.world or not of_world]
    else:
        fields = {"context", "response_1", "response_2"}
        shipped = [Starter(one.model_dump(include=fields), one.preferred) for one in pairs()]
    others = [one for one in shipped if differs(one, starter)]
    return random.Random(seed).choice(others) if others else None


def another_case(spec: AskSpec, case: Case, run: str) -> Starter | None:
    """Return the next question of the same run that is on another subject than `case`, continuing with the first after
    the last; None if there is none.
    """
    asked = _of_run(spec, run)
    place = next((number for number, (id, _) in enumerate(asked) if id == case.id), 0)
    following = (about for _, about in (*asked[place + 1 :], *asked[:place]))
    return next((about for about in following if differs(about, case.about)), None)


@lru_cache(maxsize=8)
def _of_run(spec: AskSpec, run: str) -> tuple[tuple[str, Starter], ...]:
    """Return the run's cases by id, read only once per run because the file may change between runs."""
    return tuple((case.id, case.about) for case in cases(spec))


def differs(one: Starter, other: Starter) -> bool:
    """Whether two questions are on different subjects: they share no content word."""
    first, second = (content_words(" ".join(starter.slots.values())) for starter in (one, other))
    return first.isdisjoint(second)


def _entries(file: str, table: str) -> list[dict[str, Any]]:
    with (QUESTIONS / file).open("rb") as opened:
        entries: list[dict[str, Any]] = tomllib.load(opened)[table]
    return entries
