"""The documentation: links lead somewhere, the site lists each page, and asks no other server."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("README", "CONTRIBUTING", "SECURITY")
PAGES = [*sorted((ROOT / "docs").glob("*.md")), *(ROOT / f"{name}.md" for name in NAMES)]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(page: Path) -> set[str]:
    """The names by which links find the headings of a page."""
    heads = re.findall(r"^#+ (.+)$", re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", head).strip().lower()) for head in heads}


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    seen = 0
    for page in PAGES:
        for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
            if path.startswith(("http:", "https:")):
                continue
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), (page.name, path)
            assert not anchor or target.suffix != ".md" or anchor in anchors(target), (page.name, path, anchor)
            seen += 1
    assert seen > 30


def test_the_contents_of_the_site_name_every_page() -> None:
    named = set(re.findall(r": ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} == named - {
        "index.md", "contributing.md", "security.md", "reference.md",
    }  # fmt: skip


@pytest.mark.thorough
def test_the_site_is_built_without_a_warning_and_asks_no_other_server(tmp_path: Path) -> None:
    subprocess.run(["make", "docs", f"DOCS=-d {tmp_path}"], cwd=ROOT, check=True)
    pages = list(tmp_path.glob("*.html"))
    assert len(pages) > 18
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"(?:https?:)?//[^\"]+", text), page.name
    assert "counterfactual" in (tmp_path / "reference.html").read_text(encoding="utf-8")
