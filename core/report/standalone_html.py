"""Cases, or the game, as one HTML file that needs nothing else: it opens anywhere, without a network, and the keyboard
steps through it.

What models and people wrote appears only as text: Jinja escapes everything, and the file's own policy lets it load
nothing and run only its one script, identified by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..labs.base.lab import Lab
from ..package_data import DATA
from ..runs import labels
from ..runs.labels import Guessed
from ..text.display import count_noun
from ..transcript import Transcript
from . import evidence, scenes
from .game import pack as packs
from .game.pack import Pack
from .methods import bibtex
from .viewer_assets import in_one_scope, viewer_style

if TYPE_CHECKING:
    from jinja2 import Template


MOST = 50
"""The most cases in one file; one with more would be slow to open."""

_PARTS = DATA / "page"


class Chosen(NamedTuple):
    """A case to show: its lab, its run as far as the journal goes, and its id; and how many lines of that journal are
    damaged.
    """

    lab: Lab
    transcript: Transcript
    case: str
    damaged: int = 0


def of_run(lab: Lab, transcript: Transcript, damaged: int = 0) -> list[Chosen]:
    """All cases of a run, by number."""
    return [Chosen(lab, transcript, case, damaged) for case in transcript.in_order or [""]]


def case_html(title: str, chosen: Sequence[Chosen], of: int | None = None) -> bytes:
    """A file with the first MOST of the cases, which says so if there are more. `of` is the number of all cases, if
    `chosen` does not have all of them. The file also says if a damaged journal lacks something.
    """
    shown, of = chosen[:MOST], of if of is not None else len(chosen)
    return page(
        "page.html",
        part("page.css"),
        f"{in_one_scope()}\n{part('page.js')}",
        title=" ".join(title.split()),
        left=f"The first {len(shown)} of {of:,} cases." if len(shown) < of else "",
        damaged=_damaged(shown),
        cases=[of_case(one) for one in shown],
        bibtex=bibtex(started for one in shown if (started := one.transcript.started)),
    )


def page(name: str, style: str, script: str, **fields: Any) -> bytes:
    """A file made from the template of that name, with the style, to which the base is added, and the script, the only
    ones that it may use, and the viewer's style; `fields` are the template's own.
    """
    style = based(style)
    hashes = {"style": digest(style), "script": digest(script)}
    stage_style = viewer_style("stage.css")
    made = template(name).render(style=style, script=script, stage_style=stage_style, hashes=hashes, **fields)
    # Half a surrogate pair, which a model may write, has no UTF-8: a browser shows a replacement sign.
    return made.encode("utf-8", "xmlcharrefreplace")


def _damaged(shown: Sequence[Chosen]) -> list[str]:
    """A sentence for each journal with damaged lines."""
    runs = {one.transcript.started.run: one.damaged for one in shown if one.transcript.started and one.damaged}
    return [f"Of the journal of {run} {damage(lines)}." for run, lines in runs.items()]


def damage(lines: int) -> str:
    """What it means that a journal has this many damaged lines."""
    are = "is" if lines == 1 else "are"
    return f"{count_noun(lines, 'line')} cannot be read or {are} lost, and what stood there too"


def of_case(one: Chosen, prompts: bool = True) -> dict[str, Any]:
    """What data/page/case.html needs for a case: its scene and the calls behind it, with or without their `prompts`, as
    JSON that is safe in a page; and as text what the run was made with.
    """
    scene = scenes.of_case(one.lab, one.transcript, one.case)
    behind = evidence.of_case(one.lab, one.transcript, one.case, prompts)
    return {
        "scene": scene,
        "told": in_page({"scene": scene.model_dump(), "calls": behind.model_dump(include={"calls"})["calls"]}),
        "verdict": scene.verdict.headline.text if scene.verdict else "",
        "model": str(one.transcript.started.spec.get("model") or "") if one.transcript.started else "",
        "figures": behind.figures,
        "made_with": json.dumps(behind.made_with, indent=1, ensure_ascii=False),
    }


def in_page(data: Any) -> str:
    """JSON for a page's script element, escaped so that no text in it can end the element."""
    # Half a surrogate pair has no UTF-8: it stays escaped, as all non-ASCII characters do.
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def with_policy(drawn: str) -> bytes:
    """A standalone page by Plotly, with a policy like that of the other files: it loads nothing and runs only the
    scripts that are in it now. Plotly sets inline styles, which no hash can cover.
    """
    scripts = " ".join(f"'{digest(script)}'" for script in re.findall(r"<script[^>]*>(.*?)</script>", drawn, re.DOTALL))
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}"><meta name="referrer" content="no-referrer">'
    return drawn.replace("<head>", f"<head>{head}", 1).encode("utf-8", "xmlcharrefreplace")


def based(style: str) -> str:
    """A page's style with what all pages share before it."""
    return viewer_style("base.css") + style


def part(name: str) -> str:
    """The text of one of the files that pages are made from (`data/page`)."""
    return (_PARTS / name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """The hash by which a policy allows a style or a script in the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def template(name: str) -> Template:
    """A template of `data/page`; everything that is put into a page is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    made = Environment(
        loader=FileSystemLoader(_PARTS),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # A lab's sentence, split so that every other part was *between asterisks*.
    made.filters["parts"] = lambda text: re.split(r"\*([^*\n]+)\*", text)
    return made.get_template(name)


# The game as one HTML file that needs nothing else, for a talk, an email or a page of one's own. The app serves the
# same file at `/play`, with links that only work in an app.


FIRST = "first"
"""The pack that is played if none is named."""


def game_html(pack: Pack, in_app: bool = False, guessed: Guessed | None = None) -> bytes:
    """The game with the pack's cards, as a file. `in_app`: it links to the cases behind its cards and sends guesses to
    the app; otherwise it contacts nobody. `guessed` is what all players have guessed so far.
    """
    shown = {
        "pack": pack.model_dump(mode="json"),
        "guessed": (guessed or Guessed()).model_dump(mode="json"),
        "isInApp": in_app,
        "others": packs.other_packs(pack.name) if in_app else [],
    }
    return page(
        "game.html",
        part("game.css"),
        f"{in_one_scope('outbox.js')}\n{part('game.js')}",
        title=" ".join(pack.title.split()),
        data=in_page(shown),
        in_app=in_app,
    )


def of_app(name: str, folder: Path | None = None) -> bytes:
    """The page that the app serves: the game with the shipped pack of that name, or FIRST if it is empty. For an
    unselected pack it includes what all players guessed, from the journals in `folder`. Raises GamePackError.
    """
    path = packs.path_of(name or FIRST)
    guessed = Guessed()
    if folder is not None and packs.load_pack(path.stem).as_it_came:
        guessed = labels.guessed(folder, path.stem)
    return _made(path, path.stat().st_mtime_ns, guessed.model_dump_json())


@lru_cache(maxsize=16)
def _made(path: Path, _changed: int, guessed: str) -> bytes:
    return game_html(packs.read(path), in_app=True, guessed=Guessed.model_validate_json(guessed))
