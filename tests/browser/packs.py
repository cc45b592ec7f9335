"""A hostile pack of the game."""

from core.report.game.pack import Pack, PackCard
from core.scene import Card, Claim, Expect, Panel, Part, Who, with_spans
from tests.browser.stage_scenes import HOSTILE, RIGHT_TO_LEFT


def hostile() -> Pack:
    """Every field holds markup, right-to-left text, and an endless text."""
    long = (HOSTILE + " " + RIGHT_TO_LEFT + " " + "word " * 2_000)[:10_000]
    texts = (with_spans(((HOSTILE, "hidden"), (long, None)), label=HOSTILE), Part(label=HOSTILE, text=long))
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
    return Pack(name="hostile", title=HOSTILE, kind="ask", chosen=HOSTILE, recorded=2, cards=tuple(odd * 4))
