"""A pair of values, one for each parser (original and updated), used as one value: `x[rules]`. Stored as two flat
fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from inspect import isclass
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel, SerializerFunctionWrapHandler, model_serializer, model_validator
from pydantic.fields import FieldInfo

from .events import Frozen, Rules

RULES: tuple[Rules, ...] = ("paper", "repaired")

PARSER_NAMES: dict[str, str] = {"paper": "original parser", "repaired": "updated parser"}
"""What screens, exports and the terminal call each parser."""


def other_parser(rules: Rules) -> Rules:
    """Return the parser other than `rules`."""
    return "repaired" if rules == "paper" else "paper"


T = TypeVar("T")


class HasRulesets(Generic[T]):
    """Base of anything with a value `paper` and a value `repaired`."""

    def __getitem__(self, rules: Rules) -> T:
        value: T = getattr(self, rules)
        return value


class PerRuleset(Frozen, HasRulesets[T], Generic[T]):
    """A value for each of the two parsers."""

    paper: T
    repaired: T

    @classmethod
    def read_by_each(cls, read: Callable[[Rules], T]) -> PerRuleset[T]:
        """Call `read` for each parser and return both results."""
        return cls(paper=read("paper"), repaired=read("repaired"))

    @classmethod
    def same_for_both(cls, value: T) -> PerRuleset[T]:
        """Return the same value for both parsers."""
        return cls(paper=value, repaired=value)


class FlatRecord(Frozen):
    """A record in which a field `x: PerRuleset[…]` is written as `x_paper` and `x_repaired`, and restored from these.
    The field's default and `exclude_if` apply to each of the two.
    """

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        gathered = dict(data)
        for name, field in _by_rules(cls).items():
            given = gathered.pop(name, None)
            whole = given if isinstance(given, PerRuleset) else field.default
            sides = vars(whole).copy() if isinstance(whole, PerRuleset) else {}
            sides |= {rules: data[flat] for rules in RULES if (flat := f"{name}_{rules}") in data}
            if sides:
                gathered[name] = sides
        return gathered

    @model_serializer(mode="wrap")
    def _flatten(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        by_rules = _by_rules(type(self))
        flat: dict[str, Any] = {}
        for name, value in dump(self).items():
            if field := by_rules.get(name):
                out = field.exclude_if
                flat |= {f"{name}_{rules}": one for rules, one in value.items() if not (out and out(one))}
            else:
                flat[name] = value
        return flat

    def with_ruleset(self, rules: Rules, **values: Any) -> Self:
        """Return a copy with other values for these fields, for the parser `rules` only."""
        changed = {name: getattr(self, name).model_copy(update={rules: one}) for name, one in values.items()}
        return self.model_copy(update=changed)


def columns_of(record: type[BaseModel]) -> dict[str, Any]:
    """Return the fields of a record as they are written, in order, with the type of each."""
    columns: dict[str, Any] = {}
    for name, field in record.model_fields.items():
        kind: Any = field.annotation
        if name in _by_rules(record):
            (kind,) = kind.__pydantic_generic_metadata__["args"]
            columns |= {f"{name}_{rules}": kind for rules in RULES}
        else:
            columns[name] = kind
    return columns


@cache
def _by_rules(record: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields of a record that are `PerRuleset[…]`."""
    fields = record.model_fields.items()
    return {name: one for name, one in fields if isclass(one.annotation) and issubclass(one.annotation, PerRuleset)}
