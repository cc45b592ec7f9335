"""Rows grouped by meaning: vectors that are kept, groups, their words, and the rows nearest to a text or a row."""

import asyncio
from collections.abc import Iterator

import numpy as np
import pytest

from core import entry
from core.events import ModelAnswer, OnText, Request
from core.journal import Journal
from core.labs.ask.tasks import AskSpec
from core.report import export
from core.runs.engine import RunIO, RunRequest, execute
from core.store import kinds, ranking, vectors
from core.store.filters import Filter, from_query
from core.store.index import index
from core.store.listing import RowPlace, Selection, groups
from core.store.ranking import Candidate, instructive
from core.store.store import Store
from core.text import embed
from tests.support.waiting import until


@pytest.fixture(scope="module")
def selected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Selection]:
    """Rows of a robot with their vectors."""
    folder = tmp_path_factory.mktemp("kinds")
    spec = AskSpec(model="control/fickle", dataset="world", limit=8, counterfactuals=3)
    (folder / "journals").mkdir()
    with Journal(folder / "journals" / "run.jsonl", new=True) as written:
        request = RunRequest(entry.labs()["simulatability"], spec, "run")
        asyncio.run(execute(request, RunIO(entry.catalog().get, written.append, live=False)))
    with Store(folder / "store.duckdb", entry.labs()) as store:
        index(store, folder / "journals")
        maker = vectors.VectorMaker()
        selected = Selection(store)
        maker.want(store, vectors.all_texts(vectors.texts(selected)))
        until(lambda: not maker.is_busy)
        assert maker.done == maker.of > 10 and not maker.problem
        yield selected


def test_vectors_are_kept_by_text_and_outlive_their_runs_only_if_used(selected: Selection) -> None:
    store, by = selected.store, embed.encoder()
    texts = vectors.all_texts(vectors.texts(selected))
    assert vectors.missing(store, by.name, [*texts, "something else"]) == ["something else"]
    assert np.allclose(vectors.matrix(store, by.name, texts[:3]), by.encode(texts[:3]), atol=1e-6)
    assert not vectors.matrix(store, by.name, ["something else"]).any()
    vectors.keep(store, by.name, ["text of a run that was deleted"], by.encode(["text of a run that was deleted"]))
    store.rewrite()
    assert len(vectors.missing(store, by.name, [*texts, "text of a run that was deleted"])) == 1


def test_rows_that_are_alike_are_a_kind_and_rows_about_one_item_or_noise_are_none() -> None:
    draws = np.random.default_rng(3)
    centres = draws.normal(size=(3, 64))
    rows = np.vstack([centres[n % 3] + 0.4 * draws.normal(size=64) for n in range(30)] + [draws.normal(size=(10, 64))])
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    items = [f"item {n}" for n in range(40)]
    found = kinds.alike(rows, items)
    assert sorted(found) == [list(range(start, 30, 3)) for start in range(3)]
    # A chain of neighbours joins no groups whose means differ, and copies of one item are no kind.
    assert kinds.alike(rows, ["one item"] * 40) == []
    assert kinds.alike(rows[30:], items[30:]) == kinds.alike(rows[:1], items[:1]) == kinds.alike(rows[:0], []) == []


def test_a_kind_is_named_by_the_words_that_tell_it_from_the_others() -> None:
    flying = ["Can a penguin fly? The wings are small", "Can an ostrich fly? Its wings are weak"]
    names = kinds.telling_words([flying, ["Can iron float? It sinks", "Can lead float? It sinks"]], ["Can Mars sink?"])
    assert names[0].split(", ")[:2] == ["fly", "wings"] and "float" in names[1]
    # Groups with the same words still have names of their own, and so have groups without words.
    assert len(set(kinds.telling_words([flying, flying, ["1 2"], ["?"]]))) == 4


def test_a_grouping_is_a_facet_of_the_address(selected: Selection) -> None:
    by = embed.encoder()
    found = kinds.group(selected, by.name)
    assert kinds.group(selected, by.name) == found == kinds.stored(selected, found.clustering)
    assert 0 < found.grouped <= found.rows == selected.count()
    facet = kinds.facet(found.clustering)
    counts = selected.facet(facet)
    assert sum(counts.values()) == found.grouped
    first = next(iter(counts))
    only = from_query({facet: [first]})
    assert only.query() == {facet: [first]} and selected.by(only).count() == counts[first]
    assert sum(one.rows for one in groups(selected, entry.labs()["simulatability"], facet)) == found.rows
    # Another selection is another grouping; of an unknown one there is nothing.
    other = kinds.group(selected.by(Filter(chosen={"outcome": ("misled",)})), by.name)
    assert other.clustering != found.clustering and kinds.stored(selected, "unknown") is None
    nobody = Selection(selected.store, viewer="somebody")
    assert kinds.group(nobody, by.name).rows == 0 and kinds.stored(nobody, found.clustering) is None


class Namer:
    """Answers with the first question that it was shown, in quotes and with a second line."""

    id = "test/namer"

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        (message,) = request.messages
        question = next(line for line in message.content.splitlines() if line.startswith("Question: "))
        return ModelAnswer(text=f'"About {question[10:]}"\nmore')


def test_a_model_names_kinds_beside_their_words(selected: Selection) -> None:
    found = kinds.group(selected, embed.encoder().name)
    examples = kinds.examples(selected, found.clustering)
    names = asyncio.run(kinds.ask(Namer(), examples))
    kinds.keep(selected.store, found.clustering, names, Namer.id)
    assert kinds.titles(selected, found.clustering) == names and set(names) == set(examples)
    exported = export.rows(selected, found.clustering)
    named = exported[exported["kind"].notna()]
    assert list(named["kind_name"]) == [names[kind] for kind in named["kind"]] and 0 < len(named) < len(exported)
    assert set(exported["grouping"]) == {f"{found.clustering[:12]}-{embed.encoder().name}"}
    assert all(name.startswith("About ") and len(name) <= kinds.LONGEST_NAME for name in names.values())


def test_a_search_by_meaning_lists_the_nearest_rows_first(selected: Selection) -> None:
    by = embed.encoder()
    places = ranking.by_meaning(selected, "animals that fly", by)
    likeness = [float(one) for _, one in places]
    assert likeness == sorted(likeness, reverse=True) and len(places) == selected.count()
    first, last = places[0][0], places[-1][0]
    near = [place for place, _ in ranking.by_meaning(selected, first, by)]
    assert first not in near and len(near) == len(places) - 1 and near[-1] != near[0]
    assert near.index(last) > len(near) // 2
    # A row that is gone, or that a visitor may not see, is compared with nothing.
    assert ranking.by_meaning(selected, RowPlace("gone", "q", "t"), by) == []
    assert ranking.by_meaning(Selection(selected.store, viewer="somebody"), first, by) == []


def test_a_ranked_list_pages_as_others_do(selected: Selection) -> None:
    order = [place for place, _ in ranking.by_instructive(selected)]
    page = ranking.page(selected, order, limit=5)
    assert page.places() == order[:5] and (page.first, page.total) == (1, selected.count())
    after = ranking.page(selected, order, after=order[4], limit=5)
    assert after.places() == order[5:10] and after.first == 6
    assert ranking.page(selected, order, before=order[5], limit=5).places() == order[:5]
    assert ranking.page(selected, order, before=order[2], limit=5).places() == order[:2]
    gone = ranking.page(selected, order, after=RowPlace("gone"), limit=5)
    assert gone.lost and gone.places() == order[:5]
    assert ranking.page(selected, []).total == 0 and set(page.rows) == set(selected.items().rows)


def row(harm: bool, parsers: bool, votes: bool | None, gold: bool, text: str) -> Candidate:
    return Candidate(harm, parsers, votes, gold, frozenset(text.split()))


def test_the_most_instructive_rows_come_first_and_no_near_copy_follows_its_like() -> None:
    rows = [
        row(False, True, True, True, "came true"),
        row(True, True, True, True, "all birds can fly so penguins fly"),
        row(True, True, True, True, "all birds can fly so penguins fly too"),
        row(True, True, True, True, "fish live in water"),
        row(True, False, None, False, "only harm"),
        row(True, True, None, True, "one vote says nothing"),
        row(False, False, False, False, ""),
    ]
    ranked = instructive(rows)
    assert [one.row for one in ranked] == [1, 3, 2, 5, 0, 4, 6]
    assert ranked[0].shown == "5 of 5: harm, parsers, votes, gold, no copy"
    # What cannot be said of a row is no part of it.
    assert ranked[3].shown == "4 of 4: harm, parsers, gold, no copy"
    assert ranked[-1].shown == "1 of 5: no copy"
    # Of nothing but copies each is still listed, and says so.
    copies = instructive([rows[1]] * 3)
    assert [one.row for one in copies] == [0, 1, 2] and [one.parts["no copy"] for one in copies] == [True, False, False]
    assert instructive([]) == []
