"""The page Query, and the upload field for bundles."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import entry, home, journal, policy
from core.labs.ask.tasks import AskSpec
from core.runs import bundle
from core.store import sql
from tests.pages.conftest import in_address, words
from tests.support import shipped


def test_an_example_and_a_link_show_what_a_query_finds(page: Callable[..., AppTest]) -> None:
    app = page("query")
    assert len(sql.examples()) == sum(button.key.startswith("example-") for button in app.button if button.key)
    costs = next(place for place, one in enumerate(sql.examples()) if one.title.startswith("Costs: tokens"))
    app.button(key=f"example-{costs}").click().run()
    recorded = [event for path in shipped.journals() for event in journal.read(path).events]
    asked = {event.model for event in recorded if event.kind == "asked"}
    assert not app.exception and f"{len(asked)} rows" in words(app), "the model, two readers, and robots"
    assert in_address(app, "sql") == sql.examples()[costs].sql.strip()
    again = page("query", sql="select lab, count(*) as n from runs group by lab")
    assert again.text_area(key="sql").value.startswith("select lab")
    assert "rows ·" not in words(again) and len(again.dataframe) == 1, "a link fills it in, and a person asks"
    again.button(key="go").click().run()
    assert "4 rows" in words(again) and len(again.dataframe) == 2
    assert len(again.get("plotly_chart")) == 1 and len(again.get("download_button")) == 3
    again.text_area(key="sql").set_value("select 1; drop table runs")
    again.button(key="go").click().run()
    assert "The query has no result" in str(again.error[0]) + again.error[0].proto.title
    assert "read-only" in again.code[0].value and not again.get("plotly_chart")


def test_visitors_ask_their_own(page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> None:
    run = entry.jobs().start("simulatability", AskSpec(question="Is it so?", model="control/vague"), owner="somebody")
    assert entry.jobs().wait(run, 30)
    monkeypatch.setattr(policy, "_served", {"0.0.0.0"})
    app = page("query", sql="select count(*) as n from runs where not recording")
    app.button(key="go").click().run()
    assert "your runs" in words(app) and app.dataframe[-1].value["n"][0] == 0


FIELD = """
from pages.components.recordings import upload
upload()
"""


def test_a_bundle_is_uploaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = sorted(home.recordings().glob("*.jsonl"))[0]
    written = io.BytesIO()
    bundle.write(written, [recorded.stem], [home.recordings()])
    app = AppTest.from_string(FIELD, default_timeout=30).run()
    app.get("file_uploader")[0].upload("b.zip", written.getvalue(), "application/zip")
    app.button(key="upload-go").click().run()
    assert not app.exception and "0 imported, 1 here already" in app.success[0].value
    app.get("file_uploader")[0].upload("b.zip", b"<script>", "application/zip")
    app.button(key="upload-go").click().run()
    assert not app.exception and "is not a zip file" in app.error[0].value
    monkeypatch.setattr(policy, "_served", {"0.0.0.0"})
    app.run()
    assert not app.get("file_uploader") and "only the host" in app.caption[0].value
