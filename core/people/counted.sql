create table process (id text primary key) strict;
create table day (day text not null, is_read integer not null) strict;
create table taken (who text primary key, calls integer not null, cents real not null) strict;
create table under_way (
    run text not null, call text not null, prompt integer not null, completion integer not null, primary key (run, call)
) strict, without rowid;
create table run (
    number integer primary key autoincrement, run text not null, owner text not null, whose text not null,
    ahead integer not null, line integer not null, has_place integer not null default 0,
    process text not null references process on delete cascade
) strict;
create table wrong (who text primary key, times integer not null, at real not null) strict;
create table tab (
    number integer primary key, visitor text not null, tab text not null,
    process text not null references process on delete cascade, unique (visitor, tab)
) strict;
