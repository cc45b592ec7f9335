"""The store's tables, as numbered migrations, and which record goes into which table.

Columns bear the field names of the events. Times are naive UTC. There are primary keys and no other index: DuckDB scans
a million rows in milliseconds, and what has no index cannot have a broken one. `at` is a word of SQL's own: write
`"at"`, or `calls.at`.

To add a table: append one migration here, never change an old one, and name its records in `TABLE_OF_RECORD`.
After a migration every journal is read again, so a new table fills itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MIGRATIONS = [
    # 1: a run, and what every lab has
    """
    create table runs (
        run varchar primary key,      -- the journal's name without .jsonl
        lab varchar,
        status varchar,               -- running | completed | cancelled | failed
        "at" timestamp,               -- started
        last_at timestamp,            -- its latest event
        finished_at timestamp,
        seconds double,               -- while it ran, without the pauses before it was resumed
        seed bigint,
        spec json,
        versions json,
        prompts json,
        title varchar,                -- what was asked
        model varchar,
        answered bigint,              -- calls
        failed bigint,                -- calls
        error varchar,                -- what stopped the run itself
        message varchar,
        hint varchar,
        journal varchar,              -- path of the file
        bytes bigint,                 -- indexed so far
        lines bigint,                 -- indexed so far
        modified bigint,              -- the file's time when it was indexed, nanoseconds since 1970
        head varchar                  -- sha256 of the first line
    );
    create table calls (
        run varchar, call varchar, item varchar, role varchar, model varchar, prompt varchar, messages json,
        sampling json, repeat bigint, text varchar, seconds double, first_token_seconds double, cached boolean,
        prompt_tokens bigint, completion_tokens bigint, finish_reason varchar, error varchar, message varchar,
        hint varchar, "at" timestamp,
        primary key (run, call)
    );
    create table scores (
        run varchar, metric varchar, rules varchar, item varchar, value double, n bigint, "of" bigint, low double,
        high double, detail json, "at" timestamp,
        primary key (run, metric, rules, item)
    );
    create table drops (
        run varchar, item varchar, reason varchar,
        rules varchar,                -- '' where the item counts under neither
        detail varchar, "at" timestamp,
        primary key (run, item, reason, rules)
    );
    create table records (            -- of types that have no table of their own
        run varchar, record varchar, item varchar, data json, "at" timestamp,
        primary key (run, record, item)
    );
    create table faults (             -- lines of a journal that hold no event
        run varchar, line bigint, reason varchar,
        primary key (run, line)
    );
    """,
    # 2: what the Ask lab records; `extra` keeps the fields that have no column
    """
    create table explanations (
        run varchar, item varchar, call varchar, task varchar, method varchar, question varchar, context varchar,
        response_1 varchar, response_2 varchar, answer_paper varchar, answer_repaired varchar,
        explanation_paper varchar, explanation_repaired varchar, gold varchar, extra json, "at" timestamp,
        primary key (run, item)
    );
    create table counterfactuals (
        run varchar, item varchar, call varchar, generator varchar, operation varchar, text varchar, context varchar,
        response_1 varchar, response_2 varchar,
        origin varchar,               -- generated | hand
        paper boolean,                -- whether it counts under the paper's rules
        repaired boolean,             -- whether it counts under ours
        extra json, "at" timestamp,
        primary key (run, item)
    );
    create table simulations (
        run varchar, item varchar,
        simulator varchar,            -- a model's id, or 'reader'
        calls json,                   -- one a vote
        votes json, paper varchar, repaired varchar, extra json, "at" timestamp,
        primary key (run, item, simulator)
    );
    create table answers (
        run varchar, item varchar, call varchar, paper varchar, repaired varchar, explanation varchar,
        extra json, "at" timestamp,
        primary key (run, item)
    );
    """,
    # 3: what the Check lab records; `item` is a key such as <paragraph>/<explanation>/<wording>
    """
    create table paragraphs (
        run varchar, item varchar, task varchar, text varchar, question varchar, choices json, hypothesis varchar,
        label varchar, reference_edit varchar, extra json, "at" timestamp,
        primary key (run, item)
    );
    create table classifications (
        run varchar, item varchar, call varchar, persona varchar, paper varchar, repaired varchar,
        correct_paper boolean, correct_repaired boolean, extra json, "at" timestamp,
        primary key (run, item)
    );
    create table abilities (
        run varchar, item varchar, call varchar, persona varchar, paper varchar, repaired varchar,
        extra json, "at" timestamp,
        primary key (run, item)
    );
    create table self_explanations (
        run varchar, item varchar, call varchar, words_paper json, words_repaired json, edited_paper varchar,
        edited_repaired varchar, wanted varchar,
        basis varchar,                -- what the target was chosen from: label | prediction
        extra json, "at" timestamp,
        primary key (run, item)
    );
    create table rechecks (
        run varchar, item varchar, call_paper varchar, call_repaired varchar, paper varchar, repaired varchar,
        extra json, "at" timestamp,
        primary key (run, item)
    );
    create table mask_controls (
        run varchar, item varchar, texts json, calls json, paper json, repaired json, all_text varchar,
        all_call varchar, all_paper varchar, all_repaired varchar, extra json, "at" timestamp,
        primary key (run, item)
    );
    create table checks (
        run varchar, item varchar, paragraph varchar, explanation varchar, wording varchar, label varchar,
        before_paper varchar, before_repaired varchar, after_paper varchar, after_repaired varchar,
        faithful_paper varchar,       -- yes | no | undecided
        faithful_repaired varchar, reason_paper varchar, reason_repaired varchar, control_paper double,
        control_repaired double, distance double, kept double, masked double, over_redacted boolean,
        extra json, "at" timestamp,
        primary key (run, item)
    );
    """,
    # 4: what the Probe lab records; "repaired" and "paper" are two readings, as above
    """
    create table probes (
        run varchar, item varchar, number bigint, round bigint, input varchar, output varchar,
        value double,                 -- where the output is a finite real number
        problem varchar,              -- why there is no output
        how varchar,                  -- function | code | table | embedding | logprobs | answer
        extra json, "at" timestamp,
        primary key (run, item)
    );
    create table exchanges (
        run varchar, item varchar, round bigint, call varchar, inputs json, told varchar, trouble varchar,
        invented varchar, extra json, "at" timestamp,
        primary key (run, item)
    );
    create table interpretations (
        run varchar, item varchar, interpreter varchar, call varchar, description_paper varchar,
        description_repaired varchar, domain_paper varchar, domain_repaired varchar, code_paper varchar,
        code_repaired varchar, told_paper varchar, told_repaired varchar, extra json, "at" timestamp,
        primary key (run, item)
    );
    create table estimates (
        run varchar, item varchar, paper json, repaired json, trouble_paper varchar, trouble_repaired varchar,
        extra json, "at" timestamp,
        primary key (run, item)
    );
    create table predictions (
        run varchar, item varchar,
        kind varchar,                 -- test | held out
        input varchar, truth varchar, paper varchar, repaired varchar, error varchar, extra json, "at" timestamp,
        primary key (run, item)
    );
    create table unit_tests (
        run varchar, item varchar,
        about varchar,                -- interpretation | truth
        evaluator varchar, call varchar, options json, correct bigint, picked bigint, paper boolean,
        repaired boolean, extra json, "at" timestamp,
        primary key (run, item)
    );
    create table audits (
        run varchar, item varchar, supported json, contradicted json, unseen json, invented_rounds json,
        coverage double, longest_gap json, in_corruption bigint, claimed json, extra json, "at" timestamp,
        primary key (run, item)
    );
    create table truths (
        run varchar, item varchar, id varchar, category varchar, kind varchar, description varchar, parameters json,
        note varchar, noise varchar, corrupted json, x json, y json, extra json, "at" timestamp,
        primary key (run, item)
    );
    """,
    """
    alter table calls add column tools json;        -- what the model might ask to have called
    alter table calls add column tool_calls json;   -- what it asked for
    alter table exchanges add column tools boolean;
    """,
]

TABLE_OF_RECORD = {
    "explanation": "explanations",
    "counterfactual": "counterfactuals",
    "simulation": "simulations",
    "answer": "answers",
    "paragraph": "paragraphs",
    "classification": "classifications",
    "ability": "abilities",
    "selfexplanation": "self_explanations",
    "recheck": "rechecks",
    "maskcontrol": "mask_controls",
    "consistency": "checks",
    "probe": "probes",
    "exchange": "exchanges",
    "interpretation": "interpretations",
    "estimate": "estimates",
    "prediction": "predictions",
    "unittest": "unit_tests",
    "audit": "audits",
    "truth": "truths",
}
"""Record type -> table. A record of any other type goes into `records`."""

TITLE_FIELDS = ("title", "question", "context", "text", "function")
"""Where a run's title is looked for, in this order: in its spec, else in what it records first."""


class NewerSchema(Exception):
    """The file was written by a later version."""


def migrate(connection: DuckDBPyConnection) -> None:
    """Bring the tables up to date, in one transaction. Raises NewerSchema, and duckdb.Error for a broken file."""
    connection.execute("begin")
    connection.execute("create table if not exists migrations (number integer primary key, applied timestamp)")
    done = _number(connection)
    if done > len(MIGRATIONS):
        connection.execute("rollback")
        raise NewerSchema(f"schema {done}; this version knows {len(MIGRATIONS)}")
    for number, statements in enumerate(MIGRATIONS[done:], start=done + 1):
        connection.execute(statements)
        connection.execute("insert into migrations values (?, now() at time zone 'utc')", [number])
    if 0 < done < len(MIGRATIONS):
        # The journals hold more than the old tables could: with no head, each is taken for a new one.
        connection.execute("update runs set head = '', modified = 0")
    connection.execute("commit")


def _number(connection: DuckDBPyConnection) -> int:
    row = connection.execute("select coalesce(max(number), 0) from migrations").fetchone()
    return int(row[0]) if row else 0


def drop_everything(connection: DuckDBPyConnection) -> None:
    """Every table away; `migrate` makes them again."""
    for (table,) in connection.execute("select table_name from duckdb_tables() where not internal").fetchall():
        connection.execute(f'drop table "{table}"')


class Table(NamedTuple):
    """A table's columns (name -> SQL type, in order) and primary key, as they are in the file."""

    columns: dict[str, str]
    key: tuple[str, ...]


def tables(connection: DuckDBPyConnection) -> dict[str, Table]:
    """Every table of the store."""
    columns: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.execute(
        "select table_name, column_name, data_type from duckdb_columns() where not internal order by column_index"
    ).fetchall():
        columns.setdefault(table, {})[column] = kind
    keys = connection.execute(
        "select table_name, constraint_column_names from duckdb_constraints() where constraint_type = 'PRIMARY KEY'"
    ).fetchall()
    return {table: Table(columns[table], tuple(key)) for table, key in keys}
