"""Choosing a data set in a lab's form."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core import policy
from core.datasets import registry
from core.lab import MOST_CASES


def of_dataset(spec: Any, prefix: str = "") -> dict[str, Any]:
    """What the widgets of `from_dataset` hold where the specification is `spec`, by their keys."""
    return {
        f"{prefix}dataset-{spec.task}": spec.dataset,
        f"{prefix}path-{spec.dataset}": spec.path or "",
        f"{prefix}limit": spec.limit or MOST_CASES,
    }


def from_dataset(task: str, counted: str, prefix: str = "") -> dict[str, Any]:
    """Which data set, where it lies, and how many of its items (`counted` names them); `prefix` begins the keys."""
    fit = {dataset.name: dataset for dataset in registry.DATASETS if dataset.task == task}
    left, middle, right = st.columns([2, 3, 1])
    name = left.selectbox(
        "Data set",
        list(fit),
        format_func=lambda one: fit[one].title,
        key=f"{prefix}dataset-{task}",
        persist_state="session",
    )
    path = ""
    if policy.allows("files"):
        path = middle.text_input(
            "File or folder",
            key=f"{prefix}path-{name}",
            placeholder=f"$EXPLAIN_HOME/datasets/{name}",
            persist_state="session",
            help=f"To be had from {fit[name].source}. Expected there: {fit[name].layout}",
        )
    limit = right.number_input(counted, 1, MOST_CASES, 10, key=f"{prefix}limit", persist_state="session")
    return {"dataset": name, "path": path.strip() or None, "limit": int(limit)}
