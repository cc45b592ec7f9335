"""What is counted of people by all processes of a home together, in one small database in it: wrong codes and tabs."""

from __future__ import annotations

import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from core import home
from core.lease import Lease, is_held

_FORM = 1
"""The number of the tables' form. A file of another one is begun anew: what it holds is of this day."""

_PATIENCE = 5.0
"""Seconds to wait for another process that counts."""

_TABLES = """
create table process (id text primary key) strict;
create table wrong (who text primary key, times integer not null, at real not null) strict;
create table tab (
    number integer primary key, visitor text not null, tab text not null,
    process text not null references process on delete cascade, unique (visitor, tab)
) strict;
"""

_FREE, _LONGEST = 5, 900.0
"""Wrong codes that cost one address nothing; from then on each doubles the wait, from 1 second to so many."""

_FREE_OF_ALL, _LONGEST_OF_ALL = 100, 15.0
"""The same for all addresses together: short, since whoever guesses keeps everybody waiting."""

_FORGOTTEN = 3600.0
"""Seconds after the last wrong code in which they are forgotten."""

_ALL = ""
"""Whose wrong codes are those of all addresses together."""


class Counted:
    """The counts in the database at `path`, made when something is first counted. May be used from any thread, beside
    other processes. Everything raises HomeUnusable where nothing can be counted.

    What belongs to a process (a tab) goes with it, however it ended: it holds a lease beside the database.
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

    def wrong(self, who: str) -> float:
        """Count a wrong code of `who`, a network address. Seconds until a code of theirs is looked at again: where it
        is more than 0 this one was not looked at, and does not count.
        """
        with self.at_once() as database:
            if seconds := self.wait(who):
                return seconds
            now = time.time()
            database.execute("delete from wrong where at <= ?", (now - _FORGOTTEN,))
            for one in (who, _ALL):
                database.execute(
                    "insert into wrong values (?, 1, ?) on conflict do update set times = times + 1, at = excluded.at",
                    (one, now),
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
            rows = database.execute("select who, times, at from wrong where who in (?, ?)", (who, _ALL)).fetchall()
        waits: list[float] = [_wait(one, times) - (now - at) for one, times, at in rows if now - at < _FORGOTTEN]
        return max([0.0, *waits])

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
            if not is_held(path := self._lease_of(process)):
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
    tables = database.execute("select name from sqlite_schema where type = 'table' order by rowid desc").fetchall()
    for (table,) in tables:
        database.execute(f"drop table {table}")
    for statement in filter(str.strip, _TABLES.split(";")):
        database.execute(statement)
    database.execute(f"pragma user_version = {_FORM}")


def _wait(who: str, times: int) -> float:
    """Seconds for which so many wrong codes keep `who` waiting."""
    free, longest = (_FREE_OF_ALL, _LONGEST_OF_ALL) if who == _ALL else (_FREE, _LONGEST)
    return min(2.0 ** min(times - free, 30), longest) if times >= free else 0.0
