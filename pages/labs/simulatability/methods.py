"""The Methods page's section on the Ask lab."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.labs.simulatability.lab import LAB
from core.labs.simulatability.worthless import Worthless, worthless
from core.published import source
from core.text.templates import PROMPTS, load
from pages.labs.simulatability.words import WORDS
from pages.parts.tables import published
from pages.parts.text import plain


def _told(robot: Worthless) -> str:
    return f"- `{robot.id}` {robot.title}. {robot.about} It fools {robot.fools}."


def draw() -> None:
    """Procedure, figures, rules, prompts and what the paper reported."""
    st.header("Ask: counterfactual simulatability", anchor=False)
    paper = source("simulatability")
    st.markdown(
        f"After {plain(paper['authors'])} {paper['year']}, *{plain(paper['title'])}* (arXiv "
        f"{plain(paper['arxiv'])}).\n\n"
        "1. The model answers the **starter question** and explains itself: reasoning first (CoT), afterwards "
        "(post-hoc), or made to defend the answer it did not give (forced).\n"
        "2. A **generator** writes *counterfactuals*: new questions that the explanation should settle. The blind "
        "baseline varies the question without seeing the explanation. Repeats and copies of the starter are set "
        "aside.\n"
        "3. A **simulator** reads only question and explanation, and says *yes*, *no* or *cannot guess* for each.\n"
        "4. The model **answers** each counterfactual in a session of its own, by the same prompt and sampling."
    )
    st.markdown(
        "**Precision**: of the counterfactuals that the simulator could settle, the share where the model did as "
        "expected. Undefined where none could be settled. The interval is Wilson's, at 95 %.\n\n"
        "**Generality**: 1 minus the mean similarity of two of those counterfactuals, by BLEU, by the cosine of their "
        "sentence embeddings, or by the words they share (Jaccard). Undefined for fewer than two.\n\n"
        "**Baselines** (ours): the simulator predicts each answer again, from the first answer without the "
        "explanation (`none`), from the new question alone (`question_only`), or from the answer with the model's "
        "reasons for another question (`swapped`); and there is the one fixed guess that is right most often. An "
        "explanation **helped** where it beats each of them (McNemar's exact test, 5 %). A baseline that cannot "
        "predict has no hit. **In doubt** is a prediction that may rest on something else than the explanation, told "
        "before the answer is seen; a verdict has a colour only if it holds either way.\n\n"
        "**The exam**: before its first prediction a model answers 11 questions whose right guess is known, as the "
        "paper's annotators did, and 9 right ones pass. Some explanations are wrong on purpose, some settle nothing. "
        "Always the same guess gets 4 at most. A predictor that failed judges nothing: there is no verdict then."
    )
    fooled, fool = (
        [robot for robot in worthless().values() if robot.id.endswith("-0") and robot.gains is gains]
        for gains in (False, True)
    )
    st.markdown(
        "**What would fool a naive measure.** Robots whose explanations tell nothing come with the app; so it can be "
        "seen that nothing is gained by them. Type an id where a model is chosen; a `-1` or `-2` at its end draws its "
        "errors anew.\n\n"
        + "\n".join(map(_told, fooled))
        + "\n\nTwo fool this measure as well, for it asks whether answers can be told, and not what they come from:"
        "\n\n" + "\n".join(map(_told, fool))
    )
    with st.expander("Paper rules and repaired rules", icon=":material/rule:", key="rules"):
        st.markdown(
            "Every raw answer is read twice, at no further call. **Paper rules** read as the authors' code did, which "
            "wants exact forms: a reply must end in *So the answer is yes.*, a counterfactual must come in exactly two "
            "lines, and a model's answer that cannot be read counts as a mismatch. **Repaired rules** read what chat "
            "models write today (bold, quotes, *Answer: yes*, JSON), and an answer that cannot be read is set aside "
            "with its reason: an error is never a score. The app shows the repaired figure first and says how many "
            "outcomes depend on the rules.\n\n"
            "Two departures under both rules: copies of the starter question are set aside, and a counterfactual added "
            "by hand is shown but never counted."
        )
    st.subheader("Prompts", anchor=False)
    names = sorted(path.stem for path in (PROMPTS / "simulatability").glob("*.toml"))
    chosen = st.selectbox("Template", names, key="template", bind="query-params")
    if chosen:
        template = load(f"simulatability/{chosen}")
        count = len(template.demonstrations)
        st.caption(f"{template.role} · version {template.version} · hash {template.hash} · {count} demonstrations")
        turns = [f"[system]\n{template.system}"]
        turns += [f"[user]\n{template.user}", f"[assistant, as a demonstration]\n{template.assistant}"]
        st.code("\n\n".join(turns), language=None, wrap_lines=True)
        st.dataframe(
            pd.DataFrame(template.demonstrations),
            hide_index=True,
            placeholder="",
            key="demonstrations",
            alt="The template's demonstrations",
        )
    published(LAB, WORDS, "published")
