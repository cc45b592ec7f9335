"""What all processes of a home count together, in one small database in it: what a day's calls took, runs and their
places, wrong codes, tabs.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from core import home
from core.lease import Lease, is_held

_FORM = 4
"""The number of the tables' form. A file of another one is begun anew: what it holds is of this day, or in journals."""

_PATIENCE = 5.0
"""Seconds to wait for another process that counts."""

_TABLES = Path(__file__).with_name("counted.sql").read_text(encoding="utf-8")

_FREE, _LONGEST = 5, 900.0
"""Wrong codes that cost one address nothing; from then on each doubles the wait, from 1 second to so many."""

_FREE_OF_ALL, _LONGEST_OF_ALL = 100, 15.0
"""The same for all addresses together: short, since whoever guesses keeps everybody waiting."""

_FORGOTTEN = 3600.0
"""Seconds after the last wrong code in which they are forgotten."""

_ALL = "*"
"""Whose counts are those of all together."""


class Taken(NamedTuple):
    """Calls, and the US cents that they cost."""

    calls: int = 0
    cents: float = 0.0


class GoingOn(NamedTuple):
    """How many runs go on or wait in line, and how many calls they may still make, as far as that was known."""

    runs: int
    ahead: int


class Tally:
    """What calls took, by owner, as it is read from journals; and of those under way, by run and call, the most tokens
    of a prompt and of an answer that they may take.
    """

    def __init__(self) -> None:
        self.of: dict[str, Taken] = {}
        self.under_way: dict[tuple[str, str], tuple[int, int]] = {}

    def most(self, call: tuple[str, str]) -> tuple[int, int]:
        """What a call that is under way may take; nothing where it is not."""
        return self.under_way.get(call, (0, 0))

    def take(self, owner: str, call: tuple[str, str], taken: Taken, most: tuple[int, int] | None) -> None:
        """Add what a call of the owner's took. It is under way, and may take so much at `most`; None: it is not."""
        calls, cents = self.of.get(owner, Taken())
        self.of[owner] = Taken(calls + taken.calls, cents + taken.cents)
        if most is None:
            self.under_way.pop(call, None)
        else:
            self.under_way[call] = most


class Counted:
    """The counts in the database at `path`, made when something is first counted. May be used from any thread, beside
    other processes. Everything raises HomeUnusable where nothing can be counted.

    What belongs to a process (a run's place, a tab) goes with it, however it ended: it holds a lease beside the
    database.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turn = threading.RLock()
        self._database: sqlite3.Connection | None = None
        self._lease: Lease | None = None

    @contextmanager
    def at_once(self) -> Iterator[sqlite3.Connection]:
        """All that is looked up and counted within is one step, between which no other process or thread counts."""
        with self._turn:
            if self._database is not None and self._database.in_transaction:
                yield self._database
                return
            try:
                database = self._open()
                database.execute("begin immediate")
                with database:
                    yield database
            except (sqlite3.Error, OSError) as error:
                home.must_write(self.path.parent)
                raise home.HomeUnusable(
                    f"What people may use cannot be counted in {self.path} ({error}). Make room on the disk, or stop "
                    "the app and delete that file: it is made again."
                ) from None

    def is_read(self, day: str) -> bool:
        """Whether what journals tell of that day is counted. Of another day than the last one nothing is."""
        with self.at_once() as database:
            if (row := database.execute("select day, is_read from day").fetchone()) and row[0] == day:
                return bool(row[1])
            for table in ("day", "taken", "under_way"):
                database.execute(f"delete from {table}")  # noqa: S608  our own words
            database.execute("insert into day values (?, 0)", (day,))
            return False

    def read(self, day: str, tally: Tally) -> None:
        """Add what journals tell of that day, unless that was done already or the day is over."""
        with self.at_once() as database:
            if database.execute("update day set is_read = 1 where day = ? and not is_read", (day,)).rowcount:
                for owner, taken in tally.of.items():
                    self._take(database, owner, taken)
                rows = [(*call, *most) for call, most in tally.under_way.items()]
                database.executemany("insert or ignore into under_way values (?, ?, ?, ?)", rows)

    def most(self, call: tuple[str, str]) -> tuple[int, int]:
        """As of `Tally`."""
        with self.at_once() as database:
            words = "select prompt, completion from under_way where run = ? and call = ?"
            return database.execute(words, call).fetchone() or (0, 0)

    def take(self, owner: str, call: tuple[str, str], taken: Taken, most: tuple[int, int] | None) -> None:
        """As of `Tally`."""
        with self.at_once() as database:
            self._take(database, owner, taken)
            if most is None:
                database.execute("delete from under_way where run = ? and call = ?", call)
            else:
                database.execute("insert or replace into under_way values (?, ?, ?, ?)", (*call, *most))

    def taken(self, owner: str | None) -> Taken:
        """What the day's calls of that person's runs took; of everybody's for None."""
        with self.at_once() as database:
            who = _ALL if owner is None else owner
            row = database.execute("select calls, cents from taken where who = ?", (who,)).fetchone()
        return Taken(*row) if row else Taken()

    def each(self) -> dict[str, Taken]:
        """What the day's calls of each person's runs took, by the name of whose they are."""
        with self.at_once() as database:
            rows = database.execute("select who, calls, cents from taken where who <> ?", (_ALL,)).fetchall()
        return {who: Taken(*taken) for who, *taken in rows}

    def going_on(self, owner: str | None) -> GoingOn:
        """That person's runs; everybody's for None."""
        with self.at_once() as database:
            self._forget_dead(database)
            words = "select count(*), coalesce(sum(ahead), 0) from run where ?1 is null or owner = ?1"
            return GoingOn(*database.execute(words, (owner,)).fetchone())

    def begin(self, run: str, owner: str, calls: int) -> int:
        """Put a run of this process, which may make so many calls, at the end of the line. Its number."""
        with self.at_once() as database:
            number = database.execute(
                "insert into run (run, owner, whose, ahead, line, process) "
                "values (?, ?, ?, ?, (select coalesce(max(line), 0) + 1 from run), ?)",
                (run, owner, owner or run, calls, self._process(database)),
            ).lastrowid
        assert number is not None
        return number

    def asked(self, number: int) -> None:
        """One of the calls that the run may make is made."""
        with self.at_once() as database:
            database.execute("update run set ahead = max(ahead - 1, 0) where number = ?", (number,))

    def over(self, number: int) -> None:
        """The run goes on no more, and gives its place back."""
        with self.at_once() as database:
            database.execute("delete from run where number = ?", (number,))

    def hand_out(self, places: int | None) -> set[int]:
        """Let so many runs of all processes have a place, any number for None: of those in line one of each owner in
        turn. Nobody loses theirs. The numbers of the runs that are still in line.
        """
        with self.at_once() as database:
            self._forget_dead(database)
            [(taken, waiting)] = database.execute("select total(has_place), total(not has_place) from run")
            for _ in range(int(waiting if places is None else min(waiting, places - taken))):
                self._hand_out(database)
            return {number for (number,) in database.execute("select number from run where not has_place")}

    def before(self, run: str) -> int | None:
        """How many other people come before the run, of whatever process it is; None where it is not in line."""
        with self.at_once() as database:
            words = "select whose from run where run = ? and not has_place"
            if (row := database.execute(words, (run,)).fetchone()) is None:
                return None
            [(number,)] = database.execute(
                "select count(distinct whose) from run where not has_place and "
                "line < (select min(line) from run where whose = ? and not has_place)",
                row,
            )
            return int(number)

    def wrong(self, who: str) -> float:
        """Count a wrong code of `who`, a network address. Seconds until a code of theirs is looked at again: where it
        is more than 0 this one was not looked at, and does not count.
        """
        with self.at_once() as database:
            if seconds := self.wait(who):
                return seconds
            for one in (who, _ALL):
                database.execute(
                    "insert into wrong values (?, 1, ?) on conflict do update set times = times + 1, at = excluded.at",
                    (one, time.time()),
                )
            return 0.0

    def right(self, who: str) -> float:
        """Forget the wrong codes of `who`, who typed a right one. The seconds are those of `wrong`: where they are more
        than 0 it was not looked at. What all addresses typed stands, so that no right code helps to guess another.
        """
        with self.at_once() as database:
            if seconds := self.wait(who):
                return seconds
            database.execute("delete from wrong where who = ?", (who,))
            return 0.0

    def wait(self, who: str) -> float:
        """Seconds until a code of `who` is looked at; 0 where it is now."""
        with self.at_once() as database:
            now = time.time()
            # The clock was set back: they are of this moment, so that no wait is longer than it can be.
            database.execute("update wrong set at = ? where at > ?", (now, now))
            database.execute("delete from wrong where at <= ?", (now - _FORGOTTEN,))
            rows = database.execute("select who, times, at from wrong where who in (?, ?)", (who, _ALL)).fetchall()
        return float(max((max(_wait(one, times) - (now - at), 0) for one, times, at in rows), default=0))

    def tab_opened(self, visitor: str, tab: str) -> int:
        """Count a tab of the visitor's; one that is known is counted once. Which of their open tabs it is, in the order
        in which they were opened, from 1.
        """
        with self.at_once() as database:
            self._forget_dead(database)
            database.execute(
                "insert or ignore into tab (visitor, tab, process) values (?, ?, ?)",
                (visitor, tab, self._process(database)),
            )
            [(number,)] = database.execute(
                "select count(*) from tab where visitor = ?1 and "
                "number <= (select number from tab where visitor = ?1 and tab = ?2)",
                (visitor, tab),
            )
            return int(number)

    def tab_closed(self, visitor: str, tab: str) -> None:
        """Count it no more; nothing where it is not known."""
        with self.at_once() as database:
            database.execute("delete from tab where visitor = ? and tab = ?", (visitor, tab))

    def tabs(self, visitor: str) -> int:
        """How many tabs the visitor has open."""
        with self.at_once() as database:
            self._forget_dead(database)
            [(number,)] = database.execute("select count(*) from tab where visitor = ?", (visitor,))
            return int(number)

    def _take(self, database: sqlite3.Connection, owner: str, taken: Taken) -> None:
        for who in {owner, _ALL}:
            database.execute(
                "insert into taken values (?, ?, ?) on conflict do update set calls = calls + excluded.calls, "
                "cents = cents + excluded.cents",
                (who, *taken),
            )

    def _hand_out(self, database: sqlite3.Connection) -> None:
        """Give a place to the first in line; the others of its owner go to the end, in their order."""
        words = "select number, whose from run where not has_place order by line limit 1"
        number, whose = database.execute(words).fetchone()
        database.execute("update run set has_place = 1 where number = ?", (number,))
        others = "whose = ? and not has_place"
        [(first,)] = database.execute(f"select min(line) from run where {others}", (whose,))  # noqa: S608  our own words
        [(last,)] = database.execute("select max(line) from run")
        if first is not None:
            database.execute(f"update run set line = line + ? where {others}", (last + 1 - first, whose))  # noqa: S608

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            database = sqlite3.connect(self.path, _PATIENCE, isolation_level=None, check_same_thread=False)
            try:
                # Another process may be about the same at this moment, and it is done once for all.
                with suppress(sqlite3.OperationalError):
                    database.execute("pragma journal_mode = wal")
                # A crash of the machine may lose the last counts, a killed process none.
                database.execute("pragma synchronous = normal")
                database.execute("pragma foreign_keys = on")
                database.execute("begin immediate")
                with database:
                    _made(database)
            except BaseException:
                database.close()
                raise
            self._database = database
        return self._database

    def _process(self, database: sqlite3.Connection) -> str:
        """This process's name in the tables, which stands there now."""
        if self._lease is None or self._lease.lost:
            self._lease = Lease(self._lease_of(secrets.token_hex(8)))
        name = self._lease.path.suffix[1:]
        database.execute("insert or ignore into process values (?)", (name,))
        return name

    def _lease_of(self, process: str) -> Path:
        return self.path.with_name(f".{self.path.stem}.{process}")

    def _forget_dead(self, database: sqlite3.Connection) -> None:
        """Take what belonged to processes that are gone out of the tables."""
        for (process,) in database.execute("select id from process").fetchall():
            path = self._lease_of(process)
            if not (self._lease and self._lease.path == path) and not is_held(path):
                database.execute("delete from process where id = ?", (process,))
                path.unlink(missing_ok=True)


@cache
def _counted(path: Path) -> Counted:
    return Counted(path)


def of_home() -> Counted:
    """The counts of this home. Raises HomeUnusable."""
    return _counted(home.home() / "counted.sqlite")


def _made(database: sqlite3.Connection) -> None:
    """The tables, empty where there are none of this form."""
    if database.execute("pragma user_version").fetchone() == (_FORM,):
        return
    # What points to others goes before them.
    words = "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by rowid desc"
    for (table,) in database.execute(words).fetchall():
        database.execute(f"drop table {table}")
    for statement in filter(str.strip, _TABLES.split(";")):
        database.execute(statement)
    database.execute(f"pragma user_version = {_FORM}")


def _wait(who: str, times: int) -> float:
    """Seconds for which so many wrong codes keep `who` waiting."""
    free, longest = (_FREE_OF_ALL, _LONGEST_OF_ALL) if who == _ALL else (_FREE, _LONGEST)
    return min(2.0 ** min(times - free, 30), longest) if times >= free else 0.0
