"""Every sentence that Probe shows about a run is compared with the run's own numbers, counted here again."""

import ast
import inspect
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from core.events import Rules
from core.labs.probe.functions.base import as_number
from core.labs.probe.functions.numeric import GRID, NumericFunction
from core.labs.probe.functions.source import load
from core.labs.probe.records import TELL_NOTHING, Probe
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import ProbeSpec
from core.labs.probe.verdict import REMARKS, list_remarks, of_words
from tests.core.labs.probe.playing import BOTH, play, stub_catalog, stub_spec
from tests.support.stub_server import StubServer

# Random functions and code


def _numeric_code(function: Any, kind: str, rng: np.random.Generator) -> str:
    """Code that is right, near, far, empty, or fails here and there."""
    if not isinstance(function, NumericFunction):
        formula = str(function.source).replace("^", "**")
    else:
        values = [y if math.isfinite(y) else 0.0 for y in function.expected(GRID).real.tolist()]
        formula = f"{dict(zip(GRID.tolist(), values, strict=True))}.get(x, 0.0)"
    wrong = {
        "right": formula,
        "near": f"{formula} * {1 + 10 ** rng.uniform(-7, -1)}",
        "off": f"{formula} + {10 ** rng.uniform(-6, 3)}",
        "far": f"{rng.uniform(-50, 50)} * x + 1",
        "huge": "1e300 * (x + 1)",
        "some": f"{formula} if x > {rng.uniform(-100, 100)} else None",
        "fails": "1 / 0",
        "lacks": "bytearray(1)[0]",
        "lacks here": f"{formula} if x > {rng.uniform(-100, 100)} else bytearray(1)[0]",
    }
    return f"from math import sin, cos\ndef f(x):\n    return {wrong[kind]}" if kind != "empty" else ""


KINDS = ("right", "near", "off", "far", "huge", "some", "fails", "empty", "lacks", "lacks here")
OWN = ("3*x^2+sin(x)", "0*x", "x^0.5", "0.00002*x", "1/(x-0.5)", "2*x + 1")


def numeric_views() -> Iterator[ProbeReport]:
    for seed in range(60):
        rng = np.random.default_rng([seed, 77])
        kind = KINDS[seed % len(KINDS)]
        fields: dict[str, Any] = {"seed": seed, "difficulty": ("easy", "medium", "medium", "hard")[seed // 2 % 4]}
        if seed % 3 == 0:
            fields = {"own": OWN[seed // 3 % len(OWN)]}
        function = load(ProbeSpec.model_validate({**fields, "interpreter": "you"}))
        words = ("A line. f(1) = 3, f(5) = 40.", function.describe(), "normal noise", "")[int(rng.integers(4))]
        code = _numeric_code(function, kind, rng)
        domain = ("", "Corrupted between 3 and 9.", "all numbers")[int(rng.integers(3))]
        said = {"description": words, "domain": domain, "code": code}
        yield play(ProbeSpec.model_validate({**fields, "interpreter": "given", "given": said}))[0]
    for seed in (3, 1753):
        for who in ("control/straight", "control/inventor"):
            yield play(ProbeSpec(seed=seed, difficulty="medium", model=who))[0]
    yield play(ProbeSpec(own="x^0.5", model="control/straight"))[0]
    yield play(ProbeSpec(seed=12, difficulty="medium", interpreter="fit", probes=40))[0]


def string_views() -> Iterator[ProbeReport]:
    codes = (
        "return x",
        "return x.upper()",
        "return x[::-1]",
        "return 1 / 0",
        "return x + 'a' if len(x) > 5 else x",
        "",
        "return bytearray(1)",
        "return x.upper() if len(x) > 5 else bytearray(1)",
    )
    for seed in range(16):
        code = codes[seed % len(codes)]
        said = {"description": "It writes the text backwards.", "code": f"def f(x):\n    {code}" if code else ""}
        fields: dict[str, Any] = {"category": "strings", "seed": seed}
        if seed % 4 == 3:
            fields["own"] = ("x.upper()", "x", "x[::-1]", "x.upper()")[seed // 4]
        yield play(ProbeSpec.model_validate({**fields, "interpreter": "given", "given": said}))[0]
        yield play(ProbeSpec.model_validate({**fields, "interpreter": "fit", "probes": 20}))[0]
    yield play(ProbeSpec(category="strings", seed=5, model="control/inventor"))[0]


def module_views() -> Iterator[ProbeReport]:
    for category, seed in (("entities", 2), ("entities", 6), ("relations", 4)):
        yield play(ProbeSpec.model_validate({"category": category, "seed": seed, "model": "control/straight"}))[0]
    for category in ("entities", "relations"):
        for seed in (4, 6):
            spec = {"category": category, "seed": seed, "difficulty": "hard"}
            for who in ("control/straight", "control/inventor"):
                yield play(ProbeSpec.model_validate({**spec, "model": who, "evaluator": "control/straight"}))[0]
            for rules in BOTH:
                given = {"description": "Something about birds.", "code": ""}
                told = {**spec, "interpreter": "given", "given": given, "evaluator": "control/straight"}
                yield play(ProbeSpec.model_validate({**told, "rules": rules}))[0]


def unanswered_views() -> Iterator[ProbeReport]:
    for fields in ({"own": "2*x"}, {"own": "", "category": "strings"}, {"own": "", "category": "entities"}):
        with StubServer("I like functions.") as server:
            yield play(stub_spec(**fields, rounds=1), stub_catalog(server))[0]


@pytest.fixture(scope="module")
def views() -> list[ProbeReport]:
    return [*numeric_views(), *string_views(), *module_views(), *unanswered_views()]


# What each sentence needs, counted from the records


class Counted:
    """The numbers of one case by one set of rules, without the app's own counting."""

    def __init__(self, view: ProbeReport, rules: Rules) -> None:
        self.view, self.rules = view, rules
        truth, estimate = view.truth, view.estimate
        given = estimate[rules] if estimate else ()
        x, y = (truth.x, truth.y) if truth else ((), ())
        self.given = given
        self.points = [(x[k], y[k], given[k] if k < len(given) else None) for k in range(len(x)) if y[k] is not None]
        self.step = 1e-4 * min(1.0, max((abs(y) for _, y, _ in self.points), default=0.0))
        self.scores = {one.metric: one for one in view.log.scores if one.rules == rules}
        self.control = next((one.value for one in view.log.scores if one.metric == "unit_test_control"), None)
        tests = [one for one in view.predictions.values() if one.kind == "test"]
        self.tests = [one for one in tests if rules == "paper" or not one.misrecorded]

    def value(self, metric: str) -> float:
        value = self.scores[metric].value
        assert value is not None, metric
        return value

    def near(self, y: float, g: float | None) -> bool:
        return g is not None and abs(y - g) <= max(self.step, 1e-5 * abs(y))

    @property
    def agreed(self) -> int:
        return sum(self.near(y, g) for _, y, g in self.points)

    @property
    def is_right_elsewhere(self) -> bool:
        """Whether the code is a success where nobody looked, if anything is known of that."""
        held, floor = self.scores.get("held_out_nmse"), self.scores["noise_floor"].value or 0.0
        return held is None or not held.n or (held.value is not None and held.value < max(0.1, 3 * floor))

    def is_share(self, said: str, metric: str) -> bool:
        share = self.value(metric) ** 0.5
        if said == "less than 0.1% of":
            return share < 0.001
        if times := re.fullmatch(r"([\d.e+]+) times", said):
            return math.isclose(float(times[1]), share, rel_tol=0.006)
        percent = said.removesuffix("% of")
        return abs(float(percent) / 100 - share) <= (0.0051 if "." not in percent else 0.00051)

    def right(self, kind: str = "test") -> int:
        some = [one for one in self.view.predictions.values() if one.kind == kind and not one.misrecorded]
        return sum(one.repaired == one.truth for one in some)

    @property
    def left_alone(self) -> int:
        ran = [one for one in self.tests if one[self.rules] is not None or "bytearray" not in one.error]
        return sum(one.input == one.truth for one in ran[: self.scores["exact_match"].n])

    @property
    def lacking(self) -> int:
        """Test points, or texts, that the code could not be run on."""
        if self.view.truth and self.view.truth.x:
            return sum(g is None for g in self.given)
        return sum(one[self.rules] is None and "bytearray" in one.error for one in self.tests)

    @property
    def words(self) -> str:
        """Description and domain."""
        said = self.view.interpretation
        return f"{said.description.repaired}\n{said.domain.repaired}" if said else ""

    @property
    def parts(self) -> tuple[int, int, int]:
        """Parts named, of how many, and named though not there, by the record of what was read."""
        [claims] = self.view.log.of_type("claims").values()
        named, left_out = len(claims["named_repaired"]), len(claims["left_out_repaired"])
        return named, named + left_out, len(claims.get("wrong_repaired", ()))

    def picked(self, about: str = "interpretation") -> tuple[int, int]:
        if (
            self.rules == "paper"
            and about == "interpretation"
            and any(one.about == "paper" for one in self.view.units.values())
        ):
            about = "paper"
        some = [one for one in self.view.units.values() if one.about == about]
        marks = [one[self.rules] for one in some]
        return sum(mark is True for mark in marks), sum(mark is not None for mark in marks)

    def surely_beats(self, about: str) -> bool:
        """Whether it is right wherever a description that tells nothing is, and in ten tests more."""
        right = {
            told: {item[-3:] for item, one in self.view.units.items() if one.about == told and one.repaired}
            for told in (about, *TELL_NOTHING)
        }
        wrong = {item[-3:] for item, one in self.view.units.items() if one.about == about and one.repaired is False}
        return all(
            not right[told] & wrong
            and len(right[about] - right[told]) >= 10 + sum(one.repaired is None for one in self.view.units.values())
            for told in TELL_NOTHING
        )

    @property
    def paired(self) -> list[int]:
        """Right by the description minus right by the true one, of the tests that both settled."""
        tests = self.view.units
        texts = (
            [("paper", "paper"), ("unit", "interpretation")] if self.rules == "paper" else [("unit", "interpretation")]
        )
        read = next(one for one in texts if any(test.about == one[1] for test in tests.values()))
        pairs = [
            (test[self.rules], getattr(tests.get(item.replace(read[0], "ceiling", 1)), self.rules, None))
            for item, test in tests.items()
            if test.about == read[1]
        ]
        return [int(one) - int(other) for one, other in pairs if one is not None and other is not None]

    def inside(self, where: str) -> Callable[[float], bool]:
        if between := re.fullmatch(r"between (\S+) and (\S+)", where):
            return lambda x: float(between[1]) - 1e-3 <= x <= float(between[2]) + 1e-3
        side, end = where.split()
        return lambda x: x >= float(end) - 1e-3 if side == "above" else x <= float(end) + 1e-3

    @property
    def probed(self) -> list[float]:
        found = []
        for probe in self.view.probes:
            try:
                found.append(float(probe.input))
            except ValueError:
                continue
        return found


Check = Callable[[Counted, re.Match[str]], bool]
SIZE = r"(less than 0\.1% of|[\d.]+% of|[\d.e+]+ times) the function's size"


def _reach(hits: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share after Wilson, by its formula."""
    z, share = 1.959963984540054, hits / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return middle - reach, middle + reach


def _guess(c: Counted, m: re.Match[str], low: bool, high: bool) -> bool:
    """Whether the counts are those recorded, and chance is above the interval's lower end and below its upper one."""
    hits, n = c.picked()
    least, most = _reach(hits, n)
    return (int(m[1]), int(m[2])) == (hits, n) and (least <= 1 / 3) == low and (most >= 1 / 3) == high


def _wrong(listed: str | None) -> int:
    """How many parts a list in words holds."""
    return len(listed.split("; ")) if listed else 0


def _worst(c: Counted, m: re.Match[str]) -> bool:
    off = max(abs(y - g) for _, y, g in c.points if g is not None)
    at = [(x, y, g) for x, y, g in c.points if g is not None and math.isclose(x, float(m[1]), abs_tol=1e-3)]
    said = (float(m[2]), float(m[3]))
    return said[0] != said[1] and any(
        math.isclose(abs(y - g), off, rel_tol=1e-6) and math.isclose(y, said[0], rel_tol=1e-3, abs_tol=1e-9)
        and math.isclose(g, said[1], rel_tol=1e-3, abs_tol=1e-9) for x, y, g in at
    )  # fmt: skip


def _exact(c: Counted, a: str) -> list[str]:
    def same(one: str) -> bool:
        try:
            return float(one) == float(a)
        except ValueError:
            return one == a

    return [probe.output for probe in c.view.probes if same(probe.input)]


def _elsewhere(c: Counted, m: re.Match[str]) -> bool:
    """Whether code that passes the test is as wrong elsewhere as is said: by its error, on texts, in its own calls."""
    tests = all(c.near(y, g) for _, y, g in c.points) or c.value("nmse") < 0.1 or c.value("excess") < 0.1
    passed = c.value("exact_match") == 1 if "texts" in m[0] or not c.points else tests
    held_out = [one for one in c.view.predictions.values() if one.kind == "held out"]
    wrong = sum(one[c.rules] != one.truth for one in held_out)
    own = c.view.log.of_type("checked").get("checked", {})
    calls = (
        [row for row in zip(*(own[name] for name in ("probed", "truth", c.rules)), strict=True) if row[0]]
        if own
        else []
    )
    denied = [row for row in calls if row[1] != row[2] and not (c.points and c.near(row[1], row[2]))]
    denied_half = m["denied"] is not None and 2 * int(m["denied"]) >= int(m["calls"])
    is_bad = denied_half or m["size"] is None or c.value("held_out_nmse") >= 0.1
    return (
        passed
        and (m["size"] is None or c.is_share(m["size"], "held_out_nmse"))
        and (m["wrong"] is None or (int(m["wrong"]), int(m["of"])) == (wrong, len(held_out)))
        and (m["denied"] is None or (int(m["denied"]), int(m["calls"])) == (len(denied), len(calls)))
        and (m[1] == "came close" or is_bad)
    )


_TESTED = (
    r"the code gives its value at all \d+ test points.*?",
    r"at the test points the code is as good as the noise allows",
    r"at the test points .*?error is .*?",
    r"the code gives its output on all \d+ test texts.*?",
)
_NOBODY = (
    rf"at unprobed points its error is {SIZE.replace('(', '(?P<size>', 1)}",
    r"at unprobed points it does not always give a number",
    r"it is wrong on (?P<wrong>\d+) of (?P<of>\d+) texts that nobody probed",
)
_OWN = r"it contradicts (?P<denied>\d+) of (?P<calls>\d+) calls? that it made"


def _is_input(probe: Probe, said: str) -> bool:
    return repr(probe.input) == said or as_number(probe.input) == as_number(said) is not None


CODE: dict[str, Check] = {
    rf"It (did not find the function|came close): (?:{'|'.join(_TESTED)}), but (?:{'|'.join(_NOBODY)})?(?: and )?"
    rf"(?:{_OWN})?\.": _elsewhere,
    r"Its code could not be run here (?:at|on) (\d+) of (\d+) test (?:points|texts): .*bytearray.* is not known\.": (
        lambda c, m: (
            c.scores[c.view.headline].value is None
            and int(m[2]) == len(c.given or c.tests)
            and 0 < int(m[1]) <= c.lacking
        )
    ),
    r"It found the function: the code gives its value at all (\d+) test points(?: where it has any)?, to within "
    r"0\.001% of its value(?:, or (\S+) near zero)?\.": lambda c, m: (
        c.agreed == len(c.points) == int(m[1]) > 0 and c.is_right_elsewhere
    ),
    r"Its code is as good as the noise allows: .* error of (\S+), and the code adds (\S+) to it\.(.*)": lambda c, m: (
        c.value("excess") <= 0.1 * c.value("noise_floor")
        and math.isclose(float(m[1]), c.value("noise_floor"), rel_tol=0.06)
        and bool(m[3]) == (c.value("noise_floor") >= 0.1)
    ),
    r"The function cannot be told apart from its noise: .*": lambda c, m: 1.1 * c.value("noise_floor") >= 1,
    rf"It came close: the code's error is {SIZE}, and it gives the function's value at (\d+) of (\d+) test points\.": (
        lambda c, m: (
            c.is_share(m[1], "nmse")
            and c.value("nmse") < 0.1
            and (int(m[2]), int(m[3])) == (c.agreed, len(c.points))
            and c.agreed < len(c.points)
        )
    ),
    rf"It came close: beyond the noise, the code's error is {SIZE}\.": lambda c, m: (
        c.is_share(m[1], "excess") and 0.1 * c.value("noise_floor") < c.value("excess") < 0.1
    ),
    rf"It did not find the function: the code's error is {SIZE}\.": lambda c, m: (
        c.is_share(m[1], "nmse") and c.value("nmse") >= 0.1
    ),
    rf"It did not find the function: beyond the noise, the code's error is {SIZE}\.(.*)": lambda c, m: (
        c.is_share(m[1], "excess") and c.value("excess") >= 0.1 and bool(m[2]) == (c.value("noise_floor") >= 0.1)
    ),
    r"It was right everywhere except (.*), where we altered the function\.": lambda c, m: (
        all(c.near(y, g) for x, y, g in c.points if not c.inside(m[1])(x))
        and not all(c.near(y, g) for _, y, g in c.points)
    ),
    r"This function cannot be scored by a relative error: .*": lambda c, m: (
        c.scores["nmse"].value is None and (c.rules == "paper" or not c.points)
    ),
    r"It did not find the function: it is zero on all test points, and the code gives something else\.": lambda c, m: (
        not any(y for _, y, _ in c.points) and any(g for _, _, g in c.points)
    ),
    r"It did not find the function: the code gives no number on (\d+) of (\d+) test points\.": lambda c, m: (
        (int(m[1]), int(m[2])) == (sum(g is None for _, _, g in c.points), len(c.points)) and int(m[1]) < int(m[2])
    ),
    r"It did not find the function: the code's error is too large to be computed\.": lambda c, m: (
        all(g is not None for _, _, g in c.points) and c.scores["nmse"].value is None
    ),
    r"It gave no code that returns a number at any test point, .*": lambda c, m: all(g is None for _, _, g in c.points),
    r"The conclusion was (cut .+), so there is nothing to judge\. Allow more tokens\.": lambda c, m: (
        c.view.log.calls[c.view.interpretation.call].answered.cut_note == m[1]
    ),
    r"(?:It) gave no conclusion in the requested form.*": lambda c, m: (
        (
            c.view.interpretation is not None
            and not c.view.interpretation.description.repaired
            and not c.view.interpretation.code.repaired
            and c.scores[c.view.headline].value is None
        )
        or c.rules == "paper"
    ),
    r"It found the function: the code gives its output on all (\d+) test texts\.": lambda c, m: (
        c.value("exact_match") == 1 and c.left_alone < c.scores["exact_match"].n == int(m[1])
    ),
    r"The function changes none of the (\d+) test texts, .* right on (\d+)\.": lambda c, m: (
        c.left_alone == c.scores["exact_match"].n == int(m[1])
        and round(c.value("exact_match") * int(m[1])) == int(m[2])
    ),
    r"The function is random: run again, it agrees with itself on (\d+)% .* right on (\d+)%(?: \(returning .*\))?\.": lambda c, m: (  # noqa: E501
        abs(c.value("exact_match_ceiling") - int(m[1]) / 100) < 0.0051
        and abs(c.value("exact_match") - int(m[2]) / 100) < 0.0051
    ),
    r"It did not find the function: the code is wrong on all (\d+) test texts\.": lambda c, m: (
        c.value("exact_match") == 0 and (c.rules == "paper" or c.right() == 0)
    ),
    r"It did not find the function: the code is right on (\d+) of (\d+) test texts, and returning .* right on (\d+)\.": (  # noqa: E501
        lambda c, m: 0 < int(m[1]) <= int(m[3]) == c.left_alone and (c.rules == "paper" or c.right() == int(m[1]))
    ),
    r"It found part of it: .* right on (\d+) of (\d+) test texts(?: \(returning .*: on (\d+)\))?\.": lambda c, m: (
        int(m[1]) > int(m[3] or 0) == c.left_alone
        and int(m[1]) < int(m[2])
        and (c.rules == "paper" or c.right() == int(m[1]))
    ),
    r"From the description, .* in (\d+) of (\d+) tests.*Neither is distinguishable .* this evaluator cannot tell\.": (
        lambda c, m: (
            _guess(c, m, True, True) and _reach(*c.picked("truth"))[0] <= 1 / 3 <= _reach(*c.picked("truth"))[1]
        )
    ),
    r"From the description, .* in (\d+) of (\d+) tests.*not distinguishable from guessing.*": lambda c, m: _guess(
        c, m, True, True
    ),
    r"From the description, .* in (\d+) of (\d+) tests.*worse than guessing.*": lambda c, m: _guess(c, m, True, False),
    r"There was nothing to test the code on: .*": lambda c, m: c.scores["exact_match"].value is None,
    r"The description was not tested: .*": lambda c, m: c.scores["unit_test"].value is None,
    r"From the description, .* in (\d+) of (\d+) tests.*A list of the outputs that it saw gets (\d+)%, (.*)": (
        lambda c, m: (
            _guess(c, m, False, True)
            and abs(c.picked("seen")[0] / c.picked("seen")[1] - int(m[3]) / 100) < 0.0051
            and not c.surely_beats("interpretation")
            and not ("not even" in m[4] and c.surely_beats("truth"))
        )
    ),
    r"From the description, .* in (\d+) of (\d+) tests.*An uninformative description gets (\d+)%, (.*)": lambda c, m: (
        _guess(c, m, False, True)
        and abs((c.control or 0) - int(m[3]) / 100) < 0.0051
        and not c.surely_beats("interpretation")
        and not ("not even" in m[4] and c.surely_beats("truth"))
    ),
    r"From the description, .* in (\d+) of (\d+) tests.*more than guessing.*": lambda c, m: (
        _guess(c, m, False, True) and (len(c.paired) < 40 or sum(c.paired) < 0)
    ),
    r"From the description, .* in (\d+) of (\d+) tests.*On these tests it tells as much as the true description.*": (
        lambda c, m: (
            _guess(c, m, False, True)
            and (len(c.paired) >= 31 or sum(c.paired) > 0)
            and sum(c.paired) > -0.1 * len(c.paired)
        )
    ),
}

LEFT_OUT = re.compile(r"(.*) On (\d+) of (\d+) test texts it could not be run here; they do not count\.")

SAID: dict[str, Check] = {
    r"Its description: none, only code\.": lambda c, m: not c.view.interpretation.description.repaired,  # type: ignore[union-attr]
    r"Its description: our checks cannot judge .*": lambda c, m: (
        "components_identified" not in c.scores or c.scores["components_identified"].value is None
    ),
    r"Its description names (?:all )?(\d+) parts? of the function: [^.]*(?:\.[^A-Z]*)*?\.(?: Named but not there: (.*)\.)?": (  # noqa: E501
        lambda c, m: (
            c.parts == (int(m[1]), int(m[1]), _wrong(m[2])) and (c.value("components_identified") == 1) != bool(m[2])
        )
    ),
    r"Your description: our checks find (\d+) of the (\d+) parts .*? with the function\.(?: Named but not there: (.*)\.)?": (  # noqa: E501
        lambda c, m: c.parts == (int(m[1]), int(m[2]), _wrong(m[3])) and c.view.spec.interpreter == "you"  # type: ignore[union-attr]
    ),
    r"Its description names no part of the function\. Left out: .*?(?:\. Named but not there: (.*))?\.": lambda c, m: (
        c.value("components_identified") == 0 and (c.parts[0], c.parts[2]) == (0, _wrong(m[1]))
    ),
    r"Its description names (\d+) of the (\d+) parts of the function: .*\. Left out: .*?(?:\. Named but not there: (.*))?\.": (  # noqa: E501
        lambda c, m: c.parts == (int(m[1]), int(m[2]), _wrong(m[3]))
    ),
}

NOTED: dict[str, Check] = {
    r"It had this description before it saw a single output, .*": lambda c, m: bool(c.view.probes),
    r"Made up outputs before it had them, in rounds? ([\d, ]+)\.": lambda c, m: all(
        c.view.exchanges[int(one)].invented for one in m[1].split(", ")
    ),
    r"Quotes f\((.*)\) = (.*), which is not what it observed\.": lambda c, m: (
        bool(_exact(c, m[1])) and m[2] not in _exact(c, m[1])
    ),
    r"Quotes f\((.*)\) = (.*), which it never called\.": lambda c, m: not _exact(c, m[1]),
    r"Never called the function at all\.": lambda c, m: not c.view.probes,
    r"Never probed (.*), where we altered the function\.": lambda c, m: not any(map(c.inside(m[1]), c.probed)),
    r"Looked (between \S+ and \S+|above \S+|below \S+) (once|\d+ times) and still .*": lambda c, m: (
        sum(map(c.inside(m[1]), c.probed)) == (1 if m[2] == "once" else int(m[2].split()[0]))
        and not all(re.search(rf"(?<![\d.]){re.escape(end)}", c.words) for end in re.findall(r"[-\d.]+", m[1]))
    ),
    r"Claims (.*) for the corrupted part, which is (.*)\.": lambda c, m: c.value("interval_iou") < 0.5,
    r"Claims replaced or random values .*; there are none\.": lambda c, m: (
        c.view.truth is not None and c.view.truth.corrupted is None and not c.view.truth.noise
    ),
    r"Does not name the noise: (.*)\.": lambda c, m: (
        c.view.truth is not None
        and c.view.truth.noise == m[1]
        and c.value("noise_identified") == 0
        and not re.search(r"(?<!no )\bnoise\b", c.words)
    ),
    r"Says that there is noise, but not which kind: (.*)\.": lambda c, m: (
        c.view.truth is not None and c.view.truth.noise == m[1] and "nois" in c.words
    ),
    r"Names (.*) noise; it is (.*)\.": lambda c, m: (
        c.view.truth is not None
        and c.view.truth.noise == m[2]
        and c.value("noise_identified") == 0
        and all(kind in c.words.lower() for kind in m[1].split(" and "))
    ),
    r"Names (.*) noise; the function has none\.": lambda c, m: (
        c.view.truth is not None
        and not c.view.truth.noise
        and all(kind in c.words.lower() for kind in m[1].split(" and "))
    ),
    r"Never looked (.*)\.": lambda c, m: all(
        not any(float(low) + 1e-9 < x < float(high) - 1e-9 for x in c.probed)
        and sum(float(low) <= x <= float(high) for x, _, _ in c.points) > 1
        for low, high in re.findall(r"between (\S+) and (\S+)", m[1])
    ),
    r"Saw f\((.*)\) = (.*), and the code gives (.*)\.": lambda c, m: (
        m[2] != m[3] and any(_is_input(one, m[1]) for one in c.view.probes)
    ),
    r"At x = (\S+) the function gives (\S+), and the code gives (.*): nobody had looked there\.": lambda c, m: (
        m[2] != m[3] and not _exact(c, m[1])
    ),
    r"Farthest off at x = (\S+): the function gives (\S+), the code (\S+)\.": _worst,
    r"For (.*) the function gives (.*); the code (?:gives|fails) .*": lambda c, m: any(
        repr(one.input) == m[1] and repr(one.truth) == m[2] and one.repaired != one.truth
        for one in c.view.predictions.values()
    ),
    r"No call gave a value\.": lambda c, m: all(one.value is None for one in c.view.probes),
    r"No word that was tried gave a value above 0\.5\.": lambda c, m: all((p.value or 0) < 0.5 for p in c.view.probes),
    r"Every input that was tried gave undefined\.": lambda c, m: {one.output for one in c.view.probes} == {"undefined"},
    r"Does not mention the exception \(where (.*)\), (although it saw|and never saw one of) .*": lambda c, m: (
        any(one.output == "undefined" for one in c.view.probes) == (m[2] == "although it saw")
    ),
}


def held(sentence: str, checks: dict[str, Check], counted: Counted) -> str:
    """The pattern that the sentence is of; fails where it is of none, or is not true."""
    if left_out := LEFT_OUT.fullmatch(sentence):
        assert (int(left_out[2]), int(left_out[3])) == (counted.lacking, len(counted.tests))
        sentence = left_out[1].replace(" on which it could be run", "")
    found = [(pattern, match) for pattern in checks if (match := re.fullmatch(pattern, sentence, re.S))]
    assert found, f"nobody holds this sentence against the run: {sentence!r}"
    for pattern, match in found:
        assert checks[pattern](counted, match), (sentence, counted.rules, counted.view.spec)
    return found[0][0]


def test_every_sentence_is_true_of_its_run(views: list[ProbeReport]) -> None:
    seen: set[str] = set()
    for view in views:
        for rules in BOTH:
            seen.add(held(view.by(rules).judgement.sentence, CODE, Counted(view, rules)))
        counted = Counted(view, "repaired")
        if words := of_words(view):
            seen.add(held(words, SAID, counted))
        seen.update(held(sentence, NOTED, counted) for sentence in list_remarks(view))
    assert len(seen) >= 31, "the drawn runs say little"
    assert any("could not be run here" in pattern for pattern in seen)
    assert any(LEFT_OUT.fullmatch(view.by(rules).judgement.sentence) for view in views for rules in BOTH)


@pytest.mark.thorough
def test_what_is_said_is_what_holds(views: list[ProbeReport]) -> None:
    """No run is without a sentence, and every remark is looked at."""
    trees = [ast.parse(inspect.getsource(remarks)) for remarks in REMARKS]
    assert sum(isinstance(node, ast.Yield) for tree in trees for node in ast.walk(tree)) >= len(NOTED)
    assert all(view.by(rules).judgement.sentence.endswith(".") for view in views for rules in BOTH)


def test_a_false_sentence_is_seen(views: list[ProbeReport]) -> None:
    """The check itself can fail: "found" of a run that missed."""
    missing = next(view for view in views if view.truth and view.truth.x and view.outcome == "missed")
    sentence = f"It found the function: the code gives its value at all {len(missing.truth.x)} test points, to within "  # type: ignore[union-attr]
    with pytest.raises(AssertionError):
        held(f"{sentence}0.001% of its value, or 0.0001 near zero.", CODE, Counted(missing, "repaired"))
    with pytest.raises(AssertionError, match="nobody holds"):
        held("It is a fine function.", CODE, Counted(missing, "repaired"))
