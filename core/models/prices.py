"""What endpoints charge for tokens, as far as `data/models.toml` and `$EXPLAIN_HOME/prices.toml` say."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from datetime import date
from functools import cache

from pydantic import ValidationError

from .. import home, package_data
from ..events import Frozen, Usage
from .errors import EndpointSettingError
from .ids import is_free


class Price(Frozen):
    """US dollars for a million tokens, on that day; `verified`: somebody compared the price with the provider's
    list.
    """

    model: str
    prompt: float
    completion: float
    date: date
    source: str = ""
    verified: bool = False

    def cost_of(self, prompt: float, completion: float) -> float:
        """The cost of this number of tokens in US dollars."""
        return (prompt * self.prompt + completion * self.completion) / 1e6


@cache
def prices() -> dict[str, Price]:
    """The prices by the model's id. An entry of `prices.toml` in the home, in the same form, replaces one that comes
    with the app. The file is read once; a change takes effect when the app is restarted. Raises EndpointSettingError if
    it cannot be read.
    """
    own = home.home() / "prices.toml"
    try:
        entries = tomllib.loads(own.read_text(encoding="utf-8")).get("price", []) if own.is_file() else []
        every = (*package_data.rows("models", "price", Price), *(Price.model_validate(entry) for entry in entries))
    except (ValueError, TypeError, OSError) as error:
        why = (
            "; ".join(f"{one['loc'][-1]}: {one['msg']}" for one in error.errors())
            if isinstance(error, ValidationError)
            else str(error)
        )
        raise EndpointSettingError(
            f"{own} cannot be read: {why}", "Compare it with the example in docs/models.md."
        ) from None
    return {price.model: price for price in every}


@cache
def price_of(model: str) -> Price | None:
    """The price of the model's tokens: zero if it runs here; None if it is not known."""
    if is_free(model) or model.startswith("local/"):
        return Price(model=model, prompt=0, completion=0, date=date.today())
    return prices().get(model)


def charge(model: str, prompt: int, completion: int) -> float | None:
    """What this number of tokens costs of a day's budget in US dollars: 0 if the price is not known (a visitor's
    catalog refuses such models). None for a robot or a replay, whose calls do not count.
    """
    if is_free(model):
        return None
    price = price_of(model)
    return price.cost_of(prompt, completion) if price else 0.0


def cost(calls: Iterable[tuple[str, Usage]]) -> tuple[float, date | None] | None:
    """The cost of these calls in US dollars, given their models and tokens, and the day of the oldest price, None if
    all calls run here. None instead of both if a price or a number of tokens is not known.
    """
    dollars, days = 0.0, []
    for model, usage in calls:
        price = price_of(model)
        if price is None:
            return None
        if not price.prompt and not price.completion:
            continue
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        dollars += price.cost_of(usage.prompt_tokens, usage.completion_tokens)
        days.append(price.date)
    return dollars, min(days, default=None)
