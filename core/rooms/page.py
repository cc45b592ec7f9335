"""The page of a room, for the wall and for phones, and the page and the table that a teacher keeps of it."""

import gzip
from collections import Counter
from functools import cache
from typing import Any, NamedTuple

import segno

from ..report import standalone_html
from ..report.viewer_assets import drawing_class, drawing_files, in_one_scope
from ..text.display import csv
from .events import RATINGS
from .room import Room
from .sketches import SketchCard

_COLUMNS = {"reason": "With its reason", "none": "Without it", "arguments": "For and against"}


class Page(NamedTuple):
    """A page as it is, and compressed with gzip."""

    plain: bytes
    compressed: bytes


@cache
def of_app(is_wall: bool) -> Page:
    """The page that the app serves at `/wall` or at `/join`. It holds nothing of any room."""
    body = standalone_html.page(
        "room.html",
        f"{standalone_html.part('game.css')}main {{ max-width: none; padding: 0; }}\n",
        f"{in_one_scope(drawing=('parts.js', 'game.js'))}\n{drawing_class()}\n{standalone_html.part('room.js')}",
        title="Present to a class" if is_wall else "Join a class",
        room_style=drawing_files()[0] + standalone_html.part("room.css"),
        screen="wall" if is_wall else "phone",
    )
    return Page(body, gzip.compress(body, 9, mtime=0))


def qr(address: str) -> dict[str, object]:
    """The QR code of an address: its `size` in modules, and the dark ones as an SVG `path`."""
    rows = segno.make(address, error="m").matrix
    dark = (f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, is_dark in enumerate(row) if is_dark)
    return {"size": len(rows), "path": "".join(dark)}


def _revealed(room: Room) -> list[dict[str, Any]]:
    """The revealed cards with their votes, without names."""
    found = []
    for place in room.turned:
        card, is_out = room.cards[place], room.is_reason_out(place)
        options, claim = card.card.options, card.claim
        votes = [(options[value], counts, value == card.card.said) for value, counts in room.counts(place).items()]
        if isinstance(card, SketchCard):
            hits = Counter(room.hits(place).values())
            votes = [(f"close on {n} of {card.parts} parts", [hits[n]], False) for n in sorted(hits, reverse=True)]
        reason = " ".join(part.text for part in claim.parts) if claim is not None and is_out else ""
        found.append(
            {
                "number": place + 1,
                "title": card.title,
                "answer": claim.answer if claim is not None else "",
                "reason": reason,
                "arguments": room.arguments(place) if is_out else None,
                "asked": [part for part in card.card.parts if part.text],
                "said": options.get(card.card.said, ""),
                "words": card.card.text,
                "votes": votes,
                "is_sketch": isinstance(card, SketchCard),
                "going": card.going if is_out and card.card.options else "",
                "ratings": room.ratings(place) if is_out else [],
            }
        )
    return found


def to_keep(room: Room) -> bytes:
    """What a class predicted, as an HTML file that needs nothing else: revealed cards, counted votes, no names."""
    style = standalone_html.based(standalone_html.part("room_kept.css"))
    made = standalone_html.template("room_kept.html").render(
        style=style,
        style_hash=standalone_html.digest(style),
        title=room.opened.title,
        people=len(room.people),
        arms=[_COLUMNS[arm] for arm in room.arms],
        chosen=room.opened.chosen,
        cards=_revealed(room),
        score=room.score(),
        convincing=room.convincing(),
        models=room.models(),
    )
    return made.encode("utf-8", "xmlcharrefreplace")


def table(room: Room) -> bytes:
    """The counted votes as CSV: a row for each answer of each revealed card, and for each arm of the class. Each row
    also has what one predicts by the card's explanation, and how many people gave that each rating.
    """
    from pandas import DataFrame

    shown = {"reason": "yes", "none": "no", "arguments": "for and against"} if room.opened.has_arms else {"reason": ""}
    rows = [
        {
            "card": one["number"],
            "question": one["title"],
            "asked": " ".join(part.text for part in one["asked"]),
            "reason_shown": shown[arm],
            "answer": answer,
            "votes": counts[number],
            "happened": "yes" if is_right else "no",
            "explanation": one["going"],
            **{f"rated_{value}": n for value, n in zip(RATINGS, one["ratings"] or [""] * len(RATINGS), strict=True)},
        }
        for one in _revealed(room)
        for number, arm in enumerate(room.arms)
        for answer, counts, is_right in one["votes"]
    ]
    columns = ["card", "question", "asked", "reason_shown", "answer", "votes", "happened", "explanation"]
    columns += [f"rated_{value}" for value in RATINGS]
    return csv(DataFrame(rows, columns=columns))
