"""Labels of people's own schemes in facets, lists and exports, and how far people agree."""

from pathlib import Path

import pytest
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import masi_distance

from core.events import Started
from core.report import export
from core.runs.context import recorded
from core.runs.labels import Label, Scheme
from core.statistics.agreement import alpha, kappa, kappa_interval
from core.store import audits
from core.store.filters import Filter, from_query, label_facet
from core.store.index import index
from core.store.listing import Selection
from core.store.store import Store
from tests.core.store.store_events import LABS, begun, started, write

REASON = Scheme(name="what is wrong", labels={"circular": "x", "vague": "v", "fine": "f"})
SAID = {"ann": ["circular", "fine", "fine", "vague"], "bob": ["circular", "fine", "vague"]}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    cases = [f"q{number}" for number in range(4)]
    write(tmp_path, "r", [started("r"), *(begun("r").model_copy(update={"case": case}) for case in cases)])
    for who, labels in SAID.items():
        name = f"r~labels-{who}"
        said = [
            recorded(name, Label(own={REASON.name: (label,)}), "", case=case, by=f"labels-{who}")
            for case, label in zip(cases, labels, strict=False)
        ]
        write(tmp_path, name, [Started(run=name, lab="simulatability", spec={}, seed=0, about="r", owner=who), *said])
    made = Store(tmp_path / "store.duckdb", LABS)
    index(made, tmp_path)
    return made


def test_labels_are_facets_columns_and_part_of_exports(store: Store) -> None:
    with store:
        every = Selection(store)
        facet = label_facet(REASON.name, "labels-ann")
        assert every.facet(facet) == {"fine": 2, "circular": 1, "vague": 1}
        chosen = from_query({facet: ["fine"]})
        assert chosen.query() == {facet: ["fine"]} and every.by(chosen).count() == 2
        assert every.by(Filter(chosen={label_facet("other", "labels-ann"): ("fine",)})).count() == 0
        places = every.items().places()
        labels = dict(zip([place.case for place in places], every.own_labels(places), strict=True))
        assert labels["q2"] == {(REASON.name, "labels-ann"): "fine", (REASON.name, "labels-bob"): "vague"}
        rows = export.rows(every)
        of_bob = rows.set_index("case")[f"label.{REASON.name}.labels-bob"]
        assert set(of_bob["q2"]) == {"vague"} and of_bob["q3"].isna().all()
        assert export.rows(every.by(Filter(runs=("none",)))).empty
        assert audits.labellers_by_scheme(store, "somebody") == []


def test_a_second_person_is_blind_until_they_are_done(store: Store) -> None:
    with store:
        labels = audits.own_labels(store, REASON.name)
        assert not audits.is_blind(labels, "labels-ann"), "she labelled all that Bob did"
        assert audits.is_blind(labels, "labels-bob") and audits.is_blind(labels, "labels-new")
        found = audits.scheme_agreement(labels, REASON)
        assert (found.coefficient, found.people, found.n, found.agreed) == ("kappa", 2, 3, 2)
        assert found.value.value == kappa(SAID["ann"][:3], SAID["bob"]).value and found.value.low is None
        assert "fewer than 10 items are too few" in found.sentence
        nothing = audits.scheme_agreement({}, REASON)
        assert nothing.sentence == "No case has the labels of two people yet."


def test_the_coefficients_are_nltk_s_and_worthless_labels_get_nothing() -> None:
    items = [[frozenset("ab"[: 1 + (i * k) % 2]) | frozenset("c" * (i % 3 == k)) for k in range(3)] for i in range(24)]
    data = [(str(k), str(i), label) for i, item in enumerate(items) for k, label in enumerate(item)]
    found = alpha(items)
    assert found.value == pytest.approx(AnnotationTask(data, distance=masi_distance).alpha())
    assert found.low is not None and found.high is not None and found.low < found.value < found.high
    truth = ["x", "y"] * 20
    always = kappa_interval(truth, ["x"] * 40)
    assert always.value == 0, "one who always says the same gets exactly 0"
    assert kappa_interval(truth, truth)[:3] == (1.0, None, None), "resampling shows no spread"
    same = alpha([[frozenset("x")] * 2] * 30)
    assert same.value is None and "all labels are the same" in same.how
    noisy = ["x" if i % 4 == 0 else label for i, label in enumerate(truth)]
    found = kappa_interval(truth, [*noisy[:-1], "y" if noisy[-1] == "x" else "x"])
    assert found.value == kappa(truth, [*noisy[:-1], "y" if noisy[-1] == "x" else "x"]).value and found.low is not None
