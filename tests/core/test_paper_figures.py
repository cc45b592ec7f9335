"""The papers' printed figures: complete, in range, each with its place, and found by its subject."""

from pathlib import Path

import pytest

from core.paper_figures import figures, published, source

LABS = sorted(path.stem for path in (Path(__file__).resolve().parents[2] / "data" / "published").glob("*.toml"))
ROWS = [(lab, row) for lab in LABS for row in figures(lab)]
RANGES = {"share": (0, 1), "percent": (0, 100), "points": (0, 100), "kappa": (-1, 1), "correlation": (-1, 1)}


def test_every_figure_is_in_range_and_has_its_place_in_its_paper():
    assert len(ROWS) == 53 + 8 + 80 + 63
    for lab, row in ROWS:
        low, high = RANGES.get(row.get("unit", "share"), (1, 2_000_000))
        assert low <= row["value"] <= high, (lab, row)
        assert row["where"].startswith(("Table ", "section ", "appendix ")), (lab, row)
        assert row.get("n", 1) > 0 and (lab in ("simulatability", "plant") or "n" in row), (lab, row)
    for lab in LABS:
        assert set(source(lab)) == {"authors", "year", "title", "arxiv", "bibtex"}


def test_no_figure_stands_twice_under_one_description():
    seen = [(lab, *sorted((k, v) for k, v in row.items() if k not in ("value", "n", "p_below"))) for lab, row in ROWS]
    assert len(seen) == len(set(seen))


def test_figures_are_found_by_what_they_are_about_in_our_scale():
    (one,) = published("simulatability", "precision", dataset="shp", model="GPT-4", method="cot")
    assert (one.value, one.n, one.source) == (pytest.approx(0.93), 500, "Chen et al. 2023, Table 4, section 5.2.1")
    assert one.about == {"dataset": "shp", "model": "GPT-4", "method": "cot", "simulator": "GPT-4"}
    (one,) = published("find", "unit_test", category="relations", model="GPT-4", interpreter="aia+milan")
    assert (one.value, one.n, one.unit) == (0.92, 75, "share")
    assert published("consistency", "faithfulness") == []  # drawn in Figures 6 to 9, never printed
    assert published("simulatability", "precision", dataset="imdb") == published("no such lab", "precision") == []


def test_the_tables_add_up_as_the_papers_say():
    """Checks sums and differences that the papers print beside the figures."""

    def precision(**about):
        return [one.value for one in published("simulatability", "precision", **about)]

    for dataset, gain in (("strategyqa", 0.055), ("shp", 0.065)):  # section 5.2.1
        (found,) = published("simulatability", "precision_gain", dataset=dataset, model="GPT-4 over GPT-3")
        four, three = precision(dataset=dataset, model="GPT-4"), precision(dataset=dataset, model="GPT-3")
        assert found.value == pytest.approx(gain) == pytest.approx(sum(four) / 2 - sum(three) / 2, abs=0.001)
        every = [one for one in published("simulatability", "precision", dataset=dataset) if "model" not in one.about]
        assert any(one.value == pytest.approx(sum(four + three) / 4, abs=0.001) for one in every)  # Table 6
    (hours,) = published(
        "consistency", "inference_seconds", dataset="imdb", model="Mistral-7B-Instruct-v0.1", step="attribution"
    )
    assert hours.value == (110 * 60 + 36) * 60 and hours.n == 25_000
