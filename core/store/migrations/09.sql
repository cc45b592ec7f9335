-- what a list of results has a row for (core/store/items.py makes both tables from the others)

create table items (
    run varchar, "case" varchar,  -- '' where a run has no case
    trial varchar,                -- '' where the row is the case's own
    lab varchar, number bigint,   -- of the case, in its run
    "at" timestamp,               -- the run's
    title varchar, about varchar, expected varchar, observed varchar, model varchar,
    outcome varchar, outcome_paper varchar, differ boolean,
    reason varchar,               -- why it does not count; '' where it does
    error varchar,                -- class of a call of it that failed; '' where none did
    how varchar, task varchar, dataset varchar, category varchar, difficulty varchar, wording varchar
);
create table roles (              -- which models a run asked, and as what
    run varchar, role varchar, model varchar
);
