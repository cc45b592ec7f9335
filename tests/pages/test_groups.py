"""Browse by groups, and with the columns of a person's own file."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from pytest import MonkeyPatch
from streamlit.testing.v1 import AppTest

from core import entry, home
from core.__main__ import main
from core.journal import Journal
from core.labs.ask.tasks import AskSpec
from core.report import export
from core.runs.engine import RunIO, RunRequest, execute
from core.store.filters import KIND, Filter
from core.store.listing import RowPlace, Selection
from core.text import embed
from pages.results import facets
from tests.pages.conftest import in_address, staged, words
from tests.support.waiting import until

ITEMS = [
    {"question": "Can a penguin fly?", "answer": "no", "domain": "*birds*", "Model": "old"},
    {"question": "Can an ostrich fly?", "answer": "no", "domain": "pets", "Model": "new"},
]


def test_groups_of_a_column_lead_to_their_rows_which_show_it(page: Callable[..., AppTest]) -> None:
    folder = home.home() / "datasets"
    folder.mkdir()
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, ITEMS)), encoding="utf-8")
    spec = AskSpec(model="control/fickle", dataset="file:items.jsonl", counterfactuals=2)
    with Journal(home.journals() / "run.jsonl", new=True) as written:
        request = RunRequest(entry.labs()["simulatability"], spec, "run")
        asyncio.run(execute(request, RunIO(entry.catalog().get, written.append, live=False)))
    app = page("browse", show="groups")
    assert app.selectbox(key="group").value == "model" and list(app.dataframe[0].value["Model"]) == ["fickle"]
    app.selectbox(key="group").set_value("extra:domain").run()
    assert not app.exception and in_address(app, "group") == "extra:domain"
    assert set(app.dataframe[0].value["domain"]) == {"*birds*", "pets"}
    assert "came true, of the rows that count. The interval is over starter questions" in words(app)
    assert "Share" in app.dataframe[0].value
    app = page("browse", show="groups", group="extra:domain", outcome="misled")
    assert "filtered by their outcome" in words(app) and "Share" not in app.dataframe[0].value
    app = page("browse", show="pictures", picture="ask-pooled")
    assert "n = 2 (questions behind each mark). Bars: 95 % intervals over questions (Wilson's score interval)" in words(
        app
    )
    app.selectbox(key="pictures-group").set_value("extra:domain").run()
    assert not app.exception and in_address(app, "group") == "extra:domain"
    drawn = str(app.get("plotly_chart")[0].proto.spec)
    assert "*birds*" in drawn and "pets" in drawn and "n = 1 (questions behind each mark)" in words(app)
    app = page("browse", **{"extra:domain": "*birds*"})
    rows = app.dataframe[0].value
    assert set(rows["domain"]) == {"*birds*"} and set(rows["Model (your column)"]) == {"old"}
    assert set(rows["Model"]) == {"fickle"}
    # A group that no address should name is no reason to fail.
    assert page("browse", show="groups", group="nonsense").selectbox(key="group").value == "model"


def test_robots_count_in_groups_only_if_asked_for(page: Callable[..., AppTest], monkeypatch: MonkeyPatch) -> None:
    for model in ("control/fickle", "control/steadfast"):
        spec = AskSpec(model=model, question="Can a penguin fly?", counterfactuals=2, exam=False)
        with Journal(home.journals() / f"{model[8:]}.jsonl", new=True) as written:
            request = RunRequest(entry.labs()["simulatability"], spec, model[8:])
            asyncio.run(execute(request, RunIO(entry.catalog().get, written.append, live=False)))
    # One of the two is taken for a language model: asking a real one takes minutes.
    monkeypatch.setattr("core.store.listing.ROBOT", "(items.model = 'control/fickle')")
    app = page("browse", show="groups", group="task")
    alone = app.dataframe[0].value["Rows"].sum()
    assert (
        app.toggle(key="groups-robots").label.startswith("Robots too (") and not app.toggle(key="groups-robots").value
    )
    app.toggle(key="groups-robots").set_value(True).run()
    assert not app.exception and in_address(app, "robots") == "1"
    assert app.dataframe[0].value["Rows"].sum() > alone > 0
    chosen = page("browse", show="groups", group="task", model="control/fickle")
    assert "groups-robots" not in [one.key for one in chosen.toggle]


def test_kinds_are_made_of_vectors_and_part_of_the_address_and_of_exports(
    page: Callable[..., AppTest], tmp_path: Path
) -> None:
    spec = AskSpec(model="control/fickle", dataset="world", limit=8, counterfactuals=3)
    with Journal(home.journals() / "run.jsonl", new=True) as written:
        request = RunRequest(entry.labs()["simulatability"], spec, "run")
        asyncio.run(execute(request, RunIO(entry.catalog().get, written.append, live=False)))
    # Before there are vectors a list by meaning is the usual list.
    assert len(page("browse", sort="meaning", like="birds that fly").dataframe[0].value) > 10
    app = page("browse", show="groups", group=KIND)
    app.button(key="make-vectors").click().run()
    until(lambda: not entry.vector_maker().is_busy)
    app = page("browse", show="groups", group=KIND)
    app.button(key="kinds-group").click().run()
    facet = in_address(app, "group")
    assert not app.exception and facet.startswith(KIND) and len(facet) > len(KIND)
    kinds = app.dataframe[0].value
    kind = kinds["Kind"][0]
    # The exported rows have the same kinds.
    keys = {f"{form}-kinds" for form in export.FORMATS}
    assert keys <= {one.key for one in app.get("download_button")} and facet.removeprefix(KIND) in app.code[0].value
    shown = dict(zip(kinds["Kind"].replace("–", ""), kinds["Rows"], strict=True))
    exported = export.rows(Selection(entry.keeper().store), facet)
    counted = exported[exported["rules"] == "repaired"]["kind"].fillna("").value_counts()
    assert dict(counted) == shown and set(exported["grouping"]) == {facet.removeprefix(KIND)}
    of_kind = export.rows(Selection(entry.keeper().store, Filter(chosen={facet: (kind,)})))
    assert set(of_kind["kind"]) == {kind} and len(of_kind) == 2 * kinds["Rows"][0]
    app = page("browse", **{facet: kind})
    assert f"Kind: {kind}" in words(app) and len(app.dataframe[0].value) == kinds["Rows"][0]
    # A list by meaning: of a text, and of a row.
    listed = page("browse", sort="meaning", like="birds that fly").dataframe[0].value
    likeness = [float(one) for one in listed["Likeness"]]
    assert likeness == sorted(likeness, reverse=True)
    place = RowPlace(*entry.keeper().store.rows('select run, "case", trial from items limit 1')[0])
    app = page("browse", **place._asdict())
    app.button(key="more-like").click().run()
    assert app.query_params["like"] == list(place) and in_address(app, "sort") == "meaning"
    assert not app.exception and "More like" in words(app)
    # The parts of how instructive a row is, and chosen columns in their order.
    app = page("browse", sort="instructive")
    app.multiselect(key="columns").set_value(["Outcome", "Instructive"]).run()
    assert app.query_params["columns"] == ["Outcome", "Instructive"]
    assert list(app.dataframe[0].value) == ["", "Outcome", "Instructive"]
    assert "harm" in app.dataframe[0].value["Instructive"][0]
    # On the command line, which opens the index itself.
    entry.keeper().close()
    assert main(["rows", "--kinds", facet.removeprefix(KIND), "-o", str(tmp_path / "kinds.parquet")]) == 0
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "kinds.parquet")[list(exported)], exported)
    with pytest.raises(SystemExit, match="2"):
        main(["rows", "--kinds", "unknown", "-o", str(tmp_path / "none.csv")])
    assert not (tmp_path / "none.csv").exists()


def test_only_the_chosen_lab_is_grouped_and_cues_and_reasons_have_words(page: Callable[..., AppTest]) -> None:
    known = {"show": "groups", "recordings": "1"}
    assert len(page("browse", **known).dataframe) > 1
    app = page("browse", **known, lab="plant", group="how")
    assert [set(one.value) >= {"Share"} for one in app.dataframe] == [True]
    assert {"Answer key", "A guess", "Most people"} <= set(app.dataframe[0].value.iloc[:, 0])
    app = page("browse", recordings="1", how="hint", reason="unread")
    assert "Method, explanation or interpreter: A guess · Excluded, because: an answer could not be read" in words(app)
    assert facets.words("reason", "not simulatable") == "the explanation does not cover it"


def test_without_an_encoder_the_page_says_what_to_do(page: Callable[..., AppTest], monkeypatch: MonkeyPatch) -> None:
    def nowhere() -> embed.Encoder:
        raise embed.NoEncoderError("No sentence encoder is installed: pip install one")

    monkeypatch.setattr(embed, "encoder", nowhere)
    app = page("browse", recordings="1", show="groups", group=KIND)
    assert not app.exception and "pip install one" in app.error[0].value


def test_beside_a_list_the_case_comes_first_and_its_run_is_folded(page: Callable[..., AppTest]) -> None:
    spec = AskSpec(model="control/fickle", dataset="world", limit=2, counterfactuals=2)
    with Journal(home.journals() / "run.jsonl", new=True) as written:
        request = RunRequest(entry.labs()["simulatability"], spec, "run")
        state = asyncio.run(execute(request, RunIO(entry.catalog().get, written.append, live=False)))
    case, begun = next(iter(state.cases.items()))
    app = page("browse", run="run", case=case, trial="cf-01")
    (stage,) = staged(app)
    asked, explained, *_ = stage["here"]["lead"]
    assert explained.startswith(f"Its explanation of its answer to “{begun.title}”") and asked != begun.title
    # The browser steps by itself through the page of the list.
    assert len(stage["listed"]) == len(app.dataframe[0].value) and stage["here"] in stage["listed"]
    assert [one.label for one in app.expander if "whole run" in one.label] == ["The whole run: 2 cases"]
