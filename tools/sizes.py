"""How large the code is, and how tangled. It prints what may grow; nothing fails for it."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORT = (ast.Import, ast.ImportFrom)


def code_lines(tree: ast.AST) -> int:
    """The lines of all statements: no comments, and no texts that stand by themselves."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            inner = getattr(node, "body", None)
            lines.update(range(node.lineno, inner[0].lineno if inner else (node.end_lineno or 0) + 1))
    return len(lines)


def import_lines(tree: ast.AST) -> int:
    """The lines of all imports, wherever they are."""
    return sum((node.end_lineno or 0) + 1 - node.lineno for node in ast.walk(tree) if isinstance(node, IMPORT))


def module_name(path: Path) -> str:
    """The dotted name of the module at that path below the root."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def imported_modules(tree: ast.Module, name: str, path: Path, names: set[str]) -> set[str]:
    """Our modules that this one imports when it is itself imported: not within a function or for type checkers only."""
    found: set[str] = set()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    nodes: list[ast.stmt] = list(tree.body)
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            source = ".".join(part for part in (above, node.module or "") if part)
            found |= {source} | {f"{source}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            nodes += node.orelse
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef):
            nodes += [inner for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.stmt)]
    return found & names - {name}


def longest_chain(imports: dict[str, set[str]]) -> list[str]:
    """The longest row of modules of which each imports the next. Modules that import each other are cut at the first
    one met a second time.
    """
    open_now: set[str] = set()

    @cache
    def below(name: str) -> tuple[str, ...]:
        open_now.add(name)
        chains = [below(other) for other in sorted(imports[name]) if other not in open_now]
        open_now.discard(name)
        return (name, *max(chains, key=len, default=()))

    return list(max((below(name) for name in imports), key=len))


def main() -> None:
    """Code lines a package, modules, imports, bytes, shared class names, and the fields of `Lab`."""
    paths = [*(ROOT / "core").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"]
    trees = {path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    lines: Counter[str] = Counter()
    for path, tree in trees.items():
        lines["/".join(path.parts[:2])] += code_lines(tree)
    nodes = [(path, node) for path, tree in trees.items() for node in ast.walk(tree)]
    [lab] = [node for _, node in nodes if isinstance(node, ast.ClassDef) and node.name == "Lab"]
    functions = [(path, node) for path, node in nodes if isinstance(node, FUNCTION)]
    most, name, where = max((len(node.args.args + node.args.kwonlyargs), node.name, path) for path, node in functions)
    fields = sum(isinstance(node, ast.AnnAssign) for node in lab.body)
    packages = ", ".join(f"{package} {count:,}" for package, count in lines.most_common())
    print(f"Code lines: {sum(lines.values()):,} in {len(paths)} files: {packages}.")
    print(f"Fields of Lab: {fields}. The most parameters of a function: {most}, of {name} in {where}.")

    texts = [path.read_text(encoding="utf-8") for path in paths]
    names = {module_name(path) for path in trees}
    imports = {(own := module_name(path)): imported_modules(tree, own, path, names) for path, tree in trees.items()}
    chain = longest_chain(imports)
    classes = Counter(
        node.name for _, node in nodes if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    shared = sum(count > 1 for count in classes.values())
    source = [
        file for kind in ("py", "toml") for part in ("core", "pages") for file in (ROOT / part).rglob(f"*.{kind}")
    ]
    share = sum(map(import_lines, trees.values())) / sum(lines.values())
    print(f"Modules without __init__: {sum(path.name != '__init__.py' for path in paths)}.")
    ends = f"{chain[0]} to {chain[-1]}"
    print(f"Imports: {share:.1%} of the code lines. Longest import chain: {len(chain)} modules, {ends}.")
    print(f"Python and TOML below core and pages: {sum(file.stat().st_size for file in source):,} bytes.")
    print(f"# fmt: skip: {sum(text.count('# fmt: ' + 'skip') for text in texts)}.")
    print(f"Public class names that several classes share: {shared}.")


if __name__ == "__main__":
    main()
