"""Our numeric functions against recorded metadata: of a small set of our own, and of the 1,000 published ones."""

import json
from collections import Counter
from functools import lru_cache

import numpy as np
import pytest

from core.labs.probe.functions.base import BenchmarkError
from core.labs.probe.functions.numeric import GRID, load_numeric

BOTH = pytest.mark.parametrize("folder", ["own", pytest.param("published", marks=pytest.mark.outside_data)])
PUBLISHED = pytest.mark.parametrize("folder", [pytest.param("published", marks=pytest.mark.outside_data)])


@pytest.fixture
def functions(folder, find_dir, outside):
    return _load(find_dir if folder == "own" else outside / "find")


@pytest.fixture
def records(folder, find_dir, outside):
    place = find_dir if folder == "own" else outside / "find"
    return json.loads((place / "numeric" / "data.json").read_text())


@lru_cache(maxsize=2)
def _load(place):
    return load_numeric(place)


UNTOUCHED = {"mlp": None, "stands_in": False, "noise": None, "corruption": None}
"""What the published metadata of the atoms speak of: the script's formula alone."""


def recomputed(kind: str, p: list, x: np.ndarray) -> np.ndarray:
    """The atoms once more, straight from the recorded numbers."""
    if kind == "rational":
        above = sum(c * x**k for k, c in enumerate(p[0]))
        return above / sum(c * x**k for k, c in enumerate(p[1]))
    formulas = {
        "linear": lambda a, b: a * x + b,
        "polynomial": lambda *c: sum(v * x**k for k, v in enumerate(reversed(c))),
        "absolute": lambda a, b: a * abs(x),
        "root": lambda a, b, n: a * (x + 0j) ** (1 / n) + b,
        "logarithm": lambda a, b, base: a * np.log(x) / np.log(base) + b,
        "step": lambda a, b, s: np.where(x > 0, a + b, np.where(x < 0, b, a * s + b)),
        "relu": lambda a, b, leak: a * np.where(x > 0, x, leak * x) + b,
        "tanh": lambda a, b, c, d: a * np.tanh(2 * np.pi * (x - c) / b) + d,
        "sin": lambda a, b, c, d: a * np.sin(2 * np.pi * (x - c) / b) + d,
        "cos": lambda a, b, c, d: a * np.cos(2 * np.pi * (x - c) / b) + d,
        "constant": lambda c: c + 0 * x,
        "reciprocal": lambda a: 1 / a / x,
        "gaussian": lambda m, s: np.exp(-((x - m) ** 2) / (2 * s**2)) / np.sqrt(2 * np.pi * s**2),
        "floor": lambda nothing: np.floor(x),
        "rectangle": lambda w: 1.0 * (abs(x) <= w / 2),
        "square_wave": lambda period, shift: np.where(np.sin((x - shift) * (2 * np.pi / period)) > 0, 1, -1),
    }
    return formulas[kind](*p)


@BOTH
def test_every_single_atom_equals_its_metadata_on_a_grid(functions, records, folder):
    seen = Counter()
    for record in records:
        if record["type"] != "simple":
            continue
        f = functions[record["dir"]].model_copy(update=UNTOUCHED)
        x = np.concatenate([np.linspace(*record["domain"], 256) + 0.0137, GRID])
        p = record["params"] if isinstance(record["params"], list) else [record["params"]]
        with np.errstate(all="ignore"):
            ours, theirs = f.clean(x), recomputed(f.kind, p, x)
        assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-9, equal_nan=True), record["name"]
        seen[f.kind] += 1
    assert (len(seen), sum(seen.values())) == ((16, 850) if folder == "published" else (10, 12))


@PUBLISHED
@pytest.mark.parametrize(
    ("id", "xs", "ys"),
    [
        ("f00152", (-3.5, 0, 3.5), (-1, -1, 1)),
        ("f00162", (-1, -0.5, 0.5, 1), (0, 1, 1, 0)),
        ("f00442", (-9.0,), (np.nan,)),
    ],
)
def test_what_the_scripts_compute_at_points_that_formulas_leave_open(functions, id, xs, ys):
    """A noised square wave, the edges of a rectangle, a corrupted root of a negative number."""
    assert np.array_equal(functions[id].clean(np.array(xs)), ys, equal_nan=True)


@BOTH
def test_the_recorded_means_are_ours(functions, records):
    """Each entry records, as `std`, the function's mean over 100 points of its domain: an outside witness."""
    for record in records:
        f = functions[record["dir"]]
        with np.errstate(all="ignore"):
            mean = float(np.mean(f.ideal(np.linspace(*record["domain"], 100))))
        assert mean == pytest.approx(record["corruption_params"]["std"], rel=1e-9, abs=1e-12), record["name"]


@BOTH
def test_the_recorded_faults_of_the_scripts_are_ours(functions, records, folder):
    """Each entry records by how much its script differs from the metadata, on average over 1,000 points."""
    faulty = 0
    for record in records:
        f = functions[record["dir"]].model_copy(update=UNTOUCHED)
        x = np.linspace(*record["domain"], 1000)
        fault = np.mean(f.clean(x)) - np.mean(f.ideal(x))
        scale = max(1.0, float(np.max(np.abs(f.ideal(x)))))
        assert abs(fault - record["error_code_generated"]) < 1e-9 * scale, record["name"]
        faulty += abs(record["error_code_generated"]) > 1e-6
    assert faulty == (81 if folder == "published" else 2)


@pytest.mark.parametrize("folder", ["own"])
def test_noise_corruption_and_networks_are_used_as_recorded(functions):
    assert {id: f.noise.kind for id, f in functions.items() if f.noise} == {
        "f00300": "uniform",
        "f00301": "poisson",
        "f00302": "normal",
    }
    corrupted = {id: f.corruption for id, f in functions.items() if f.corruption}
    assert {id: (one.where, one.low, one.high) for id, one in corrupted.items()} == {
        "f00400": ("above", 61.5, None),
        "f00401": ("below", None, -55.0),
        "f00700": ("inside", 20.0, 31.25),
    }
    assert {id: f.operation for id, f in functions.items() if f.operation} == {"f00701": "sum", "f00702": "product"}
    assert functions["f00000"].stands_in and functions["f00000"].mlp is None
    assert "weights are not here" in functions["f00000"].note


@pytest.mark.parametrize("folder", ["own"])
@pytest.mark.parametrize(
    ("id", "xs", "ys"),
    [
        ("f00162", (-1, -0.75, 0.75, 1), (0, 1, 1, 0)),
        ("f00152", (-1, 0, 1), (-2.5, 9.5, 1.5)),
        ("f00201", (-2.0,), (-6.0,)),
    ],
)
def test_what_scripts_compute_at_edges(functions, id, xs, ys):
    """The edges of a rectangle, a step at zero, and |x| without the bias that the script loses."""
    assert np.array_equal(functions[id].clean(np.array(xs)), ys)


@PUBLISHED
def test_noise_corruption_and_networks_are_used_as_published(functions):
    noise = Counter(f.noise.kind for f in functions.values() if f.noise)
    where = Counter(f.corruption.where for f in functions.values() if f.corruption)
    assert noise == {"uniform": 73, "normal": 58, "poisson": 45}
    assert where == {"inside": 89, "above": 52, "below": 50}
    assert Counter(f.operation for f in functions.values()) == {None: 850, "product": 78, "sum": 72}
    assert sum(f.mlp is not None for f in functions.values()) == 5
    assert sum("weights are not here" in f.note for f in functions.values()) == 145


@PUBLISHED
def test_the_published_networks_approximate_what_they_were_trained_on(functions):
    """f00002 is a line over [0, 100], which a network of ReLU units learns well."""
    f = functions["f00002"]
    x = np.linspace(0, 100, 101)
    assert np.mean((f.clean(x) - f.ideal(x)) ** 2) < 0.01 * np.mean(f.ideal(x) ** 2)


@PUBLISHED
def test_what_a_network_was_trained_on_is_described_whole(functions):
    """Scripts lose the bias of |x| and make a composed square wave a sign; what networks were trained on had both."""
    description = functions["f00000"].describe()
    assert (
        "* |x| - 8.2. A network of 64 ReLU units approximates it" in description
        and "(NMSE) between the two is" in description
    )
    absent = [f for f in functions.values() if f.stands_in]
    assert len(absent) == 145
    x = np.linspace(1, 100, 50)
    for f in absent:
        assert np.array_equal(f.clean(x), f.ideal(x))
        assert all(f"{abs(atom.parameters['bias'])}" in f.describe() for atom in f.atoms if atom.name == "absolute")
        assert "sign" not in f.components


def test_a_folder_that_is_no_benchmark_is_named(tmp_path):
    with pytest.raises(BenchmarkError, match=r"data\.json is missing"):
        load_numeric(tmp_path)
    (tmp_path / "numeric").mkdir()
    (tmp_path / "numeric" / "data.json").write_text('[{"dir": "f1", "name": "linear((1,))", "type": "simple"}]')
    (tmp_path / "numeric" / "func_name_dict.json").write_text('{"f1": "function_code.py"}')
    with pytest.raises(BenchmarkError, match="entry of f1"):
        load_numeric(tmp_path)
