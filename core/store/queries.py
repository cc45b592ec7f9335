"""What pages and the command line ask of the store. Every function returns a DataFrame with the columns it names."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from core.events import Rules
from core.store.store import Store

if TYPE_CHECKING:
    from pandas import DataFrame

Alive = Callable[[str], bool]
"""Whether the run of that id goes on now, in this process or another."""

ASK = "simulatability"
"""The Ask lab's name in `runs.lab`."""

CHECK = "consistency"
"""The Check lab's name in `runs.lab`."""

PROBE = "find"
"""The Probe lab's name in `runs.lab`."""

READER = "reader"
"""The simulator's name where the person who reads guesses."""

_VERDICTS: dict[Rules, str] = {"paper": "paper", "repaired": "repaired"}
_JSON_OF_A_RUN = ("spec", "versions", "prompts")


def runs(store: Store, lab: str | None = None, limit: int = 200, alive: Alive | None = None) -> DataFrame:
    """The newest runs first, one row each, of one lab or of all.

    run, lab, title, model, status, at, finished_at, seconds, answered and failed (calls), dropped (items), faults
    (lines of the journal that could not be read), error, message, hint.
    A run that has not finished is `running`; with `alive`, `interrupted` where its process is gone.
    """
    found = store.query(
        """
        select run, lab, title, model, status, "at", finished_at, seconds, answered, failed,
               (select count(distinct item) from drops where drops.run = runs.run) as dropped,
               (select count(*) from faults where faults.run = runs.run) as faults,
               error, message, hint
        from runs where ? is null or lab = ? order by "at" desc nulls first, run desc limit ?
        """,
        [lab, lab, limit],
        rows=None,
    )
    if alive is not None:
        stopped = [status == "running" and not alive(run) for run, status in zip(found.run, found.status, strict=True)]
        found.loc[stopped, "status"] = "interrupted"
    return found


def run(store: Store, run_id: str, alive: Alive | None = None) -> dict[str, Any] | None:
    """Everything in the run's row, JSON columns as Python values; None where there is no such run."""
    with store.cursor() as cursor:
        cursor.execute("select * from runs where run = ?", [run_id])
        names = [column[0] for column in cursor.description or ()]
        values = cursor.fetchone()
    if values is None:
        return None
    row = dict(zip(names, values, strict=True))
    for name in _JSON_OF_A_RUN:
        row[name] = json.loads(row[name] or "{}")
    if row["status"] == "running" and alive is not None and not alive(run_id):
        row["status"] = "interrupted"
    return row


def calls(store: Store, run_id: str, item: str | None = None) -> DataFrame:
    """Every call of a run, or of one item in it, in the order they were asked: the columns of the table `calls`.

    `messages` is a list of {role, content} and `sampling` a dict, both empty for a call whose `asked` line is lost.
    """
    found = store.query(
        'select * from calls where run = ? and (? is null or item = ?) order by "at", call',
        [run_id, item, item],
        rows=None,
    )
    for name, nothing in (("messages", "[]"), ("sampling", "{}")):
        found[name] = [json.loads(text if isinstance(text, str) else nothing) for text in found[name]]
    return found


def scores(store: Store, run_id: str | None = None, rules: Rules | None = None) -> DataFrame:
    """Scores with the run's lab, title and model beside them; `item` is '' for a score of the whole run.

    run, lab, title, model, metric, rules, item, value, n, of, low, high, detail, at.
    """
    return store.query(
        """
        select scores.run, lab, title, model, metric, rules, item, value, n, "of", low, high, detail, scores.at
        from scores left join runs on runs.run = scores.run
        where (? is null or scores.run = ?) and (? is null or rules = ?)
        order by runs.at desc, scores.run, item, metric, rules
        """,
        [run_id, run_id, rules, rules],
        rows=None,
    )


def drops(store: Store, run_id: str, rules: Rules | None = None) -> DataFrame:
    """Items that do not count, and why: item, reason, rules ('' under either), detail, at. With `rules`, those only."""
    return store.query(
        """
        select item, reason, rules, detail, "at" from drops
        where run = ? and (? is null or rules in (?, '')) order by "at", item
        """,
        [run_id, rules, rules],
        rows=None,
    )


def faults(store: Store, run_id: str) -> DataFrame:
    """Lines of the run's journal that hold no event: line (from 1), reason."""
    return store.query("select line, reason from faults where run = ? order by line", [run_id], rows=None)


def recorded(store: Store, run_id: str, record: str) -> DataFrame:
    """Records of a type that has no table of its own: item, data (a dict), at."""
    found = store.query(
        'select item, data, "at" from records where run = ? and record = ? order by "at", item',
        [run_id, record],
        rows=None,
    )
    found["data"] = [json.loads(text) for text in found["data"]]
    return found


def explanations(store: Store, run_id: str) -> DataFrame:
    """The starter questions of an Ask run and how the model explained its answers: the table `explanations`."""
    return store.query('select * from explanations where run = ? order by "at", item', [run_id], rows=None)


def ask_case(store: Store, run_id: str, rules: Rules = "repaired") -> DataFrame:
    """One row a counterfactual of an Ask run: what was expected of the model, and what it said.

    item, text, context, response_1, response_2, generator, operation, origin, simulator, expected (its simulation),
    guessed (the reader's), said (the model's answer), reason (why it does not count), call and answer_call (ids in
    `calls`), simulation_calls (a list of them). What is not there is null.
    """
    verdict = _VERDICTS[rules]
    found = store.query(
        f"""
        select c.item, c.text, c.context, c.response_1, c.response_2, c.generator, c.operation, c.origin,
               s.simulator, s.{verdict} as expected, g.{verdict} as guessed, a.{verdict} as said, d.reason,
               c.call, a.call as answer_call, s.calls as simulation_calls
        from counterfactuals c
        left join simulations s on s.run = c.run and s.item = c.item and s.simulator <> '{READER}'
        left join simulations g on g.run = c.run and g.item = c.item and g.simulator = '{READER}'
        left join answers a on a.run = c.run and a.item = c.item
        left join (
            select item, first(reason order by "at", reason) as reason from drops
            where run = ? and rules in (?, '') group by item
        ) d on d.item = c.item
        where c.run = ? order by c.item
        """,  # noqa: S608  our own names
        [run_id, rules, run_id],
        rows=None,
    )
    found["simulation_calls"] = [
        json.loads(calls if isinstance(calls, str) else "[]") for calls in found.simulation_calls
    ]
    return found


def ask_scatter(store: Store, rules: Rules = "repaired") -> DataFrame:
    """One row an Ask run that has a precision (null where undefined), newest first.

    run, at, model, method, task, question, precision, low, high, n, of, generality_bleu, generality_cosine,
    generality_jaccard, rules.
    """
    return store.query(
        """
        with by_run as (
            select run, rules,
                   max(value) filter (metric = 'precision') as precision,
                   max(low) filter (metric = 'precision') as low,
                   max(high) filter (metric = 'precision') as high,
                   max(n) filter (metric = 'precision') as n,
                   max("of") filter (metric = 'precision') as "of",
                   max(value) filter (metric = 'generality_bleu') as generality_bleu,
                   max(value) filter (metric = 'generality_cosine') as generality_cosine,
                   max(value) filter (metric = 'generality_jaccard') as generality_jaccard
            from scores where item = '' and rules = ? group by run, rules
        )
        select run, runs.at, model, spec->>'method' as method, spec->>'task' as task, title as question,
               precision, low, high, n, "of", generality_bleu, generality_cosine, generality_jaccard, rules
        from by_run join runs using (run)
        where lab = ? and n is not null order by runs.at desc, run
        """,
        [rules, ASK],
        rows=None,
    )


def checks(store: Store, run_id: str | None = None, rules: Rules = "repaired") -> DataFrame:
    """One row a check of a Check run, or of all of them, newest run first.

    run, at, model, task, item, paragraph, explanation, wording, label, before and after (the two answers, null where
    not read), faithful (yes, no, undecided), reason, control (share of random masks with the same effect), distance,
    kept, masked, over_redacted.
    """
    verdict = _VERDICTS[rules]
    return store.query(
        f"""
        select c.run, r."at", r.model, r.spec->>'task' as task, c.item, c.paragraph, c.explanation, c.wording, c.label,
               c.before_{verdict} as before, c.after_{verdict} as after, c.faithful_{verdict} as faithful,
               c.reason_{verdict} as reason, c.control_{verdict} as control, c.distance, c.kept, c.masked,
               c.over_redacted
        from checks c join runs r using (run)
        where ? is null or c.run = ? order by r."at" desc, c.run, c.item
        """,  # noqa: S608  our own names
        [run_id, run_id],
        rows=None,
    )


def check_scores(store: Store, rules: Rules = "repaired") -> DataFrame:
    """One row a Check run and group of its checks, newest first: the whole run (`item` ''), an explanation, a wording.

    run, at, model, task, title, explanations (a list), item, explanation ('' where the group has several), wording (''
    likewise), faithfulness, low, high, n, of, control, gain, accuracy (of the whole run). A run of one explanation has
    no group for it beside the whole run's.
    """
    found = store.query(
        """
        with by_group as (
            select run, item,
                   max(value) filter (metric = 'faithfulness') as faithfulness,
                   max(low) filter (metric = 'faithfulness') as low,
                   max(high) filter (metric = 'faithfulness') as high,
                   max(n) filter (metric = 'faithfulness') as n,
                   max("of") filter (metric = 'faithfulness') as "of",
                   max(value) filter (metric = 'faithfulness_control') as control,
                   max(value) filter (metric = 'faithfulness_gain') as gain,
                   max(value) filter (metric = 'accuracy') as accuracy
            from scores where rules = ? group by run, item
        )
        select run, runs."at", model, spec->>'task' as task, title, spec->>'explanations' as explanations, item,
               split_part(item, '/', 1) as explanation, split_part(item, '/', 2) as wording,
               faithfulness, low, high, n, "of", control, gain, accuracy
        from by_group join runs using (run)
        where lab = ? and n is not null order by runs."at" desc, run, item
        """,
        [rules, CHECK],
        rows=None,
    )
    found["explanations"] = [json.loads(names if isinstance(names, str) else "[]") for names in found["explanations"]]
    found["explanation"] = [
        names[0] if not explanation and len(names) == 1 else explanation
        for names, explanation in zip(found["explanations"], found["explanation"], strict=True)
    ]
    return found


def probes(store: Store, run_id: str) -> DataFrame:
    """The calls of the black box in a Probe run, in order: the table `probes`."""
    return store.query("select * from probes where run = ? order by number", [run_id], rows=None)


def probe_results(store: Store, rules: Rules = "repaired") -> DataFrame:
    """One row a Probe run that was scored, newest first; what was not measured or is undefined is null.

    run, at, title, category, interpreter, model, kind, nmse, nmse_success, exact_match, unit_test, unit_test_ceiling,
    noise_floor, interval_iou, probes (calls made), rules.
    """
    metrics = ("nmse", "nmse_success", "exact_match", "unit_test", "unit_test_ceiling", "noise_floor", "interval_iou")
    columns = ", ".join(f"max(value) filter (metric = '{metric}') as {metric}" for metric in metrics)
    return store.query(
        f"""
        with by_run as (
            select run, rules, {columns} from scores where item = '' and rules = ? group by run, rules
        )
        select run, runs.at, title, spec->>'category' as category, spec->>'interpreter' as interpreter, model,
               truths.kind, {", ".join(metrics)},
               (select count(*) from probes where probes.run = by_run.run) as probes, rules
        from by_run join runs using (run) left join truths using (run)
        where lab = ? order by runs.at desc, run
        """,  # noqa: S608  our own names
        [rules, PROBE],
        rows=None,
    )
