"""The specification of a run, and how a person sets its fields."""

import inspect
import math
from collections.abc import Callable, Mapping
from functools import cache
from types import UnionType
from typing import Any, ClassVar, Literal, NamedTuple, Self, Union, get_args, get_origin

from pydantic import Field, field_validator
from pydantic.fields import FieldInfo

from ...events import CallError, Frozen, Sampling
from ...package_data import sibling_toml
from ...text import templates

LONGEST_SYSTEM = 8_000
"""Maximum number of characters in a system prompt."""

MOST_CASES = 1_000
"""Maximum number of cases in one run. A larger task is split into several runs (`Spec.shards`)."""


class BadInputError(CallError):
    """The subject of a run is not available: a data set, a function, or a question outside a control's world."""

    in_journals = "BadInput"
    bad_input = True


def _extra(field: FieldInfo) -> dict[str, Any]:
    return field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}


class SpecFields(Frozen):
    """Fields that a person sets. The title, description, bounds and choices of a field determine its widget on the page
    and its option on the command line. Its words may be in the file fields.toml next to its module, under class and
    field: `title`, `description`, and further parts of a `Knob` (`option`, `widget`, `nobody`, `names`, …). A text as
    `names` is the name of a table in words.toml.
    """

    GROUPS: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The fields of each group of the form on the page, in order: the table `form` of the class in fields.toml."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        file = inspect.getfile(cls)
        for name, words in sibling_toml(file, "fields.toml").get(cls.__name__, {}).items():
            if name == "form":
                cls.GROUPS = {group: tuple(names) for group, names in words.items()}
                continue
            if isinstance(words.get("names"), str):
                words = {**words, "names": sibling_toml(file, "words.toml")[words["names"]]}
            field = cls.model_fields[name]
            field.title = words.get("title", field.title)
            field.description = words.get("description", field.description)
            field.json_schema_extra = {**_extra(field), **words}


class Spec(SpecFields):
    """What a run measures. Each lab has its own; all have a seed and name the models that they ask."""

    LENGTH_FIELDS: ClassVar[Mapping[str, str]] = {}
    """By role, the field that limits the length of its answers."""

    seed: int = 0

    def __hash__(self) -> int:
        # A field may hold a dict, which is not hashable.
        return hash(self.model_dump_json())

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        """The ids of the models that the run asks, by role; several models in one role take turns."""
        return {}

    @property
    def system_prompts(self) -> Mapping[str, str]:
        """The system prompt that a person set, by role; empty without one."""
        return {}

    @property
    def models(self) -> set[str]:
        """The ids of all models that the run asks."""
        return {model for models in self.roles.values() for model in models}

    @property
    def whole(self) -> Self:
        """The specification that this one is a shard of; itself if it is not a shard."""
        return self

    def shards(self) -> tuple[Self, ...]:
        """Return the specifications of the runs that are needed: itself, or shards of at most MOST_CASES cases each."""
        return (self,)


class Sampled(Spec):
    """A specification that may set how the model under test samples its answers; None means as in the lab's paper.

    The maximum length of an answer is a field of each lab. `prompts` is "paper", or a folder, for the prompts of the
    lab's paper (`core.text.templates`); None means ours. `system` is a system prompt for the model under test, or
    "paper:NAME" for one from that folder.
    """

    temperature: float | None = Field(default=None, ge=0, le=2, exclude_if=lambda temperature: temperature is None)
    top_p: float | None = Field(default=None, ge=0.01, le=1, exclude_if=lambda share: share is None)
    prompts: str | None = Field(default=None, max_length=1_000, exclude_if=lambda setting: setting is None)
    system: str = Field(default="", max_length=LONGEST_SYSTEM, exclude_if=lambda text: not text)

    @field_validator("prompts", mode="before")
    @classmethod
    def _of_ours(cls, given: object) -> object:
        return (given.strip() or None) if isinstance(given, str) else given

    @property
    def system_prompts(self) -> Mapping[str, str]:
        """The model under test has the roles whose answers have a maximum length. Raises PaperPromptError if the text
        is one of the paper's and missing.
        """
        if not self.system:
            return {}
        return dict.fromkeys(self.LENGTH_FIELDS, templates.text_of(self.system, self.prompts))

    def sampled(self, paper: Sampling) -> Sampling:
        """Return `paper`, the settings of the lab's paper, with the values that the specification sets replaced."""
        chosen = {"temperature": self.temperature, "top_p": self.top_p}
        return paper.model_copy(update={name: value for name, value in chosen.items() if value is not None})


class Knob(NamedTuple):
    """A field of a specification as a person sets it on the page, on the command line or in a study.

    - `kind` is the type of one value: int, float, bool or str; `choices` are all possible values, if they are few.
    - `several`: it holds a list of values; `pairs` shows how an entry of a mapping is written ("WHAT=COLUMN"), '' if it
      is no mapping. `optional`: it may be None.
    - `default` is None if a value is required. `low` and `high` are the smallest and largest number allowed, `longest`
      the maximum number of characters; None without a bound.
    - `names_models`: its values are ids of models; `nobody` says who takes the role if none is named.
    - On the page `names` are what its values are called (only those with a name are offered), `label` is its title
      there, `first` what is chosen at first, `example` what an empty field shows, and `look` a widget other than the
      usual one: "select", "pills", "checkbox", or "bare" for one without its title.
    """

    name: str
    title: str
    help: str
    kind: type
    choices: tuple[Any, ...]
    several: bool
    optional: bool
    default: Any
    low: Any
    high: Any
    longest: int | None
    names_models: bool
    option: str
    label: str
    first: Any
    nobody: str = "the model itself"
    pairs: str = ""
    names: Mapping[Any, str] = {}
    example: str = ""
    look: str = ""


@cache
def knobs(spec: type[SpecFields]) -> Mapping[str, Knob]:
    """Return the fields of the specification that a person may set, by name: those with a title, and the seed unless
    its title is "".
    """
    return {
        name: _knob(name, field)
        for name, field in spec.model_fields.items()
        if field.title or (name == "seed" and field.title is None)
    }


def _knob(name: str, field: FieldInfo) -> Knob:
    extra = _extra(field)
    value = next(type_ for type_ in _members(field.annotation) if type_ is not type(None))
    several = get_origin(value) is tuple
    value = get_args(value)[0] if several else value
    kind = value if value in (int, float, bool) else str
    low, high = _bounds(field, kind) if kind in (int, float) else (None, None)
    title = field.title or name.replace("_", " ").capitalize()
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    return Knob(
        name=name,
        title=title,
        help=field.description or field.title or "",
        kind=kind,
        choices=get_args(value) if get_origin(value) is Literal else (),
        several=several,
        optional=type(None) in _members(field.annotation),
        default=default,
        low=low,
        high=high,
        longest=next((rule.max_length for rule in field.metadata if hasattr(rule, "max_length")), None),
        names_models=name == "model" or extra.get("widget") == "model",
        option=str(extra.get("option", f"--{name.replace('_', '-')}")),
        label=extra.get("label", title),
        first=extra.get("first", default),
        **{part: extra[part] for part in Knob._field_defaults if part in extra},
    )


def _members(annotation: Any) -> tuple[Any, ...]:
    """Return the types in a union, or the type itself."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _bounds(field: FieldInfo, kind: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Return the smallest and the largest number of that `kind` that the field accepts."""
    low = high = None
    for rule in field.metadata:
        if (least := getattr(rule, "ge", None)) is not None:
            low = kind(least)
        if (above := getattr(rule, "gt", None)) is not None:
            low = kind(above + 1 if kind is int else math.nextafter(above, math.inf))
        if (most := getattr(rule, "le", None)) is not None:
            high = kind(most)
        if (below := getattr(rule, "lt", None)) is not None:
            high = kind(below - 1 if kind is int else math.nextafter(below, -math.inf))
    return low, high
