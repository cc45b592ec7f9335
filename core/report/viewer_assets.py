"""The files that draw a case in a browser: the stage's modules, its style, and the library that it draws with."""

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, files, version
from pathlib import Path

from .. import package_data

LIBRARY = "datasette-preact"
"""The package with Preact and htm as one module; it is never imported."""

DRAWING = ("parts.js", "game.js", "stage.js")
"""The modules that draw, each after those that it imports. No two of them have a name for different things."""

_VIEWER = Path(__file__).with_name("viewer")
_LINE_OF_MODULE = re.compile(
    r'^import \{[^}]*\} from "\./[a-z]+\.js";\n|^export (?=async |class |const |function |let )', re.M
)


def _library() -> Path:
    """The path of the library's module. Raises PackageNotFoundError if it is missing or differs from the release."""
    # An installed package has it beside our own modules.
    path = next(_VIEWER.glob("preact-*.js"), None) or next(
        Path(str(file.locate())) for file in files(LIBRARY) or () if file.name.startswith("preact-")
    )
    if altered := package_data.altered(LIBRARY, path.parent):
        raise PackageNotFoundError(f"{LIBRARY}, whose file {altered} differs from the released one: install it again")
    return path


@cache
def stage_files() -> dict[str, Path]:
    """The files by the names under which a browser asks for them."""
    own = (*DRAWING, "base.css", "stage.css", "outbox.js", "live.js")
    return {name: _VIEWER / name for name in own} | {"preact.js": _library()}


@cache
def plotly_version() -> str:
    """The release of Plotly, whose own script draws pictures for a paper; part of the script's address."""
    return version("plotly")


def plotly_script() -> Path:
    """The path of Plotly's script for browsers, which comes with its package."""
    return next(Path(str(file.locate())) for file in files("plotly") or () if file.name == "plotly.min.js")


def printing_script() -> str:
    """The script that draws a picture for a paper, a component of Streamlit."""
    return (_VIEWER / "printed.js").read_text(encoding="utf-8")


def viewer_style(*names: str) -> str:
    """The text of these of the viewer's style sheets."""
    return "".join(stage_files()[name].read_text(encoding="utf-8") for name in names)


def drawing_files() -> tuple[str, str]:
    """The style and the script of the chart on which a person draws a curve, a component of Streamlit."""
    return (_VIEWER / "draw.css").read_text(encoding="utf-8"), (_VIEWER / "draw.js").read_text(encoding="utf-8")


def drawing_class() -> str:
    """The same script as one that defines the class `Drawing` alone."""
    script = drawing_files()[1].replace("export default", "const component =", 1)
    return f"const Drawing = (() => {{\n{script}\nreturn Drawing;\n}})();"


@cache
def in_one_scope(*more: str, drawing: tuple[str, ...] = DRAWING) -> str:
    """The library, the `drawing` modules and the modules `more` as one script, which defines `library` and, with all of
    DRAWING, `mount`: a page opened from disk cannot import anything.
    """
    code = {name: path.read_text(encoding="utf-8") for name, path in stage_files().items()}
    library, _, names = code["preact.js"].rpartition("export{")
    given = re.sub(r"(\w+) as (\w+)", r"\2: \1", names.rstrip().removesuffix(";").removesuffix("}"))
    own = "\n".join(_LINE_OF_MODULE.sub("", code[name]) for name in (*drawing, *more))
    return f"const library = (() => {{\n{library}\nreturn {{ {given} }};\n}})();\n{own}"
