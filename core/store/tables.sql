-- the tables that every lab has: a run, its cases, their trials, and the rows derived from them

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
    about varchar,                -- the run that a person comments on; '' if it is a run itself
    reread_from varchar,          -- the run whose raw answers were parsed again
    predicted_from varchar,       -- the run whose questions and answers another predictor predicted
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
    study varchar,                -- '' if it belongs to none
    forked_from varchar           -- the run in which a person edited an answer
);
create table cases (
    run varchar, "case" varchar, lab varchar, number bigint, "of" bigint, title varchar, model varchar,
    explanation varchar, outcome_paper varchar, outcome_repaired varchar, verdict varchar,
    trials bigint, counted bigint,
    status varchar,               -- running | done
    "at" timestamp, ended_at timestamp,
    primary key (run, "case")
);
create table trials (             -- a prediction and its outcome; "paper" and "repaired" are the two parsers
    run varchar, "case" varchar, trial varchar, about varchar,
    expected_paper varchar, observed_paper varchar, outcome_paper varchar, counts_paper boolean,
    reason_paper varchar,
    expected_repaired varchar, observed_repaired varchar, outcome_repaired varchar, counts_repaired boolean,
    reason_repaired varchar,
    calls json, "at" timestamp,
    doubt_repaired varchar,       -- why a trial that counts has no verdict; '' or null if it has one
    primary key (run, "case", trial)
);
create table calls (
    run varchar, call varchar, "case" varchar, item varchar, trial varchar, role varchar, model varchar,
    prompt varchar, messages json, sampling json, repeat bigint,
    tools json,                   -- the tools that the model was offered
    tool_calls json,              -- the calls that it requested
    text varchar, seconds double, first_token_seconds double, cached boolean, prompt_tokens bigint,
    completion_tokens bigint, finish_reason varchar, error varchar, message varchar, hint varchar, "at" timestamp,
    ended varchar,                -- complete | cut | unknown
    thinking varchar,             -- raw | summary | hidden; null if the model did not think
    thinking_tokens bigint,       -- part of completion_tokens
    sent json,                    -- the parameters as they were sent
    served_model varchar,         -- as the server names it
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
    rules varchar,                -- '' if the item counts under neither
    detail varchar, "at" timestamp,
    primary key (run, "case", item, reason, rules)
);
create table extra_columns (      -- columns of a person's own file that were kept with a case
    run varchar, "case" varchar, name varchar, value varchar,
    primary key (run, "case", name)
);
create table records (            -- of record types that no lab declares
    run varchar, record varchar, "case" varchar, item varchar, trial varchar, "by" varchar, data json,
    "at" timestamp,
    primary key (run, record, "case", item, "by")
);
create table faults (             -- lines of a journal that hold no event
    run varchar, line bigint, reason varchar,
    primary key (run, line)
);
create table items (             -- the rows of lists of results (core/store/event_rows.py)
    run varchar, "case" varchar,  -- '' if a run has no case
    trial varchar,                -- '' if the row is the case's own
    lab varchar, number bigint,   -- of the case, in its run
    "at" timestamp,               -- the run's
    title varchar, about varchar, expected varchar, observed varchar, model varchar,
    outcome varchar, outcome_paper varchar, differ boolean,
    reason varchar,               -- why it does not count; '' if it does
    error varchar,                -- error class of a failed call; '' if none failed
    how varchar, task varchar, dataset varchar, category varchar, difficulty varchar, wording varchar,
    counts boolean,               -- by the updated parser; a case's own row always counts
    counts_paper boolean, observed_paper varchar, doubt varchar
);
create table roles (              -- which models a run asked, and in which roles
    run varchar, role varchar, model varchar
);
create table labels (            -- what people say about a run, one row for each word (core/store/event_rows.py)
    run varchar,                  -- the journal
    about varchar, "case" varchar, -- '' for the run itself
    trial varchar,                -- '' for the case itself
    who varchar,                  -- a person; of a judge model its run
    kind varchar,                 -- verdict | should | tag | note | own | judge; of a run title | hidden
    value varchar,                -- of a verdict, of what should be, and of own labels: "what is judged: word"
    "at" timestamp
);
create table vectors (            -- sentence vectors of questions and explanations (core/store/vectors.py)
    encoder varchar,
    digest varchar,               -- sha256 of the text
    vector float[],               -- of length 1
    primary key (encoder, digest)
);
create table kinds (              -- rows grouped by meaning (core/store/kinds.py)
    clustering varchar,           -- which rows were grouped, a hash
    run varchar, "case" varchar, trial varchar,
    kind varchar,                 -- its telling words; '' if no other row is like it
    title varchar,                -- the name that a model gave it; '' if none
    model varchar,                -- that model
    "at" timestamp
);
