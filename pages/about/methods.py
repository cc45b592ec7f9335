"""Methods: what is measured, by which rules, with which prompts, and what the papers reported."""

import pandas as pd
import streamlit as st

from core import entry
from core.datasets import registry
from core.package_data import COMMAND
from core.text import display
from pages.components import lab_page
from pages.components.tables import table

st.title("Methods", anchor=False)
st.markdown("What each lab measures, the rules it follows, the exact prompts it sends, and what its paper reported.")

for lab in entry.labs().values():
    lab_page.page_of(lab).methods()

st.header("Words", anchor=False)
st.markdown("Our words, and the field's words for the same things.")
table(
    pd.DataFrame(
        [{"Here": name, "In the field": one.term, "Meaning": one.meaning} for name, one in display.entries().items()]
    ),
    "glossary",
    "Glossary: our words, the field's terms, and what they mean",
)

st.header("Data sets", anchor=False)
st.markdown(
    f"None comes with the app. `{COMMAND} data get NAME` downloads one; `{COMMAND} data` lists them. Each is "
    "looked for in `$EXPLAIN_HOME/datasets/<name>`, or at a path you give. The built-in items were written for this "
    "app. A CSV, JSONL or Parquet file of your own works too, once you say what each column contains."
)
known = pd.DataFrame(registry.describe()).rename(columns=str.capitalize)
table(known, "datasets", "Data sets: source, licence and file layout")
