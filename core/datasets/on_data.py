"""What a specification over a data set has, for any lab: which data set, which of its items, and what a file's columns
hold.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from core.datasets import own, registry
from core.datasets.items import Item, Loaded, Split, Task, loaded
from core.datasets.own import Columns
from core.lab.spec import MOST_CASES, Spec


class OnData(Spec):
    """A specification about `limit` items of `dataset`, drawn by the seed, for the `task`.

    The data set lies in `path`, or where data sets are looked for; `split` is a part of it. A file of a person's own
    has `columns` and neither. `counted` is what its items are called.
    """

    counted: ClassVar[str] = "items"

    task: Task
    title: str = ""
    dataset: str = ""
    path: str | None = None
    split: Split | None = None
    limit: int | None = Field(default=None, ge=1, le=MOST_CASES)
    columns: Columns = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _entitled(cls, given: Any) -> Any:
        if not isinstance(given, dict) or given.get("title") or not given.get("dataset"):
            return given
        many = f"{given['limit']} {cls.counted}" if given.get("limit") else f"all {cls.counted}"
        return {**given, "title": own.title(str(given["dataset"]), many)}

    @model_validator(mode="after")
    def _is_there(self) -> Self:
        """Raises ValueError where the data set has no items for the task, or cannot have such columns."""
        if own.is_own(self.dataset):
            own.check(self.task, self.columns)
            if self.path or self.split:
                raise ValueError(
                    "Name your own file as `--dataset file:NAME`; `--path` and `--split` are for known data sets."
                )
        elif self.dataset and self.columns:
            raise ValueError("`--column` is for your own files only: file:NAME or hf://OWNER/NAME/FILE.")
        elif self.dataset and registry.find(self.dataset).task != self.task:
            fit = [dataset.name for dataset in registry.DATASETS if dataset.task == self.task]
            raise ValueError(f"{self.dataset} has no items for {self.task}. Choose one of {', '.join(fit)}.")
        return self

    def chosen(self) -> tuple[list[Item], Loaded]:
        """The items, and what the data set held. Raises DatasetError."""
        if not own.is_own(self.dataset):
            return registry.read(self.dataset, self.path, self.split, self.limit, self.seed)
        rows, there = own.read(self.dataset, self.task, self.columns, self.limit, self.seed)
        return registry.some(rows, self.dataset), loaded(self.dataset, there, rows)
