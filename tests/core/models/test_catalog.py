"""Finding models by id."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from core.events import Answered, Asked, Event, Message, ModelAnswer, OnText, Request
from core.models import errors, local
from core.models.cache import ResponseCache
from core.models.catalog import Catalog, ModelInfo
from core.models.settings import EndpointConfig
from tests.support.stub_server import StubServer

RUN = "20261120-061500-ask-1a2b"


class Steadfast:
    """Answers as its explanation says."""

    id = "control/steadfast"
    title = "Steadfast"

    async def answer(self, request: Request, on_text: OnText) -> ModelAnswer:
        return ModelAnswer(text="yes")


def nothing(path: Path) -> Iterable[Event]:
    return ()


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Catalog]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    def make(**changes: Any) -> Catalog:
        settings: dict[str, Any] = {
            "home": tmp_path,
            "journals": tmp_path / "journals",
            "read": nothing,
            "controls": {"control/steadfast": Steadfast()},
        }
        return Catalog(**settings | changes)

    return make


def question(text: str = "Can penguins fly?") -> Request:
    return Request(role="explainer", model="", messages=(Message(role="user", content=text),))


def test_every_endpoint_is_a_name_and_a_model_with_slashes_if_need_be(make: Callable[..., Catalog]) -> None:
    with StubServer("Yes.", models=["org/model:1b"]) as server:
        catalog = make(endpoints=[server.config(name="mine")])
        model = catalog.get("mine/org/model:1b")
        assert model.id == "mine/org/model:1b"
        assert asyncio.run(model.answer(question(), lambda text: None)).text == "Yes."
        assert server.seen[0].body["model"] == "org/model:1b"


def test_the_limit_of_an_endpoint_holds_over_calls_of_get(make: Callable[..., Catalog]) -> None:
    with StubServer("Yes.", delay=0.03) as server:
        catalog = make(endpoints=[server.config(concurrency=2)])

        async def go() -> None:
            calls = [catalog.get("stub/stub-model").answer(question(str(n)), lambda text: None) for n in range(6)]
            await asyncio.gather(*calls)

        asyncio.run(go())
        assert server.most_at_once == 2


def test_answers_go_through_the_cache(make: Callable[..., Catalog], tmp_path: Path) -> None:
    with StubServer("Yes.") as server:
        catalog = make(endpoints=[server.config()], cache=ResponseCache(tmp_path / "cache.sqlite"))
        answers = [
            asyncio.run(catalog.get("stub/stub-model").answer(question(), lambda text: None)).cached for _ in range(2)
        ]
        assert answers == [False, True] and server.count == 1


def test_openai_comes_from_the_environment_unless_it_was_added(
    make: Callable[..., Catalog], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _about(make(), "openai/…").needs.startswith("A key: OPENAI_API_KEY")
    with StubServer("Yes.", key="sk-from-environment") as server, StubServer("No.") as other:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-from-environment")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert asyncio.run(make().get("openai/stub-model").answer(question(), lambda text: None)).text == "Yes."
        added = make(endpoints=[other.config(name="openai")])
        assert asyncio.run(added.get("openai/stub-model").answer(question(), lambda text: None)).text == "No."
    monkeypatch.setenv("OPENAI_BASE_URL", "https://ann:sk-secret@example.org")
    catalog = make()
    assert catalog.get("control/steadfast")
    with pytest.raises(errors.EndpointSettingError, match="OPENAI_BASE_URL") as caught:
        catalog.get("openai/gpt")
    assert "sk-secret" not in caught.value.message


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("control/stedfast", "Did you mean control/steadfast?"),
        ("local/smollm-135m", "Did you mean local/smollm2-135m?"),
        ("gpt-4o", "Did you mean openai/gpt-4o?"),
        ("claude-opus-4-8", "Did you mean anthropic/claude-opus-4-8? Connect Anthropic on the Models page first."),
        ("olama/llama3", "Connect an endpoint named olama"),
        ("steadfast", "Available: control/steadfast"),
        ("", "Available: "),
        ("replay/nothing", "Available: "),
        ("replay/../secrets", ""),
        ("replay/..", ""),
    ],
)
def test_an_unknown_id_brings_the_nearest(make: Callable[..., Catalog], id: str, words: str) -> None:
    with pytest.raises(errors.ModelNotFoundError) as caught:
        make().get(id)
    assert repr(id) in caught.value.message and words in caught.value.hint


def test_a_model_that_is_not_downloaded_says_so(make: Callable[..., Catalog], tmp_path: Path) -> None:
    with pytest.raises(errors.ModelNotFoundError, match="has not been downloaded") as caught:
        make().get("local/qwen2.5-0.5b")
    assert "491 MB" in caught.value.hint
    assert _about(make(), "local/qwen2.5-0.5b").needs == "A download of 491 MB"
    with pytest.raises(errors.ModelFileError, match="There is no file"):
        make().get(f"local/file:{tmp_path}/missing.gguf")


def test_weights_that_are_not_installed_say_how(make: Callable[..., Catalog], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "SHIPPED_PACKAGE", "no-such-package-at-all")
    with pytest.raises(errors.ModelNotFoundError) as caught:
        make().get("local/smollm2-135m")
    assert local.SHIPPED_INSTALL in caught.value.hint
    assert local.SHIPPED_INSTALL in _about(make(), "local/smollm2-135m").needs


def test_local_files_are_listed_and_kept_until_they_change(make: Callable[..., Catalog], tmp_path: Path) -> None:
    shipped = local.shipped_weights()
    assert shipped is not None
    (tmp_path / "models").mkdir()
    mine = tmp_path / "models" / "mine.gguf"
    with shipped.open("rb") as file:
        mine.write_bytes(file.read(100_000))
    catalog = make()
    assert "local/mine" in catalog.ids() and "local/smollm2-135m" in catalog.ids()
    model = catalog.get("local/mine")
    assert catalog.get("local/mine") is model
    mine.write_bytes(mine.read_bytes() + b"more")
    assert catalog.get("local/mine") is not model
    assert catalog.get(local.file_id(mine)).id == f"local/file:{mine}"


def test_replays_read_their_journal(make: Callable[..., Catalog], tmp_path: Path) -> None:
    sent = question().model_copy(update={"model": "openai/gpt"})
    events = [
        Asked(
            run=RUN,
            call="c1",
            role=sent.role,
            model=sent.model,
            messages=sent.messages,
            sampling=sent.sampling,
            fingerprint=sent.fingerprint(),
        ),
        Answered(run=RUN, call="c1", role=sent.role, model=sent.model, text="No.", seconds=1.0),
    ]
    read: list[Path] = []

    def journal(path: Path) -> Iterable[Event]:
        read.append(path)
        return events

    (tmp_path / "journals").mkdir()
    path = tmp_path / "journals" / f"{RUN}.jsonl"
    path.write_text("\n")
    catalog = make(read=journal)
    for _ in range(2):
        answer = asyncio.run(catalog.get(f"replay/{RUN}").answer(question(), lambda text: None))
        assert answer.text == "No."
    assert read == [path], "read once, as long as it does not grow"
    path.write_text("\n\n")
    catalog.get(f"replay/{RUN}")
    assert len(read) == 2


def test_the_list_of_models(make: Callable[..., Catalog], tmp_path: Path) -> None:
    (tmp_path / "journals").mkdir()
    for run in (RUN, "20261121-000000-ask-ffff"):
        (tmp_path / "journals" / f"{run}.jsonl").write_text("")
    ollama = EndpointConfig(name="ollama", base_url="http://127.0.0.1:11434/v1", preset="ollama", models=("llama3:8b",))
    catalog = make(
        endpoints=[ollama, EndpointConfig(name="lab", base_url="http://lab/v1", key=SecretStr("sk-planted"))]
    )
    described = catalog.describe()
    assert [info.kind for info in described] == sorted(
        (info.kind for info in described), key=["control", "local", "endpoint", "replay"].index
    )
    assert len({info.id for info in described}) == len(described)
    assert _about(catalog, "control/steadfast") == ModelInfo(
        id="control/steadfast", kind="control", title="Steadfast", about="Answers as its explanation says."
    )
    assert _about(catalog, "ollama/llama3:8b").title == "llama3:8b (Ollama)"
    assert _about(catalog, "lab/…").needs == "A model's name: write lab/<model>"
    assert catalog.ids()[-2:] == ["replay/20261121-000000-ask-ffff", f"replay/{RUN}"]
    assert "lab/…" not in catalog.ids() and "ollama/llama3:8b" in catalog.ids()
    assert "sk-planted" not in repr(described) + repr(vars(catalog))


@pytest.mark.parametrize("name", ["control", "local", "replay", "twice"])
def test_an_endpoint_cannot_take_a_name_that_is_taken(make: Callable[..., Catalog], name: str) -> None:
    both = [EndpointConfig(name=each, base_url="http://a/v1") for each in ("twice", name)]
    with pytest.raises(errors.EndpointSettingError, match="is taken"):
        make(endpoints=both)


def _about(catalog: Catalog, id: str) -> ModelInfo:
    return next(info for info in catalog.describe() if info.id == id)


def test_the_limit_of_calls_holds_over_all_who_share_an_endpoint() -> None:
    """Thirty sessions of a class, with the key of one file: simultaneous calls stay within the limit."""
    with StubServer("Yes.", delay=0.05) as server:
        config = server.config(concurrency=3, models=("stub-model",))
        catalogs = [
            Catalog(
                home=Path("/dev/null/unused"),
                journals=Path("/dev/null/unused"),
                read=lambda path: [],
                endpoints=[config],
            )
            for _ in range(10)
        ]
        request = Request(role="explainer", model="stub/stub-model", messages=(Message(role="user", content="?"),))

        async def ask() -> None:
            models = [catalog.get("stub/stub-model") for catalog in catalogs]
            await asyncio.gather(*(model.answer(request, lambda text: None) for model in models))

        asyncio.run(ask())
        assert server.count == 10 and server.most_at_once == 3


def test_what_pages_offer_looks_at_no_journal(tmp_path: Path) -> None:
    """There are as many replays as runs, and a page lists its models each time it is drawn."""

    def never(run: str) -> bool:
        raise AssertionError(run)

    (tmp_path / "run.jsonl").touch()
    catalog = Catalog(home=tmp_path, journals=tmp_path, read=lambda path: [], replays=never)
    assert "local/smollm2-135m" in {info.id for info in catalog.offered()}
    with pytest.raises(AssertionError):
        catalog.describe()
