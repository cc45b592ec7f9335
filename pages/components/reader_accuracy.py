"""How accurate an automatic reader (a parser or a model) is: the share found by a blind audit, and the number of
labels, given by people while viewing rows of their choice, that confirm it.
"""

from contextlib import suppress

import streamlit as st

from core import entry
from core.labs.base.declared import Judgement
from core.labs.base.lab import Lab
from core.rulesets import PARSER_NAMES, RULES
from core.runs.library import RunInAuditError
from core.store import audits, run_list
from core.store.audits import AuditDraw, LabelledRight, ReaderAccuracy
from core.store.store import StoreError
from core.text.display import count_noun
from pages import addresses
from pages.components import session
from pages.components.text import plain
from pages.components.widgets import short


def of_lab(lab: Lab) -> dict[Judgement, list[LabelledRight]]:
    """Return what labels say about each reader of the lab, as far as the visitor may see; only for readers that have a
    label.
    """
    with suppress(StoreError):
        found = _found(lab.name, session.viewer(), entry.keeper().changes)
        return {one: readers for one in lab.listing.judgements if (readers := found[one.name])}
    return {}


@st.cache_data(max_entries=32, show_spinner=False)
def _found(lab: str, viewer: str | None, changes: int) -> dict[str, list[LabelledRight]]:
    declared, store = entry.labs()[lab], entry.keeper().store
    return {one.name: audits.labelled_right(store, declared, one, viewer) for one in declared.listing.judgements}


def draw_for_call(run_id: str, role: str, model: str, read: bool) -> None:
    """Say, below a call, how often the parser that `read` it is right according to a blind audit, and how many labels
    confirm the parser and the `model` asked as `role`.
    """
    if not (of := _lab(run_id)):
        return
    if read and (audit := audited(of)):
        st.caption(f"How answers are read, by a blind audit: {of_audit(audit)}")
    for judged, readers in of_lab(of).items():
        here = judged.role == role if judged.role else read or judged.raw == role
        readers = [one for one in readers if not judged.role or model in one.reader.split(", ")]
        if here and readers:
            st.caption(f"{judged.title}: {said_of(readers)}, {CHOSEN}.")


def _lab(run_id: str) -> Lab | None:
    with suppress(StoreError):
        return entry.labs().get(run_list.lab_of(entry.keeper().store, run_id) or "")
    return None


def said_of(readers: list[LabelledRight]) -> str:
    """Return a line about the readers. It has counts only, because the labellers chose the rows and saw the parsed
    values.
    """
    return "; ".join(map(labelled_right_words, readers))


CHOSEN = "given while looking at chosen rows"
"""What labels in Browse are, and why shares of them do not generalise."""


def labelled_right_words(found: LabelledRight) -> str:
    """Return how many labels confirm a reader."""
    return f"**{plain(short(found.reader))}** right by {found.right:,} of {count_noun(found.n, 'label')}"


def of_audit(audit: AuditDraw) -> str:
    """Return what a blind audit found, or how far it is."""
    here, judged = len(audit.drawn), len(audit.drawn) - len(audit.remaining)
    gone = f" {audit.of - here:,} of them are no longer here." if here < audit.of else ""
    if audit.remaining:
        return f"{judged:,} of {audit.of:,} sampled answers judged so far; the result comes with the last.{gone}"
    unsure = f" {audit.unsure:,} of the {audit.of:,} could not be told." if audit.unsure else ""
    each = [in_audit(one, audit) for one in audit.readers]
    return f"{'. '.join(each) or 'None could be judged'}.{unsure}{gone}"


def in_audit(found: ReaderAccuracy, audit: AuditDraw) -> str:
    """Return how often a parser, or another reader, is right according to a blind audit."""
    share = found.share
    who = f"the {PARSER_NAMES[found.name]}" if found.name in RULES else found.name
    between = f" ({100 * (share.low or 0):.0f} to {100 * (share.high or 0):.0f})"
    return (
        f"**{who[0].upper()}{who[1:]}** right in **{100 * (share.value or 0):.0f} %**{between} of a sample of "
        f"{found.n:,}, weighted back to {audit.population:,} answers; kappa {figure(found.kappa.value)}"
    )


def audited(lab: Lab) -> AuditDraw | None:
    """Return the lab's latest blind audit that has been completed; None if there is none."""
    with suppress(StoreError):
        found = _audits(lab.name, session.viewer(), entry.keeper().changes)
        return next((one for one in found if one.readers), None)
    return None


@st.cache_data(max_entries=32, show_spinner=False)
def _audits(lab: str, viewer: str | None, changes: int) -> list[AuditDraw]:
    return audits.audits(entry.keeper().store, entry.labs()[lab], viewer)


def figure(value: float | None) -> str:
    """Return a figure between -1 and 1 as text; "undefined" for None."""
    return "undefined" if value is None else f"{value:.2f}"


def not_yet_judged(error: RunInAuditError) -> None:
    """Say why a run is not shown, with a link to the audit."""
    st.info(plain(str(error)), title=error.title, icon=":material/visibility_off:")
    st.page_link(addresses.AUDIT, label="Blind audit", icon=":material/fact_check:")


def still_blind(what: str) -> None:
    """Say that a page hides nothing, if the visitor has yet to judge answers in a blind audit; `what` it shows."""
    if left := len(audits.unjudged(entry.keeper().store, session.runs().labeller)):
        st.warning(
            f"You have yet to judge answers of {count_noun(left, 'case')}. {what} may show how they were parsed. "
            "Then you no longer judge them blind.",
            title="Your blind audit is not finished",
            icon=":material/visibility:",
        )
        st.page_link(addresses.AUDIT, label="Blind audit", icon=":material/fact_check:")


def below_outcomes(labs: list[str]) -> None:
    """Say, below the facet of outcomes, how often the parser that determined them is right in these labs."""
    for name in labs:
        lab = entry.labs().get(name)
        if lab and (audit := audited(lab)):
            st.caption(f"{plain(lab.title)}: a parser reads the outcomes; by a blind audit {of_audit(audit)}")
        for judged, readers in (of_lab(lab) if lab else {}).items():
            by_rules = [one for one in readers if one.reader == PARSER_NAMES["repaired"]]
            if lab and not judged.role and by_rules:
                st.caption(f"{plain(lab.title)}: a parser reads the outcomes; {said_of(by_rules)}, {CHOSEN}.")


def everywhere() -> None:
    """Show the blind audits of all labs, and the counts of labels on selected rows; nothing if there are neither."""
    labs = list(entry.labs().values())
    found = [(lab, one) for lab in labs if (one := audited(lab))]
    rows = [
        {
            "Lab": lab.title,
            "What is judged": judged.title,
            "Who read": short(one.reader),
            "Right by labels": f"{one.right:,} of {count_noun(one.n, 'label')}",
        }
        for lab in labs
        for judged, readers in of_lab(lab).items()
        for one in readers
    ]
    if not rows and not found:
        return
    st.header("How often readers are right", anchor=False)
    for lab, audit in found:
        st.markdown(f"{plain(lab.title)}, by a blind audit: {of_audit(audit)}")
    if rows:
        st.markdown(
            f"People's verdicts on single cases were {CHOSEN}, with the reading before their eyes. They "
            "are counts, and no rate over anything: a blind audit gives that."
        )
        st.table(rows, border="horizontal", hide_index=True, alt="How many labels hold each reader right")
    st.page_link(addresses.AUDIT, label="Blind audit", icon=":material/fact_check:")
