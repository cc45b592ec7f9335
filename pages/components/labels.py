"""The visitor's verdicts, tags, notes and own labels on a case or trial, and how often labels confirm the parsers."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal, NamedTuple

import streamlit as st

from core import entry
from core.home import DataDirError
from core.judging.lab import CASE
from core.labs.base.declared import Judgement
from core.labs.base.lab import Lab
from core.labs.base.report import Trial
from core.runs import labels
from core.runs.labels import LONGEST_NOTE, LONGEST_TAG, MOST_TAGS, Label, Scheme, SchemeError
from core.server.quotas import QuotaExceededError
from core.store import audits
from core.store.filters import label_facet
from core.store.listing import RowPlace, Selection
from core.store.store import Store, StoreError
from core.transcript import Transcript, name_of
from pages import addresses
from pages.components import lab_page, reader_accuracy, session
from pages.components.text import plain, shortened
from pages.components.widgets import choose_named, short

# The visitor's own label schemes: their buttons and keys beside a case, the file they come from, and how far people
# agree.


BLIND = "Other people's labels are hidden until you have labelled every case that they did."


class Labeller(NamedTuple):
    """Someone whose labels under a scheme the visitor may see: a person, or the run of a judge model."""

    scheme: str
    who: str
    title: str
    is_own: bool

    @property
    def facet(self) -> str:
        """The name of the facet of these labels."""
        return label_facet(self.scheme, self.who)


def schemes() -> tuple[Scheme, ...]:
    """Return the label schemes of this home; none if their file is invalid, which `edit` reports."""
    with suppress(SchemeError, DataDirError):
        return labels.schemes()
    return ()


def _store() -> Store | None:
    with suppress(StoreError):
        return entry.keeper().store
    return None


def is_blind(scheme: str = "") -> bool:
    """Whether the visitor may not see other people's labels under the scheme, or under any one of the schemes."""
    store, who = _store(), session.runs().labeller
    names = [scheme] if scheme else [one.name for one in schemes()]
    return store is not None and any(
        audits.is_blind(audits.own_labels(store, name, session.viewer()), who) for name in names
    )


def labellers() -> list[Labeller]:
    """Return everyone whose labels the visitor may see: themselves first, other people only under schemes for which
    the visitor is not blind, then judge models.
    """
    store, own, viewer = _store(), session.runs().labeller, session.viewer()
    if store is None:
        return []
    titles = {one.name: one.shown for one in schemes()}
    judges = {one.run: judge_title(one) for one in audits.judges(store, viewer)}
    found: list[Labeller] = []
    people = dict[str, int]()
    for scheme, who, is_judge in audits.labellers_by_scheme(store, viewer):
        if is_judge or who == own:
            by = judges.get(who, "a judge, not tested") if is_judge else "you"
        elif is_blind(scheme):
            continue
        else:
            by = f"person {people.setdefault(who, len(people) + 1)}"
        found.append(Labeller(scheme, who, f"{titles.get(scheme, scheme)} ({by})", who == own))
    return sorted(found, key=lambda one: not one.is_own)


def judge_title(judge: audits.Judge) -> str:
    """Return the name of a judge model, with a warning if it did not pass its test."""
    warning = f", which {judge.warning}" if judge.passed is False else f", {judge.warning}" if judge.warning else ""
    return f"judge {short(judge.model)}{warning}: {shortened(judge.question, 60)}"


def draw_own(run_id: str, case: str) -> None:
    """Draw the buttons of each scheme for a case; their keys are shortcuts. Below, the other people's labels."""
    run = session.run(run_id)
    own = run.label_of(case, "").own
    for scheme in schemes():
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", key=f"own-{scheme.name.replace(' ', '-')}"
        ):
            st.markdown(f"**{plain(scheme.shown)}**", width="content")
            for label, key in scheme.labels.items():
                kind: Literal["primary", "secondary"] = "primary" if label in own.get(scheme.name, ()) else "secondary"
                does = partial(_label, run_id, case, scheme, label)
                st.button(plain(label), type=kind, key=f"own-label-{key}", shortcut=key, on_click=does)
    edit()
    _others(run_id, case)


def _label(run_id: str, case: str, scheme: Scheme, label: str) -> None:
    run = session.run(run_id)
    with session.reported(QuotaExceededError):
        run.label(case, "", run.label_of(case, "").labelled(scheme.name, label, scheme.several))


def _others(run_id: str, case: str) -> None:
    """Draw what others say about the case: people if the visitor is not blind, and judge models."""
    store = _store()
    if store is None:
        return
    (here,) = Selection(store, viewer=session.viewer()).own_labels([RowPlace(run_id, case)])
    for one in labellers():
        if one.is_own or not (said := here.get((one.scheme, one.who))):
            continue
        words = plain(f"{one.title}: {said}")
        if trial := audits.judgement_of(store, one.who, run_id, case):
            to = {"run": one.who, "case": CASE, "trial": trial}
            st.page_link(addresses.CASE, label=words, icon=":material/gavel:", query_params=to)
        else:
            st.caption(words)


def edit() -> None:
    """Draw the file of schemes with how far people agree; only the host may change it."""
    with st.popover(
        "Label schemes", icon=":material/label:", type="tertiary", key="own-edit", on_change="rerun"
    ) as shown:
        if not shown.open:
            return
        st.caption(
            "Your own labels for whole cases, whichever of their tests you came from: a name in brackets for each "
            f"scheme, and each label with its key. Free keys: {' '.join(labels.FREE)}. With *several = true* a case "
            "may have more than one label. A case without any counts as not labelled, so add a label for “nothing”."
        )
        _file()
        _agreement(schemes())


def _file() -> None:
    if not session.runs().may_all:
        st.caption("Only the host of this app can change them.")
        return
    try:
        file = labels.path()
        text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
        labels.schemes()
    except (SchemeError, DataDirError, OSError) as error:
        st.warning(plain(str(error)), icon=":material/rule:")
    st.text_area("Schemes", value=text or labels.EXAMPLE, key="own-text", height=200, label_visibility="collapsed")
    st.button("Save schemes", key="own-save", on_click=_save)
    if problem := st.session_state.pop("own-problem", ""):
        st.error(plain(problem), icon=":material/error:")


def _save() -> None:
    try:
        labels.save(str(st.session_state["own-text"]))
    except (SchemeError, DataDirError) as error:
        st.session_state["own-problem"] = str(error)


def _agreement(known: tuple[Scheme, ...]) -> None:
    store = _store()
    for scheme in known if store else ():
        assert store is not None
        labels = audits.own_labels(store, scheme.name, session.viewer())
        st.markdown(f"**{plain(scheme.shown)}**")
        st.caption(plain(f"{len(labels):,} cases labelled. {audits.scheme_agreement(labels, scheme).sentence}"))
        if audits.is_blind(labels, session.runs().labeller):
            st.caption(BLIND)


KEYS = "123456789"
WHOLE = "the whole case"


def draw(lab: Lab, run_id: str, state: Transcript, case: str, trial: str | None = None) -> None:
    """Draw the visitor's verdicts on the `trial`, '' for the case itself; if it is None, the visitor chooses one."""
    if not case or case not in state.cases or not session.visitor().takes_part:
        return
    trials = lab.view(state.case(case)).trials
    with st.container(border=True, gap="small", key="labels"):
        with st.container(horizontal=True, vertical_alignment="center", key="labels-head"):
            st.markdown("**Your verdict**" + ("" if trial is None else f" on {WHOLE}" if not trial else ""))
            if trial is None:
                about = {id: f"on {shortened(one.about, 80)}" for id, one in trials.items()}
                trial = choose_named("About", {"": f"on {WHOLE}", **about}, "label-about")
            st.button("Keys", type="tertiary", key="label-keys", on_click=_turn_keys)
        draw_own(run_id, case)
        if trial and trial not in trials:
            return
        _Labelling(lab, run_id, case, trial, trials.get(trial or lab.listing.main_trial)).draw()


def _turn_keys() -> None:
    st.session_state["label-keys-shown"] = not st.session_state.get("label-keys-shown")


class _Labelling:
    """One person's label on one case or trial, as it is drawn and changed."""

    def __init__(self, lab: Lab, run_id: str, case: str, trial: str, read: Trial | None) -> None:
        self.lab, self.run_id, self.case, self.trial, self.read = lab, run_id, case, trial, read
        self.visit = session.runs()
        run = self.visit.run(run_id)
        self.own = run.label_of(case, trial)
        others = [] if is_blind() else [who for who in run.labels() if who != self.visit.labeller]
        self.others = [said for who in others if (said := run.label_of(case, trial, who)) != Label()]
        self.store = _store()
        self.viewer = session.viewer()

    def draw(self) -> None:
        keys = iter(KEYS)
        hints = []
        known = audits.tags(self.store, self.viewer) if self.store else []
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="label-verdicts"):
            for one in self.lab.listing.judgements:
                # A parsed value can only be judged if there is one.
                if (one.of and self.read is None) or (one.whole and self.trial):
                    continue
                good, bad = next(keys), next(keys)
                hints += [f"**{good}** {one.title}: {one.good}", f"**{bad}** {one.bad}"]
                self._judge(one, good, bad)
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="label-words"):
            for key, tag in zip(keys, known, strict=False):
                hints.append(f"**{key}** tag {plain(tag)}")
                self._button(plain(shortened(tag, 30)), key, tag in self.own.tags, partial(_turned, tag))
            self._tags(known)
            with st.popover("Note" if not self.own.note else "Note ✓", icon=":material/edit_note:", key="label-note"):
                self._note()
        if st.session_state.get("label-keys-shown"):
            st.caption(" · ".join([*hints]))
        self._others()
        for one in self.lab.listing.judgements:
            self._labelled_right(one)

    def _others(self) -> None:
        for number, other in enumerate(self.others, start=1):
            judged = (one for one in self.lab.listing.judgements if one.name in other.verdicts)
            said = [f"{one.title.lower()}: {other.verdicts[one.name]}" for one in judged]
            said += [f"tagged {', '.join(other.tags)}"] if other.tags else []
            said += [f"“{other.note}”"] if other.note else []
            if said:
                st.caption(f"Another person ({number}): {plain('; '.join(said))}")

    def _judge(self, one: Judgement, good: str, bad: str) -> None:
        said = self.own.verdicts.get(one.name)
        with st.container(horizontal=True, vertical_alignment="center", width="content", key=f"label-{one.name}"):
            st.markdown(one.title + (f": **{plain(self._shown(one))}**" if one.of else ""), width="content")
            for key, word in ((good, one.good), (bad, one.bad)):
                self._button(word, key, word == said, partial(_judged, one, "" if word == said else word))
            if one.of and said == one.bad:
                self._should(one)

    def _shown(self, one: Judgement) -> str:
        assert self.read is not None
        value = getattr(self.read.repaired, one.of)
        return audits.UNREAD if value is None else shortened(lab_page.all_words().get(value) or value, 40)

    def _button(self, words: str, key: str, is_said: bool, change: Callable[[Label], Label]) -> None:
        kind: Literal["primary", "secondary"] = "primary" if is_said else "secondary"
        st.button(words, type=kind, key=f"label-key-{key}", on_click=self._keep, args=(change,))

    def _should(self, one: Judgement) -> None:
        """Draw the correction of a wrongly parsed value: one of the values that the parsers found, or one typed."""
        assert self.read is not None
        both = [
            getattr(reading, of) for reading in (self.read.paper, self.read.repaired) for of in ("expected", "observed")
        ]
        now, said = self.own.should.get(one.name), getattr(self.read.repaired, one.of)
        options = [value for value in dict.fromkeys([*both, *USUAL]) if value and value != said]
        options += [now] if now and now not in options else []

        def should(own: Label, value: str | None) -> dict[str, Any]:
            every = {**own.should, one.name: str(value or "")[:LONGEST_TAG]}
            return {"should": {name: word for name, word in every.items() if word}}

        st.selectbox(
            "It should be",
            options,
            index=options.index(now) if now else None,
            placeholder="It should be …",
            label_visibility="collapsed",
            accept_new_options=True,
            width=180,
            **self._bound(f"should-{one.name}", should),
        )

    def _tags(self, known: Sequence[str]) -> None:
        def tags(_: Label, chosen: list[str]) -> dict[str, Any]:
            lines = (" ".join(tag.split())[:LONGEST_TAG] for tag in chosen)
            return {"tags": tuple(dict.fromkeys(filter(None, lines)))}

        options = self._bound("tags", tags)
        if tuple(st.session_state.get(options["key"], ("",))) != self.own.tags:
            st.session_state[options["key"]] = list(self.own.tags)
        st.multiselect(
            "Tags",
            list(dict.fromkeys([*known, *self.own.tags])),
            accept_new_options=True,
            placeholder="Tags: choose or type",
            label_visibility="collapsed",
            max_selections=MOST_TAGS,
            width=260,
            **options,
        )

    def _note(self) -> None:
        st.text_area(
            "Note",
            value=self.own.note,
            max_chars=LONGEST_NOTE,
            placeholder="A note",
            label_visibility="collapsed",
            height="content",
            **self._bound("note", lambda _, note: {"note": str(note or "").strip()}),
        )

    def _bound(self, name: str, change: Callable[[Label, Any], dict[str, Any]]) -> dict[str, Any]:
        """Return options of a widget of that name: `change` makes fields of the label from the widget's value."""
        key = f"label-{name}-{self.run_id}-{self.case}-{self.trial}"

        def take() -> None:
            self._keep(lambda own: own.model_copy(update=change(own, st.session_state[key])))

        return {"key": key, "on_change": take}

    def _keep(self, change: Callable[[Label], Label]) -> None:
        # Keeps what was said in the meantime with keys on the stage.
        run = self.visit.run(self.run_id)
        with session.reported(QuotaExceededError):
            run.label(self.case, self.trial, change(run.label_of(self.case, self.trial)))

    def _labelled_right(self, one: Judgement) -> None:
        """Say how many labels confirm the reader so far and how often labellers agree; these labels are on
        self-selected rows.
        """
        if self.store is None:
            return
        sayings = [
            reader_accuracy.labelled_right_words(found) for found in reader_accuracy.of_lab(self.lab).get(one, [])
        ]
        if people := audits.labellers(self.store, self.lab, one, self.viewer):
            sayings.append(
                f"of {people.n:,} that two or more of {people.people} people judged, on {people.agreed:,} they agree"
            )
        if sayings:
            st.caption(
                f"{one.title}, by the labels in all runs so far, {reader_accuracy.CHOSEN}: " + "; ".join(sayings) + "."
            )


def of_cards(lab: Lab) -> list[tuple[str, str, str, str]]:
    """Return what can be judged about a trial with keys on the stage: name, title, the good word and the bad one."""
    return [(one.name, one.title, one.good, one.bad) for one in lab.listing.judgements if not one.whole]


def own(run_id: str) -> dict[tuple[str, str], dict[str, str]]:
    """Return the visitor's verdicts so far on a run, by case and trial."""
    visit = session.runs()
    said = visit.run(run_id).labels().get(visit.labeller, ())
    return {(one.case, one.item): one.data.get("verdicts", {}) for one in said if one.record == name_of(Label)}


def _judged(one: Judgement, word: str, own: Label) -> Label:
    return own.judged(one.name, word, word == one.bad)


def _turned(tag: str, own: Label) -> Label:
    tags = tuple(one for one in own.tags if one != tag)
    return own.model_copy(update={"tags": tags if tag in own.tags else (*tags, tag)[:MOST_TAGS]})


USUAL = ("yes", "no", "neither")
"""Values that are often parsed."""
