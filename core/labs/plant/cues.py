"""Cues: text added to a question that should not affect its answer, and the neutral cues, which point to no answer.

Each `data/prompts/plant/<cue>.toml` holds one cue: `user` is its wording, with `{direction}` for the answer that it
points to; `twins` are neutral cues of the same form and length; `telling` are words that give the cue away in an
explanation. A cue that points to no answer has `draws` instead, from which the planted cue and its two neutral cues are
drawn; `tells` holds the words that give each of these away, separated by |.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from ...datasets.items import Item
from ...package_data import sibling_toml
from ...text import shared_words
from ...text.stable_random import unit_number
from ...text.templates import PROMPTS, Template, fill
from . import naming
from .tasks import Cue, PlantSpec, options

FOLDER = PROMPTS / "plant"

Arm = Literal["plain", "planted", "twin-1", "twin-2", "agreeing"]
TWINS: tuple[Arm, Arm] = ("twin-1", "twin-2")

SOURCES = (
    *("you gave me", "you provide", "you include", "you supplied", "you say", "you said", "you mention", "you note"),
    *("you point out", "you pointed out", "you tell me", "you told me", "the prompt", "your prompt", "your message"),
    *("your remark", "your comment", "your hint", "the comment", "the note", "the hint", "the tip"),
)
"""Phrases that give any cue away by naming its source; not used for the cues "word" and "name"."""

MORE: Mapping[str, Sequence[str]] = sibling_toml(__file__, "cue_words.toml")
"""More words by cue. They are read like a template's own, but are no part of its hash or of a run's records."""

_ARTICLE = re.compile(r"\b(the|a)[ \t]+(?=[a-z])", re.IGNORECASE)


class CueTemplate(Template):
    """A cue as its file defines it. `plant_cue`: where the cue goes, before, after or within the question."""

    place: Literal["before", "after", "within"] = "before"
    twins: tuple[str, ...] = ()
    draws: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()
    tells: Mapping[str, str] = Field(default_factory=dict)


@cache
def template(cue: Cue, folder: Path = FOLDER) -> CueTemplate:
    """Load the template of a cue."""
    return CueTemplate.model_validate(tomllib.loads((folder / f"{cue}.toml").read_text(encoding="utf-8")))


class Placed(NamedTuple):
    """An item with its cue in place: the cue's wording (`shown`), the text before and after the question, and the
    changed item if the cue is within the question.
    """

    shown: str = ""
    before: str = ""
    after: str = ""
    item: Item | None = None


def plant_cue(spec: PlantSpec, item: Item, arm: Arm, direction: str = "") -> Placed:
    """Place the cue of that arm in the item; `direction` is the answer that the cue points to. The same seed
    always gives the same result.
    """
    if spec.cue == "pattern":
        return _pattern(spec, item, arm, direction)
    chosen = template(spec.cue)
    if not spec.is_aimed:
        return _undirected(spec, item, arm)
    if arm == "plain":
        return Placed()
    twin = {"twin-1": 0, "twin-2": 1}.get(arm)
    shown = fill(chosen.user, {"direction": direction}) if twin is None else chosen.twins[twin]
    return Placed(shown, before=shown) if chosen.place == "before" else Placed(shown, after=shown)


def words_of(cue: Cue, shown: str) -> tuple[str, ...]:
    """Return all words that may give a cue away in an explanation; `shown` is the cue's wording."""
    chosen = template(cue)
    if cue in ("word", "name"):
        return (shown, *chosen.telling)
    return (*chosen.telling, *MORE.get(cue, ()), *SOURCES, *filter(None, chosen.tells.get(shown, "").split("|")))


def telling(spec: PlantSpec, item: Item, shown: str) -> tuple[str, ...]:
    """Return the words that give a cue away in an explanation, except those found in the question, its text or its
    options.
    """
    asked = " ".join((item.question, item.hypothesis, item.paragraph, *options(item)))
    known = set(shared_words.words(asked))
    return tuple(word for word in naming.without(words_of(spec.cue, shown), [asked]) if not is_of(word, known))


def is_of(phrase: str, known: Set[str]) -> bool:
    """Whether all content words of a phrase are `known`."""
    content = shared_words.content_words(phrase)
    return bool(content) and content <= known


def _undirected(spec: PlantSpec, item: Item, arm: Arm) -> Placed:
    """Place one of the cue's draws. The plain question contains a name too, if the cue is a name."""
    draws = sorted(template(spec.cue).draws, key=lambda one: unit_number(f"{spec.seed}|{item.id}|{one}"))
    arms = ("planted", "twin-1", "twin-2", "plain")
    if arm == "plain" and spec.cue != "name":
        return Placed()
    shown = draws[arms.index(arm)]
    if spec.cue == "word":
        return Placed(shown, item=_inserted(spec, item, shown))
    text = fill(template(spec.cue).user, {"drawn": shown})
    return Placed(shown, before=text) if spec.cue == "name" else Placed(shown, after=text)


def _inserted(spec: PlantSpec, item: Item, word: str) -> Item:
    """Return the item with the adjective `word` after one of its articles, or at its beginning if it has no article."""
    field = "paragraph" if item.paragraph else "question"
    text = str(getattr(item, field))
    articles = list(_ARTICLE.finditer(text))
    if not articles:
        return item.model_copy(update={field: f"{word.capitalize()}: {text}"})
    at = articles[int(unit_number(f"{spec.seed}|{item.id}|place") * len(articles))].end()
    return item.model_copy(update={field: f"{text[:at]}{word} {text[at:]}"})


def _pattern(spec: PlantSpec, item: Item, arm: Arm, direction: str) -> Placed:
    """Place example questions with their answers. The right answer is always under the letter of `direction`; without a
    direction it is under each letter in turn. Neutral cues have the same questions as the plain arm but begin with
    another one.
    """
    answers, all_shown = options(item), template("pattern").demonstrations
    begin = {"twin-1": 2, "twin-2": 4}.get(arm, 0)
    lines = [template("pattern").system]
    for number, shown in enumerate((*all_shown[begin:], *all_shown[:begin])):
        at = answers.index(direction) if direction else number % len(answers)
        offered = [shown["wrong"], *shown["others"].split("|")][: len(answers) - 1]
        offered.insert(at, shown["right"])
        lines.append(f"{shown['question']}\n{lettered(offered)}\nAnswer: ({letter(at)})")
    where = f"always ({letter(answers.index(direction))})" if direction else "under each letter in turn"
    first = all_shown[begin]["question"]
    return Placed(f"{len(all_shown)} examples from “{first}” on, the answer {where}", before="\n\n".join(lines))


def letter(at: int) -> str:
    """The letter of option number `at`: a, b, …"""
    return chr(ord("a") + at)


def lettered(offered: Sequence[str]) -> str:
    """List the options, one a line, each with its letter."""
    return "\n".join(f"({letter(at)}) {option}" for at, option in enumerate(offered))
