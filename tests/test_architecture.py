"""Layers of the architecture: which module may import which, and what starting the app may cost. The lowest layer comes
first.
"""

import ast
import fnmatch
import json
import subprocess
import sys
from collections.abc import Collection, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import naming_labs

ROOT = Path(__file__).resolve().parents[1]

FLOORS: list[set[str]] = [
    {"core.errors", "core.package_data"},
    {"core", "core.events", "core.home", "core.paper_figures", "core.policy", "core.statistics"},
    {"core.transcript", "core.files", "core.optional"},
    {
        "core.duckdb_worker",
        "core.lease",
        "core.models.ids",
        "core.rulesets",
        "core.score",
        "core.text",
        "core.transcript",
    },
    {"core.scene"},
    {"core.parsers"},
    {"core.charts", "core.journal", "core.labs.base"},
    {"core.datasets"},
    {"core.runs"},
    {"core.server"},
    {"core.models", "core.sandbox"},
    {"core.datasets.get"},
    {"core.store"},
    {"core.labs"},
    {"core.studies"},
    {"core.report"},
    {"core.judging"},
    {"core.rooms"},
    {"core.lessons"},
    {"core.extensions"},
    {"core.entry"},
    {"core.commands"},
    {"core.notebook"},
    {"core.inspect_solvers"},
    {"core.__main__"},
    {"pages.connections"},
    {"pages.addresses", "pages.middleware"},
    {"pages.viewer"},
    {"pages.components"},
    {"pages"},
    {"pages.shell"},
    {"app"},
]
"""The layers. A package or file belongs to the longest name here that its own name begins with."""

UNKNOWN = ""
"""Stands for an import whose module name is not a text."""

HEAVY = (
    *("torch", "transformers", "sentence_transformers", "nltk", "scipy", "statsmodels", "sklearn", "sacrebleu"),
    *("duckdb", "xllamacpp", "openai", "streamlit"),
)


class Import(NamedTuple):
    importer: str
    imported: str
    where: str


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


INSIDE = ROOT / "core" / "sandbox" / "prelude"
"""Programs for the sandbox's interpreter, which are read as texts and are not modules of ours."""


def files() -> list[Path]:
    paths = [*(ROOT / "core").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"]
    return sorted(path for path in paths if path.exists() and (path.parent != INSIDE or path.stem == "__init__"))


MODULES = {module_of(path): path for path in files()}


def imported_names(module: str, path: Path, tree: ast.AST, known: set[str]) -> Iterator[tuple[str, int]]:
    """Yield every import in the file as (full module name, line), including those inside functions and those by a name
    given as text. A text with parts to be filled in stands for all modules that it may name; a name that is not a
    text is UNKNOWN.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node.func) in ("import_module", "__import__"):
            pattern = named_by(node.args[0]) if node.args else UNKNOWN
            package = module if path.name == "__init__.py" else module.rpartition(".")[0]
            pattern = resolve_name(pattern, package)
            for name in fnmatch.filter(known, pattern) or [pattern]:
                yield name, node.lineno
        elif isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, node.lineno  # type: ignore[attr-defined]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
                outer = package[: len(package) - node.level + 1]
                base = ".".join([*outer, *([node.module] if node.module else [])])
            for name in node.names:
                inner = f"{base}.{name.name}"  # type: ignore[attr-defined]
                yield (inner if inner in known else base), node.lineno


def called(function: ast.expr) -> str:
    """The last name of the called function."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def named_by(argument: ast.expr) -> str:
    """The module name that is given as text, with a * for each part to be filled in."""
    if isinstance(argument, ast.JoinedStr):
        return "".join(str(piece.value) if isinstance(piece, ast.Constant) else "*" for piece in argument.values)
    return str(argument.value) if isinstance(argument, ast.Constant) else UNKNOWN


@cache
def imports() -> list[Import]:
    """The imports of every file, read when the first test needs them, not in each process that collects tests."""
    return [
        Import(module, imported, f"{path.relative_to(ROOT)}:{line}")
        for module, path in MODULES.items()
        for imported, line in imported_names(module, path, ast.parse(path.read_text(encoding="utf-8")), set(MODULES))
    ]


def ours() -> list[Import]:
    return [one for one in imports() if one.imported.split(".")[0] in {"core", "pages", "app"}]


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def place(module: str) -> tuple[int, str]:
    """The module's layer, counted from the bottom, and its package there."""
    held = [(len(name), floor, name) for floor, names in enumerate(FLOORS) for name in names if within(module, name)]
    _, floor, name = max(held, default=(0, -1, ""))
    return floor, name


def of_a_lab(module: str) -> bool:
    """Whether the module belongs to one lab, and not to all (`core.labs.base`)."""
    return within(module, "core.labs") and not within(module, "core.labs.base")


def test_every_file_stands_on_a_floor_of_its_own():
    """A new package of `core/` needs its place in FLOORS; `core` itself contains only its `__init__`."""
    homeless = [
        module for module in MODULES if place(module)[0] < 0 or (place(module)[1] == "core" and module != "core")
    ]
    assert not homeless


def test_a_file_imports_only_from_floors_below_or_from_its_own_package():
    wrong = []
    for importer, imported, where in ours():
        (from_floor, from_package), (to_floor, to_package) = place(importer), place(imported)
        if to_floor > from_floor or (to_floor == from_floor and to_package != from_package):
            wrong.append(f"{where} imports {imported}")
    assert not wrong


def test_a_lab_imports_no_other_lab():
    def lab(module: str) -> str:
        return module.split(".")[2] if of_a_lab(module) and module != "core.labs" else ""

    wrong = [
        f"{where} imports {imported}"
        for importer, imported, where in ours()
        if lab(importer) and lab(imported) not in ("", lab(importer))
    ]
    assert not wrong


def circle(edges: dict[str, set[str]]) -> list[str]:
    """One cycle in the graph, with its first node repeated at the end; [] if there is none."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def edges(found: list[Import]) -> dict[str, set[str]]:
    """Map each of our modules to the modules of ours that it imports."""
    graph: dict[str, set[str]] = {}
    for importer, imported, _ in found:
        if imported in MODULES and imported != importer:
            graph.setdefault(importer, set()).add(imported)
    return graph


def test_there_are_no_circles():
    assert circle(edges(imports())) == []


def test_every_import_can_be_read():
    """Except one that looks into other projects' libraries, by names that it lists."""
    unread = {one.importer for one in imports() if one.imported == UNKNOWN}
    assert unread == {"core.sandbox.rewriting"}


def test_core_imports_no_streamlit():
    assert not [one.where for one in imports() if within(one.importer, "core") and within(one.imported, "streamlit")]


def test_importing_all_of_core_stays_cheap():
    """Heavy libraries are imported in the functions that use them, so that no page and no command waits for them."""
    # The solvers for Inspect need inspect_ai, and nothing else imports them.
    names = [module for module in MODULES if within(module, "core") and module != "core.inspect_solvers"]
    code = (
        "import importlib, json, sys\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


# Tests of the checks themselves


def test_a_circle_is_noticed():
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"b"}})) == {"b", "c"}
    assert circle({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}) == []
    assert circle({"a": {"a2"}, "a2": {"a"}}) != []


@pytest.mark.parametrize(
    "line",
    [
        "from pages.shell import main",
        "def f():\n    from pages import shell",
        "def f():\n    import_module('pages.shell').main()",
        "def f(name):\n    importlib.import_module(f'pages.{name}')",
        "page = __import__('pages.shell')",
    ],
)
def test_a_circle_planted_among_our_files_is_noticed(line):
    """A component that imports the shell, which imports it."""
    part = "pages.components.throttle"
    planted = [Import(part, name, "") for name, _ in imported_names(part, MODULES[part], ast.parse(line), set(MODULES))]
    assert part in circle(edges([*imports(), *planted]))


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("import core.text.reply", ["core.text.reply"]),
        ("from core import events, journal", ["core.events", "core.journal"]),
        ("from core.events import Rules", ["core.events"]),
        ("def f():\n    from core.store import store", ["core.store.store"]),
        ("from . import reply", ["core.text.reply"]),
        ("from .reply import fields", ["core.text.reply"]),
        ("from ..events import Rules", ["core.events"]),
        ("import_module('core.events')", ["core.events"]),
        ("def f():\n    importlib.import_module('numpy')", ["numpy"]),
        ("import_module('.reply', __package__)", ["core.text.reply"]),
        ("import_module(f'core.{name}.store')", ["core.store.store"]),
        ("__import__('core.journal')", ["core.journal"]),
        ("import_module(name)", [""]),
    ],
)
def test_every_form_of_import_is_seen(line, names):
    known = {"core.events", "core.journal", "core.text.reply", "core.store.store"}
    path = ROOT / "core" / "text" / "x.py"
    assert [name for name, _ in imported_names("core.text.x", path, ast.parse(line), known)] == names


# Which files may name a lab


MEANS_NOTHING_ELSE = {"simulatability", "consistency", "reliability"}
"""Lab names that are not words of the code: generic files must not contain them at all."""


def named_in(tree: ast.AST, names: Collection[str]) -> list[tuple[int, str]]:
    """The places where a file names one of these labs, with their lines."""
    long = MEANS_NOTHING_ELSE & set(names)
    said = [
        (node.lineno, node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value in long
    ]
    return sorted({*said, *naming_labs.Uses(tree, names, taking_a_lab()).found()})


@cache
def taking_a_lab() -> dict[str, naming_labs.Takes]:
    return naming_labs.taking_a_lab([ast.parse(path.read_text(encoding="utf-8")) for path in MODULES.values()])


def generic(inside: str, besides: Collection[str]) -> Iterator[tuple[str, Path, ast.AST]]:
    """Yield the files of a package that belong to no lab."""
    for module, path in MODULES.items():
        if within(module, inside) and not any(within(module, one) for one in besides):
            yield module, path, ast.parse(path.read_text(encoding="utf-8"))


def test_no_file_outside_a_lab_s_own_rooms_names_a_lab():
    """Except the one line that registers it."""
    from core import entry

    wrong = []
    for module, path, tree in generic("core", ("core.labs", "core.entry")):
        where = path.relative_to(ROOT)
        wrong += [f"{where}:{line} names {name!r}" for line, name in named_in(tree, entry.labs())]
        wrong += [f"{where} imports {name}" for name in imports_of(module) if of_a_lab(name)]
    assert not wrong


def test_pages_that_are_no_lab_s_room_name_no_lab():
    """The page driver, Browse, replay, Methods and the front page read the labs' declarations and their own page parts.
    Only the shell loads these parts.
    """
    from core import entry

    wrong = []
    for module, path, tree in generic("pages", ("pages.labs",)):
        imported = [name for name in imports_of(module) if of_a_lab(name) or within(name, "pages.labs")]
        if module == "pages.shell":
            imported.remove("pages.labs")
        named = [name for _, name in named_in(tree, entry.labs())]
        wrong += [f"{path.relative_to(ROOT)}: {name}" for name in (*named, *imported)]
    assert not wrong


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "line",
    [
        'if lab.name == "{}": pass',
        'if "{}" != run.lab: pass',
        'rows = [row for row in rows if row["lab"] in ("{}", "another")]',
        'ours = started.spec.get("lab") == "{}"',
        'ours = [one for one in entry.labs().values() if one.name == "{}"]',
        'SLOW = frozenset({{"{}"}})\ndef f(lab): return lab.name in SLOW',
        'WORDS = {{"{}": "kept"}}\ndef f(lab): return WORDS[lab.name]',
        'def f(lab): return {{"{}": 1}}.get(lab.name, 0)',
        'def f(): return entry.labs()["{}"]',
        'lab_page.LAB_PAGES.get("{}")',
        'match lab.name:\n    case "{}": pass',
        'runs = query(lab="{}")',
        'entry.jobs().start("{}", spec)',
        'if state.started.lab.startswith("{}"): pass',
    ],
)
def test_a_lab_named_in_a_generic_file_is_noticed(line):
    for name in ("consistency", "hint", "find"):
        tree = ast.parse(line.format(name))
        assert [found for _, found in named_in(tree, {name})] == [name]
        assert not named_in(tree, {"another lab"})


def test_a_lab_may_bear_any_word_that_stands_in_the_code():
    trees = [tree for _, _, tree in (*generic("core", ("core.labs", "core.entry")), *generic("pages", ("pages.labs",)))]
    words = {
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()
    }
    assert {"hint", "completed"} < words
    assert [found for tree in trees for found in named_in(tree, words | {"find"})] == []


def imports_of(module: str) -> list[str]:
    return [one.imported for one in imports() if one.importer == module]
