"""The last step: words and code held against the truth, test by test; the verdict, and every figure."""

from __future__ import annotations

import streamlit as st

from core.by_rules import RULES
from core.labs.find import fidelity
from core.labs.find.agreement import ABSOLUTE, RELATIVE
from core.labs.find.ending import NOT_MEANT, missed_title, remarks
from core.labs.find.facts import Facts
from core.labs.find.missed import headline
from core.labs.find.plot import STRETCH, STRETCHES, stretches
from core.labs.find.readings import PICKED
from core.labs.find.records import Fidelity, Prediction, UnitTest
from core.labs.find.trials import JUDGED, MARKS
from core.labs.find.verdict import judge, of_words
from core.labs.find.view import ProbeView
from core.sandbox.lacking import NOT_RUNNABLE, not_runnable
from core.score import Score
from pages.labs.find.pictures import MEANINGS, TITLES, number, picture
from pages.parts.calls import inspector
from pages.parts.text import plain, visible
from pages.parts.tiles import Tile, anchor, strip

_MOST = {
    "numeric": ("not_runnable", "excess", "noise_floor", "nmse", "nmse_success"),
    "strings": ("not_runnable", "exact_match", "exact_match_unchanged", "unit_test", "held_out_match"),
}
"""The figures that stand first, by category; where the noise is known, what the code adds to it leads."""
_SMALL = ("excess", "noise_floor")
"""Held against each other, however small both are."""

_MODULES = ("unit_test", "unit_test_ceiling")


def against_the_truth(case: ProbeView) -> None:
    """The tests one by one, the picture, what was missed, and every figure."""
    anchor("tests")
    _tests(case)
    _beside_the_truth(case)
    _researchers(case)
    _meaning(case)


def _tests(case: ProbeView) -> None:
    """Exact-match texts and unit tests, one by one."""
    yours = case.spec is not None and case.spec.interpreter == "you"
    if case.predictions:
        st.markdown(f"#### 3 · {'Your' if yours else 'Its'} code on texts that were not shown", anchors=False)
        answered = judge(case).outcome != "not answered"
        tests = sum(one.kind == "test" for one in case.predictions.values())
        label = f"{tests} test texts, and {len(case.predictions) - tests} where nobody looked"
        with st.expander(label, icon=":material/fact_check:", key="texts"):
            st.dataframe(
                [
                    {
                        "": _mark(one, answered),
                        "Input": visible(one.input),
                        "The function": visible(one.truth),
                        "The code": one.error if one.repaired is None else visible(one.repaired),
                        "Kind": one.kind,
                    }
                    for one in case.predictions.values()
                ],
                hide_index=True,
                placeholder="",
                key="texts-table",
                alt="Texts with what the function and the code give",
            )
    if case.units:
        st.markdown(f"#### {4 if case.predictions else 3} · Unit tests of the description", anchors=False)
        st.caption(
            "An evaluator that sees only the description picks which of three examples is the function's. Guessing "
            "gives one third. The same on the true description shows what this evaluator can do at best."
        )
        for about, words in JUDGED.items():
            units = {item: test for item, test in case.units.items() if test.about == about}
            if units:
                _units(case, words, about, units)


def _mark(one: Prediction, answered: bool) -> str:
    if one.misrecorded:
        return "–"
    if one.repaired == one.truth:
        return "✓"
    return "✗" if answered and not not_runnable(one.failure("repaired")) else "–"


def _units(case: ProbeView, words: str, about: str, units: dict[str, UnitTest]) -> None:
    marks = {True: "✓", False: "✗", None: "?"}
    names = {f"{place} {marks[test.repaired]}": item for place, (item, test) in enumerate(units.items(), start=1)}
    chosen = st.pills(words, list(names), key=f"units-{about}", wrap=True)
    if not chosen:
        return
    test = units[names[chosen]]
    lines = []
    for place, option in enumerate(test.options, start=1):
        badges = " :green-badge[the function's]" if place == test.correct else ""
        badges += " :blue-badge[picked]" if place == test.picked else ""
        lines.append(f"{place}. {plain(option)}{badges}")
    st.markdown("\n".join(lines))
    if test.call and test.call in case.log.calls:
        inspector(
            case.log.calls[test.call],
            {"paper": PICKED[test.paper], "repaired": PICKED[test.repaired]},
        )
    else:
        st.caption("No model was asked: the example whose sentence vector lies nearest to the description was taken.")


def judged(case: ProbeView) -> None:
    """What came of the code and of the words, one tile a test, and what the function is."""
    truth = case.truth
    assert truth is not None
    with st.container(border=True, key="verdict"):
        st.markdown(f"#### {plain(headline(case))}", anchors=False)
        if words := of_words(case):
            st.markdown(plain(words))
        if case.spec and case.spec.category == "numeric":
            _stretches(case)
        else:
            marks = [Tile(MARKS.get(trial.repaired.outcome, "set aside"), "tests") for trial in case.trials.values()]
            strip(marks, "test", {"kept": "right", "broken": "wrong", "set aside": "not tested"})
        st.markdown(f"**The function**  \n{plain(truth.description)}")
        if truth.note:
            st.caption(plain(truth.note))


def _stretches(case: ProbeView) -> None:
    """One tile a stretch of the function's range: a figure over all of it would be one tile that says little."""
    marks = [Tile(one.mark or "set aside", "truth") for one in stretches(case)]
    points = len(case.truth.x) // STRETCHES if case.truth else 0
    strip(marks, f"stretch of {points} test points", {mark: words for mark, words in STRETCH.items()})


def _beside_the_truth(case: ProbeView) -> None:
    """The picture, the box, and what was missed."""
    truth = case.truth
    assert truth is not None and case.spec is not None
    anchor("truth")
    st.markdown("#### Held against the truth", anchors=False)
    with st.container(border=True, key="truth"):
        if truth.x:
            picture(case)
        if case.fidelity:
            _box(case.fidelity)
        if sentences := remarks(case):
            st.markdown(f"**{missed_title(case)}**\n\n" + "\n".join(f"- {plain(sentence)}" for sentence in sentences))


def _box(found: Fidelity) -> None:
    """How far the box kept to its own truth, and each input that was asked."""
    st.markdown(f"**The box**  \n{plain(' '.join(fidelity.sentences(found)))}")
    with st.expander("The box against its own truth", icon=":material/rule:", key="fidelity"):
        rows = zip(found.inputs, found.inside, found.expected, found.outputs, found.readings, strict=True)
        st.dataframe(
            [
                {
                    "Input": text,
                    "Belongs to the function": inside,
                    "Its truth": expected,
                    "The box": output,
                    "Came out": reading,
                }
                for text, inside, expected, output, reading in sorted(rows, key=lambda row: row[4] == "right")
            ],
            hide_index=True,
            placeholder="",
            key="fidelity-table",
            alt="Inputs with what the function's truth says and what the box gave",
        )


def _metric(case: ProbeView, metric: str) -> None:
    value = case.value(metric)
    label = TITLES[metric]
    reason = case.reason(metric) or MEANINGS[metric]
    if metric == "nmse_success" and value is not None:
        shown = "yes" if value else "no"
    elif metric == "not_runnable":
        number_of, of = Facts(case).not_run
        shown = f"{number_of} of {of}"
    elif metric in _SMALL and value is not None:
        shown = f"{value:.2g}"
    else:
        unknown = judge(case).outcome in ("not answered", NOT_RUNNABLE)
        shown = number(value) if value is not None else "–" if unknown else "undefined"
    score = case.score(metric)
    if score is not None and value is not None and score.low is not None and score.high is not None:
        shown += f" ({score.low:.2f} to {score.high:.2f})"
    st.metric(label, shown, help=plain(reason) or None)


def _researchers(case: ProbeView) -> None:
    """The leading figures, then every figure by both sets of rules."""
    with st.expander("For researchers", icon=":material/monitoring:", key="researchers"):
        with st.container(horizontal=True, key="headline"):
            for metric in _MOST.get(case.spec.category if case.spec else "", _MODULES):
                value = case.value(metric)
                if metric == case.headline or (value if metric == "not_runnable" else value is not None):
                    _metric(case, metric)
        st.markdown("**Every figure, by both sets of rules**")
        rows = []
        for metric, words in TITLES.items():
            score = case.score(metric)
            if score is None:
                continue
            both = {rules: case.value(metric, rules) for rules in RULES}
            shown = {rules: "undefined" if value is None else number(value) for rules, value in both.items()}
            if score.low is not None and score.high is not None:
                shown["repaired"] += f" ({score.low:.2f} to {score.high:.2f})"
            rows.append(
                {
                    "Figure": words,
                    "Repaired rules": shown["repaired"],
                    "Paper rules": shown["paper"],
                    "Counted": f"{score.n} of {score.of}",
                    "Note": case.reason(metric) or case.reason(metric, "paper") or _again(score),
                }
            )
        st.dataframe(
            rows, hide_index=True, placeholder="", key="figures-table", alt="Every figure by both sets of rules"
        )


def _again(score: Score) -> str:
    distinct = score.detail.get("distinct", score.n)
    return f"interval for {distinct} different examples" if distinct < score.n else ""


def _meaning(case: ProbeView) -> None:
    with st.expander("What this means", icon=":material/lightbulb:", key="meaning"):
        st.markdown(
            "The interpreter saw nothing but inputs and outputs. Since we know the function, we can tell how far its "
            "words and its code are right.\n\n"
            "- **NMSE** (numbers): the code's squared error on 256 points, as a share of the function's own size. "
            "Below 0.1 counts as success. The **noise floor** is what the true function itself gets against "
            "noisy observations, and the **error beyond the noise** what the code adds to it.\n"
            "- **Exact match** (texts): the share of ten texts on which the code gives exactly the function's output. "
            "The function changes at least half of them, and **doing nothing** gives every text back as it is.\n"
            "- **Unit test** (words and facts): whether someone who has only the description can tell the function's "
            "examples from others.\n"
            f"- **Found** is said of code that gives the function's value at every test point, to within "
            f"{RELATIVE:.3%} of it, or {ABSOLUTE:g} near zero (of a function below 1, that share of its largest "
            "value). A small error does not say that. The words have a verdict of their own: which parts of the "
            "function they name.\n"
            f"- **{NOT_RUNNABLE.capitalize()}** is said of code that wants something that Python or a package of it "
            "has and our sandbox has not. It is neither right nor wrong, and no figure counts it.\n"
            "- **What it missed** compares the words with the calls that were really made."
        )
    with st.expander("What it does not mean", icon=":material/block:", key="no-meaning"):
        st.markdown("\n".join(f"- {sentence}" for sentence in NOT_MEANT))
