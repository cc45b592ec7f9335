"""Places that many people want: who gets one, who gives one back, and how addresses are grouped."""

from collections import Counter
from contextlib import ExitStack

import pytest

from core.server import usage as module
from core.server.usage import NoFreePlaceError, Places, Rate, network_of


class Crowd:
    """The holders of a limited number of places, by network address."""

    def __init__(self, most: int | None) -> None:
        self._places = Places(lambda: most)
        self._stacks: list[tuple[str, ExitStack]] = []
        self.ended = Counter[str]()

    def come(self, address: str, number: int = 1, is_host: bool = False, size: int = 1) -> int:
        """Let `number` visitors come from that address. Returns how many of them get a place."""
        return sum(self._one(address, is_host, size) for _ in range(number))

    def _one(self, address: str, is_host: bool, size: int) -> bool:
        stack = ExitStack()

        def end() -> None:
            self.ended[address] += 1
            stack.close()

        try:
            stack.enter_context(self._places.reserve(address, end, lambda: is_host, size))
        except NoFreePlaceError:
            return False
        self._stacks.append((address, stack))
        return True

    def go(self, address: str) -> None:
        for one, stack in self._stacks:
            if one == address:
                stack.close()


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:0:1:aaaa::1", "2001:db8:0:1::/64"),
        ("2001:db8:0:1:bbbb::2", "2001:db8:0:1::/64"),
        ("2001:db8:0:2::1", "2001:db8:0:2::/64"),
        ("::1", "::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_an_ipv4_address_counts_by_itself_and_an_ipv6_address_with_its_64(address: str, network: str) -> None:
    assert network_of(address) == network


def test_one_network_may_have_all_places_and_gives_back_what_is_over_half_of_them() -> None:
    crowd = Crowd(10)
    assert crowd.come("rude", 12) == 10 and not crowd.ended
    assert crowd.come("school", 7) == 5 and crowd.ended == {"rude": 5}
    assert crowd.come("rude") == 0 and crowd.come("other") == 0, "five and five: nobody has more than half"
    crowd.go("rude")
    assert crowd.come("school", 5) == 5 and crowd.come("other") == 1 and crowd.ended == {"rude": 5, "school": 1}


def test_a_school_of_300_phones_with_a_tab_and_a_stream_each_fits_where_4096_files_may_be_open() -> None:
    crowd = Crowd(4_096 - 640 - 128)
    assert crowd.come("192.0.2.1", 300, size=4) == crowd.come("192.0.2.1", 300) == 300 and not crowd.ended


def test_one_that_is_large_takes_the_places_of_several() -> None:
    crowd = Crowd(12)
    assert crowd.come("rude", 12) == 12 and crowd.come("school", 2, size=4) == 1 and crowd.ended == {"rude": 4}
    crowd.go("rude")
    assert crowd.come("school", 3, size=4) == 2, "twelve again"


def test_who_has_a_reserved_place_gets_it_and_never_loses_it() -> None:
    crowd = Crowd(4)
    assert crowd.come("rude", is_host=True) == 1 and crowd.come("rude", 4) == 3
    assert crowd.come("rude", is_host=True) == 1, "there is one for the host when all are taken"
    assert crowd.come("school", 9) == 2 and crowd.ended == {"rude": 3}


def test_without_a_limit_all_get_a_place_and_a_place_is_given_back_once() -> None:
    crowd = Crowd(None)
    assert crowd.come("one", 5_000) == 5_000
    assert Crowd(0).come("one") == 0
    places = Places(lambda: 1)
    with places.reserve("one"), pytest.raises(NoFreePlaceError), places.reserve("other"):
        pass
    with pytest.raises(ZeroDivisionError), places.reserve("one"):
        raise ZeroDivisionError
    with places.reserve("one"):
        pass
    assert not places._held and places.in_use == 0


def test_a_rate_allows_a_burst_and_then_so_many_a_second_for_each_network(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)  # type: ignore[attr-defined]
    rate = Rate(3, 0.5)
    assert [rate.take("2001:db8::1") for _ in range(5)] == [True] * 3 + [False] * 2
    assert not rate.take("2001:db8::2") and rate.take("192.0.2.1")
    now = 4.0
    assert [rate.take("2001:db8::3") for _ in range(3)] == [True, True, False]
    several = [rate.take("a visitor", number) for number in (4, 2, 2, 1, 1)]
    assert several == [False, True, False, True, False], "what is refused does not count"
    for number in range(10_001):
        rate.take(f"10.0.{number // 256}.{number % 256}")
    now = 1_000.0
    rate.take("192.0.2.2")
    assert len(rate._left) == 1, "who has all of them again is forgotten"


def test_a_rate_under_many_names_forgets_the_oldest_and_looks_at_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KNOWN", 100)
    now = 0.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)  # type: ignore[attr-defined]
    rate = Rate(2, 0.001)
    assert rate.take("school", 2)
    for number in range(1_000):
        now += 0.01
        assert rate.take(f"stranger {number}") and not rate.take("school", 1), "who comes again is not forgotten"
    assert len(rate._left) == 100 and next(reversed(rate._left)) == "school"
    assert rate.take("stranger 1", 2), "of a hundred others it was the oldest"
