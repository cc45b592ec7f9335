"""The lab on the command line: the options that are no field of the specification, and a check in lines."""

from __future__ import annotations

from typing import Any, get_args

import click

from .tasks import TASKS, CheckSpec, Mask, Persona, Target, Wording, cases

MASKS: dict[str, Mask] = {"redacted": "[REDACTED]", "removed": "[REMOVED]"}

_ITEM = ("text", "question", "choice", "hypothesis", "label")
_WORDING = ("persona", "target", "mask", "mask_sentence", "short", "options")


def _about(name: str) -> str:
    return Wording.model_fields[name].description or ""


PARAMETERS: tuple[click.Parameter, ...] = (
    click.Argument(["task"], type=click.Choice(TASKS)),
    click.Option(["--text"], metavar="TEXT", help="a paragraph of your own; for entailment the premise"),
    click.Option(["--question"], metavar="TEXT", help="multi_choice: the question about the paragraph"),
    click.Option(["--choice"], metavar="TEXT", multiple=True, help="multi_choice: a possible answer; repeat it"),
    click.Option(["--hypothesis"], metavar="TEXT", help="entailment: does this follow?"),
    click.Option(["--label"], metavar="LABEL", help="the correct answer to --text, if there is one"),
    click.Option(["--persona"], type=click.Choice(get_args(Persona)), help=_about("persona")),
    click.Option(["--target"], type=click.Choice(get_args(Target)), help=_about("target")),
    click.Option(["--mask"], type=click.Choice(tuple(MASKS)), help=_about("mask")),
    click.Option(
        ["--no-mask-sentence", "mask_sentence"],
        is_flag=True,
        flag_value=False,
        default=None,
        type=bool,
        help=f"not: {_about('mask_sentence')}",
    ),
    click.Option(["--short"], is_flag=True, default=None, type=bool, help=_about("short")),
    click.Option(["--options"], is_flag=True, default=None, type=bool, help=_about("options")),
)


def fields(given: dict[str, Any]) -> dict[str, Any]:
    """The specification's fields from what was given on the command line. Raises ValueError."""
    given = dict(given)
    item = {name: given.pop(name) for name in _ITEM if name in given}
    wording = {name: given.pop(name) for name in _WORDING if name in given}
    if "mask" in wording:
        wording["mask"] = MASKS[wording["mask"]]
    if "text" not in item:
        if item:
            raise ValueError(f"--{next(iter(item))} goes with --text, a paragraph of your own.")
    elif given.get("dataset"):
        raise ValueError("Give --text or --dataset, not both.")
    else:
        choices = item.pop("choice", ())
        given["items"] = (
            {"id": "text", "task": given["task"], "paragraph": item.pop("text"), "choices": choices, **item},
        )
    return given | ({"wordings": (wording,)} if wording else {})


def check(spec: CheckSpec) -> None:
    """Raises DatasetError where a data set cannot be read, and ValueError where there are too many checks."""
    for _ in cases(spec):
        break
