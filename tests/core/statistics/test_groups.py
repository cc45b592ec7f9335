"""Groups, subjects and universes: every figure of a small frame by hand."""

import numpy as np
import pandas as pd
import pytest

from core.statistics.comparisons import beta_pairs, compare_pairs
from core.statistics.groups import Multiverse, group_statistics, multiverse
from core.statistics.intervals import difference_of_pairs, interval_of_items, wilson


def rows(*entries, columns=("model", "item", "value", "n", "of")):
    return pd.DataFrame(entries, columns=list(columns))


def pairs(frame, subject, cluster="item"):
    """Each two subjects of a frame with a row for each item of each."""
    table = frame.pivot(index="item", columns=subject, values="value").astype(float)
    has = frame.assign(has=True).pivot(index="item", columns=subject, values="has").notna()
    return compare_pairs(table, has, frame.drop_duplicates("item").set_index("item", drop=False)[cluster])


def test_a_group_is_its_items_and_its_trials():
    frame = rows(
        ("a", "p", 1.0, 2, 4),
        ("a", "p", 0.5, 4, 4),
        ("a", "q", 0.25, 4, 4),
        ("a", "r", None, 0, 4),
        ("b", "p", 1.0, 3, 3),
        ("b", "q", 1.0, 1, 3),
        ("c", "p", None, 0, 2),
    )
    a, b, c = group_statistics(frame, ["model"]).to_dict("records")
    mean = interval_of_items([0.75, 0.25])
    assert (a["model"], a["macro"], a["micro"]) == ("a", 0.5, (2 + 2 + 1) / 10)
    assert (a["low"], a["high"], a["how"]) == (mean.low, mean.high, mean.how)
    assert (a["items"], a["items_of"], a["undefined"]) == (2, 3, pytest.approx(1 / 3))
    assert (a["trials"], a["trials_of"], a["dropped"], a["thin"], a["faint"]) == (10, 16, 6, True, True)
    assert (b["macro"], b["low"], b["high"]) == (1.0, *wilson(1.0, 2))
    assert (b["trials"], b["dropped"], b["thin"]) == (4, 2, True)  # both items count, too few of the trials
    assert np.isnan(c["macro"]) and np.isnan(c["low"]) and c["how"] == "it is defined for no item"
    assert (c["items"], c["undefined"], c["thin"]) == (0, 1.0, True)
    pd.testing.assert_frame_equal(group_statistics(frame[::-1], ["model"]), group_statistics(frame, ["model"]))


def test_without_counts_each_row_is_a_trial_and_ten_items_are_enough():
    frame = pd.DataFrame({"m": "x", "k": 1, "item": range(10), "value": [1, 0] * 5})
    (row,) = group_statistics(frame, ["m", "k"]).to_dict("records")
    assert (row["macro"], row["trials"], row["trials_of"], row["thin"], row["faint"]) == (0.5, 10, 10, False, False)
    assert group_statistics(frame[:9], ["m"])["faint"].tolist() == [True]
    assert group_statistics(frame, [])["items"].tolist() == [10]
    assert group_statistics(frame[:1], ["m"])["low"].tolist() == [wilson(1.0, 1)[0]]
    numbers = group_statistics(frame.assign(value=3.0), ["m"], kind="positive").iloc[0]
    assert numbers["low"] is None and "no spread" in numbers["how"]


def test_nothing_has_no_groups_and_more_than_was_meant_is_refused():
    empty = group_statistics(rows(), ["model"])
    assert empty.empty and list(empty)[:3] == ["model", "macro", "micro"]
    with pytest.raises(ValueError, match="more trials"):
        group_statistics(rows(("a", "p", 1.0, 5, 4)), ["model"])


def test_two_subjects_over_what_they_share():
    frame = rows(
        *(("a", f"q{k}", value) for k, value in enumerate([1, 1, 1, 0, 1, None, 1])),
        *(("b", f"q{k}", value) for k, value in enumerate([0, 0, 1, 0, 0, 1])),
        ("b", "q8", 1),
        ("b", "q9", None),
        columns=("model", "item", "value"),
    )
    (pair,) = pairs(frame, "model")
    assert (pair.first, pair.second, pair.n, pair.undefined) == ("a", "b", 5, 1)
    assert (pair.only_first, pair.only_second) == (1, 2)
    assert (pair.mean_first, pair.mean_second) == pytest.approx((0.8, 0.2))
    assert pair.difference[:3] == pytest.approx(difference_of_pairs(3, 0, 5))
    assert (pair.first_alone, pair.second_alone, pair.test, pair.p_holm) == (3, 0, (0.25, "exact McNemar"), 0.25)
    assert pair.small == beta_pairs(3, 0, 5) and pair.faint and pair.reason == ""


def test_three_subjects_are_corrected_for_three_tests():
    table = {"a": [1] * 12, "b": [0] * 9 + [1] * 3, "c": [1] * 12 + [0] * 8}
    frame = rows(
        *((m, f"q{k:02}", v) for m, vs in table.items() for k, v in enumerate(vs)), columns=("m", "item", "value")
    )
    ab, ac, bc = pairs(frame, "m")
    assert ab.test.p == bc.test.p == 2 / 2**9 and ac.test.p == 1
    assert (ab.p_holm, bc.p_holm, ac.p_holm) == pytest.approx((6 / 2**9, 6 / 2**9, 1))
    assert (
        ac.difference[:4] == pytest.approx((0, *difference_of_pairs(0, 0, 12)[1:], 12))
        and ac.small.first_is_better == 0.5
    )
    assert (ac.n, ac.only_second) == (12, 8)


def test_questions_of_one_starter_are_one_thing_to_the_interval_and_the_test():
    frame = pd.DataFrame(
        [(m, f"{s}{k}", s, float((m == "a" and s < "c") or k)) for m in "ab" for s in "abcd" for k in range(2)],
        columns=["m", "item", "starter", "value"],
    )
    (pair,) = pairs(frame, "m", cluster="starter")
    assert (pair.n, pair.clusters, pair.small) == (8, 4, None) and pair.difference.value == 0.25
    assert pair.test == (0.5, "sign flips, all 16") and (pair.first_alone, pair.second_alone) == (2, 0)


def test_what_is_not_shared_is_not_compared():
    frame = rows(("a", "p", 1), ("b", "q", 0), ("b", "p", None), columns=("m", "item", "value"))
    (pair,) = pairs(frame, "m")
    assert (pair.n, pair.only_second, pair.undefined, pair.test, pair.p_holm) == (0, 1, 1, None, None)
    assert pair.difference.value is None and "unpaired" in pair.reason


def test_from_a_hundred_items_on_there_are_no_figures_for_few():
    frame = pd.DataFrame(
        [(m, k, float(m == "a" and k < 9)) for m in "ab" for k in range(100)], columns=["m", "item", "value"]
    )
    assert pairs(frame, "m")[0].small is None
    assert pairs(frame[frame["item"] < 99], "m")[0].small == beta_pairs(9, 0, 99)


def universe(rules, simulator, *outcomes):
    return [(rules, simulator, f"q{k}", outcome) for k, outcome in enumerate(outcomes)]


def test_a_multiverse_says_which_choice_moves_the_figure_and_which_items_do():
    frame = rows(
        *universe("paper", "x", 1, 0, 0, 0),
        *universe("paper", "y", 1, 1, 0, None),
        *universe("repaired", "x", 1, 1, 1, 0),
        columns=("rules", "simulator", "item", "value"),
    )
    found = multiverse(frame, ["rules", "simulator"])
    assert found.universes["value"].tolist() == pytest.approx([1 / 4, 2 / 3, 3 / 4])
    assert found.universes[["n", "of"]].to_numpy().tolist() == [[4, 4], [3, 4], [4, 4]]
    assert (found.low, found.high, found.missing) == (0.25, 0.75, 1)
    assert [(c.name, c.tried, pytest.approx(c.moves)) for c in found.choices] == [
        ("rules", ("paper", "repaired"), 0.5),
        ("simulator", ("x", "y"), 2 / 3 - 1 / 4),
    ]
    assert found.items.to_numpy().tolist() == [
        ["q1", "rules", 1.0],
        ["q1", "simulator", 1.0],
        ["q2", "rules", 1.0],
        ["q3", "simulator", 1.0],  # undefined by y
    ]
    # What moves most comes first, and what was never changed last, whichever is named first.
    named = multiverse(frame.assign(votes=1), ["votes", "simulator", "rules"]).choices
    assert [choice.name for choice in named] == ["rules", "simulator", "votes"] and named[2].moves is None


def test_a_multiverse_of_one_choice_of_none_that_matters_and_of_nothing():
    frame = rows(("x", "q", 1), ("y", "q", 1), ("y", "q", 1), columns=("by", "item", "value"))
    same = multiverse(frame, ["by"])
    assert (same.low, same.high, same.choices[0].moves) == (1, 1, 0) and same.items.empty
    alone = multiverse(frame[:1], ["by"])
    assert (alone.low, alone.choices[0].moves, alone.missing) == (1, None, 0)
    lacking = multiverse(rows(("x", "q", 1), ("y", "q", None), columns=("by", "item", "value")), ["by"])
    assert (lacking.low, lacking.high, lacking.choices[0].moves) == (1, 1, None), "how far it moves is not known"
    nothing = multiverse(frame[:0], ["by"])
    assert isinstance(nothing, Multiverse) and (nothing.low, nothing.high) == (None, None) and nothing.universes.empty
    undefined = multiverse(frame.assign(value=None), ["by"])
    assert undefined.low is None and undefined.universes["n"].tolist() == [0, 0]
    with pytest.raises(ValueError):
        multiverse(frame, [])


def test_a_row_that_belongs_nowhere_is_refused_and_not_lost():
    frame = rows(("a", "p", 1), ("b", None, 0), columns=("m", "item", "value"))
    for call in (
        lambda: group_statistics(frame, ["m"]),
        lambda: multiverse(frame, ["m"]),
    ):
        with pytest.raises(ValueError, match="a row"):
            call()
