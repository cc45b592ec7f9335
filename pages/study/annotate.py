"""Annotate: a set's pages for one person (`?set=NAME`): instructions, qualification test, page after page, and the end.

No page shows what a model answered later or what anybody else said. Without a name, the person who runs the app sees
how far all sets are.
"""

from collections.abc import Sequence

import streamlit as st

from core import entry, home
from core.errors import ExplainError
from core.labs.base.declared import AnnotationTask
from core.package_data import COMMAND
from core.runs import annotation_sets
from core.runs.annotation_sets import Annotator, LiveSet
from core.studies import annotation
from core.text.display import count_noun
from pages import addresses
from pages.components import session
from pages.components.text import plain

PARTICIPANT, SUBMISSION = "PROLIFIC_PID", "SESSION_ID"
"""What Prolific adds to the address: who comes, and their submission."""

_LONGEST = 200
_BACK = "https://app.prolific.com/submissions/complete?cc="


def _in_address(name: str) -> str:
    return st.query_params.get(name, "")[:_LONGEST].strip()


def main() -> None:
    """Draw the page."""
    name = _in_address("set")
    if not name:
        _list_sets()
        return
    try:
        live = annotation_sets.find(home.journals(), name)
        task = annotation.task_of(live.state.made, entry.labs())
        _of_person(live, task)
    except ExplainError as error:
        st.error(plain(str(error)), icon=":material/error:")


def _list_sets() -> None:
    st.title("Annotation sets", anchor=False)
    if not session.runs().may_all:
        st.info("Open the address that you were given: it names a set of pages.", icon=":material/link:")
        return
    st.markdown(
        "Several people annotate the same pages, without seeing any outcome. The command "
        f"`{COMMAND} annotate make STUDY.toml` makes a set from a study's completed runs."
    )
    for live in annotation_sets.sets(home.journals()):
        made = live.state.made
        with st.container(border=True, key=f"annotation-{live.path.stem}"):
            st.markdown(f"**{plain(live.path.stem)}** · {_title(live)} · study {plain(made.study)}")
            for line in annotation.progress(live):
                st.caption(plain(line))
            query = {"set": live.path.stem}
            st.page_link(addresses.ANNOTATE, label="Take part", icon=":material/edit_note:", query_params=query)


def _title(live: LiveSet) -> str:
    """Return what the set asks of people; the name of its task if no lab has that."""
    try:
        return annotation.task_of(live.state.made, entry.labs()).texts.title
    except ExplainError:
        return plain(live.state.made.task)


def _who() -> str:
    """Return who takes part: the participant that the address names, else this browser."""
    participant = _in_address(PARTICIPANT)
    return f"prolific {participant}" if participant else f"visitor {session.visitor().name}"


def _of_person(live: LiveSet, task: AnnotationTask) -> None:
    """Draw what the visitor has to do next. Raises ExplainError."""
    st.title(task.texts.title, anchor=False)
    person = live.state.people.get(live.person(_who()))
    if person is None:
        _welcome(live, task)
    elif person.tested is None and task.test():
        _test(live, task, person)
    elif person.tested is not None and not person.tested.passed:
        right, of, needed = person.tested.right, person.tested.of, person.tested.needed
        st.info(
            f"You got {right} of {of} test questions right, and {needed} are needed. So your part ends here. "
            "Thank you for your time.",
            icon=":material/school:",
        )
    else:
        _pages(live, task, person)


def _welcome(live: LiveSet, task: AnnotationTask) -> None:
    test = task.test()
    made = live.state.made
    st.markdown(task.texts.about)
    first = f"You start with {len(test)} test questions, of which {task.needed()} must be right. " if test else ""
    name = "the participant ID in this address" if _in_address(PARTICIPANT) else "a random name"
    st.caption(
        f"{first}{'After that, y' if test else 'Y'}ou get at most {made.each} pages. Your answers are stored under "
        f"{name}. You may stop at any time."
    )
    with st.container(border=True):
        st.markdown(task.texts.instructions)
    if st.button("Start the test" if test else "Start", type="primary", key="annotate-start"):
        live.enter(_who(), _in_address(PARTICIPANT), _in_address(SUBMISSION))
        st.rerun()


def _instructions(task: AnnotationTask) -> None:
    with st.expander("Instructions", icon=":material/help:", key="annotate-instructions"):
        st.markdown(task.texts.instructions)


def _show(shown: Sequence[tuple[str, str]]) -> None:
    for label, text in shown:
        st.markdown(f"**{label}**  \n{plain(text)}")


def _choose(task: AnnotationTask, label: str, key: str) -> str | None:
    return st.radio(label, list(task.options), format_func=lambda word: task.options[word], index=None, key=key)


def _test(live: LiveSet, task: AnnotationTask, person: Annotator) -> None:
    test = task.test()
    st.markdown(f"**Qualification test.** {len(test)} questions; {task.needed()} right answers are needed.")
    _instructions(task)
    with st.form("annotate-test", border=False):
        guesses = {}
        for number, one in enumerate(test, start=1):
            with st.container(border=True):
                st.caption(f"Question {number} of {len(test)}")
                _show(one.shown)
                guesses[one.id] = _choose(task, task.texts.question, f"annotate-test-{one.id}") or ""
        sent = st.form_submit_button("Submit the test", type="primary", key="annotate-submit-test")
    if sent:
        live.take_test(person.id, guesses, {one.id: one.right for one in test}, task.needed())
        st.rerun()


def _pages(live: LiveSet, task: AnnotationTask, person: Annotator) -> None:
    lab = entry.labs()[live.state.made.lab]
    shown = annotation.shown_pages(live, task, lab, home.journals())
    page = live.next_page(person.id, shown)
    person = live.state.people[person.id]
    if page is None:
        _thanks(live, person)
        return
    done, of = len(person.answers), len(person.assigned)
    st.progress(done / of, text=f"Page {done + 1} of {of}")
    _instructions(task)
    _page(live, task, person, page, shown[page])


def _page(live: LiveSet, task: AnnotationTask, person: Annotator, id: str, page: annotation.ShownPage) -> None:
    words: dict[int, str] = {}
    with st.form(f"annotate-{id}", border=True):
        _show(page.shown)
        for number, place in enumerate(page.order(person.id), start=1):
            if page.texts[place]:
                st.divider()
                st.markdown(f"**Explanation {number}**  \n{plain(page.texts[place])}")
            label = task.texts.question if len(page.texts) == 1 else f"{task.texts.question} ({number})"
            words[place] = _choose(task, label, f"annotate-{id}-{place}") or ""
        sent = st.form_submit_button("Next", type="primary", icon=":material/arrow_forward:", key=f"annotate-next-{id}")
    if sent:
        live.answer(person.id, id, tuple(words[place] for place in range(len(page.texts))), task.options)
        st.rerun()


def _thanks(live: LiveSet, person: Annotator) -> None:
    made = live.state.made
    if not person.answers:
        st.info(
            "Enough people have already answered these pages. Thank you for your interest.", icon=":material/group:"
        )
        return
    st.success(f"You have answered {count_noun(len(person.answers), 'page')}. Thank you!", icon=":material/check:")
    if made.completion and person.status == "completed":
        st.markdown("Your completion code:")
        st.code(made.completion, language=None)
        if _in_address(PARTICIPANT) and made.completion.isalnum():
            st.link_button("Back to Prolific", f"{_BACK}{made.completion}", icon=":material/open_in_new:")


main()
