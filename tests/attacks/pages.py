"""Texts that try to be more than text where they are shown, and a run that is made of them."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from core.events import Event
from core.runs.engine import RunIO, RunRequest, execute
from core.transcript import Transcript, transcript
from tests.attacks.texts import UNITS
from tests.support.small_lab import LAB, Echoing, EchoSpec

ATTACKS = (
    "<script>window.hit = 1</script>",
    "</pre></style></script><script>window.hit = 1</script>",
    '"><img src=x onerror="window.hit=1">',
    "' onmouseover='window.hit=1' autofocus onfocus='window.hit=1",
    "<svg/onload=window.hit=1>",
    "<!--<base href='http://127.0.0.1:9/'><link rel=stylesheet href=/a.css>-->",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<a href='javascript:window.hit=1'>a</a>{{ 7 * 7 }}{% for a in b %}",
    "<iframe srcdoc='<script>parent.hit=1</script>'></iframe>",
    "a\x00bc\u202ed *<script>window.hit = 1</script>*",
)
HOSTILE = (
    *ATTACKS,
    *("".join(UNITS[at : at + 12]).encode("utf-8", "ignore").decode() for at in range(0, len(UNITS), 12)),
)


def run_of(words: tuple[str, ...] = HOSTILE) -> Transcript:
    """A run of which every text is hostile, or one of `words`: what was asked, said and expected, and its title."""
    events: list[Event] = []
    spec = EchoSpec(words=words, times=1)
    with ThreadPoolExecutor(1) as aside:
        # In a browser test this thread already has a loop.
        run = execute(RunRequest(LAB, spec, "r"), RunIO(lambda id: Echoing(), events.append))
        aside.submit(asyncio.run, run).result()
    assert transcript(events).status == "completed"
    return transcript(events)
