"""The tables of a study, from journals and rows written by hand: which cells there are, and what they contain."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.events import Event, Finished, Recorded, Scored, Started
from core.journal import Journal
from core.labs.base.declared import Metric
from core.statistics.comparisons import power_of_pairs
from core.studies import table_cells, tables
from core.studies.plan import Planned, Study, parse
from core.studies.table_cells import BLANK, other_encoders
from core.text.embed import PAPER, SMALL
from tests.support.small_lab import LAB, EchoSpec

LOUD = Metric("loud", "Loud", "How loud it was.", "share", leads=False)
ECHO = LAB.with_changes(
    metrics=(*LAB.metrics, LOUD),
    facets=lambda spec, case: {"task": "saying", "dataset": "", "how": "plainly"},
    robots=LAB.robots.with_changes(truth=lambda view: 1.0, calibration=lambda spec: [EchoSpec(words=("test",))]),
    studies=LAB.studies.with_changes(traits=lambda view: {"length": "short"}),
)
LABS = {"echo": ECHO}


def study(text: str = "") -> Study:
    return parse("s.toml", f'{text}lab = "echo"\nspec = {{ words = ["a", "b"] }}\n'.encode(), LABS)


def wrote(folder: Path, run: Planned, cases: Iterable[tuple[str, dict[str, float | None]]], end: Any = None) -> None:
    """Write a journal in which these cases, of three planned, have these figures by the updated parser, and 0 by the
    original.
    """
    with Journal(folder / f"{run.id}.jsonl", new=True) as journal:
        about: dict[str, Any] = {"run": run.id}
        events: list[Event] = [Started(**about, lab="echo", spec=run.spec.model_dump(mode="json"), seed=0)]
        for number, (case, figures) in enumerate(cases, start=1):
            data = {"title": f"the word {case}", "number": number, "of": 3 if case else 1}
            events.append(Recorded(**about, case=case, record="begun", item="", data=data))
            for metric, value in figures.items():
                n = 0 if value is None else 2
                events.append(
                    Scored(**about, case=case, metric=metric, rules="repaired", value=value, n=n, of=4, low=None)
                )
                events.append(Scored(**about, case=case, metric=metric, rules="paper", value=0.0, n=1, of=1))
        for event in (*events, *([Finished(**about, status=end)] if end else [])):
            journal.append(event)


def test_a_text_takes_a_pointer_in_each_of_its_rows(tmp_path: Path) -> None:
    """A table of 25,000 items in 18 wordings has millions of rows of the same texts."""
    of = parse("s.toml", f'lab = "echo"\nspec = {{ words = ["{"a" * 500}"] }}\n'.encode(), LABS)
    wrote(tmp_path, of.runs[0], [(f"{case}/x", {"repeated": 0.5}) for case in range(50)], "completed")
    frame = tables.measured(of, LABS, tmp_path)
    assert len(frame) >= 100 and frame["value"].dtype == float and frame["complete"].dtype == bool
    assert frame.memory_usage(index=False).sum() <= 8 * frame.size
    assert len({id(words) for words in frame["words"]}) == 1


def test_every_case_and_figure_has_its_row(tmp_path: Path) -> None:
    of = study()
    [control], [run] = of.controls, of.runs
    assert list(tables.measured(of, LABS, tmp_path)["run"]) == []
    wrote(tmp_path, run, [("a/x", {"repeated": 0.5, "loud": 1.0}), ("b/x", {})])
    wrote(tmp_path, control, [("test", {"repeated": None})], "completed")
    kept: dict[str, list[Any]] = {}
    frame = tables.measured(of, LABS, tmp_path, kept)
    rows = {(row["case"], row["metric"], row.get("rules")): row for row in frame.to_dict("records")}
    own = {key[:2]: row for key, row in rows.items() if not key[1].startswith(table_cells.NAMED)}
    assert own.keys() == {(case, metric) for case in ("a/x", "b/x", "test") for metric in ("repeated", "loud")}
    first, lost, loud = own["a/x", "repeated"], own["b/x", "repeated"], own["a/x", "loud"]
    assert (first["value"], first["n"], first["of"], first["truth"]) == (0.5, 2, 4, 1.0)
    assert (loud["value"], loud["n"], loud["of"]) == (1.0, 2, 4) and pd.isna(loud["truth"])
    assert pd.isna(lost["value"]) and (lost["n"], lost["of"], lost["truth"]) == (0, 1, 1.0)
    assert (first["item"], first["lab"], first["run"], first["complete"], first["early"], first["control"]) == (
        *("saying/a", "echo", run.id, False, False, False),
    )
    assert (first["how"], first["length"], first["words"], first["times"]) == ("plainly", "short", "a, b", "2")
    undefined = own["test", "repeated"]
    assert pd.isna(undefined["value"]) and (undefined["n"], undefined["of"]) == (0, 4)
    assert undefined["control"] and undefined["complete"]
    # The headline figure as it would have been by either parser.
    made = {key: row for key, row in rows.items() if key[1].startswith(table_cells.NAMED)}
    assert {key[2]: row["value"] for key, row in made.items() if key[0] == "a/x"} == {"paper": 0.0, "repaired": 0.5}
    assert {key[1] for key in made} == {"otherwise: repeated"} and len(made) == 6
    assert {(row["n"], row["of"]) for row in made.values()} == {(1, 1)}
    # Only completed runs are kept in memory, and they are not read again.
    assert kept.keys() == {control.id}
    (tmp_path / f"{control.id}.jsonl").unlink()
    assert len(tables.measured(of, LABS, tmp_path, kept)) == len(frame)


def test_a_run_of_one_case_is_told_by_its_title(tmp_path: Path) -> None:
    of = study()
    with Journal(tmp_path / f"{of.runs[0].id}.jsonl", new=True) as journal:
        journal.append(Started(run="r", lab="echo", spec=of.runs[0].spec.model_dump(mode="json"), seed=0))
        data = {"title": "the word a", "number": 1, "of": 1}
        journal.append(Recorded(run="r", case="a/x", record="begun", item="", data=data))
    assert set(tables.measured(of, LABS, tmp_path)["item"]) == {"saying/a/the word a"}


def rows(model: str, values: Iterable[float | None], **more: Any) -> list[dict[str, Any]]:
    return [
        {
            **{"run": f"run of {model}", "case": f"q{item}", "item": f"q{item}", "lab": "echo", "model": model},
            **{"metric": "repeated", "value": value, "n": int(value is not None), "of": 1, "truth": None},
            **{"complete": True, "early": False, "applies": True, "control": False, "voice": "plain"},
            **more,
        }
        for item, value in enumerate(values)
    ]


def frame_of(*groups: list[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame([row for group in groups for row in group])
    return frame.assign(**{name: pd.to_numeric(frame[name]) for name in ("value", "truth")})


def drawn(of: Study, frame: pd.DataFrame) -> list[tuple[str, str, str, float | None]]:
    return [(cell["table"], cell["row"], cell["column"], cell["value"]) for cell in tables.all_cells(of, LABS, frame)]


def test_a_table_shows_the_leading_figures_by_its_rows_and_columns() -> None:
    frame = frame_of(
        rows("m", [1.0, 0.0]),
        rows("n", [1.0, 1.0], voice="loud"),
        rows("m", [None, None], metric="loud"),
        rows("robot", [1.0], truth=1.0, control=True),
    )
    controls = (tables.CONTROLS, "robot", "Echo: Repeated", 1.0)
    assert drawn(study(), frame) == [
        controls,
        ("Echo: Repeated", "m", "Repeated", 0.5),
        ("Echo: Repeated", "n", "Repeated", 1.0),
        ("Echo: Repeated, differences", "m over n", "Repeated", -0.5),
    ]
    own = 'table = [{ title = "T", rows = ["voice"], columns = ["model"], metrics = ["repeated", "loud"] }]\n'
    assert drawn(study(own), frame) == [controls, ("T: Repeated", "loud", "n", 1.0), ("T: Repeated", "plain", "m", 0.5)]
    # `loud` is undefined in every case. Once it is defined, or may be, it has its table.
    assert drawn(study('table = [{ metrics = ["loud"], lab = "echo" }]\n'), frame) == [controls]
    heard = frame_of(rows("m", [None], metric="loud", of=2))
    assert drawn(study('table = [{ metrics = ["loud"] }]\n'), heard) == [("Echo: Loud", "m", "Loud", None)]
    # A lab gives no such figure for cases of another kind: that is not undefined.
    other_kind = rows("n", [None], metric="loud", of=2, applies=False)
    both = frame_of(rows("m", [None], metric="loud", of=2), other_kind)
    assert drawn(study('table = [{ metrics = ["loud"] }]\n'), both) == [("Echo: Loud", "m", "Loud", None)]
    assert (
        drawn(study('table = [{ lab = "echo" }]\n'), frame_of(rows("m", [1.0], lab="echo")))[0][0] == "Echo: Repeated"
    )
    other = replace(study(), tables=(tables.TableOf(lab="other"),))  # type: ignore[attr-defined]
    assert drawn(other, frame) == [controls]
    printed = tables.rows(study(), LABS, frame)
    assert [row.keys() - BLANK.keys() for row in printed] == [{"table", "row", "column"}] * 4
    assert all("behind" not in row for row in printed) and tables.all_cells(study(), LABS, frame)[1]["behind"] == (
        *(("run of m", "q0"), ("run of m", "q1")),
    )


def test_the_instrument_is_off_where_a_complete_control_reads_anything_else() -> None:
    right = rows("right", [1.0, 1.0 - 1e-12], truth=1.0)
    wrong = rows("wrong", [1.0, 0.5, None], truth=1.0)
    going = rows("going", [0.0], truth=1.0, complete=False)
    unknown = rows("unknown", [0.0])
    assert tables.instrument_faults(LABS, frame_of(right, wrong, going, unknown)) == [
        "wrong must have a repeated of 1.00 in Echo and has 0.75: 2 of 3 cases differ from their known value, "
        "1 of them without a figure."
    ]
    assert tables.instrument_faults(LABS, frame_of(right, rows("near", [1.0 - 1e-6], truth=1.0)))[0].startswith(
        "near must have"
    )
    assert tables.instrument_faults(LABS, frame_of(right, going)) == []


def test_how_many_items_tell_models_of_known_truth_apart() -> None:
    def cell(truth: float | None, table: str = "T", mixed: bool = False) -> dict[str, Any]:
        return {"truth": truth, "table": table, "mixed": mixed}

    told = [cell(0.9, tables.CONTROLS), cell(0.8, mixed=True)]
    found = tables.power([cell(one) for one in (0.5, 0.72, 0.7, 1.0, 0.2, None)] + told)
    assert [(one["row"], one["column"], one["n"], one["of"]) for one in found] == [
        (f"{truth} against 0.5", f"{items} items", items, items)
        for truth in ("0.5", "0.7", "1.0")
        for items in (20, 50, 100, 200, 500)
    ]
    assert found[7]["value"] == power_of_pairs(0.35, 0.15, 100, draws=2_000) and {one["table"] for one in found} == {
        "Power"
    }
    assert found[0]["value"] < 0.05 < found[5]["value"] < 0.5 < found[14]["value"] == 1
    assert tables.power([cell(0.5), cell(0.7), cell(0.7), cell(0.4)]) == []


def test_a_setting_is_called_as_one_would_write_it() -> None:
    assert [tables.setting_text(one) for one in (["a", 2, ["b"]], None, 0.5, "x", True)] == [
        "a, 2, b",
        "",
        "0.5",
        "x",
        "True",
    ]


def other(rules: str, values: Iterable[float | None], **more: Any) -> list[dict[str, Any]]:
    return rows("m", values, metric=f"{table_cells.NAMED}repeated", rules=rules, how="plainly", **more)


def test_what_hangs_on_a_choice_and_on_which_items() -> None:
    voices = ECHO.with_changes(studies=ECHO.studies.with_changes(choices=("voice", "missing")))
    by_paper, by_ours = other("paper", [0.0] * 7 + [1.0, None]), other("repaired", [1.0] * 8 + [None])
    found = table_cells.rows(voices, frame_of(by_paper, by_ours, rows("m", [1.0])))
    title, row = "Multiverse: Echo: Repeated", "m · plainly"
    assert [(cell["table"], cell["row"], cell["column"]) for cell in found] == [
        *((title, row, table_cells.RANGE), (title, row, "moved by rules (paper, repaired)")),
    ]
    span, rules = found
    assert (span["low"], span["high"], span["value"]) == pytest.approx((1 / 8, 1.0, 9 / 16))
    assert (span["n"], span["of"], span["note"], span["complete"]) == (8, 9, "2 ways", True)
    assert (rules["value"], rules["n"], rules["of"]) == (pytest.approx(7 / 8), 7, 9)
    assert rules["note"] == "items: q0, q1, q2, q3, q4 and 2 more"
    five = table_cells.rows(voices, frame_of(other("paper", [0.0] * 5), other("repaired", [1.0] * 5)))[1]
    assert five["note"] == "items: q0, q1, q2, q3, q4"
    same = table_cells.rows(voices, frame_of(other("paper", [1.0]), other("repaired", [1.0], complete=False)))
    assert same[1]["note"] == "no item" and not same[0]["complete"]
    # A second choice, of which one combination was not made.
    both = table_cells.rows(voices, frame_of(by_paper, by_ours, other("repaired", [0.5], voice="loud")))
    assert both[0]["note"] == "3 ways; 1 more were not made" and len(both) == 3
    nothing = table_cells.rows(voices, frame_of(other("paper", [None]), other("repaired", [None])))
    assert (nothing[0]["value"], nothing[0]["n"]) == (None, 0)
    assert table_cells.rows(voices, frame_of(rows("m", [1.0]))) == []


def test_rows_that_nothing_moves_are_told_and_not_shown() -> None:
    def cell(row: str, column: str, low: float | None, high: float | None, n: int) -> dict[str, Any]:
        return {"table": "Multiverse: x", "row": row, "column": column, "low": low, "high": high, "n": n}

    span, rules = table_cells.RANGE, f"{table_cells.MOVED}rules"
    cells = [
        *(cell("still", span, 1.0, 1.0, 5), cell("still", rules, None, None, 0)),
        *(cell("wide", span, 0.5, 1.0, 5), cell("wide", rules, None, None, 0)),
        *(cell("one item", span, 1.0, 1.0, 5), cell("one item", rules, None, None, 1)),
        *(cell("undefined", span, None, None, 0), cell("undefined", rules, None, None, 0)),
    ]
    shown, told = table_cells.moved(cells)
    assert shown == cells[2:] and told == "1 of 4 are the same under every choice, item by item."
    assert table_cells.moved(cells[2:]) == (cells[2:], "")
    plain = [one | {"table": "Echo: Repeated"} for one in cells]
    assert table_cells.moved(plain) == (plain, "")


def test_a_heading_names_every_encoder_but_the_papers_own() -> None:
    def heading(*encoders: str | None) -> str:
        return other_encoders(pd.DataFrame({"by_encoder": encoders}))

    assert heading(PAPER, None) == heading(None) == other_encoders(pd.DataFrame({"value": [1.0]})) == ""
    assert heading(SMALL, None) == f"sentence encoder {SMALL} in place of {PAPER}"
    assert heading(PAPER, SMALL) == f"sentence encoder {SMALL} and {PAPER}"
