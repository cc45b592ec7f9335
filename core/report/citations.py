"""BibTeX for the app and for the papers that labs follow. CITATION.cff holds the same facts."""

from collections.abc import Iterable

from ..events import Started
from ..paper_figures import source
from ..runs.engine import app_version

TITLE = "Explain Yourself: an explorer that holds language models to their own explanations"
AUTHOR = "The Explain Yourself maintainers"


def bibtex(runs: Iterable[Started]) -> str:
    """Return the entry of the app, with the versions that made `runs`, and an entry for the paper of each of their
    labs. Without a known version it is the current one.
    """
    runs = list(runs)
    versions = dict.fromkeys(f"{run.app} ({run.commit})" if run.commit else run.app for run in runs if run.app)
    # The braces keep the author in one piece and the title in its capitals.
    app = {"author": f"{{{AUTHOR}}}", "title": f"{{{TITLE}}}", "version": ", ".join(versions) or app_version()}
    papers = [paper for lab in dict.fromkeys(run.lab for run in runs) if (paper := source(lab))]
    return "\n\n".join([_entry("software", "explain_yourself", app), *map(_paper, papers)])


def _paper(paper: dict[str, str]) -> str:
    surname = paper["bibtex"].partition(",")[0].lower()
    return _entry(
        "misc",
        f"{surname}{paper['year']}",
        {
            "author": paper["bibtex"],
            "title": f"{{{paper['title']}}}",
            "year": paper["year"],
            "eprint": paper["arxiv"],
            "archiveprefix": "arXiv",
        },
    )


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@{kind}{{{key},\n{lines}}}"
