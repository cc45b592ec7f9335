"""A price that nobody compared with the provider's list is marked as such."""

from dataclasses import replace
from datetime import date

from core import package_data
from core.models.settings import price_of
from core.report.study_html import of_estimate
from core.studies.estimate import StudyEstimate


def test_a_plan_says_of_which_day_a_price_is_and_whether_it_was_verified() -> None:
    plan = StudyEstimate("a", price=1.5, priced=date(2024, 7, 18), unverified=True)
    assert "Price: about 1.50 US dollars (a price of 2024-07-18, unverified)." in of_estimate(plan)
    assert "Price: about 1.50 US dollars (a price of 2024-07-18)." in (of_estimate(replace(plan, unverified=False)))


def test_every_price_says_where_it_is_from() -> None:
    entries = package_data.table("models")["price"]
    assert all(entry["source"] and entry["date"] and "verified" in entry for entry in entries)
    price = price_of("openai/gpt-4o-mini")
    assert price is not None and not price.verified and "from memory" in price.source
