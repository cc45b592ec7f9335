"""`study pause` and `study status`: what is wanted of a study that runs, and how it stands."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from .. import entry, home
from ..report import study_text
from ..studies import desired_state, plan, required_data
from ..studies.packing import refuse_packed
from ..studies.progress import progress
from .run_output import DONE, journals_option, json_option

study_argument = click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="STUDY.toml")
"""The study's file, as the parameter `file`."""


@click.command("pause", help="Stop a study that runs, here or in another process, to go on with later.")
@study_argument
def pause(file: Path) -> int:
    """Let no further call of the study leave; the process that makes it stops once open calls are answered."""
    study = plan.read(file, entry.labs())
    desired_state.want(home.home(), study.name, paused=True)
    print(f"{study.title}: the process that makes it stops within a second or two, once its open calls are answered.")
    print(f"To go on from there: python -m core study run {file}")
    return DONE


@click.command("status", help="How the runs of a study stand.")
@study_argument
@journals_option
@json_option("a JSON object")
def status(file: Path, journals: Path, as_json: bool) -> int:
    """How the study stands."""
    study = plan.read(file, entry.labs())
    refuse_packed(study, journals)
    found, broken = progress(study, journals), required_data.broken(required_data.held(study, journals))
    if as_json:
        print(json.dumps({**asdict(found), "broken": broken}, ensure_ascii=False))
        return DONE
    print(study.title, *study_text.of_progress(found), *broken, sep="\n")
    return DONE
