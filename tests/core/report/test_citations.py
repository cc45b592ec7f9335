"""BibTeX for the app and the papers: the same facts as in CITATION.cff and in the published figures."""

import json
import re

from core import home
from core.events import Started
from core.package_data import ROOT
from core.paper_figures import source
from core.report import methods

RUN = re.compile(r"-(simulatability|consistency|find|plant)-")


def test_the_app_and_the_paper_of_each_lab_are_cited_once() -> None:
    runs = [
        Started.model_validate(json.loads(path.read_text().partition("\n")[0]))
        for path in sorted(home.recordings().glob("*.jsonl"))
        if RUN.search(path.name)
    ]
    text, cff = methods.bibtex(runs), (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert len(runs) > 4 and re.findall(r"^@(\w+)\{(\w+),$", text, re.M) == [
        ("software", "explain_yourself"),
        *(("misc", key) for key in dict.fromkeys(KEYS[run.lab] for run in runs)),
    ]
    assert text.count("{") == text.count("}") and f"version = {{{runs[0].app} (" in text
    assert f"  year = {{{methods.YEAR}}},\n" in text and f"date-released: {methods.YEAR}-" in cff
    assert f'title: "{methods.TITLE}"' in cff and f'name: "{methods.AUTHOR}"' in cff
    for lab in KEYS:
        paper = source(lab)
        family, given = paper["bibtex"].partition(" and ")[0].split(", ")
        assert f"family-names: {family}, given-names: {given}" in cff and f"arXiv {paper['arxiv']} " in cff
        assert f'title: "{paper["title"]}"' in cff and paper["authors"] == f"{family} et al."
        assert f"author = {{{paper['bibtex']}}}" in text and f"eprint = {{{paper['arxiv']}}}" in text


KEYS = {"simulatability": "chen2023", "consistency": "madsen2024", "find": "schwettmann2023", "plant": "turpin2023"}


def test_a_command_prints_bibtex_alone(capsys: object) -> None:
    from core.__main__ import main

    run = min(path.stem for path in home.recordings().glob("*-plant-*.jsonl"))
    assert main(["methods", run, "--bibtex"]) == 0
    out = capsys.readouterr().out  # type: ignore[attr-defined]
    assert out.startswith("@software{explain_yourself,") and "@misc{turpin2023," in out and "chen2023" not in out
