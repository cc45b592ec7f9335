"""axe-core finds nothing serious or critical in the viewer and the pages of the app."""

from collections.abc import Iterator, Sequence
from typing import Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page, expect

from tests.browser import stage_scenes as scenes
from tests.browser.conftest import Server, begin, open_menu, settle, turn
from tests.browser.test_front_page import drawn
from tests.browser.test_stage import FILES, HOME, answer, data, looked_at

pytestmark = pytest.mark.browser

THEIRS = ["[data-testid=stSidebarNavItems]"]
"""Streamlit's own faults, which cannot be fixed here: on a phone its menu is a list whose items are in a div."""

FAULTS = """async ([theirs, rules]) => {
  const only = rules.length ? { runOnly: { type: "rule", values: rules } } : {};
  const { violations } = await axe.run({ exclude: theirs }, { resultTypes: ["violations"], preload: false, ...only });
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).flatMap(({ id, nodes }) =>
    nodes.map(({ html, any, all, none }) => `${id}: ${html.slice(0, 200)} ${[...any, ...all, ...none][0].message}`));
}"""

COLOURS = "color-contrast"

LOOKS: Sequence[tuple[Literal["light", "dark"], Sequence[str]]] = (("dark", [COLOURS]), ("light", []))
"""Colour schemes with the rules that are checked in them: all in the light one; only colours differ in the dark one."""

NEW = """(state) => {
  // Whether this state, or an element on the stage of this kind and in one of this kind, has not been there before.
  const known = window.known ??= new Set(), before = known.size;
  const kind = (one) => [one.tagName, one.className.baseVal ?? one.className, ...one.getAttributeNames()].join(" ");
  for (const one of document.querySelectorAll(".stage *")) known.add(`${kind(one.parentElement)} > ${kind(one)}`);
  return known.add(state).size > before;
}"""


def faults(page: Page, *rules: str) -> list[str]:
    """Serious faults of a page, also in shadow roots, by these rules or by all."""
    if page.evaluate("!window.axe"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(FAULTS, [THEIRS, rules])
    return found


def lasting(page: Page, *rules: str) -> list[str]:
    """Faults that remain after a while: elements are faint for a moment while they are redrawn."""
    for _ in range(20):
        if not (found := faults(page, *rules)):
            break
        page.wait_for_timeout(100)
    return found


@pytest.fixture
def stage(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme="light", reduced_motion="reduce")
    page.route("**/*", answer)
    page.goto(HOME)
    page.wait_for_function("window.isThere")
    yield page
    page.close()


@pytest.mark.thorough
def test_it_finds_no_serious_fault_on_the_stage(stage: Page) -> None:
    seen, found = set[str](), list[str]()
    for where in looked_at(stage):
        if stage.evaluate(NEW, " ".join(where.split()[:2])):
            seen.add(where)
            for scheme, rules in LOOKS:
                stage.emulate_media(color_scheme=scheme)
                found += [f"{where}, {scheme}: {fault}" for fault in faults(stage, *rules)]
    assert len(seen) > 50 and found == []


PLANTED = {
    "button-name": "(root) => root.querySelector('.open').removeAttribute('aria-label')",
    "list": "(root) => root.querySelector('ol').append(document.createElement('p'))",
    COLOURS: "(root) => { root.querySelector('blockquote p').style.color = '#999'; }",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rule", PLANTED)
def test_a_fault_that_is_planted_in_a_shadow_root_is_found(stage: Page, rule: str) -> None:
    root = stage.evaluate_handle(
        """async ([scenes, css]) => {
      document.querySelector("#field").remove();
      const root = document.querySelector("main").attachShadow({mode: "open"});
      root.append(Object.assign(document.createElement("style"), {textContent: css}));
      const [{mount}, library] = await Promise.all([import("/stage.js"), import("/preact.js")]);
      mount(root, {mode: "read", scenes, library});
      return root;
    }""",
        [data(scenes.ask()), FILES["/stage.css"][1]],
    )
    assert faults(stage) == []
    root.evaluate(PLANTED[rule])
    assert {one.partition(":")[0] for one in faults(stage)} == {rule}


def test_it_finds_no_serious_fault_on_the_pages_of_the_app(app: Server, page: Page) -> None:
    found = list[str]()

    def look(where: str) -> None:
        for scheme, rules in LOOKS:
            page.emulate_media(color_scheme=scheme)
            # Streamlit's theme follows after a moment; a game at its own address is not a Streamlit page.
            for streamlit in page.locator("[data-testid=stApp]").all():
                expect(streamlit).to_have_css("color-scheme", scheme)
            found.extend(f"{where}, {scheme}: {fault}" for fault in lasting(page, *rules))

    page.goto(app.url)
    for path in ("", "ask", "check", "probe", "browse", "models", "study", "methods", "stories", "plant"):
        if path:
            turn(page, f"/{path}")
        heading = path.capitalize() or "Explain Yourself"
        expect(page.get_by_role("heading", level=1, name=heading)).to_be_visible()
        settle(page)
        if path == "":
            drawn(page)
        look(path)
    begin(page, "plant")
    expect(page.locator(".st-key-actions")).to_be_visible()
    expect(page.locator(".stage .verdict h3")).to_be_visible()
    look("plant, a run")
    page.set_viewport_size({"width": 390, "height": 844})
    look("plant, a run on a phone")
    page.set_viewport_size({"width": 1280, "height": 900})
    open_menu(page)
    look("plant, the menu of a run")
    # axe does not judge the button while the menu is drawn over it, so its colour is compared with the accent's.
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".st-key-actions button[aria-expanded=true]")).to_have_css("color", "rgb(185, 174, 255)")
    page.get_by_role("link", name="Open as case").click()
    expect(page.get_by_role("heading", name="Every call")).to_be_visible()
    expect(page.locator(".stage .verdict h3")).to_be_visible()
    look("case")
    page.locator(".stage").first.evaluate("(one) => one.append(document.createElement('button'))")
    assert [one.partition(":")[0] for one in faults(page)] == ["button-name"]
    page.goto(f"{app.url}/play")
    expect(page.locator(".round .options button").first).to_be_visible()
    look("play")
    page.locator(".round .options button").first.click()
    expect(page.locator(".turned")).to_be_visible()
    look("play, turned")
    assert found == []
