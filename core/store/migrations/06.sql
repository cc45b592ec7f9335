-- a run, its cases and their trials, and what every lab has

create table runs (
    run varchar primary key,      -- the journal's name without .jsonl
    lab varchar,
    status varchar,               -- running | completed | cancelled | failed
    "at" timestamp,               -- started
    last_at timestamp,            -- its latest event
    finished_at timestamp,
    seconds double,               -- while it ran, without the pauses before it was resumed
    seed bigint,
    spec json,
    versions json,
    prompts json,
    app varchar,                  -- the program's version
    commit varchar,
    about varchar,                -- the run that a person speaks about; '' where it is a run itself
    reread_from varchar,          -- the run whose raw answers were read again
    title varchar,                -- of its spec, or of its first case
    model varchar,
    cases bigint,                 -- planned
    answered bigint,              -- calls
    failed bigint,                -- calls
    error varchar,                -- what stopped the run itself
    message varchar,
    hint varchar,
    journal varchar,              -- path of the file
    bytes bigint,                 -- indexed so far
    lines bigint,                 -- indexed so far
    modified bigint,              -- the file's time when it was indexed, nanoseconds since 1970
    head varchar                  -- sha256 of the first line
);
create table cases (
    run varchar, "case" varchar, lab varchar, number bigint, "of" bigint, title varchar, model varchar,
    explanation varchar, outcome_paper varchar, outcome_repaired varchar, verdict varchar,
    trials bigint, counted bigint,
    status varchar,               -- running | done
    "at" timestamp, ended_at timestamp,
    primary key (run, "case")
);
create table trials (             -- an expectation and what came of it; "paper" and "repaired" are two readings
    run varchar, "case" varchar, trial varchar, about varchar,
    expected_paper varchar, observed_paper varchar, outcome_paper varchar, counts_paper boolean,
    reason_paper varchar,
    expected_repaired varchar, observed_repaired varchar, outcome_repaired varchar, counts_repaired boolean,
    reason_repaired varchar,
    calls json, "at" timestamp,
    primary key (run, "case", trial)
);
create table calls (
    run varchar, call varchar, "case" varchar, item varchar, trial varchar, role varchar, model varchar,
    prompt varchar, messages json, sampling json, repeat bigint,
    tools json,                   -- what the model might ask to have called
    tool_calls json,              -- what it asked for
    text varchar, seconds double, first_token_seconds double, cached boolean, prompt_tokens bigint,
    completion_tokens bigint, finish_reason varchar, error varchar, message varchar, hint varchar, "at" timestamp,
    primary key (run, call)
);
create table scores (
    run varchar,
    "case" varchar,               -- '' for a figure of the whole run
    metric varchar, rules varchar, item varchar, value double, n bigint, "of" bigint, low double, high double,
    detail json, "at" timestamp,
    primary key (run, "case", metric, rules, item)
);
create table drops (
    run varchar, "case" varchar, trial varchar,
    item varchar,                 -- '' for the whole case
    reason varchar,
    rules varchar,                -- '' where the item counts under neither
    detail varchar, "at" timestamp,
    primary key (run, "case", item, reason, rules)
);
create table records (            -- of types that no lab declares
    run varchar, record varchar, "case" varchar, item varchar, trial varchar, "by" varchar, data json,
    "at" timestamp,
    primary key (run, record, "case", item, "by")
);
create table faults (             -- lines of a journal that hold no event
    run varchar, line bigint, reason varchar,
    primary key (run, line)
);
