"""The part of a specification, in any lab, that selects items from a data set."""

from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from ..events import CallError
from ..labs.base.spec import MOST_CASES, Spec
from . import own, registry
from .items import Item, Loaded, Split, Task, loaded_record
from .own import Columns, Keep

MOST_ITEMS = 1_000_000
"""The largest limit that a specification may set."""


class OnData(Spec):
    """A specification about `limit` items of `dataset`, drawn by the seed, for the `task`.

    The data set is in `path`, or in the usual folder; `split` is a part of it. A person's own file has `columns`
    instead of these two. `counted` is the plural word for its items. `shard` (number, count) selects one of `count`
    parts of the items in the order drawn; parts are numbered from 1 and their sizes differ by at most one.
    """

    counted: ClassVar[str] = "items"

    task: Task
    title: str = ""
    dataset: str = ""
    path: str | None = None
    split: Split | None = None
    limit: int | None = Field(default=None, ge=1, le=MOST_ITEMS)
    shard: tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=2)]] | None = Field(
        default=None, exclude_if=lambda shard: shard is None
    )
    columns: Columns = Field(default_factory=dict)
    keep: Keep = ()

    @model_validator(mode="before")
    @classmethod
    def _entitled(cls, given: Any) -> Any:
        if not isinstance(given, dict) or given.get("title") or not given.get("dataset"):
            return given
        many = f"{given['limit']} {cls.counted}" if given.get("limit") else f"all {cls.counted}"
        return {**given, "title": own.title(str(given["dataset"]), many)}

    @model_validator(mode="after")
    def _is_there(self) -> Self:
        """Raises ValueError if the data set has no items for the task, or cannot have these columns."""
        if own.is_own(self.dataset):
            own.check_columns(self.task, self.columns)
            if self.path or self.split:
                raise ValueError(
                    "Name your own file as `--dataset file:NAME`; `--path` and `--split` are for known data sets."
                )
        elif self.dataset and (self.columns or self.keep):
            raise ValueError("`--column` and `--keep` are for your own files only: file:NAME or hf://OWNER/NAME/FILE.")
        elif self.dataset and registry.find(self.dataset).task != self.task:
            fit = [dataset.name for dataset in registry.DATASETS if dataset.task == self.task]
            raise ValueError(f"{self.dataset} has no items for {self.task}. Choose one of {', '.join(fit)}.")
        return self

    @model_validator(mode="after")
    def _is_shard(self) -> Self:
        if self.shard is not None and (self.shard[0] > self.shard[1] or not self.dataset):
            raise ValueError("A shard is the number of a part of a data set and how many parts there are, as [1, 4].")
        return self

    @property
    def cases_of_item(self) -> int:
        """How many cases a run makes from each item."""
        return 1

    @property
    def whole(self) -> Self:
        return self.model_copy(update={"shard": None})

    def shards(self) -> tuple[Self, ...]:
        """Return the specifications of the runs that are needed, as few as possible. The number of items in the data
        set counts if it is available here, otherwise only the limit.
        """
        most = max(1, MOST_CASES // self.cases_of_item)
        if not self.dataset or self.shard or (self.limit and self.limit <= most):
            return (self,)
        try:
            items = self.size()
        except (CallError, ValueError, OSError):
            items = self.limit or 0
        count = -(-items // most)
        of = range(1, count + 1)
        return tuple(self.model_copy(update={"shard": (number, count)}) for number in of) if count > 1 else (self,)

    def size(self) -> int:
        """Return the number of items, over all shards. Raises DatasetError."""
        if own.is_own(self.dataset):
            held = own.size(self.dataset, self.task, self.columns)
        else:
            held = registry.size(self.dataset, self.path, self.split)
        return held if self.limit is None else min(held, self.limit)

    def part(self, size: int) -> range:
        """Return the positions of this shard's items among `size` in the order drawn; all of them if it is not a
        shard.
        """
        number, count = self.shard or (1, 1)
        return range(size * (number - 1) // count, size * number // count)

    def chosen_items(self) -> tuple[list[Item], Loaded]:
        """Return the items, and the record of what the data set contained. Raises DatasetError."""
        if not own.is_own(self.dataset):
            items, held = registry.read(self.dataset, self.path, self.split, self.limit, self.seed)
            part = self.part(len(items))
            return items[part.start : part.stop], held
        if self.shard is None:
            drawn = own.read(self.dataset, self.task, self.columns, self.limit, self.seed, 0, self.keep)
        else:
            part = self.part(self.size())
            drawn = own.read(self.dataset, self.task, self.columns, len(part), self.seed, part.start, self.keep)
        loaded = loaded_record(self.dataset, drawn.of, drawn.rows, drawn.dropped)
        loaded = loaded.model_copy(update={"digest": own.digest_of_content(self.dataset)})
        return registry.require_items(drawn.rows, self.dataset), loaded
