"""What each figure is called, which way is better, and which one decides."""

from __future__ import annotations

from core.lab.shown import Metric

HEADLINE: dict[str, str] = {
    "numeric": "nmse",
    "strings": "exact_match",
    "entities": "unit_test",
    "relations": "unit_test",
}
"""The figure that decides, by category."""

METRICS = (
    Metric(
        "nmse",
        "Normalized error (NMSE)",
        "The code's squared error on 256 points, as a share of the function's own size; of several functions the "
        "median.",
        format=".3g",
        is_share=False,
        better="lower",
        leads=True,
    ),
    Metric("nmse_success", "Success (NMSE below 0.1)", "Whether the error is below a tenth.", leads=True),
    Metric(
        "not_runnable",
        "Not runnable here",
        "Code that wants what Python has and our sandbox has not: whether it does (numbers), or on which share of the "
        "test texts. It is neither right nor wrong, and no other figure counts it.",
        better="",
        leads=True,
    ),
    Metric("exact_match", "Exact match", "The share of test texts on which the code gives the output.", leads=True),
    Metric(
        "exact_match_unchanged",
        "Exact match of doing nothing",
        "The share of test texts that the function gives back as they are.",
        better="",
    ),
    Metric(
        "exact_match_ceiling",
        "Exact match of the function itself, drawn again",
        "How far a function that draws at random agrees with itself.",
        better="",
    ),
    Metric(
        "unit_test",
        "Unit test",
        "How often an evaluator picks the function's example by the description. Guessing gives one third.",
        leads=True,
    ),
    Metric(
        "unit_test_ceiling",
        "Unit test on the true description",
        "The same by the true description: the best that this evaluator can do.",
        better="",
    ),
    Metric(
        "unit_test_control",
        "Unit test on a description that tells nothing",
        "The same by sentences that say nothing and by a list of all there is, whichever gets most: what sentence "
        "vectors pick whatever they read.",
        better="",
    ),
    Metric(
        "excess",
        "Error beyond the noise",
        "The code's squared error against the function without its noise, as a share of the function's own size: what "
        "it adds to the noise floor. Where the noise is known.",
        format=".3g",
        is_share=False,
        better="lower",
    ),
    Metric(
        "noise_floor",
        "Noise floor",
        "The error that the true function itself gets against noisy observations.",
        format=".3g",
        is_share=False,
        better="",
    ),
    Metric(
        "interval_iou",
        "Overlap of the corrupted interval",
        "Length of what both the function and the description have as corrupted, over that of what either has; by "
        "repaired rules on a scale on which claiming the whole range comes to 0.",
    ),
    Metric(
        "noise_identified",
        "Kind of noise named",
        "Whether the description names the kind of noise, and by repaired rules no other.",
    ),
    Metric(
        "components_identified",
        "Parts named",
        "The share of the function's parts that the description names; by repaired rules parts that are named and not "
        "there count against it, and naming all there are comes to 0.",
    ),
    Metric(
        "held_out_nmse",
        "Error where nobody looked",
        "The error on points that were never probed; of several functions the median.",
        format=".3g",
        is_share=False,
        better="lower",
    ),
    Metric("held_out_match", "Exact match where nobody looked", "Exact match on texts that were never probed."),
    Metric("coverage", "Share of the range that was probed", "Of 32 equal parts of the range.", better=""),
    Metric(
        "evidence_supported",
        "Quoted outputs that are real",
        "The share of inputs with outputs in the description that the function really gave.",
    ),
)

ERRORS = ("nmse", "excess", "held_out_nmse")
"""Without an upper end: of several functions only the median means anything."""
