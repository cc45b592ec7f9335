"""Query: SQL over everything in the index."""

import streamlit as st

from core.charts import forest as rows_of
from core.store import sql
from core.store.listing import Selection
from core.store.store import QueryRefusedError
from pages.components import reader_accuracy, session, tables
from pages.components.text import plain
from pages.components.throttle import waits
from pages.results import example

LONGEST_LINK = 6_000
"""Longest query in an address, in characters; browsers and proxies cut longer ones."""

st.title("Query", anchor=False)
viewer = session.viewer()
whose = "all runs" if viewer is None else "your runs, and those that are shared or came with the app"
st.markdown(
    f"SQL over {whose}. A query reads a copy and changes nothing. It returns "
    f"{sql.policy_limit('query_rows'):,} rows at most, and may take {sql.policy_limit('query_seconds')} seconds."
)

keeper = session.open_index()
looked = Selection(keeper.store, viewer=viewer)
now = example.state(looked)
opens = now == "open"
example.draw(looked.by(example.EXAMPLE) if opens else looked, now)
reader_accuracy.still_blind("A query hides nothing, so its result")


def fill_in_query(query: str) -> None:
    """Fill in an example query and run it."""
    st.session_state["sql"] = query.strip()
    st.session_state["ask"] = True


def schema() -> None:
    """Draw the schema: the tables and their columns."""
    with st.expander("Schema", icon=":material/table_chart:"):
        known = sql.schema(keeper.store)
        name = st.selectbox("Table", list(known), key="table")
        words, columns = known[name]
        st.markdown(plain(words))
        rows = [{"Column": name, "Holds": holds} for name, holds in columns.items()]
        tables.table(rows, "columns", f"Columns of the table {name}, their types and what they hold")


def last_query() -> tuple[str, sql.QueryResult | QueryRefusedError] | None:
    """Run the query if requested. Returns the session's last query and its result; None if there was none."""
    query = st.session_state.get("sql", "").strip()
    if st.session_state.pop("ask", False) and query:
        st.session_state.pop("found", None)
        if len(query) <= LONGEST_LINK:
            st.query_params["sql"] = query
        else:
            st.query_params.pop("sql", None)
        try:
            with waits("Asking …"):
                st.session_state["found"] = (query, sql.ask(keeper.store, query, viewer))
        except QueryRefusedError as refused:
            st.session_state["found"] = (query, refused)
    return st.session_state.get("found")


def show(query: str, found: sql.QueryResult | QueryRefusedError) -> None:
    """Show a result, or why there is none."""
    if isinstance(found, QueryRefusedError):
        st.error("Nothing was changed by it.", icon=":material/error:", title="The query has no result")
        st.code(str(found), language=None, wrap_lines=True)
        return
    frame = found.frame()
    n = len(frame)
    st.caption(f"{n:,} {'row' if n == 1 else 'rows'} · {found.seconds:.1f} s")
    if found.cut:
        st.warning(found.cut, icon=":material/content_cut:")
    if n:
        st.dataframe(frame, hide_index=True, key="result", alt="What the query found")
        with st.container(horizontal=True):
            for kind in ("csv", "parquet", "jsonl"):
                tables.as_file(frame, "query", kind)
        if (figure := rows_of.picture(frame)) is not None:
            st.plotly_chart(figure, key="picture", config=tables.PLAIN, alt="Picture of two columns of the result")
    if len(query) > LONGEST_LINK:
        st.caption(f"The query is longer than {LONGEST_LINK:,} characters, so the address does not contain it.")
    else:
        st.caption("The address contains the query: anyone who opens it sees it filled in.")


if "sql" not in st.session_state and (linked := st.query_params.get("sql", "")):
    # Filled in but not run: a person who follows a link has not yet read the query.
    st.session_state["sql"] = linked.strip()
begin = not ({"ask", "found"} & st.session_state.keys())
with (
    st.expander("Examples", icon=":material/lightbulb:", expanded=begin),
    st.container(horizontal=True, gap="small", key="examples"),
):
    for place, one in enumerate(sql.examples()):
        text = one.sql.replace("not recording", "study = 'example'") if opens else one.sql
        st.button(one.title, key=f"example-{place}", on_click=fill_in_query, args=[text])
schema()
with st.form("query", border=False):
    st.text_area("SQL", key="sql", height=140, max_chars=sql.LONGEST, placeholder="select * from runs limit 20")
    if st.form_submit_button("Run query", type="primary", icon=":material/play_arrow:", key="go"):
        st.session_state["ask"] = True
if (result := last_query()) is not None:
    show(*result)
