"""`annotate`: sets of pages for several people: make one, follow it, and move answers in and out. `labels` and `judge`:
label schemes, how far people agree, and a model that labels.
"""

import json
import secrets
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import click

from .. import entry, home
from ..judging import lab
from ..judging.lab import CASE, LAB, METRIC, ToAsk
from ..report import annotation_files
from ..report.annotation_files import EXPORTS, IMPORTS
from ..runs import annotation_sets, driver
from ..runs.annotation_sets import AnnotationError, LiveSet
from ..runs.engine import RunRequest, new_id
from ..runs.labels import EXAMPLE, Scheme, path, schemes
from ..store import audits
from ..store.filters import from_query
from ..store.listing import Selection
from ..store.store import Store
from ..studies import annotation, plan
from ..studies.study_files import name_for
from ..text.display import count_noun
from ..transcript import Transcript, transcript
from . import run_output
from .run_output import DONE, FILE, WRONG, event_option, journals_option, json_option, open_fresh_index, open_run, run
from .study import study_argument


def commands() -> Iterator[click.Command]:
    """Yield annotate, labels and judge. The last replaces the lab's own command, which could not collect the cases."""
    help = "Let several people annotate the same pages: make, progress, simulate, export, import."
    yield click.Group("annotate", (_make(), _progress, _simulate, _export, _import), help=help)
    yield from (_labels, _judge)


def _find(context: click.Context, argument: click.Parameter, name: str) -> LiveSet:
    try:
        return annotation_sets.find(home.journals(), name)
    except AnnotationError as error:
        known = ", ".join(one.path.stem for one in annotation_sets.sets(home.journals()))
        raise click.BadParameter(f"{error} {f'There are: {known}.' if known else 'Make one first.'}") from None


_set = click.argument("live", metavar="SET", callback=_find)


def _make() -> click.Command:
    """Return the command that makes a set. Its tasks are those of the labs, so it is made when they are known."""
    people, pages, minutes = click.IntRange(1, 100), click.IntRange(1, 1_000), click.IntRange(1, 10_000)
    most = click.IntRange(1, annotation_sets.MOST_PAGES)

    @click.command("make", help="Make a set of pages from the completed runs of a study, and print its address.")
    @study_argument
    @click.option(
        "--task",
        type=click.Choice([*annotation.tasks(entry.labs())]),
        help="what people are asked (default: the lab's first task)",
    )
    @click.option("--per-item", type=people, default=3, help="people for each page (default: 3)")
    @click.option("--each", type=pages, default=20, help="most pages for one person (default: 20)")
    @click.option("--items", type=most, help="sample at most this many pages (default: all)")
    @click.option(
        "--minutes",
        type=minutes,
        default=60,
        help="minutes without an answer after which a person's pages go to others (default: 60)",
    )
    @click.option("--completion", default="", metavar="CODE", help="a code shown at the end, such as Prolific's")
    @click.option("--seed", type=click.IntRange(0, 10**9), default=0, help="seed of the sample (default: 0)")
    @click.option("--name", default="", help="name of the set (default: the study's, with six random letters)")
    @click.option(
        "--simulated-people",
        type=click.IntRange(0, 300),
        default=0,
        metavar="N",
        help="let scripted people try the set; they are left out of all figures about people",
    )
    @journals_option
    def make(
        file: Path,
        journals: Path,
        task: str | None,
        items: int | None,
        name: str,
        simulated_people: int,
        **settings: Any,
    ) -> int:
        study = plan.read(file, entry.labs())
        # Anyone who knows the address may take part, so it cannot be guessed.
        name = name or f"{name_for(file.stem)[:60]}-{secrets.token_hex(3)}"
        live = annotation.make(study, entry.labs(), journals, name, task or "", items, **settings)
        made = live.state.made
        print(f"{name}: {count_noun(len(made.pages), 'page')} of the task {made.task}, {made.per_item} people each")
        print(f"Its page in the app: /annotate?set={name}")
        print(f"For Prolific: /annotate?set={name}&PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&SESSION_ID={{{{%SESSION_ID%}}}}")
        return _let_simulated(live, simulated_people, journals) if simulated_people else DONE

    return make


@click.command("progress", help="Print the progress of a set, or of all sets if none is named.")
@click.argument("name", metavar="[SET]", required=False)
@json_option("a JSON object for each set")
def _progress(name: str | None, as_json: bool) -> int:
    journals = home.journals()
    found = [annotation_sets.find(journals, name)] if name else list(annotation_sets.sets(journals))
    if not found and not as_json:
        print("There is no annotation set yet: `annotate make STUDY` makes one.")
    for live in found:
        made = live.state.made
        task, lab = annotation.task_of(made, entry.labs()), entry.labs()[made.lab]
        lines = list(annotation.progress(live, annotation.shown_pages(live, task, lab, journals)))
        if as_json:
            print(json.dumps({"set": live.path.stem, "task": made.task, "progress": lines}))
        else:
            print(f"{live.path.stem}: {task.texts.title}", *(f"  {line}" for line in lines), sep="\n")
    return DONE


@click.command("simulate", help="Let scripted people (good, random and lazy in turn) go through a set.")
@_set
@click.option(
    "--simulated-people", "n", type=click.IntRange(1, 300), default=9, metavar="N", help="how many (default: 9)"
)
@journals_option
def _simulate(live: LiveSet, n: int, journals: Path) -> int:
    return _let_simulated(live, n, journals)


def _let_simulated(live: LiveSet, n: int, journals: Path) -> int:
    passed = annotation.simulate(live, entry.labs(), journals, n)
    kinds = ", ".join(f"{passed[kind]} {kind}" for kind in annotation.KINDS)
    print(f"{count_noun(n, 'simulated annotator')}; admitted: {kinds}. They are left out of all figures about people.")
    return DONE


@click.command("export", help="Write a set's answers, its people or its pages in another tool's columns.")
@_set
@click.option("--to", "form", type=click.Choice([*EXPORTS]), default="potato", help="default: potato")
@click.option("-o", "--output", type=FILE, required=True, help="a new file")
@click.option("--simulated", is_flag=True, help="simulated people instead of real ones")
@journals_option
def _export(live: LiveSet, form: str, output: Path, simulated: bool, journals: Path) -> int:
    task, lab = annotation.task_of(live.state.made, entry.labs()), entry.labs()[live.state.made.lab]
    shown = annotation.shown_pages(live, task, lab, journals)
    made = EXPORTS[form](live.state, task, shown, simulated)
    with run_output.new_file(output) as file:
        file.write(annotation_files.written(made, output))
    print(f"{count_noun(len(made), 'row')} in {output}")
    return DONE


@click.command("import", help="Import answers from Potato, or the status of submissions from Prolific (CSV or TSV).")
@_set
@click.argument("file", type=FILE)
@click.option("--from", "form", type=click.Choice([*IMPORTS]), default="potato", help="default: potato")
def _import(live: LiveSet, file: Path, form: str) -> int:
    task = annotation.task_of(live.state.made, entry.labs())
    taken = IMPORTS[form](live, task, annotation_files.read(file))
    for why, n in taken.left_out.items():
        print(f"{count_noun(n, 'row')} left out: {why}.", file=sys.stderr)
    print(f"{count_noun(taken.taken, 'row')} imported.")
    return DONE


# `labels`: own label schemes, and how far people agree. `judge`: let a model label cases by such a scheme.


@click.command("labels", help="List your own label schemes, and how far people who labelled the same cases agree.")
@json_option("one scheme per line, as a JSON object")
def _labels(as_json: bool) -> int:
    known = schemes()
    if not known:
        print(f"There is no label scheme yet. Write {path()}, for example:\n\n{EXAMPLE}")
    with open_fresh_index() as store:
        for scheme in known:
            labels = audits.own_labels(store, scheme.name)
            found = audits.scheme_agreement(labels, scheme)
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
        if names:
            raise click.UsageError(f"Name one of your label schemes with --scheme: {names}.")
        raise click.UsageError(f"There is no label scheme yet. Write {path()}; `labels` prints an example.")
    return found


@click.command("judge", help="Let a model label cases by your own scheme, after a test on the cases that you labelled.")
@click.argument("question", metavar="QUESTION")
@click.option("--model", required=True, help="the judge")
@click.option("--scheme", "name", default="", help="whose labels are the answers (default: your only one)")
@click.option(
    "--by", default="", metavar="WHO", help="whose labels test the judge (default: the person who labelled the most)"
)
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
    said = audits.own_labels(store, scheme.name)
    return max(Counter(who for by in said.values() for who in by).items(), key=lambda pair: pair[1], default=("", 0))[0]


def _read(journals: Path, run_id: str) -> Transcript:
    return transcript(open_run(run_id, journals, home.recordings())[2])


def _price(asked: ToAsk) -> str:
    found = asked.price
    if found is None:
        return " The price is not known."
    return f" About ${found[0]:,.2f} (prices of {found[1]:%d %B %Y})." if found[1] else " This costs nothing."
