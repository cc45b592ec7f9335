"""A case as one HTML file: what a model wrote is text in it, and nothing else runs or loads."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from core import entry, home, journal
from core.runs.upgrade import upgraded
from core.telling import document
from core.transcript import Transcript, transcript
from tests.attacks.pages import ATTACKS, run_of
from tests.small_lab import LAB


class Page(HTMLParser):
    """A file's tags with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def kinds(self) -> set[tuple[str, str]]:
        return {(tag, name) for tag, attributes in self.tags for name in ("", *attributes)}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def hostile() -> Transcript:
    return run_of()


def recorded() -> Iterator[tuple[Path, Transcript]]:
    for path in sorted(home.recordings().glob("*.jsonl")):
        yield path, transcript(upgraded(journal.read(path).events, entry.labs()))


def test_what_is_hostile_is_text(hostile: Transcript) -> None:
    written = document.html(ATTACKS[0], document.of_run(LAB, hostile)).decode()
    page = Page(written)
    assert page.text.count(ATTACKS[2]) >= 4 and page.text.count(ATTACKS[7]) >= 4
    harmless = Page(document.html("t", document.of_run(LAB, run_of(("yes", "no")))).decode())
    assert page.kinds() == harmless.kinds()
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert all(str(attributes["href"]).startswith("#case-") for tag, attributes in page.tags if tag == "a")
    policy = next(str(one["content"]) for tag, one in page.tags if "http-equiv" in one)
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    for tag in ("style", "script"):
        inside = written[written.index(f"<{tag}>") + len(tag) + 2 : written.index(f"</{tag}>")]
        assert f"{tag}-src 'sha256-{base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()}'" in policy


def test_a_recorded_case_says_what_its_page_says_and_is_small() -> None:
    for path, told in recorded():
        lab = entry.labs()[told.started.lab] if told.started else LAB
        view = lab.view(told.case(told.only))
        made = document.html("A case", document.of_run(lab, told))
        text = " ".join(Page(made.decode()).text.split())
        said = [sentence.replace("*", "") for sentence in lab.verdict(view)]
        said += [view.title, view.explanation or "", *(trial.about for trial in view.trials.values())]
        said += [call.answered.text for call in told.calls.values() if call.answered]
        said += [message.content for call in told.calls.values() for message in call.asked.messages]
        assert [one for one in said if " ".join(one.split()) not in text] == [], path.name
        assert len(made) < 2_000_000 and "http://" not in re.sub(r"<pre.*?</pre>", "", made.decode(), flags=re.S)


def test_what_is_left_out_is_said(hostile: Transcript) -> None:
    chosen = document.of_run(LAB, hostile)
    assert f"The first {document.MOST} of 60 cases." in document.html("t", (chosen * 60)[:60]).decode()
    assert "The first" not in document.html("half a character: \ud800", chosen).decode()
