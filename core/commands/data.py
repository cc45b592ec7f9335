"""`data` and `prompts`: the data sets that can be downloaded, and the papers' prompts that can be read."""

import contextlib
from pathlib import Path

import click
import tomli_w

from .. import entry, home
from ..datasets import get
from ..datasets.registry import sources
from ..text.display import count_noun
from ..text.templates import PaperPromptError, PaperPrompts, home_folder
from .run_output import DONE, ProgressLine, aligned


@click.group("data", invoke_without_command=True, help="List the data sets that can be downloaded, or download one.")
@click.pass_context
def _data(context: click.Context) -> int:
    if context.invoked_subcommand is None:
        rows = [(one.name, "here" if one.is_here else "not here", f"{one.title} ({one.licence})") for one in sources()]
        print(*aligned(rows), sep="\n")
    return DONE


@_data.command("get", help="Print where a data set comes from, its size and its licence, then download it.")
@click.argument("name", type=click.Choice([one.name for one in sources()]))
@click.option("--yes", "is_agreed", is_flag=True, help="download without asking")
def _get(name: str, is_agreed: bool) -> int:
    source = next(one for one in sources() if one.name == name)
    if source.is_here:
        print(f"{source.title} is already here: {source.folder}. To download it again, delete that folder first.")
        return DONE
    expected = get.list_files(source)
    print(*get.about(source, expected), *(f"  {line}" for line in get.about_files(expected)), sep="\n", flush=True)
    if not is_agreed:
        click.confirm("Download it?", abort=True)
    with contextlib.closing(ProgressLine()) as line:
        folder = get.get(source, line, expected=expected)
    print(f"{source.title} is in {folder}")
    return DONE


# `prompts` says which of the papers' prompts you have; `prompts read` reads them from the authors' repositories.


@click.group(
    "prompts",
    invoke_without_command=True,
    help="The papers' own prompts: which of them you have, and where to get them. None ship with this app.",
)
@click.pass_context
def _prompts(context: click.Context) -> int:
    if context.invoked_subcommand is not None:
        return DONE
    folder = home_folder()
    for title, known in _papers().items():
        have = sum((folder / f"{name}.toml").is_file() for name in known.names)
        print(f"{title:<8} {have} of {count_noun(len(known.names), 'prompt')}, from {known.repository}")
    print(f"They are kept in {folder}.")
    return DONE


@_prompts.command(
    "read",
    help="Read the papers' prompts from FOLDER: a copy of an author's repository, or a folder with such copies. "
    "Nothing in it is run.",
)
@click.argument("folder", metavar="FOLDER", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--to", metavar="DIR", type=click.Path(file_okay=False, path_type=Path), help="write them to this folder")
def _read(folder: Path, to: Path | None) -> int:
    to = to or home_folder()
    found = {title: known.read(folder) for title, known in _papers().items()}
    if not any(found.values()):
        where = ", ".join(known.repository for known in _papers().values())
        raise PaperPromptError(
            f"{folder} holds none of the authors' prompts that this app knows. Copies of these have them: {where}."
        )
    for title, templates in found.items():
        for name, template in templates.items():
            home.write(to / f"{name}.toml", tomli_w.dumps(template).encode())
        missing = [name for name in _papers()[title].names if name not in templates]
        if templates:
            lacks = f"; not in this copy: {', '.join(missing)}" if missing else ""
            print(f"{title}: {count_noun(len(templates), 'prompt')}{lacks}.")
    print(f'Written to {to}. Choose them with --prompts paper, or prompts = "paper" in a study.')
    return DONE


def _papers() -> dict[str, PaperPrompts]:
    return {lab.title: lab.paper_prompts for lab in entry.labs().values() if lab.paper_prompts is not None}


COMMANDS = _data, _prompts
