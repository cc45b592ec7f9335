"""`labels`: own label schemes, and how far people agree. `judge`: let a model label cases by such a scheme."""

import json
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs

import click

from .. import entry, home
from ..judging import lab
from ..judging.lab import CASE, LAB, METRIC, ToAsk
from ..runs import driver
from ..runs.engine import RunRequest, new_id
from ..runs.labels import EXAMPLE, Scheme, path, schemes
from ..store import label_agreement
from ..store.filters import from_query
from ..store.listing import Selection
from ..store.store import Store
from ..text.display import count_noun
from ..transcript import Transcript, transcript
from .run_output import DONE, WRONG, event_option, journals_option, json_option, open_fresh_index, open_run, run


def add(commands: click.Group) -> None:
    """Add labels and judge to the group `commands`, in place. The latter replaces the lab's own command, which could
    not collect the cases.
    """
    commands.add_command(_labels)
    commands.add_command(_judge)


@click.command("labels", help="List your own label schemes, and how far people agree who labelled the same cases.")
@json_option("one scheme per line, as a JSON object")
def _labels(as_json: bool) -> int:
    known = schemes()
    if not known:
        print(f"There is no label scheme yet. Write {path()}, for example:\n\n{EXAMPLE}")
    with open_fresh_index() as store:
        for scheme in known:
            labels = label_agreement.own_labels(store, scheme.name)
            found = label_agreement.scheme_agreement(labels, scheme)
            if as_json:
                told = {"cases": len(labels), "people": found.people, "shared": found.n, "agreed": found.agreed}
                value = found.value._asdict() | {"coefficient": found.coefficient}
                print(json.dumps({**scheme.model_dump(), **told, **value}))
            else:
                print(f"{scheme.name}: {', '.join(f'{label} ({key})' for label, key in scheme.labels.items())}")
                print(f"  {len(labels):,} cases labelled. {found.sentence}")
    return DONE


def _scheme(name: str) -> Scheme:
    known = schemes()
    found = next((one for one in known if one.name == name or (not name and len(known) == 1)), None)
    if found is None:
        names = ", ".join(one.name for one in known)
        raise click.UsageError(
            f"Name one of your label schemes with --scheme: {names}."
            if known
            else f"There is no label scheme yet. Write {path()}; `labels` prints an example."
        )
    return found


@click.command("judge", help="Let a model label cases by your own scheme, after a test on the cases that you labelled.")
@click.argument("question", metavar="QUESTION")
@click.option("--model", required=True, help="the judge")
@click.option("--scheme", "name", default="", help="whose labels are the answers (default: your only one)")
@click.option("--by", default="", metavar="WHO", help="whose labels test the judge (default: who labelled the most)")
@click.option("--within", default="", metavar="FILTER", help="only these cases, filtered as in Browse's address")
@click.option("--yes", "is_agreed", is_flag=True, help="continue without asking, even if the judge fails its test")
@journals_option
@event_option
def _judge(
    question: str, model: str, name: str, by: str, within: str, is_agreed: bool, journals: Path, as_json: bool
) -> int:
    entry.catalog().get(model)
    scheme = _scheme(name)
    with open_fresh_index() as store:
        who = by or _busiest(store, scheme)
        selected = Selection(store, from_query(parse_qs(within)))

        def asked(is_test: bool) -> ToAsk:
            try:
                return lab.to_ask(selected, partial(_read, journals), scheme, who, model, question, is_test)
            except ValueError as error:
                raise click.UsageError(str(error)) from None

        test, whole = asked(True), asked(False)
    known = next(driver.earlier_runs(LAB, test.spec, journals, lambda run: True), None)
    if known is None:
        print(f"First the test, on {count_noun(test.labelled, 'case')} that {who} labelled.{_price(test)}", flush=True)
        if code := _run(test, journals, as_json):
            return code
        known = next(driver.earlier_runs(LAB, test.spec, journals, lambda run: True), None)
    score = known[1].score(METRIC, "repaired") if known else None
    passed = bool(score and score.detail.get("passed"))
    if known and not as_json:
        print(*LAB.view(known[1].case(CASE)).sentences(), f"Test: run {known[0]}", sep="\n")
    for why, n in whole.left_out.items():
        print(f"{count_noun(n, 'case')} left out: {why}.", file=sys.stderr)
    again = f" {test.labelled} of them have already been answered." if test.labelled else ""
    print(f"All: {count_noun(len(whole.cases), 'call')} to {model}.{again}{_price(whole)}", file=sys.stderr)
    if not is_agreed and not click.confirm("Continue?" if passed else "It did not pass. Continue anyway?", err=True):
        return DONE if passed else WRONG
    return _run(whole, journals, as_json)


def _run(asked: ToAsk, journals: Path, as_json: bool) -> int:
    return run(RunRequest(LAB, asked.spec, new_id(LAB.name), additions=asked.inputs), journals, as_json)


def _busiest(store: Store, scheme: Scheme) -> str:
    """Return who labelled the most cases under the scheme; '' if nobody did."""
    said = label_agreement.own_labels(store, scheme.name)
    return max(Counter(who for by in said.values() for who in by).items(), key=lambda pair: pair[1], default=("", 0))[0]


def _read(journals: Path, run_id: str) -> Transcript:
    return transcript(open_run(run_id, journals, home.recordings())[2])


def _price(asked: ToAsk) -> str:
    found = asked.price
    if found is None:
        return " The price is not known."
    return f" About ${found[0]:,.2f} (prices of {found[1]:%d %B %Y})." if found[1] else " This costs nothing."
