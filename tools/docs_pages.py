"""Pages of the documentation site that are not in `docs/`: README.md is its start, CONTRIBUTING.md one of its pages,
and the reference comes from the docstrings. mkdocs.yml names this file as a hook of MkDocs.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
REFERENCE = """# The Python package

`import explain_yourself as ey` gives these functions and classes. [Python and notebooks](python.md) shows them at work.

::: explain_yourself
    options: {members: [ask, check, probe, plant], show_docstring_description: true}

::: core.notebook
    options: {members: [items, dataset, open, study, model, metric, lab, Items, Run, Study, RunError]}
"""


def _linked(text: str) -> str:
    """`text` with its links to files of the repository as links to pages; a folder without a page is only named."""
    text = re.sub(r"\]\((\.\./)?(docs/)?", "](", text)
    text = re.sub(r"\]\((README|CONTRIBUTING|SECURITY)\.md", lambda link: f"]({PAGES[link[1] + '.md']}", text)
    return re.sub(r"\[([^\]]+)\]\(examples/[^)]*\)", r"\1", text)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    files.append(File.generated(config, "reference.md", content=REFERENCE))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Let links lead to pages."""
    return _linked(markdown)
