"""Our numeric functions against the metadata of the 1,000 published ones."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from core.labs.find.functions.numeric import GRID
from core.labs.find.functions.published import BenchmarkError, load_numeric


@pytest.fixture(scope="module")
def functions(find_dir):
    return load_numeric(find_dir)


@pytest.fixture(scope="module")
def records(find_dir):
    return json.loads((find_dir / "numeric" / "data.json").read_text())


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
        "rectangle": lambda w: 1.0 * (abs(x) <= w / 2),
        "square_wave": lambda period, shift: np.where(np.sin((x - shift) * (2 * np.pi / period)) > 0, 1, -1),
    }
    return formulas[kind](*p)


def test_every_single_atom_equals_its_metadata_on_a_grid(functions, records):
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
    assert len(seen) == 16 and sum(seen.values()) == 850


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


def test_the_recorded_means_of_all_1000_are_ours(functions, records):
    """Each entry records, as `std`, the function's mean over 100 points of its domain: an outside witness."""
    for record in records:
        f = functions[record["dir"]]
        with np.errstate(all="ignore"):
            mean = float(np.mean(f.ideal(np.linspace(*record["domain"], 100))))
        assert mean == pytest.approx(record["corruption_params"]["std"], rel=1e-9, abs=1e-12), record["name"]


def test_the_recorded_faults_of_the_scripts_are_ours(functions, records):
    """Each entry records by how much its script differs from the metadata, on average over 1,000 points."""
    faulty = 0
    for record in records:
        f = functions[record["dir"]].model_copy(update=UNTOUCHED)
        x = np.linspace(*record["domain"], 1000)
        fault = np.mean(f.clean(x)) - np.mean(f.ideal(x))
        scale = max(1.0, float(np.max(np.abs(f.ideal(x)))))
        assert abs(fault - record["error_code_generated"]) < 1e-9 * scale, record["name"]
        faulty += abs(record["error_code_generated"]) > 1e-6
    assert faulty == 81


def test_noise_corruption_and_networks_are_used_as_published(functions):
    noise = Counter(f.noise.kind for f in functions.values() if f.noise)
    where = Counter(f.corruption.where for f in functions.values() if f.corruption)
    assert noise == {"uniform": 73, "normal": 58, "poisson": 45}
    assert where == {"inside": 89, "above": 52, "below": 50}
    assert Counter(f.operation for f in functions.values()) == {None: 850, "product": 78, "sum": 72}
    assert sum(f.mlp is not None for f in functions.values()) == 5
    assert sum("weights are not here" in f.note for f in functions.values()) == 145


def test_the_published_networks_approximate_what_they_were_trained_on(functions):
    """f00002 is a line over [0, 100], which a network of ReLU units learns well."""
    f = functions["f00002"]
    x = np.linspace(0, 100, 101)
    assert np.mean((f.clean(x) - f.ideal(x)) ** 2) < 0.01 * np.mean(f.ideal(x) ** 2)


def test_what_a_network_was_trained_on_is_told_whole(functions):
    """Scripts lose the bias of |x| and make a composed square wave a sign; what networks were trained on had both."""
    told = functions["f00000"].describe()
    assert "* |x| - 8.2. A network of 64 ReLU units approximates it" in told and "(NMSE) between the two is" in told
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
