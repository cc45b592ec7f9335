"""What a study will take, for runs of which hardly any was made: every figure worked out by hand."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from core.events import CallError, Message, ModelAnswer, OnText, Request
from core.labs.base.report import Case
from core.models import settings
from core.models.cache import Cached, ResponseCache, key_of
from core.report.study_html import of_estimate
from core.statistics.comparisons import items_for_difference, items_for_power
from core.statistics.intervals import wilson
from core.studies.estimate import StudyEstimate, _minutes, _power, _price, estimate
from core.studies.plan import Planned, Study, parse
from core.studies.run_status import SHIFT, RunStatus, Tokens
from tests.core.studies import test_tables_by_hand as by_hand
from tests.core.studies.test_run_status import sealed
from tests.support.small_lab import LAB, EchoSpec

PRICES = {
    "a/m": {"prompt": 1_000.0, "completion": 10_000.0, "date": "2026-02-01", "verified": True},
    "b/m": {"prompt": 500.0, "completion": 500.0, "date": "2026-01-01"},
}
"""US dollars for a million tokens."""


@pytest.fixture(autouse=True)
def priced(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    known = {name: settings.Price.model_validate({"model": name, **price}) for name, price in PRICES.items()}
    monkeypatch.setattr(settings, "prices", lambda: known)
    settings.price_of.cache_clear()
    yield
    settings.price_of.cache_clear()


class Taking(EchoSpec):
    """Several speakers, who take turns; at most `gone` words, whose data is not here."""

    speakers: tuple[str, ...] = ("a/m",)
    gone: bool = False

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        return {"speaker": self.speakers}

    @property
    def models(self) -> set[str]:
        return set(self.speakers)


def cases(spec: Taking) -> Iterator[Any]:
    if spec.gone:
        raise CallError("Fetch it from https://example.org.")
    return LAB.cases(spec)  # type: ignore[return-value]


LABS = {"echo": LAB.with_changes(spec=Taking, cases=cases, prompts=lambda spec: {"echo": "h"})}
TEXT = 'lab = "echo"\nspec = { words = ["a", "b", "c"], times = 2 }\n'


def study(text: str) -> Study:
    return parse("study.toml", text.encode(), LABS)


def planned(of: Study, folder: Path) -> StudyEstimate:
    return estimate(of, LABS, lambda id: Never(id), folder, folder / "recordings")


class Never:
    """A model that no plan may ask."""

    def __init__(self, id: str) -> None:
        self.id = id

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        raise AssertionError("nothing is asked for a plan")


def wrote(folder: Path, run: Planned, *events: dict[str, Any]) -> None:
    (folder / f"{run.id}.jsonl").write_text("".join(sealed(one, number) for number, one in enumerate(events, 1)))


def answered(second: int, model: str = "a/m", **usage: int) -> dict[str, Any]:
    at = f"2026-01-01T00:00:{second:02d}Z"
    return {"kind": "answered", "at": at, "call": "c", "role": "speaker", "model": model, "text": "y", "usage": usage}


END = {"kind": "finished", "run": "r", "at": "2026-01-01T00:00:00Z", "status": "completed"}


def test_calls_are_shared_out_and_those_answered_are_not_counted(tmp_path: Path) -> None:
    of = study(TEXT + 'grid = { speakers = [["a/m", "b/m", "control/m"], ["a/m"]], times = [2, 3] }\n')
    found = planned(of, tmp_path)
    # One call for the promise, and one for each repetition of each of three words.
    assert found.calls == {"speaker": 7 + 10 + 7 + 10} and (found.runs, found.completed, found.cases) == (4, 0, 12)
    # Of 7 calls the three take 3, 2 and 2; of 10 they take 4, 3 and 3.
    assert found.free == 2 + 3 and found.cached == 0 and found.minutes is None
    one, two, three, _ = of.runs
    wrote(tmp_path, one, *(answered(n) for n in range(4)))
    wrote(tmp_path, two, *(answered(n) for n in range(12)))
    wrote(tmp_path, three, *(answered(n) for n in range(7)), END)
    found = planned(of, tmp_path)
    assert found.calls == {"speaker": 3 + 0 + 10} and (found.completed, found.cases, found.free) == (1, 9, 1)


def test_intervals_are_those_of_the_run_with_the_fewest_items(tmp_path: Path) -> None:
    def of_items(spec: Taking) -> Iterator[Case]:
        return (Case(f"{word}/{kind}", word, word) for word in spec.words for kind in "xy")

    labs = {"echo": LABS["echo"].with_changes(cases=of_items)}
    of = parse("s.toml", b'lab = "echo"\ngrid.words = [["a", "b", "c"], ["a", "b"]]\nwidth = 0.2\n', labs)
    found = estimate(replace(of, stop_width=0.4), labs, Never, tmp_path, tmp_path)
    low, high = wilson(0.5, 2)
    assert (found.items, found.width, found.wanted_width, found.stop_width) == (2, high - low, 0.2, 0.4)
    assert found.wanted_items == 93 and found.cases == 10, "Z² (1 / 0.2² - 1)"
    labs = {"echo": LABS["echo"].with_changes(cases=lambda spec: (Case(f"q{n}", "", "") for n in range(1_000)))}
    assert estimate(parse("s.toml", TEXT.encode(), labs), labs, Never, tmp_path, tmp_path).cases == 1_000


def test_what_is_not_here_is_missing_and_no_price_is_told(tmp_path: Path) -> None:
    found = planned(study(TEXT + "grid = { gone = [true, false] }\n"), tmp_path)
    assert list(found.missing.values()) == ["Fetch it from https://example.org."] and found.cases == 3
    assert (found.price, found.tokens) == (None, None) and len(found.unknown) == 1
    untold = LABS["echo"].with_changes(count_calls=lambda spec, cases: None)
    of = parse("study.toml", TEXT.encode(), {"echo": untold})
    found = estimate(of, {"echo": untold}, Never, tmp_path, tmp_path)
    assert found.calls == {} and found.unknown == ["Echo cannot tell how many calls it makes."]


def test_tokens_and_money_go_by_what_this_study_took_else_by_recordings(tmp_path: Path) -> None:
    of = study(TEXT + 'grid.speakers = [["a/m"], ["b/m"]]\n')
    found = planned(of, tmp_path)
    assert found.tokens is None and found.price is None
    assert found.unknown == ["No speaker has answered yet, so its tokens are not known."]
    recordings = tmp_path / "recordings"
    recordings.mkdir()
    begun = {"kind": "started", "run": "r", "at": END["at"], "schema": 3, "lab": "echo", "spec": {}, "seed": 0}
    wrote(recordings, of.runs[0], begun, answered(0, prompt_tokens=10, completion_tokens=4))
    found = planned(of, tmp_path)
    # Seven calls of each model.
    assert found.tokens == {"prompt": 140, "completion": 56} and found.unverified and found.priced == date(2026, 1, 1)
    assert found.price == pytest.approx((70 * 1_000 + 28 * 10_000 + 98 * 500) / 1e6, abs=1e-4)
    wrote(
        tmp_path,
        of.runs[0],
        answered(0, prompt_tokens=30, completion_tokens=1),
        answered(20, prompt_tokens=50, completion_tokens=3),
    )
    found = planned(of, tmp_path)
    assert found.tokens == {"prompt": 40 * 12, "completion": 2 * 12}
    assert found.calls == {"speaker": 12} and found.minutes is None, "b was never asked"


def told(wanted: dict[tuple[str, str, str], int], sample: dict[tuple[str, str], Tokens]) -> StudyEstimate:
    found = StudyEstimate("s")
    _price(found, Counter(wanted), sample)
    return found


def test_a_price_that_cannot_be_had_is_none_and_never_zero() -> None:
    sample = {("echo", "s"): Tokens(2, 20, 10)}
    assert (told({}, {}).price, told({}, {}).tokens, told({}, {}).priced) == (0, {"prompt": 0, "completion": 0}, None)
    robots = told({("echo", "s", "control/m"): 5, ("echo", "s", "a/m"): 0}, {})
    assert (robots.price, robots.unknown, robots.tokens) == (0, [], {"prompt": 0, "completion": 0})
    known = told({("echo", "s", "a/m"): 4}, sample)
    assert (known.price, known.tokens) == (0.24, {"prompt": 40, "completion": 20})
    assert (known.priced, known.unverified) == (date(2026, 2, 1), False)
    local = told({("echo", "s", "local/m"): 4}, sample)
    assert (local.price, local.priced, local.tokens) == (0, None, {"prompt": 40, "completion": 20})
    unheard = told({("echo", "s", "local/m"): 4}, {})
    assert (unheard.price, unheard.tokens) == (0, None) and len(unheard.unknown) == 1
    both = told({("echo", "s", "local/m"): 4, ("echo", "s", "a/m"): 4}, {("echo recorded", "s"): Tokens(1, 10, 5)})
    assert both.price == 0.24
    odd = told({("echo", "s", "a/m"): 4, ("echo", "s", "c/m"): 4, ("echo", "s", ""): 1}, sample)
    assert (odd.price, odd.tokens, odd.priced) == (None, {"prompt": 90, "completion": 45}, None)
    assert [why.split(" is not")[0] for why in odd.unknown] == ["The price of c/m", "The price of the s"]
    none = told({("echo", "s", "a/m"): 4, ("echo", "t", "a/m"): 4}, sample)
    assert (none.price, none.tokens) == (None, None)


def test_the_slowest_endpoint_says_how_long_it_takes() -> None:
    # Ten a minute for a, and one a second for b.
    pace = Counter({("a", 0): 1, ("a", 6): 1, ("a", 12): 0, ("b", 0): 1, ("b", 1): 1, ("b", 2): 1})
    stand = [RunStatus(pace=pace), RunStatus(pace=Counter({("b", 3): 1, ("b", 4): 0}))]
    rate_a, rate_b = 60 * 2 / 12, 60 * 4 / 4
    assert _minutes({("l", "r", "a/m"): 3, ("l", "s", "a/n"): 4, ("l", "r", "b/m"): 60}, stand) == pytest.approx(
        max(7 / rate_a, 60 / rate_b)
    )
    assert _minutes({("l", "r", "b/m"): 90}, stand) == pytest.approx(1.5)
    assert _minutes({("l", "r", "control/m"): 9, ("l", "r", "c/m"): 0}, stand) == 0
    assert _minutes({("l", "r", "b/m"): 90, ("l", "r", "c/m"): 1}, stand) is None


def test_the_cache_answers_what_it_holds(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "cache.sqlite")
    of = study('lab = "echo"\nspec = { words = ["a", "b"], times = 2, model = "a/m" }\n')
    models = {"a/m": Cached(Never("a/m"), cache, "u")}
    found = estimate(of, LABS, models.__getitem__, tmp_path, tmp_path)
    assert (found.cached, found.calls) == (0, {"speaker": 5})

    def kept(text: str, repeat: int, role: str) -> None:
        turns = (Message(role="user", content=text),)
        asked = Request(role=role, model="a/m", messages=turns, repeat=repeat)
        cache.put(key_of(asked, "a/m", "u"), ModelAnswer(text="kept"))

    kept("What do you do?", 0, "explainer")
    kept("a", 1, "answerer")
    kept("b", 2, "answerer")
    roles = LABS["echo"].with_changes(count_calls=lambda spec, cases: {"explainer": 1, "answerer": cases * spec.times})
    of = parse(
        "study.toml", b'lab = "echo"\nspec = { words = ["a", "b"], times = 2, model = "a/m" }\n', {"echo": roles}
    )
    found = estimate(of, {"echo": roles}, models.__getitem__, tmp_path, tmp_path)
    assert (found.cached, found.calls) == (3, {"answerer": 2})


def test_how_many_items_find_a_difference_by_rates_and_by_what_two_runs_showed(tmp_path: Path) -> None:
    of = by_hand.study("power = 0.9\n")
    spec = of.runs[0].spec
    runs = tuple(
        of.runs[0]._replace(id=name, spec=spec.model_copy(update={"times": n})) for n, name in enumerate("rst", 1)
    )
    of = replace(of, runs=runs, controls=())
    stated = dict(_power(replace(of, rates=(0.9, 0.25)), 0.9, by_hand.LABS, tmp_path))
    assert stated == {"rates of 0.9 and 0.25": items_for_power(0.9 * 0.75, 0.25 * 0.1, 0.9)}
    values = [[1.0] * 12, [0.0] * 3 + [1.0] * 9, [1.0] * 9 + [None] * 3]
    for run, figures in zip(runs, values, strict=True):
        by_hand.wrote(tmp_path, run, ((f"q{n}/x", {"repeated": value}) for n, value in enumerate(figures)))
    # The second and the third share nine items, too few for a result.
    assert dict(_power(of, 0.9, by_hand.LABS, tmp_path)) == {
        "Echo, 1 and 2": items_for_difference([1.0] * 3 + [0.0] * 9, 0.9)
    }
    found = estimate(of, by_hand.LABS, Never, tmp_path, tmp_path)
    assert found.wanted_power == 0.9 and found.power_items.keys() == {"Echo, 1 and 2"}
    assert estimate(replace(of, power=None), by_hand.LABS, Never, tmp_path, tmp_path).power_items == {}


def test_what_a_person_reads_of_it() -> None:
    found = StudyEstimate("s", runs=3, completed=1, cases=9, calls={"a": 1200, "b": 0})
    assert of_estimate(found) == [
        "s: 3 runs, 1 of them completed; 9 cases to be measured.",
        "Calls at most: 1,200 (a 1,200).",
        "Time: unknown, for none of these models has answered in this study yet.",
        "Tokens: unknown.",
        "Price: unknown.",
    ]
    found = replace(
        found,
        **{"calls": {}, "free": 2, "cached": 3, "budget_calls": 1000, "budget_money": 0.5, "stop_width": 0.25},
        **{"minutes": 61.7, "tokens": {"prompt": 1000, "completion": 20}, "price": 1.239, "unknown": ["Why."]},
        **{"items": 5, "width": 0.61, "wanted_width": 0.2, "wanted_items": 93, "wanted_power": 0.8},
        **{"power_items": {"x and y": 1100, "y and z": None}, "missing": {"r": "No.", "q": "No.", "p": "Lost."}},
    )
    assert of_estimate(found)[1:] == [
        "Calls at most, of the runs that can be made: 0 (none).",
        "  2 of them ask robots, which cost nothing.",
        "  3 more are in the response cache, and not asked again.",
        "  The study stops at 1,000 calls of models.",
        "  The study stops at 0.50 US dollars.",
        "  A cell stops early where its always-valid interval is 0.25 wide.",
        f"  {SHIFT}",
        "Time: about 62 minutes at the rate at which they answered so far.",
        "Tokens: about 1,000 sent and 20 written.",
        "Price: about 1.24 US dollars.",
        "  Why.",
        "With 5 items in a run, a share near one half has an interval 0.61 wide.",
        "For one of 0.20 it takes 93 items.",
        "To tell apart x and y with a probability of 80% takes 1,100 shared items.",
        "To tell apart y and z with a probability of 80% would take more shared items than is practical.",
        "2 runs are in no figure above. No.",
        "1 run is in no figure above. Lost.",
    ]
    last = of_estimate(replace(found, power_items={}, missing={}, minutes=0.0, items=None))
    assert last[-1].startswith("How many items find a difference is not known") and not any(
        "Time" in one for one in last
    )
