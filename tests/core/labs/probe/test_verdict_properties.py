"""Over random records, small and huge, with ties and undefined values, each sentence is true by its own predicate."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from core.events import Rules, Scored
from core.labs.probe import evaluate
from core.labs.probe.records import HEADLINE, Audit, Estimate, Interpretation, Prediction, Truth, UnitTest
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import ProbeSpec
from core.labs.probe.verdict import list_remarks, of_words
from core.score import Score, undefined
from core.statistics.intervals import wilson
from core.transcript import CaseLog, Place
from tests.core.labs.probe.playing import BOTH
from tests.core.labs.probe.test_verdict_is_true import CODE, NOTED, SAID, Counted, held
from tests.support.chance import tenth

SPECS = {
    "numeric": {"own": "2*x"},
    "strings": {"category": "strings", "seed": 3},
    "entities": {"category": "entities", "seed": 4},
}
GOOD = {"found", "within the noise", "close"}


def built(category: str, scores: dict[tuple[str, Rules], Score], **fields: Any) -> ProbeReport:
    """A judged case with these figures."""
    place = Place()
    at = datetime(2026, 1, 1, tzinfo=UTC)
    for (metric, rules), one in scores.items():
        place.scores[(metric, rules, "")] = Scored(
            run="r", at=at, metric=metric, rules=rules, value=one.value, n=one.n, of=one.of, low=one.low, high=one.high,
            detail=one.detail,
        )  # fmt: skip
    spec = ProbeSpec.model_validate({**SPECS[category], "interpreter": "given", "given": {"description": "d"}})
    said = Interpretation(interpreter="given", description_paper="d", description_repaired="d", code_repaired="c")  # type: ignore[call-arg]
    true = {"id": "f", "category": category, "kind": "k", "description": "t", "parameters": {}}
    truth = Truth.model_validate({**true, **fields.pop("truth", {})})
    log = CaseLog("c", [place], None, "completed", {})
    return ProbeReport(log=log, spec=spec, interpretation=said, audit=Audit(), truth=truth, **fields)


def hold(view: ProbeReport) -> None:
    """Every sentence of the case is of a known pattern and true; words of praise and outcome go together."""
    for rules in BOTH:
        judgement = view.by(rules).judgement
        held(judgement.sentence, CODE, Counted(view, rules))
        if any(one in judgement.sentence for one in (" found the function", "came close", "tells as much as")):
            assert judgement.outcome in GOOD, judgement
    if words := of_words(view):
        held(words, SAID, Counted(view, "repaired"))
    for sentence in list_remarks(view):
        held(sentence, NOTED, Counted(view, "repaired"))


# The square of what is nearer to 0 is 0, and such a function is zero.
sizes = st.floats(-1e6, 1e6).filter(lambda size: not 0 < abs(size) < 1e-100)
numbers = st.one_of(st.none(), st.sampled_from([0.0, 1.0, -1.0, 1e-9]), sizes)


@settings(max_examples=tenth(150), deadline=None)
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=12), st.booleans(), st.floats(0, 0.5))
def test_sentences_on_numbers(points: list[tuple[float | None, float | None]], is_right: bool, floor: float) -> None:
    y = [one for one, _ in points]
    code = y if is_right else [other for _, other in points]
    seen = [float("nan") if one is None else one for one in y]
    scores: dict[tuple[str, Rules], Score] = {}
    for rules in BOTH:
        error = evaluate.nmse(seen, code, rules)  # type: ignore[arg-type]
        scores["nmse", rules] = error  # type: ignore[index]
        judged = error.n > 0 or rules == "paper"
        success = Score(float(error.success), 1, 1, detail={"reason": error.reason}) if judged else undefined(1, "none")
        scores["nmse_success", rules] = success  # type: ignore[index]
        scores["noise_floor", rules] = Score(floor if floor > 0.1 else 0.0, 1, 1)  # type: ignore[index]
        if floor > 0.1 and error.value is not None:
            scores["excess", rules] = evaluate.excess(seen, seen, code, rules)  # type: ignore[arg-type, index]
    given_by = Estimate(paper=tuple(code), repaired=tuple(code))
    xs = tuple(float(k) for k in range(len(y)))
    hold(built("numeric", scores, estimate=given_by, truth={"x": xs, "y": tuple(y)}))


texts = st.sampled_from(["", "a", "b", "ab", "A"])


@settings(max_examples=tenth(150), deadline=None)
@given(st.lists(st.tuples(texts, texts, st.one_of(st.none(), texts), st.booleans()), max_size=30), st.booleans())
def test_sentences_on_texts(rows: list[tuple[str, str, str | None, bool]], is_random: bool) -> None:
    tests = {
        f"test-{place:02}": Prediction(
            kind="test", input=one, truth=true, paper=code, repaired=code, error="" if code is not None else "it fails",
            error_paper="" if code is not None else "it fails", right_paper=code == true, misrecorded=odd and place > 1,
        )
        for place, (one, true, code, odd) in enumerate(rows)
    }  # fmt: skip
    scores: dict[tuple[str, Rules], Score] = {}
    for rules in BOTH:
        some = [one for one in tests.values() if rules == "paper" or not one.misrecorded]
        inputs, true = [one.input for one in some], [one.truth for one in some]
        code = [one.repaired for one in some]
        matched = evaluate.exact_match(inputs, true, code, "repaired").over(len(tests))
        scores["exact_match", rules] = matched  # type: ignore[index]
        if is_random and some:
            scores["exact_match_ceiling", rules] = Score(0.2, len(some), len(tests))  # type: ignore[index]
    view = built("strings", scores, predictions=tests)
    hold(view)
    alone = sum(one.input == one.truth for one in tests.values() if not one.misrecorded)
    score = scores["exact_match", "repaired"]
    if score.value is not None and round(score.value * score.n) <= alone:
        assert view.outcome not in GOOD or score.value == 1 > alone / score.n


marks = st.sampled_from([True, False, None])
TOLD = ("interpretation", "truth", "nothing", "anything", "everything")
ITEMS = dict(zip(TOLD, ("unit", "ceiling", "nothing", "anything", "everything"), strict=True))


@settings(max_examples=tenth(200), deadline=None)
@given(
    st.one_of(st.integers(1, 5), st.sampled_from([10, 20, 80, 2_000])),
    st.tuples(*[st.sampled_from([0.0, 0.3, 0.34, 0.6, 0.9, 0.97, 1.0])] * 5),
    st.booleans(),
    st.integers(0, 10**6),
    st.floats(0, 0.3),
)
def test_sentences_on_words_and_facts(n: int, shares: tuple[float, ...], alike: bool, seed: int, lost: float) -> None:
    """With `alike` the true description is right and wrong where the interpretation is."""
    import numpy as np

    rng = np.random.default_rng(seed)
    tests: dict[str, UnitTest] = {}
    verdicts: dict[str, list[bool | None]] = {}
    for about, share in zip(TOLD, shares, strict=True):
        read = [None if rng.random() < lost else bool(rng.random() < share) for _ in range(n)]
        verdicts[about] = verdicts["interpretation"] if alike and about == "truth" else read
        for place, right in enumerate(verdicts[about], start=1):
            options = (f"word {place}", "x", "y")
            one = {"about": about, "evaluator": "embedding", "options": options, "correct": 1}
            tests[f"{ITEMS[about]}-{place:02}"] = UnitTest.model_validate(
                {**one, "picked": 1 if right else 2, "paper": bool(right), "repaired": right}
            )
    scores: dict[tuple[str, Rules], Score] = {}
    for rules in BOTH:
        for about, metric in (("interpretation", "unit_test"), ("truth", "unit_test_ceiling")):
            read = [bool(one) for one in verdicts[about]] if rules == "paper" else verdicts[about]
            score = evaluate.picked(read)
            scores[metric, rules] = score  # type: ignore[index]
    controls = [evaluate.picked(verdicts[about]) for about in TOLD[2:]]
    if all(one.value is not None for one in controls):
        scores["unit_test_control", "repaired"] = max(controls, key=lambda one: one.value or 0)
    view = built("entities", scores, units=tests)
    if any(one.value is None for one in controls):
        return
    hold(view)
    hits = scores["unit_test", "repaired"]
    if view.outcome in GOOD:
        assert hits.value is not None and wilson(hits.value, hits.n)[0] > 1 / 3
        assert all(hits.value > (one.value or 0) - 2 * lost - 1e-9 for one in controls)
    if view.outcome == "found":
        true = scores["unit_test_ceiling", "repaired"].value
        assert n >= 31 or (true is not None and hits.value is not None and hits.value > true), "so few show nothing"


def test_figures_that_are_no_shares_are_told_without_an_interval() -> None:
    """A journal that lost its truth still has the error of a function of numbers; a damaged one has any number."""
    lost = replace(built("numeric", {("nmse", "repaired"): Score(7.0, 256, 256)}), truth=None)
    assert lost.outcome == "missed" and lost.verdict() is not None and not lost.verdict().bars
    for value, n in ((7.0, 10), (-1.0, 10), (0.5, 0)):
        scores = {(name, "repaired"): Score(value, n, 10) for name in ("unit_test", "unit_test_ceiling")}
        view = built("entities", scores)  # type: ignore[arg-type]
        assert view.reach == (0.0, 1.0) and view.verdict() is not None


def test_every_category_has_a_figure_that_decides() -> None:
    assert set(SPECS) <= set(HEADLINE)
