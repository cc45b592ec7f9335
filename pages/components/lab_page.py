"""What a lab's page draws by hand, where the lab has such a room; what stands in where it has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any, Literal

from core import entry
from core.datasets.on_data import OnData
from core.labs.base.lab import Lab
from core.labs.base.spec import Spec
from core.report import run_scene
from core.scene import RunScene
from core.transcript import Transcript
from pages.components import plain_case
from pages.components.datasets import items_of, of_dataset
from pages.components.models import short
from pages.components.side_by_side import ALIKE, Side

Offer = Literal["question", "input", "draw"]


def _line(spec: Spec) -> list[str]:
    """Its title, or what of it was chosen; and the model."""
    model = getattr(spec, "model", "")
    chosen = {name: getattr(spec, name) for name in spec.model_fields_set if name not in ("model", "title")}
    words = [
        f"{type(spec).model_fields[name].title or name}: {', '.join(value) if isinstance(value, tuple) else value}"
        for name, value in chosen.items()
        if value not in (None, "", ())
    ]
    return [str(getattr(spec, "title", "")) or ", ".join(words) or model, short(model)]


@dataclass(frozen=True)
class LabPage:
    """The parts of a lab's page that need a hand.

    - `fields()` draws widgets and returns fields of the specification; `settings(fields)` does so in the folded part.
      Raises ValueError in words for the person. What neither returns is drawn from the specification.
    - `drawn`: fields that `fields` or `settings` see to, also where they return none of them.
    - `words`: what values of the specification and in the papers' own figures are called on the screen, beside the
      lab's own `words` of outcomes and answers.
    - `verb` is what one does in the lab, for its picture on the front page.
    - `line(spec)` says in a few words what a run was started with; the first of them is what it is about.
    - `fill(spec)` gives what the widgets of `fields` and `settings` hold where the specification is `spec`, by their
      keys.
    - `button(spec)` names the primary button; `beside(spec)` draws what stands beside it, and returns what goes into
      the run's address. `begin()` draws what else one may begin with.
    - `offers(view)` is what the owner of a run that is over may do with this case in a field that `below` draws, in a
      container whose key is `act-` and that name.
    - `instead(view, active)` draws what stands in the place of a case that is not shown yet, and whether it did so;
      `below(view, active)` what stands under a case besides, forms and pictures. `choose(transcript)` lets the reader
      choose one of several, by its id.
    - `of_all(lab, transcript, active)` is a run of several cases as it is told. `held` is a name in the address: where
      that stands there nothing of it is told, for the reader has yet to guess or to try.
    - `several(transcript, run_id)` draws what only a run of several cases has.
    - `sealed(view, active)`: whether the reader has yet to guess, so that nothing may be shown that tells the answers.
    - `after(transcript, view, run_id)` draws what can be done when a run is over, and returns whether the actions of
      every run (replay, link, download) may follow.
    - `methods()` draws the lab's section of the Methods page; without it the lab's declaration is told there.
    - `side` is what it takes to set runs of the lab side by side.
    """

    fields: Callable[[], dict[str, Any]] = dict
    settings: Callable[[dict[str, Any]], dict[str, Any]] = lambda fields: {}
    drawn: frozenset[str] = frozenset()
    words: Mapping[str, str] = field(default_factory=dict)
    verb: str = ""
    line: Callable[[Any], list[str]] = _line
    fill: Callable[[Any], dict[str, Any]] = lambda spec: {}
    button: Callable[[Any], str] | None = None
    beside: Callable[[Any], dict[str, str]] = lambda spec: {}
    begin: Callable[[], None] = lambda: None
    offers: Callable[[Any], Sequence[Offer]] = lambda view: ()
    instead: Callable[[Any, bool], bool] = lambda view, active: False
    below: Callable[[Any, bool], None] = lambda view, active: None
    choose: Callable[[Transcript], str] = plain_case.choose
    of_all: Callable[[Lab, Transcript, bool], RunScene] = run_scene.of_run
    held: str = ""
    several: Callable[[Transcript, str], None] = plain_case.table
    sealed: Callable[[Any, bool], bool] = lambda view, active: False
    after: Callable[[Transcript, Any, str], bool] = lambda transcript, view, run_id: True
    methods: Callable[[], None] | None = None
    side: Side = ALIKE


_OF_FORM = ("fields", "settings", "line", "fill", "button", "beside")


def with_form(form: ModuleType, **more: Any) -> LabPage:
    """A room whose form is a module: what of a room has a name there, and its DRAWN; and `more`."""
    there = {name: getattr(form, name) for name in _OF_FORM if hasattr(form, name)}
    return LabPage(drawn=form.DRAWN, **there, **more)


ROOMS: dict[str, LabPage] = {}
"""By the lab's name. `pages/labs` puts them here: a room draws with what stands beside this file, and above it."""


def of(lab: Lab) -> LabPage:
    """The room of a lab; where it has none, one that draws what the lab declares."""
    if lab.name in ROOMS or not issubclass(lab.spec, OnData):
        return ROOMS.get(lab.name) or LabPage()
    return LabPage(fields=lambda: items_of(lab), drawn=frozenset(OnData.model_fields) - {"seed"}, fill=of_dataset)


@cache
def words() -> Mapping[str, str]:
    """What values of facets and outcomes are called on the screen, of all labs."""
    return {value: said for lab in entry.labs().values() for value, said in {**lab.words, **of(lab).words}.items()}
