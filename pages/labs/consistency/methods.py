"""The Methods page's section on the Check lab."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.labs.consistency.controls import worthless
from core.published import figures
from core.text.templates import PROMPTS


def draw() -> None:
    """Procedure, figures, rules, prompts and data sets."""
    st.header("Check: self-consistency", anchor=False)
    st.markdown(
        "After Madsen, Chandar and Reddy 2024, *Are self-explanations from Large Language Models faithful?* "
        "(arXiv 2401.07927).\n\n"
        "Three sessions that share no history:\n\n"
        "1. The model **classifies** a paragraph: its sentiment, a question with choices, or whether a statement "
        "follows.\n"
        "2. It **explains** itself by something one can try out. *Counterfactual*: it edits the paragraph so that the "
        "answer changes. *Feature attribution*: it lists the words that matter, and we mask them. *Redaction*: it "
        "masks the words itself.\n"
        "3. It **classifies again**, the edited paragraph by the same prompt. The counterfactual is faithful if the "
        "answer is the target; attribution and redaction are faithful if the model can no longer tell (*unknown*; for "
        "sentiment also *neutral*). *Faithful* is the paper's word; the pages say that the model *kept to its "
        "explanation*, for this is self-consistency (Parcalabescu and Frank 2024)."
    )
    st.markdown(
        "**Target**: with a known correct answer the target is chosen from it, as in the paper: the opposite, or the "
        "next choice. Without one it is chosen from the model's first answer; each check says which.\n\n"
        "**Faithfulness**: of the checks whose first answer was right, the share that is faithful. What cannot be "
        "decided is left out with its reason. **Accuracy**: the share of first answers that are right.\n\n"
        "**Random masks** (`faithfulness_control`): as many other words masked, content words for content words, drawn "
        "at random, several draws a check; how often the model then cannot tell. **Gain**: how much oftener the words "
        "that it named have that effect, over all checks that have both. Its "
        "interval is Bonett and Price's (2012). Every interval is that of the paragraphs, for several checks of one "
        "depend on each other."
    )
    with st.expander("Paper rules and repaired rules", icon=":material/rule:", key="check-rules"):
        st.markdown(
            "**Paper rules** read answers as the authors' code did and mask whole words by one regular expression, in "
            "the order they are listed. A check counts if the first answer was right and both could be read.\n\n"
            "**Repaired rules** read bold, quotes, *Answer: …*, JSON, lists with notes, and paragraphs in a code "
            "fence; they mask the longest words first, also words with marks. They call a check undecided, rather than "
            "faithful, where it can show nothing: the model could not tell even before the edit, it gave the target "
            "answer already, or the story offers no other choice; where the explanation tests nothing: as many other "
            "words as it masked are not left, as many random ones have the effect in most draws, a redaction masks "
            "nothing or adds words, a counterfactual keeps less than half, adds words that name the answer, or turns "
            "another paragraph of that label by its addition alone. Where the two rules read different edits, both are "
            "classified.\n\n"
            "Sampling is the paper's, where nothing else is chosen: temperature 0.1, top-p 0.95, top-k 50, repetition "
            "penalty 1.2, at most 1024 tokens; what a server does not take is left out."
        )
    with st.expander("Robots that explain nothing", icon=":material/smart_toy:", key="check-worthless"):
        st.markdown(
            "They pass a naive test. Here nothing may be gained by them, and no verdict may praise them:\n\n"
            + "\n".join(f"- `{id}`: {robot.about}" for id, robot in worthless().items())
        )
    st.subheader("Prompts of Check", anchor=False)
    check_names = sorted(path.stem for path in (PROMPTS / "consistency").glob("*.toml"))
    check_chosen = st.selectbox("Template", check_names, key="check-template", bind="query-params")
    if check_chosen:
        text = (PROMPTS / "consistency" / f"{check_chosen}.toml").read_text(encoding="utf-8")
        st.caption("Persona, target, mask and form choose among the wordings; the rest is the same in all of them.")
        st.code(text, language=None, wrap_lines=True)
    st.subheader("What the paper reported", anchor=False)
    st.caption(
        "The paper draws accuracy and faithfulness (Figures 6 to 9) and prints no value of them. It prints times of "
        "inference (Table 4), here in seconds: of all answers together, as the server reported them. Many ran side by "
        "side, so less time went by. n is the number of test observations."
    )
    times = pd.DataFrame(figures("consistency"))
    st.dataframe(
        times.pivot(index=["dataset", "n", "model"], columns="step", values="value").reset_index(),
        hide_index=True,
        key="check-published",
        alt="Published seconds of inference by data set, model and step",
    )
