"""No screen shows a name that only the program knows: item ids, codes of methods, None. For each lab a completed run, a
failed one and a truncated one are shown on their own page, as a case, and in the list.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home
from tests.pages.conftest import words
from tests.support.waiting import until

Page = Callable[..., AppTest]

INSIDE = re.compile(
    r"\b(?:cf|hand|wish)-\d|\bcot\b|\bposthoc\b|\bNone\b|\bnan\b|\bstrategyqa\b|\bmulti_choice\b|\baia\b"
    r"|\b(?:not_runnable|nmse_success|objective-redacted|question_only|bad_input)\b|<NA>|\{\}"
)

RUNS: dict[str, list[dict[str, Any]]] = {
    "simulatability": [
        {"question": "Can a penguin fly?", "model": "control/fickle", "gold": "no",
         "arms": ("none", "swapped", "question_only"), "extra": ("Can an ostrich fly?",)},
        {"question": "Is the moon made of cheese?", "model": "control/vague"},
        {"task": "shp", "context": "My bread is flat.", "response_1": "Wait 2 hours.",
         "response_2": "Baking is an art.", "model": "control/steadfast", "method": "posthoc"},
    ],
    "consistency": [
        {"items": ({"id": "text", "task": "sentiment", "paragraph": "A superb film.", "label": "positive"},),
         "model": "control/decoy-lexicon", "explanations": ("attribution", "counterfactual"), "every_wording": True},
        {"items": ({"id": "text", "task": "sentiment", "paragraph": "The train left at nine.", "label": None},),
         "model": "control/honest-lexicon", "explanations": ("redaction",)},
        {"task": "multi_choice", "limit": 2, "model": "control/fickle", "explanations": ("attribution",)},
    ],
    "find": [
        {"model": "control/straight", "seed": 1753, "difficulty": "medium"},
        {"model": "control/inventor", "category": "strings", "seed": 3, "difficulty": "easy"},
        {"model": "control/straight", "category": "relations", "seed": 1, "difficulty": "hard"},
        {"model": "control/fickle", "seed": 4},
        {"interpreter": "you", "seed": 4},
    ],
}  # fmt: skip


@pytest.fixture
def runs() -> list[tuple[str, str]]:
    """Lab and run of each, completed or failed; and for each lab a copy of its first one whose journal ends halfway."""
    made = []
    for lab, specs in RUNS.items():
        for given in specs:
            run = entry.jobs().start(lab, entry.labs()[lab].spec.model_validate(given))
            assert entry.jobs().wait(run, 60)
            made.append((lab, run))
        half = entry.jobs().start(lab, entry.labs()[lab].spec.model_validate(specs[0]))
        assert entry.jobs().wait(half, 60)
        path = home.journals() / f"{half}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(lines[: len(lines) // 2]), encoding="utf-8")
        made.append((lab, half))
    return made


def shown(app: AppTest) -> Iterator[str]:
    """Yield every word on the screen; prompts, raw answers and links are left out."""
    yield words(app)
    for kind in ("button", "selectbox", "pills", "segmented_control", "text_input", "page_link"):
        for element in app.get(kind):
            yield element.proto.label
            options = getattr(element.proto, "options", ())
            yield from (getattr(option, "content", option) for option in options)
    for table in app.dataframe:
        frame = pd.DataFrame(table.value)
        yield from map(str, frame.columns)
        # A missing value is shown as the table's placeholder, or as "None" if it has none.
        yield "None" if frame.isna().any(axis=None) and not table.proto.HasField("placeholder") else ""
        yield from (str(cell) for cell in frame.to_numpy().ravel() if not pd.isna(cell))


def test_no_screen_shows_what_only_the_program_calls_so(page: Page, runs: list[tuple[str, str]]) -> None:
    screens = {f"{path} {run}": (path, {"run": run}) for lab, run in runs
               for path in (entry.labs()[lab].path, "case")}  # fmt: skip
    entry.keeper().wake()
    until(lambda: entry.keeper().changes >= 1)
    # Methods names templates, arms and data sets as the command line does.
    screens |= {path: (path, {}) for path in ("welcome", "ask", "check", "probe", "browse", "models")}
    found = {}
    for name, (path, query) in screens.items():
        told = "\n".join(shown(page(path, **query)))
        if inside := sorted({told[max(hit.start() - 40, 0) : hit.end() + 20] for hit in INSIDE.finditer(told)}):
            found[name] = inside
    assert not found, json.dumps(found, indent=1)
