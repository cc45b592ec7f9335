"""The parts of a lab's page that are written by hand, and what is drawn for a lab that has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Any, Literal, NamedTuple

from streamlit.delta_generator import DeltaGenerator

from core import entry
from core.datasets.on_data import OnData
from core.labs.base.lab import Lab
from core.labs.base.spec import Spec
from core.report import run_scene
from core.scene import RunScene
from core.transcript import Transcript
from pages.components import plain_case
from pages.components.datasets import items_of, of_dataset
from pages.components.models import SHIPPED, short
from pages.components.side_by_side import ALIKE, Side

Offer = Literal["question", "input", "draw"]


class NextRun(NamedTuple):
    """A run to start after another: the label of its button, its specification, and what is added to its address."""

    words: str
    spec: Spec
    query: Mapping[str, str] = MappingProxyType({})


def _line(spec: Spec) -> list[str]:
    """Return the specification's title, or its chosen fields, and the model."""
    model = getattr(spec, "model", "")
    chosen = {name: getattr(spec, name) for name in spec.model_fields_set if name not in ("model", "title")}
    words = [
        f"{type(spec).model_fields[name].title or name}: {', '.join(value) if isinstance(value, tuple) else value}"
        for name, value in chosen.items()
        if value not in (None, "", ())
    ]
    return [str(getattr(spec, "title", "")) or ", ".join(words) or model, short(model)]


class FormPlaces(NamedTuple):
    """Where a form is drawn: `model` and `question` are in one line with the button, `below` is for what does not fit
    there, and `more` is the folded section *More options*.
    """

    model: DeltaGenerator
    question: DeltaGenerator
    below: DeltaGenerator
    more: DeltaGenerator


@dataclass(frozen=True)
class LabPage:
    """The parts of a lab's page that are written by hand.

    - `fields(places)` draws widgets and returns fields of the specification; `settings(fields)` draws more in the
      folded section. They raise ValueError with a message for the user. All other fields are drawn from the
      specification.
    - `drawn`: fields that `fields` or `settings` take care of, even if they do not return them.
    - `words`: what values of the specification and of the papers' figures are called on the screen, in addition to the
      lab's own `words` of outcomes and answers.
    - `verb`: what one does in the lab, for its picture on the front page.
    - `line(spec)` summarises a run's settings in a few words; the first item says what the run is about.
    - `fill(spec)` returns the values, by key, that the widgets of `fields` and `settings` have for `spec`.
    - `button(spec)` returns the primary button's label; `beside(spec)` draws what is next to the button and returns
      what is added to the run's address. `begin()` draws other ways to begin.
    - `offers(view)` returns what the owner of a finished run may do with this case in a field drawn by `extra_panel`,
      in a container whose key is `act-` and that name.
    - `replacement(view, active)` draws a replacement for a case that may not be shown yet, and returns whether it did;
      `extra_panel(view, active)` draws further forms and pictures under a case. `choose(transcript)` lets the reader
      choose one of several cases, and returns its id.
    - `of_all(lab, transcript, active)` returns the scene of a run with several cases. `guess_param` is a query
      parameter: while the address has it, that scene is not shown, because the reader has yet to guess or try.
    - `run_table(transcript, run_id)` draws what only a run of several cases has.
    - `sealed(view, active)`: whether the reader has yet to guess, so that nothing that reveals the answers may be
      shown.
    - `follow_up(transcript, view, run_id)` draws what can be done after a run, and returns whether the actions of every
      run (replay, link, download) may follow.
    - Next steps after a run: `may_predict(view)`, whether a person may predict the answers, because nobody else's
      predictions give a verdict; `with_real_model(spec, view)`, the run that asks a real model what a robot was asked;
      `longer_run(spec, view)`, the run to start if this one has too few tests for a verdict, else None.
    - `welcome()` draws what the front page offers of the lab below the game.
    - `methods()` draws the lab's section of the Methods page; without it, the section is drawn from the lab's
      declaration.
    - `side`: what the lab declares for comparing its runs side by side.
    """

    fields: Callable[[FormPlaces], dict[str, Any]] = lambda places: {}
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
    replacement: Callable[[Any, bool], bool] = lambda view, active: False
    extra_panel: Callable[[Any, bool], None] = lambda view, active: None
    choose: Callable[[Transcript], str] = plain_case.choose
    of_all: Callable[[Lab, Transcript, bool], RunScene] = run_scene.of_run
    guess_param: str = ""
    run_table: Callable[[Transcript, str], None] = plain_case.table
    sealed: Callable[[Any, bool], bool] = lambda view, active: False
    follow_up: Callable[[Transcript, Any, str], bool] = lambda transcript, view, run_id: True
    may_predict: Callable[[Any], bool] = lambda view: False
    with_real_model: Callable[[Any, Any], NextRun | None] = lambda spec, view: NextRun(
        "", spec.model_copy(update={"model": SHIPPED})
    )
    longer_run: Callable[[Any, Any], NextRun | None] = lambda spec, view: None
    welcome: Callable[[], None] = lambda: None
    methods: Callable[[], None] | None = None
    side: Side = ALIKE


_OF_FORM = ("fields", "settings", "line", "fill", "button", "beside")


def with_form(form: ModuleType, **more: Any) -> LabPage:
    """Return a page whose form is a module: the module's functions of those names, its DRAWN, and `more`."""
    there = {name: getattr(form, name) for name in _OF_FORM if hasattr(form, name)}
    return LabPage(drawn=form.DRAWN, **there, **more)


LAB_PAGES: dict[str, LabPage] = {}
"""The page of each lab, by the lab's name. `pages/labs` fills it in, because those modules use this one."""


def page_of(lab: Lab) -> LabPage:
    """Return the page of a lab; if it has none, one that draws what the lab declares."""
    if lab.name in LAB_PAGES or not issubclass(lab.spec, OnData):
        return LAB_PAGES.get(lab.name) or LabPage()
    return LabPage(
        fields=lambda places: items_of(lab, places.below),
        drawn=frozenset(OnData.model_fields) - {"seed"},
        fill=of_dataset,
    )


@cache
def all_words() -> Mapping[str, str]:
    """Return what values of facets and outcomes are called on the screen, for all labs."""
    return {value: said for lab in entry.labs().values() for value, said in {**lab.words, **page_of(lab).words}.items()}
