"""The story on the front page: the labs in a few screens, each made from a recorded run."""

from __future__ import annotations

from core import entry, home
from core.lab.lab import Lab
from core.runs.recordings import Recording, listed
from core.scene import Scene, in_short
from core.telling.scenes import of_case
from pages.parts import recording, session
from pages.parts.live import place
from pages.stage.mount import Together, Where, stage


def scene(lab: Lab, one: Recording) -> Scene:
    """What is told of a recording: of what describes a function the words, and not the code."""
    state = session.run(one.run).watch().transcript
    whole = of_case(lab, state, state.only)
    claim = whole.claim and whole.claim.model_copy(update={"domain": "", "code": ""})
    return whole.model_copy(update={"claim": claim, "screens": in_short(whole, one.row)})


labs = [lab for lab in entry.labs().values() if not lab.hidden]
told = [(lab, one) for lab in labs for one in listed(home.recordings()).of_lab(lab.name) if one.story]
series = {
    "whole": [f"/{lab.path}?run={one.run}" for lab, one in told],
    "head": "What it means, and what it does not",
    "headline": "An explanation is worth what it lets you expect",
    "words": "That can be tried out. It does not say whether an answer is right, nor what goes on inside a model.",
    "links": [(f"{lab.title}: {lab.question}", f"/{lab.path}") for lab in labs],
    "foot": recording.about_all(),
    "leave": "/",
}
scenes = [scene(lab, one) for lab, one in told]
stage("tell", scenes, "story", where=Where(place=place()), together=Together(series=series))
