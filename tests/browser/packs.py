"""Packs of cards to be played: of the recordings that come with the app, and one that is hostile."""

from __future__ import annotations

from collections.abc import Iterator

from core import home, journal
from core.entry import labs
from core.scene import Card, Claim, Expect, Panel, Part, Scene, Who, marked
from core.telling import scenes
from core.telling.game.pack import Pack, PackCard
from core.transcript import transcript
from tests.browser.stage_scenes import HOSTILE, RIGHT_TO_LEFT

TRUE = {
    "Could Einstein read the news from a newspaper?": "yes",
    "Could you write a page on the World Wide Web while in 1905?": "no",
    "Could Einstein have watched a movie on Netflix?": "no",
    "Could Albert Einstein have watched a movie on his phone?": "no",
    "Was William Shakespeare born before the King James Bible was published?": "yes",
    "Could Shakespeare have owned a Bible published in 1611?": "yes",
    "Did Shakespeare live long enough to own the King James Bible?": "yes",
    "Could a penguin jump?": "yes",
    "Could you catch a penguin flying?": "no",
    "Could a penguin swim?": "yes",
    "Will frozen sea water be colder than frozen fresh water?": "yes",
    "Does the temperature of the ocean decrease as you go deeper?": "yes",
}
"""New questions of the recordings, and what is true."""


def _cases(lab: str) -> Iterator[Scene]:
    for path in sorted(home.recordings().glob(f"*-{lab}-*.jsonl")):
        state = transcript(journal.read(path).events)
        for case in state.cases:
            yield scenes.of_case(labs()[lab], state, case)


def ask() -> Pack:
    """Twelve new questions with the reason that was given before, and what is true."""
    cards = [
        PackCard(
            run=scene.run, case=scene.case, who=scene.who, title=scene.title, claim=scene.claim, card=card,
            truth=TRUE[card.parts[0].text],
        )
        for scene in _cases("simulatability")
        for card in scene.cards
        if card.parts and card.parts[0].text in TRUE
    ]  # fmt: skip
    return Pack(
        name="first",
        title="Can you tell by its reasons what it says next?",
        kind="ask",
        chosen="Twelve new questions of which it is known what is true.",
        recorded=24,
        annotated=24,
        cards=tuple(cards),
    )


def plant() -> Pack:
    """Two reasons for one question, one of them after a whisper."""
    options = {"first": "The first", "second": "The second"}
    cards = []
    for number, scene in enumerate(_cases("plant")):
        plain, cued = ([part for part in panel.parts if part.label == "It says"] for panel in scene.panels[:2])
        reasons = (plain, cued) if number % 2 else (cued, plain)
        texts = [Part(label=label, text=part.text) for label, (part, *_) in zip(options.values(), reasons, strict=True)]
        card = Card(
            id="planted",
            number=1,
            mark="not settled",
            parts=(Part(text="Which of the two was whispered to?"), *texts),
            options=options,
            said=("first", "second")[number % 2],
            came=f"it was {tuple(options.values())[number % 2].lower()}",
        )
        whisper = scene.panels[1].parts[0]
        cards.append(
            PackCard(run=scene.run, case=scene.case, who=scene.who, title=scene.title, card=card, after=(whisper,))
        )
    return Pack(
        name="plant", title="Was it whispered to?", kind="plant", chosen="Both.", recorded=2, cards=tuple(cards)
    )


def check() -> Pack:
    """A text with the words hidden that were said to decide."""
    shown = marked((("Our room looked out on a ", None), ("wall", "hidden"), (". Nobody answered the phone.", None)))
    card = Card(
        id="session",
        number=1,
        mark="broken",
        parts=(Part(text="What does it say now?"), shown),
        options={"positive": "Positive", "negative": "Negative", "unknown": "It cannot tell"},
        expects=(Expect(who="its explanation", value="positive", quote="The wall decides."),),
        said="negative",
        text="It is negative.",
    )
    said = Claim(answer="negative", parts=(Part(text="The word wall decides."),))
    one = PackCard(
        run="r",
        case="c",
        who=Who(name="one"),
        title="Is this review positive?",
        claim=said,
        card=card,
        truth="negative",
    )
    return Pack(name="check", title="What will it say now?", kind="check", chosen="One.", recorded=1, cards=(one,) * 6)


def hostile() -> Pack:
    """Every field holds markup, what is written from the right, and a text without end."""
    long = (HOSTILE + " " + RIGHT_TO_LEFT + " " + "word " * 2_000)[:10_000]
    texts = (marked(((HOSTILE, "hidden"), (long, None)), label=HOSTILE), Part(label=HOSTILE, text=long))
    card = Card(
        id=HOSTILE, number=1, mark="broken", parts=texts, options={"yes": HOSTILE, HOSTILE: RIGHT_TO_LEFT},
        expects=(Expect(who=HOSTILE, value=HOSTILE, quote=long),), said="yes", text=long, came=HOSTILE, outcome=HOSTILE,
        reason=HOSTILE, doubt=HOSTILE, origin=HOSTILE, panels=(Panel(title=HOSTILE, parts=texts),),
    )  # fmt: skip
    claim = Claim(answer=HOSTILE, gold=HOSTILE, parts=texts, note=HOSTILE, domain=HOSTILE, code=long)
    who = Who(shown=HOSTILE, name=HOSTILE)
    odd = [
        PackCard(run=HOSTILE, case=HOSTILE, who=who, title=long, claim=one, card=card, truth="yes", after=texts)
        for one in (claim, None)
    ]
    return Pack(name=HOSTILE, title=HOSTILE, kind="ask", chosen=HOSTILE, recorded=2, cards=tuple(odd * 4))
