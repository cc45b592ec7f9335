"""The page of a room, for the wall and for phones, and the page and the table that a teacher keeps of it."""

from __future__ import annotations

import gzip
from functools import cache
from typing import Any, NamedTuple

import segno

from ..report import case_html
from ..report.viewer_assets import in_one_scope
from ..text.cells import csv
from .room import Room


class Page(NamedTuple):
    """A page as it is, and compressed with gzip."""

    plain: bytes
    compressed: bytes


@cache
def of_app(is_wall: bool) -> Page:
    """The page that the app serves at `/wall` or at `/join`. It holds nothing of any room."""
    body = case_html.page(
        "room.html",
        f"{case_html.part('game.css')}main {{ max-width: none; padding: 0; }}\n",
        f"{in_one_scope()}\n{case_html.part('room.js')}",
        title="Present to a class" if is_wall else "Join a class",
        room_style=case_html.part("room.css"),
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
        reason = " ".join(part.text for part in claim.parts) if claim is not None and is_out else ""
        found.append(
            {
                "number": place + 1,
                "title": card.title,
                "answer": claim.answer if claim is not None else "",
                "reason": reason,
                "asked": [part for part in card.card.parts if part.text],
                "said": options[card.card.said],
                "words": card.card.text,
                "votes": [
                    (options[value], *halves, value == card.card.said) for value, halves in room.counts(place).items()
                ],
            }
        )
    return found


def to_keep(room: Room) -> bytes:
    """What a class predicted, as an HTML file that needs nothing else: revealed cards, counted votes, no names."""
    style = case_html.based(case_html.part("room_kept.css"))
    made = case_html.template("room_kept.html").render(
        style=style,
        style_hash=case_html.digest(style),
        title=room.opened.title,
        people=len(room.people),
        has_arms=room.opened.has_arms,
        chosen=room.opened.chosen,
        cards=_revealed(room),
        score=room.score(),
        models=room.models(),
    )
    return made.encode("utf-8", "xmlcharrefreplace")


def table(room: Room) -> bytes:
    """The counted votes as CSV: a row for each answer of each revealed card, and for each half of the class."""
    from pandas import DataFrame

    halves = ("yes", "no") if room.opened.has_arms else ("",)
    rows = [
        {
            "card": one["number"],
            "question": one["title"],
            "asked": " ".join(part.text for part in one["asked"]),
            "reason_shown": half,
            "answer": answer,
            "votes": (counts if room.opened.has_arms else [sum(counts)])[number],
            "happened": "yes" if is_right else "no",
        }
        for one in _revealed(room)
        for number, half in enumerate(halves)
        for answer, *counts, is_right in one["votes"]
    ]
    columns = ["card", "question", "asked", "reason_shown", "answer", "votes", "happened"]
    return csv(DataFrame(rows, columns=columns))
