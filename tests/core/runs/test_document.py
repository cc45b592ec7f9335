"""A case as one HTML file: what a model wrote is text in it, and nothing else runs or loads."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from core import entry, home, journal
from core.report import scenes, standalone_html
from core.scene import Scene
from core.transcript import Transcript, transcript
from tests.attacks.pages import ATTACKS, run_of
from tests.support.small_lab import LAB


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
        yield path, transcript(journal.read(path).events)


def told_in(written: str) -> list[dict[str, Any]]:
    """The data of the file's viewers: a scene and its calls for each."""
    return [json.loads(told) for told in re.findall(r'<script type="application/json">(.*?)</script>', written)]


def texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict() | list():
            for one in value.values() if isinstance(value, dict) else value:
                yield from texts(one)
        case _:
            pass


def test_what_is_hostile_is_text(hostile: Transcript) -> None:
    written = standalone_html.case_html(ATTACKS[0], standalone_html.of_run(LAB, hostile)).decode()
    page = Page(written)
    said = [text for told in told_in(written) for text in texts(told)]
    for attack in (ATTACKS[2], ATTACKS[7]):
        assert sum(attack in text for text in said) >= 4
    harmless = Page(standalone_html.case_html("t", standalone_html.of_run(LAB, run_of(("yes", "no", "well")))).decode())
    assert page.kinds() == harmless.kinds() and len(told_in(written)) == len(hostile.cases)
    policy = next(str(one["content"]) for tag, one in page.tags if "http-equiv" in one)
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    for tag, opening in (("style", "<style>"), ("script", '<script type="module">')):
        inside = written[written.index(opening) + len(opening) :].partition(f"</{tag}>")[0]
        assert f"{tag}-src 'sha256-{base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()}'" in policy


def test_a_recorded_case_says_what_its_page_says_and_is_small() -> None:
    for path, told in recorded():
        lab = entry.labs()[told.started.lab] if told.started else LAB
        made = standalone_html.case_html("A case", standalone_html.of_run(lab, told)).decode()
        (given,) = told_in(made)
        assert Scene.model_validate(given["scene"]) == scenes.of_case(lab, told, told.only)
        text = "\n".join(texts(given["calls"]))
        said = [call.answered.text.strip() for call in told.calls.values() if call.answered]
        said += [message.content for call in told.calls.values() for message in call.asked.messages]
        assert [one for one in said if one not in text] == [], path.name
        assert len(made) < 2_000_000 and "src=" not in made and "@import" not in made


def test_what_is_left_out_is_said(hostile: Transcript) -> None:
    chosen = standalone_html.of_run(LAB, hostile)
    assert (
        f"The first {standalone_html.MOST} of 60 cases." in standalone_html.case_html("t", (chosen * 60)[:60]).decode()
    )
    assert "cases.</p>" not in standalone_html.case_html("half a character: \ud800", chosen).decode()
