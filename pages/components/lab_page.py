"""The page of a lab: what is drawn for every lab, in methods that a lab overrides where it differs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st
from pydantic import ValidationError
from streamlit.delta_generator import DeltaGenerator

from core import entry, package_data
from core.datasets import own
from core.datasets.registry import OnData
from core.events import CallError
from core.labs.base.lab import Lab
from core.labs.base.spec import MOST_CASES, Spec, knobs
from core.paper_figures import source
from core.text.display import count_noun
from core.text.templates import TemplateError, load
from core.transcript import CaseProgress, Transcript
from pages.components.tables import button, opens, table
from pages.components.text import plain
from pages.components.widgets import SHIPPED, choose_named, filled, from_dataset, of_dataset, one_of, short, widget

# A lab's section of the Methods page, drawn from what the lab declares, and parts for labs that say more.


RULES = "Original parser and updated parser"


def method_texts(lab: Lab) -> dict[str, str]:
    """Draw title, paper, procedure and figures of the lab from `data/methods.toml`, and return all its texts by
    name.
    """
    texts: dict[str, str] = package_data.table("methods")[lab.name]
    paper = source(lab.name)
    authors = plain(texts.get("authors", paper["authors"]))
    st.header(texts["title"], anchor=False)
    after = f"After {authors} {paper['year']}, *{plain(paper['title'])}* (arXiv {plain(paper['arxiv'])})."
    st.markdown(f"{after}\n\n{texts['procedure']}")
    st.markdown(texts["figures"])
    return texts


def folded(title: str, icon: str, key: str, text: str, lines: Iterable[str] = ()) -> None:
    """Draw a text that unfolds on a click, with a list below it."""
    with st.expander(title, icon=f":material/{icon}:", key=key):
        st.markdown("\n\n".join(filter(None, (text, "\n".join(f"- {line}" for line in lines)))))


def prompts(folder: Path, key: str, **more: Any) -> None:
    """Let the reader choose a template of a folder, and show it turn by turn with its demonstrations. `more` goes to
    the selectbox.
    """
    names = sorted(path.stem for path in folder.glob("*.toml"))
    if chosen := st.selectbox("Template", names, key=key, **more):
        try:
            template = load(chosen, folder)
        except TemplateError as error:
            st.error(plain(str(error)), icon=":material/error:")
            return
        count = len(template.demonstrations)
        st.caption(
            f"{plain(template.role)} · version {template.version} · hash {template.hash} · {count} demonstrations"
        )
        turns = {"system": template.system, "user": template.user}
        turns |= {"assistant, as a demonstration": template.assistant, "user, at last": template.ask}
        text = "\n\n".join(f"[{role}]\n{turn}" for role, turn in turns.items() if turn)
        st.code(text, language=None, wrap_lines=True)
        if count:
            table(pd.DataFrame(template.demonstrations), f"{key}-demonstrations", "The template's demonstrations")


def _listed(lab: Lab) -> None:
    """List the prompts of a run with default settings, with their hashes."""
    try:
        hashes = lab.prompts(lab.spec())
    except ValidationError:
        hashes = {}
    if not hashes:
        st.caption("Each run says which prompts it sent, by their hashes; each call shows its own.")
        return
    rows = pd.DataFrame(hashes.items(), columns=["Prompt", "Hash"])
    table(rows, f"{lab.name}-prompts", "The prompts of a run as it is by default, with their hashes")


# The list of a run's cases, the same for every lab.


def case_label(progress: CaseProgress) -> str:
    """Return a case's name in a list: its number and title. It never changes, because a browser would mistake a changed
    name for another choice.
    """
    title = " ".join(progress.title.split())
    return f"{progress.number} · {title[:80]}{'…' if len(title) > 80 else ''}"


class NextRun(NamedTuple):
    """A run to start after another: the label of its button, its specification, and what is added to its address."""

    words: str
    spec: Spec
    query: Mapping[str, str] = MappingProxyType({})


class FormPlaces(NamedTuple):
    """Where a form is drawn: `model` and `question` are in one line with the button, `below` is for what does not fit
    there, and `more` is the folded section *More options*.
    """

    model: DeltaGenerator
    question: DeltaGenerator
    below: DeltaGenerator
    more: DeltaGenerator


class LabPage:
    """The page of a lab. Its form is made from the specification: the table `form` in fields.toml says which fields are
    in which group, in which order. The groups `below`, `more` and `model` are drawn first, then what the run is about
    (`subject`), then, folded, `settings` and all other fields in two columns. The entry `source` of a group is the
    choice among `sources`.

    A lab with a page of its own has a class in `pages/labs/<path>/page.py`, named there as `PAGE`, which overrides what
    differs.
    """

    verb = ""
    """What one does in the lab, for its picture on the front page."""

    words: Mapping[str, str] = MappingProxyType({})
    """What values of the specification and of the papers' figures are called on the screen, in addition to the lab's
    own `words` of outcomes and answers.
    """

    sources: Mapping[str, str] = MappingProxyType({"dataset": "A data set"})
    """What a run may be about, of `own`, `shipped` and `dataset`, with their names."""

    source_title = "What it is asked about"
    is_source_named = False
    """Whether the title of the choice among `sources` is shown."""

    guess_param = ""
    """A query parameter. While the address has it, the reader has yet to guess or try: the scene of several cases is
    not shown.
    """

    compares_answers = False
    """For runs side by side: whether a test's result is an answer of the model, and its explanation leads one to expect
    a certain answer; then both are compared, not only the outcomes.
    """

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    def key(self, name: str) -> str:
        """Return the key of the form's widget of that name."""
        return f"{self.lab.path}-{name}"

    # The form

    def fields(self, places: FormPlaces) -> dict[str, Any]:
        """Draw the form, and return fields of the specification. Raises ValueError with a message for the user."""
        given: dict[str, Any] = {}
        for group, place in (("below", places.below), ("more", places.more), ("model", places.model)):
            with place:
                self._draw_group(group, given)
        given |= self.subject(places, given)
        with places.more:
            self._draw_group("settings", given)
            self.more_settings(given)
            columns = st.columns(2)
            for number, name in enumerate(one for one in self._ungrouped() if self.applies(one, given)):
                with columns[number % 2]:
                    given[name] = self.field(name, given)
        given.pop("source", None)
        return given

    def _draw_group(self, group: str, given: dict[str, Any]) -> None:
        for name in self.lab.spec.GROUPS.get(group, ()):
            if self.applies(name, given):
                given[name] = self._source() if name == "source" else self.field(name, given)

    def _ungrouped(self) -> Sequence[str]:
        """Return the fields of the group `grid`; without one, all that are in no group."""
        groups = self.lab.spec.GROUPS
        is_of_data = issubclass(self.lab.spec, OnData)
        held = {*OnData.model_fields, "task"} - {"seed"} if is_of_data else set()
        return groups.get("grid") or [one for one in knobs(self.lab.spec) if one not in held.union(*groups.values())]

    def _source(self) -> str:
        return one_of(self.source_title, self.sources, self.key("source"), is_named=self.is_source_named)

    def applies(self, name: str, given: Mapping[str, Any]) -> bool:
        """Whether the form has that field, when these fields are given before it."""
        return True

    def field(self, name: str, given: Mapping[str, Any]) -> Any:
        """Draw a field, and return what was chosen."""
        return widget(self.lab, knobs(self.lab.spec)[name])

    def more_settings(self, given: dict[str, Any]) -> None:
        """Draw further settings in the folded section, and add them to `given`."""

    def subject(self, places: FormPlaces, given: Mapping[str, Any]) -> dict[str, Any]:
        """Draw what the run is about, and return it: the user's `own`, items that ship, or a data set."""
        spec = self.lab.spec
        if not issubclass(spec, OnData):
            return {}
        source, task = given.get("source", "dataset"), given.get("task")
        if source == "own":
            return self.own(places, given)
        with places.below:
            if task is None:
                task = self.field("task", given) if "task" in knobs(spec) else spec.model_fields["task"].default
        if source == "dataset":
            counted = spec.counted.capitalize()
            logs = self.lab.listing.takes_explanations and own.NEEDS[str(task)] == ("question",)
            return {"task": task, **from_dataset(str(task), counted, self.key(""), places.question, places.below, logs)}
        most, first = self.shipped(task)
        slider = places.question.slider
        return {"limit": slider("Items", 1, most, first, key=self.key(f"shipped-{task}"), persist_state="session")}

    def own(self, places: FormPlaces, given: Mapping[str, Any]) -> dict[str, Any]:
        """Draw the user's own question, and return it."""
        raise NotImplementedError

    def shipped(self, task: str) -> tuple[int, int]:
        """Return how many items ship for the task, and how many of them are chosen at first."""
        raise NotImplementedError

    def fill(self, spec: Any) -> dict[str, Any]:
        """Return the values, by key, that the form's widgets have for `spec`."""
        held = filled(self.lab, spec)
        if not isinstance(spec, OnData):
            return held
        if spec.dataset:
            return held | {self.key("source"): "dataset"} | of_dataset(spec, self.key(""))
        if "shipped" not in self.sources:
            return held | {self.key("source"): "own"}
        most, _ = self.shipped(spec.task)
        number = min(spec.limit or most, most)
        return held | {self.key("source"): "shipped", self.key(f"shipped-{spec.task}"): number}

    def button(self, spec: Any) -> str:
        """Return the primary button's label, with the number of calls if it is known."""
        # The reason why the cases cannot be listed is reported when the run begins.
        with suppress(ValueError, CallError):
            if spec is not None and (number := self.calls(spec)) is not None:
                return f"{self.lab.title} · {'at most ' if self.is_at_most(spec) else ''}{count_noun(number, 'call')}"
        return self.lab.title

    def cases(self, spec: Any) -> int:
        """Return the number of a run's cases. Raises ValueError and CallError with messages for the user."""
        return _cases(self.lab.name, spec.model_dump_json())

    def calls(self, spec: Any) -> int | None:
        """Return the number of a run's calls; None if it is not known. Raises what `cases` raises."""
        return self.lab.calls(spec, self.cases(spec))

    def is_at_most(self, spec: Any) -> bool:
        """Whether a run may take fewer calls than `calls` returns."""
        return False

    def beside(self, spec: Any) -> dict[str, str]:
        """Draw what is next to the button, and return what is added to the run's address."""
        return {}

    def begin(self) -> None:
        """Draw other ways to begin, below the form."""

    def examples(
        self, pick: Callable[[int], Sequence[str]], take: Callable[[str], None], called: Callable[[str], str] = str
    ) -> None:
        """Draw examples: `pick` returns those to show, given how often others were wanted; `take` gets the one that is
        clicked, and `called` returns what one is called.
        """
        key, turn = self.key("example"), self.key("examples")

        def taken() -> None:
            if chosen := st.session_state[key]:
                take(chosen)
                st.session_state[key] = None

        def others() -> None:
            st.session_state[turn] += 1

        shown = pick(st.session_state.setdefault(turn, 0))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.pills(
                "Examples", shown, format_func=called, key=key, on_change=taken, label_visibility="collapsed", wrap=True
            )
            button("More examples", "casino", self.key("others"), others)

    # A run

    def line(self, spec: Any) -> list[str]:
        """Return a run's settings in a few words; the first item says what the run is about."""
        model = getattr(spec, "model", "")
        chosen = {name: getattr(spec, name) for name in spec.model_fields_set if name not in ("model", "title")}
        words = [
            f"{type(spec).model_fields[name].title or name}: {', '.join(value) if isinstance(value, tuple) else value}"
            for name, value in chosen.items()
            if value not in (None, "", ())
        ]
        return [str(getattr(spec, "title", "")) or ", ".join(words) or model, short(model)]

    def may_ask(self, view: Any) -> bool:
        """Whether the owner of a finished run may ask about this case in a field drawn by `extra_panel`, in a container
        with the key `act-question`.
        """
        return False

    def replacement(self, view: Any, active: bool) -> bool:
        """Draw a replacement for a case that may not be shown yet, and return whether it did."""
        return False

    def extra_panel(self, view: Any, active: bool) -> None:
        """Draw further forms and pictures under a case."""

    def choose(self, transcript: Transcript) -> str:
        """Let the reader choose one of several cases, and return its id."""
        names = {case: case_label(progress) for case, progress in transcript.in_order.items()}
        if not names:
            return ""
        known = st.query_params.get("case", "")
        key = f"chosen-case-{transcript.started.run if transcript.started else ''}"
        # The address says which case is shown, whether it was chosen here, in the table, or by a link.
        st.session_state[key] = known if known in names else next(iter(names))

        def chosen() -> None:
            st.query_params["case"] = st.session_state[key]

        return str(choose_named("Case", names, key, on_change=chosen))

    def run_table(self, transcript: Transcript, run_id: str) -> None:
        """Draw what only a run of several cases has: a table of all of them, in which a click on one shows it above."""
        rows: list[dict[str, Any]] = []
        for progress in transcript.in_order.values():
            result = progress.result or {}
            rows.append(
                {
                    "": progress.number,
                    "About": progress.title,
                    "Outcome": result.get("outcome_repaired", "not reached"),
                    "Counted": f"{result['counted']} of {result['trials']}" if result else "",
                    "Verdict": str(result.get("verdict") or "").replace("*", ""),
                    "Explanation": result.get("explanation") or "",
                    "With the original parser": result.get("outcome_paper") or "",
                }
            )
        st.caption("Select a case to see it whole, above.")
        key, columns = f"cases-{run_id}", {"About": st.column_config.TextColumn(width="medium")}
        about = "Table of the run's cases with their outcomes"
        table(pd.DataFrame(rows), key, about, column_config=columns, **opens(list(transcript.in_order), key))

    def further_baselines(self, transcript: Transcript, run_id: str) -> None:
        """Draw, below the figures of a run that is over, what else predicts its answers."""

    def sealed(self, view: Any, active: bool) -> bool:
        """Whether the reader has yet to guess, so that nothing that reveals the answers may be shown."""
        return False

    def follow_up(self, transcript: Transcript, view: Any, run_id: str) -> bool:
        """Draw what can be done after a run, and return whether the actions of every run (replay, link, download) may
        follow.
        """
        return True

    def may_predict(self, view: Any) -> bool:
        """Whether the next step is that a person predicts the answers: nobody else's predictions give a verdict."""
        return False

    def with_real_model(self, spec: Any, view: Any) -> NextRun | None:
        """Return the run that asks a real model what a robot was asked; None if there is none."""
        return NextRun("", spec.model_copy(update={"model": SHIPPED}))

    def longer_run(self, spec: Any, view: Any) -> NextRun | None:
        """Return the run to start if this one has too few tests for a verdict; None if it has enough."""
        return None

    # Runs side by side

    def ways(self, spec: Any) -> dict[str, dict[str, Any]]:
        """Return other ways to explain: fields of the specification by the way's name."""
        return {}

    def other(self, spec: Any, fields: dict[str, Any], run_id: str, view: Any) -> Spec:
        """Return the specification of a run to compare with `run_id`, with these fields changed. `view` is its case if
        it has only one, else None.
        """
        return self.lab.spec.model_validate({**spec.model_dump(), **fields})

    def same(self, spec: Any, run_id: str, view: Any) -> Spec | None:
        """Return the specification of a run with the same tests as `run_id`; None for labs whose tests are not made
        from what the model said.
        """
        return None

    def note(self, specs: Mapping[str, Any]) -> str:
        """Return what one has to know to read the comparison of runs with these specifications, as Markdown."""
        return ""

    # Other pages

    def welcome(self) -> None:
        """Draw what the front page offers of the lab below the game."""

    def methods(self) -> None:
        """Draw the lab's section of the Methods page: its question, its figures, and its prompts."""
        lab = self.lab
        if lab.hidden:
            return
        st.header(lab.title, anchor=False)
        st.markdown(f"{plain(lab.question)}\n\n{lab.about}")
        for metric in lab.metrics:
            st.markdown(f"**{plain(metric.title)}**: {plain(metric.help)}")
        st.subheader(f"Prompts of {lab.title}", anchor=False)
        if lab.templates is not None:
            prompts(lab.templates, f"{lab.name}-template")
        else:
            _listed(lab)


@st.cache_data(max_entries=16, ttl=30, show_spinner=False)
def _cases(name: str, spec: str) -> int:
    """Count the cases that a run would have, up to MOST_CASES. Raises ValueError and CallError with messages for the
    user.
    """
    lab = entry.labs()[name]
    return sum(1 for _ in islice(lab.cases(lab.spec.model_validate_json(spec)), MOST_CASES))


LAB_PAGES: dict[str, type[LabPage]] = {}
"""The page of each lab, by the lab's name. `pages/labs` fills it in, because those modules use this one."""


def page_of(lab: Lab) -> LabPage:
    """Return the page of a lab; if it has none of its own, one that draws what the lab declares."""
    return LAB_PAGES.get(lab.name, LabPage)(lab)


@cache
def all_words() -> Mapping[str, str]:
    """Return what values of facets and outcomes are called on the screen, for all labs."""
    named = ({**lab.report.words, **page_of(lab).words} for lab in entry.labs().values())
    return {value: said for words in named for value, said in words.items()}
