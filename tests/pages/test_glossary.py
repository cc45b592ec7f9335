"""Every control and figure of the glossary exists under that name, and shows the field's term on hover."""

from collections.abc import Callable, Iterator

from streamlit.testing.v1 import AppTest

from core import entry
from core.text import display

Page = Callable[..., AppTest]


def labelled(app: AppTest) -> Iterator[tuple[str, str]]:
    """Label and help of each control and figure."""
    for kind in ("selectbox", "slider", "button_group", "multiselect", "toggle", "number_input", "metric"):
        for one in app.get(kind):
            yield one.proto.label, one.proto.help


def test_every_term_stands_on_a_control_or_figure_of_that_name(page: Page) -> None:
    runs = {}
    for name in ("simulatability", "consistency"):
        first = entry.labs()[name].robots.demo_run
        assert first is not None
        runs[name] = entry.jobs().start(name, first().spec)
        assert entry.jobs().wait(runs[name], 120)
    words = page("probe")
    words.segmented_control(key="probe-category").set_value("entities").run()
    pages = [words, page("ask"), page("check"), page("plant"), page("ask", run=runs["simulatability"])]
    pages.append(page("check", run=runs["consistency"]))
    shown = {label: help for app in pages for label, help in labelled(app)}
    missing = {name for name in display.entries() if name not in shown}
    assert missing <= {metric.title for lab in entry.labs().values() for metric in lab.metrics}, missing
    for name, one in display.entries().items():
        assert name in missing or shown[name].startswith(f"**{one.term}**"), name


def test_methods_lists_the_glossary(page: Page) -> None:
    tables = [table.value for table in page("about/methods.py").dataframe]
    words = next(table for table in tables if "In the field" in table)
    assert words["Here"].tolist() == list(display.entries())


def test_what_the_glossary_does_not_know_keeps_its_own_words() -> None:
    assert display.on_hover("Nothing of the kind", "more") == "more" and display.on_hover("Nothing") is None
    assert (display.on_hover("New questions", "more") or "").endswith("\n\nmore")
