"""Blind audit: how often a parser agrees with people. Answers are sampled, shown without the parsed values, and judged;
only then are the values shown. The address names the lab, and the filter from which to sample.
"""

import random
from datetime import UTC, datetime

import streamlit as st

from core import entry
from core.labs.base.declared import Judgement
from core.labs.base.lab import Lab
from core.runs.labels import LONGEST_TAG, Audited
from core.server.quotas import QuotaExceededError
from core.store import audits
from core.store.audits import UNREAD, AuditDraw, AuditEntry
from core.store.listing import RowPlace
from core.store.store import Store
from core.text.display import count_noun, directed
from pages.components import lab_page, reader_accuracy, session
from pages.components.text import plain, shortened
from pages.components.throttle import waits
from pages.results import address, facets, lists

SIZES = (10, 200)
"""Smallest and largest sample."""

SAID = "audit-said"
"""Session key of the judgements made here that may not be in the store yet, by person and place."""


def judged_of(lab: Lab) -> Judgement | None:
    """Return what is audited in the lab: the first parsed value that can be judged blind; None if there is none."""
    return next((one for one in lab.listing.judgements if one.is_audited), None)


def main() -> None:
    """Draw the page."""
    st.title("Blind audit", anchor=False)
    st.markdown(
        "How often does the parser read an answer as you do? Answers are sampled at random. You see **only the "
        "raw answer** (or only the reasons, with what they may mention) and say what it says; only then do you see "
        "how it was parsed. Rare kinds are sampled more often, and weighted back."
    )
    keeper = session.open_index()
    labs = {name: lab for name, lab in entry.labs().items() if judged_of(lab) and not lab.hidden}
    named = (address.wanted().chosen.get("lab") or ("",))[0]
    now = named if named in labs else next(iter(labs))
    titles = {name: lab.title for name, lab in labs.items()}
    lab = labs[address.bound_one_of("Lab", titles, "audit-lab", now, lambda one: address.update(lab=[one]))]
    judged = judged_of(lab)
    assert judged is not None  # no other lab is offered
    who = session.runs().labeller
    found = audits.audits(keeper.store, lab, session.viewer(), st.session_state.setdefault(SAID, {}))
    _last(lab, judged, keeper.store)
    open_one = next((one for one in found if one.who == who and one.remaining), None)
    if open_one is not None:
        _judge(keeper.store, lab, judged, open_one)
    elif session.visitor().takes_part:
        _offer(keeper.store, lab, judged, who)
    _results(found)


def _offer(store: Store, lab: Lab, judged: Judgement, who: str) -> None:
    """Say how many answers can be sampled, and draw the button."""
    wanted = address.wanted().choosing("lab", [lab.name])
    readings = audits.population(lists.selection(store, wanted), lab, judged, who)
    within = facets.filter_line(wanted.without("lab"))
    st.caption(f"Within: {plain(within)}." if within else "All results. Filter in Browse to audit some of them.")
    if not readings:
        st.info(
            "No language model's answer is left to judge. Robots answer in words that we wrote, so "
            "they are sampled only if you choose them as models in Browse.",
            icon=":material/fact_check:",
        )
        return
    strata = len({one.stratum for one in readings})
    st.markdown(
        f"**{len(readings):,}** answers can be sampled, of {strata} kinds by outcome and parsed value. Answers that "
        "you labelled before are left out, because you saw how they were parsed."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        size = st.number_input("Sample size", *SIZES, value=50, step=10, key="audit-size", width=160)
        if st.button("Draw a sample", type="primary", icon=":material/casino:", key="audit-draw"):
            id = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{random.randrange(16**4):04x}"
            drawn = audits.draw_sample(readings, judged.name, int(size), random.randrange(2**32), id)
            with session.reported(QuotaExceededError):
                with waits("Saving the sample …"):
                    for place, one in drawn.items():
                        _keep(place, one)
                st.rerun()


def _keep(place: RowPlace, one: Audited) -> None:
    visit = session.runs()
    visit.unredacted(place.run).annotate(place.case, one, place.trial)
    st.session_state[SAID][visit.labeller, place] = one


def _judge(store: Store, lab: Lab, judged: Judgement, audit: AuditDraw) -> None:
    """Draw the next answer, without its parsed value, and buttons for what it says."""
    drawn = audit.remaining[0]
    st.progress(1 - len(audit.remaining) / len(audit.drawn), f"{drawn.entry.number} of {audit.of}")
    text = audits.raw(store, drawn.place, judged)
    with st.container(border=True, key="audit-answer"):
        st.code(directed(text) if text is not None else "The answer was deleted.", language=None, wrap_lines=True)
    if judged.text:
        st.markdown(
            f"The question contained this: “{plain(audits.about(store, drawn.place))}”. **Do the reasons mention it?**"
        )
    else:
        st.markdown("**What does it say?**")
    called = lab_page.all_words()
    with st.container(horizontal=True, key="audit-choices"):
        for number, choice in enumerate(audits.choices(store, drawn.place, judged), start=1):
            title = "nothing readable" if choice == UNREAD else shortened(called.get(choice) or choice, 40)
            st.button(
                plain(title), key=f"audit-{number}", shortcut=str(number), on_click=_say, args=(lab, drawn, choice)
            )
        st.button("I can't tell", key="audit-0", shortcut="0", type="tertiary", on_click=_say, args=(lab, drawn, ""))
    key = f"audit-other-{audit.id}-{drawn.entry.number}"
    st.text_input(
        "Something else",
        key=key,
        max_chars=LONGEST_TAG,
        placeholder="Something else: type it, and press Enter",
        label_visibility="collapsed",
        on_change=lambda: _say(lab, drawn, str(st.session_state[key]).strip()),
    )
    with st.popover("Stop this audit", icon=":material/stop_circle:", type="tertiary", key="stop-audit"):
        left = count_noun(len(audit.remaining), "answer")
        st.caption(f"The {left} that you have not judged will count as “I can't tell”. You then see them everywhere.")
        st.button("Stop", key="stop-audit-now", on_click=_stop, args=(audit,))


def _say(lab: Lab, drawn: AuditEntry, word: str) -> None:
    said = drawn.entry.model_copy(update={"said": word[:LONGEST_TAG]})
    with session.reported(QuotaExceededError):
        _keep(drawn.place, said)
        st.session_state["audit-last"] = (lab.name, drawn.place, said)


def _stop(audit: AuditDraw) -> None:
    with session.reported(QuotaExceededError):
        for drawn in audit.remaining:
            _keep(drawn.place, drawn.entry.model_copy(update={"said": ""}))


def _last(lab: Lab, judged: Judgement, store: Store) -> None:
    """Show the parsed value of the answer that was judged just now."""
    last: tuple[str, RowPlace, Audited] | None = st.session_state.get("audit-last")
    if last is None or last[0] != lab.name:
        return
    _, place, entry_ = last
    who = judged.detectors[0].name if judged.detectors else "repaired"
    read = audits.readings(store, [place], judged, session.viewer())[place].get(who, UNREAD)
    called = lab_page.all_words()
    word = entry_.said or ""
    said = f"you read **{plain(called.get(word) or word)}**" if word else "you could not tell"
    right = "" if not word else " ✓" if word.casefold() == read.casefold() else " ✕"
    # No link to its case from here, because the case shows the parsed values of other sampled answers.
    st.caption(f"Previous: {said}; the parser read **{plain(called.get(read) or read)}**{right}")


def _results(found: list[AuditDraw]) -> None:
    """Show the results of the audits so far."""
    st.subheader("What audits found", anchor=False)
    for one in found:
        st.markdown(reader_accuracy.of_audit(one))
    if not found:
        st.caption("No audit yet.")
    st.caption(
        "Shares are reweighted to all answers (stratified, exact 95 % intervals). "
        "Labels given in Browse on rows that you picked are no audit; Browse shows their counts."
    )


main()
