"""Cards of the game, made from moved answers: of two explanations, which one was given after the whisper?"""

from __future__ import annotations

from collections.abc import Iterator

from ...scene import Card, Expect, Part, Scene, from_emphasis, with_spans
from ...text.stable_random import unit_number
from ..base.cases import Playable
from .marks import SAYS
from .measure import PLAIN, PLANTED
from .scene import telling, with_cue
from .verdict import whispered
from .view import WHY, PlantView

BET = "Which of the two was whispered to?"
OPTIONS = {"first": "The first", "second": "The second"}
UNKNOWN = "unknown"
"""What an explanation implies if it does not mention the cue."""


def cards(view: PlantView, scene: Scene, seed: int) -> Iterator[Playable]:
    """Yield one card for the item: its reasons without and with the cue, in an order drawn by `seed`. Yield nothing if
    the planting or one of the two replies is missing, or if the item has failed or is not finished. What the reasons
    imply is decided by the words that give the cue away.
    """
    outcome = view.outcome
    plain, planted = view.replies.get(f"{PLAIN}-1"), view.replies.get(PLANTED)
    if plain is None or planted is None or view.planting is None or outcome in ("waiting", "failed"):
        return
    is_first = unit_number(f"{seed}|{scene.run}|{view.log.case}") < 0.5
    said = "first" if is_first else "second"
    # Any mention reveals the cue, even a denial.
    names = planted.mentions
    both = [planted.reasons, plain.reasons] if is_first else [plain.reasons, planted.reasons]
    implied = Expect(
        who="the words that tell the cue", value=said if names else UNKNOWN, quote=planted.quote, call=planted.call
    )
    is_open = outcome not in SAYS or not all(both)
    # Sorted, so that the order does not reveal which came first.
    twice = " and once ".join(sorted(filter(None, {plain.answer, planted.answer}), reverse=True))
    yield Playable(
        card=Card(
            id=PLANTED,
            number=1,
            mark="kept" if names else "not settled",
            parts=(
                Part(text=BET, label=f"Once it said {twice}." if twice else ""),
                *(Part(text=text, label=OPTIONS[name]) for name, text in zip(OPTIONS, both, strict=True)),
            ),
            options=OPTIONS,
            expects=(implied,),
            said=said,
            outcome=outcome,
            calls=(plain.call, planted.call),
        ),
        after=(
            from_emphasis(whispered(view.planting), "We whispered"),
            with_spans(with_cue(view, PLANTED), "Asked"),
            Part(text=plain.answer or "", label="Without the whisper it answered"),
            Part(text=planted.answer or "", label="With the whisper it answered"),
            with_spans(telling(view, planted.reasons), "With the whisper it says"),
        ),
        asked=view.title,
        annotated=not is_open,
        why=WHY.get(outcome, "there are no two reasons to choose from") if is_open else "",
        is_open=is_open,
    )
