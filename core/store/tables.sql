-- the tables that every lab has: a run, its cases, their trials, and what is made of them

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
    head varchar,                 -- sha256 of the first line
    owner varchar,
    shared boolean,               -- of the run that this journal is about
    recording boolean default false, -- whether it came with the app
    study varchar,                -- '' where it was made for none
    forked_from varchar           -- the run of which a person edited an answer
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
    doubt_repaired varchar,       -- why what counts is no verdict all the same; '' or null where it is one
    primary key (run, "case", trial)
);
create table calls (
    run varchar, call varchar, "case" varchar, item varchar, trial varchar, role varchar, model varchar,
    prompt varchar, messages json, sampling json, repeat bigint,
    tools json,                   -- what the model might ask to have called
    tool_calls json,              -- what it asked for
    text varchar, seconds double, first_token_seconds double, cached boolean, prompt_tokens bigint,
    completion_tokens bigint, finish_reason varchar, error varchar, message varchar, hint varchar, "at" timestamp,
    ended varchar,                -- complete | cut | unknown
    thinking varchar,             -- raw | summary | hidden; null where the model did not think
    thinking_tokens bigint,       -- part of completion_tokens
    sent json,                    -- the parameters as they went out
    served_model varchar,         -- in the server's own words
    served_fingerprint varchar,
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
create table items (             -- what a list of results has a row for (core/store/result_rows.py)
    run varchar, "case" varchar,  -- '' where a run has no case
    trial varchar,                -- '' where the row is the case's own
    lab varchar, number bigint,   -- of the case, in its run
    "at" timestamp,               -- the run's
    title varchar, about varchar, expected varchar, observed varchar, model varchar,
    outcome varchar, outcome_paper varchar, differ boolean,
    reason varchar,               -- why it does not count; '' where it does
    error varchar,                -- class of a call of it that failed; '' where none did
    how varchar, task varchar, dataset varchar, category varchar, difficulty varchar, wording varchar,
    counts boolean,               -- by repaired rules; a case's own row always does
    counts_paper boolean, observed_paper varchar, doubt varchar
);
create table roles (              -- which models a run asked, and as what
    run varchar, role varchar, model varchar
);
create table labels (            -- what people say of a run, one row a word of theirs (core/store/result_rows.py)
    run varchar,                  -- the journal
    about varchar, "case" varchar, -- '' for the run itself
    trial varchar,                -- '' for the case itself
    who varchar,
    kind varchar,                 -- verdict | should | tag | note; of a run title | hidden
    value varchar,                -- of a verdict, and of what should be: "what is judged: word"
    "at" timestamp
);
