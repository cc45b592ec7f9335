"""How large the house is. It prints what may grow; nothing fails for it."""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(tree: ast.AST) -> int:
    """The lines of all statements: no comments, and no texts that stand by themselves."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            inner = getattr(node, "body", None)
            lines.update(range(node.lineno, inner[0].lineno if inner else (node.end_lineno or 0) + 1))
    return len(lines)


def main() -> None:
    """Code lines a package, fields of `Lab`, and which function takes the most parameters."""
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


main()
