"""Methods: what is measured, by which rules, with which prompts, and what the papers reported."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.datasets import registry
from core.labs.simulatability.paper_figures import figures, source
from core.text.templates import PROMPTS, load
from pages.labs.find import methods as probe_methods
from pages.parts.text import plain

st.title("Methods", anchor=False)
st.markdown("What each lab measures, the rules it follows, the exact prompts it sends, and what its paper reported.")

st.header("Ask: counterfactual simulatability", anchor=False)
paper = source()
st.markdown(
    f"After {plain(paper['authors'])} {paper['year']}, *{plain(paper['title'])}* (arXiv {plain(paper['arxiv'])}).\n\n"
    "1. The model answers the **starter question** and explains itself: reasoning first (CoT), afterwards (post-hoc), "
    "or made to defend the answer it did not give (forced).\n"
    "2. A **generator** writes *counterfactuals*: new questions that the explanation should settle. The blind baseline "
    "varies the question without seeing the explanation. Repeats and copies of the starter are set aside.\n"
    "3. A **simulator** reads only question and explanation, and says *yes*, *no* or *cannot guess* for each.\n"
    "4. The model **answers** each counterfactual in a session of its own, by the same prompt and sampling."
)
st.markdown(
    "**Precision**: of the counterfactuals that the simulator could settle, the share where the model did as expected. "
    "Undefined where none could be settled. The interval is Wilson's, at 95 %.\n\n"
    "**Generality**: 1 minus the mean similarity of two of those counterfactuals, by BLEU, by the cosine of their "
    "sentence embeddings, or by the words they share (Jaccard). Undefined for fewer than two."
)
with st.expander("Paper rules and repaired rules", icon=":material/rule:", key="rules"):
    st.markdown(
        "Every raw answer is read twice, at no further call. **Paper rules** read as the authors' code did, which "
        "wants exact forms: a reply must end in *So the answer is yes.*, a counterfactual must come in exactly two "
        "lines, and a model's answer that cannot be read counts as a mismatch. **Repaired rules** read what chat "
        "models write today (bold, quotes, *Answer: yes*, JSON), and an answer that cannot be read is set aside "
        "with its reason: an error is never a score. The app shows the repaired figure first and says how many "
        "outcomes depend on the rules.\n\n"
        "Two departures under both rules: copies of the starter question are set aside, and a counterfactual added by "
        "hand is shown but never counted."
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
        key="demonstrations",
        alt="The template's demonstrations",
    )
st.subheader("What the paper reported", anchor=False)
st.dataframe(
    pd.DataFrame(figures()), hide_index=True, key="published", alt="Published figures with their place in the paper"
)

st.header("Check: self-consistency", anchor=False)
st.markdown(
    "After Madsen, Chandar and Reddy 2024, *Are self-explanations from Large Language Models faithful?* "
    "(arXiv 2401.07927).\n\n"
    "Three sessions that share no history:\n\n"
    "1. The model **classifies** a paragraph: its sentiment, a question with choices, or whether a statement follows.\n"
    "2. It **explains** itself by something one can try out. *Counterfactual*: it edits the paragraph so that the "
    "answer changes. *Feature attribution*: it lists the words that matter, and we mask them. *Redaction*: it masks "
    "the words itself.\n"
    "3. It **classifies again**, the edited paragraph by the same prompt. The counterfactual is faithful if the answer "
    "is the target; attribution and redaction are faithful if the model can no longer tell (*unknown*; for sentiment "
    "also *neutral*)."
)
st.markdown(
    "**Target**: with a known correct answer the target is chosen from it, as in the paper: the opposite, or the next "
    "choice. Without one it is chosen from the model's first answer; each check says which.\n\n"
    "**Faithfulness**: of the checks whose first answer was right, the share that is faithful. What cannot be decided "
    "is left out with its reason. **Accuracy**: the share of first answers that are right.\n\n"
    "**Random masks** (`faithfulness_control`): as many words of like length masked at random, several draws a check; "
    "how often the model then cannot tell. **Gain**: faithfulness minus that, over the same checks. Its interval joins "
    "Wilson's intervals of both (Newcombe 1998). Every interval is that of as many checks as there are paragraphs."
)
with st.expander("Paper rules and repaired rules", icon=":material/rule:", key="check-rules"):
    st.markdown(
        "**Paper rules** read answers as the authors' code did and mask whole words by one regular expression, in the "
        "order they are listed. A check counts if the first answer was right and both could be read.\n\n"
        "**Repaired rules** read bold, quotes, *Answer: …*, JSON, lists with notes, and paragraphs in a code fence; "
        "they mask the longest words first, also words with marks. They call a check undecided, rather than faithful, "
        "where it can show nothing: the model could not tell even before the edit, it gave the target answer already, "
        "or the story offers no other choice. Where the two rules read different edits, both are classified.\n\n"
        "Sampling is the paper's: temperature 0.1, top-p 0.95, top-k 50, repetition penalty 1.2, at most 1024 tokens; "
        "what a server does not take is left out."
    )
st.subheader("Prompts of Check", anchor=False)
check_names = sorted(path.stem for path in (PROMPTS / "consistency").glob("*.toml"))
check_chosen = st.selectbox("Template", check_names, key="check-template", bind="query-params")
if check_chosen:
    text = (PROMPTS / "consistency" / f"{check_chosen}.toml").read_text(encoding="utf-8")
    st.caption("Persona, target, mask and form choose among the wordings; the rest is the same in all of them.")
    st.code(text, language="toml", wrap_lines=True)
st.subheader("Data sets", anchor=False)
st.markdown(
    "None comes with the app. Each is looked for in `$EXPLAIN_HOME/datasets/<name>`, or at a path you give. The items "
    "that ship were written for this app."
)
st.dataframe(
    pd.DataFrame(registry.describe()).rename(columns=str.capitalize),
    hide_index=True,
    key="datasets",
    alt="Data sets: where each can be had, under which licence, and how its files lie",
)

probe_methods.draw()
