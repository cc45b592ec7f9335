-- what people say of a run, one row a word of theirs (core/store/items.py makes it), and what a run was made of

create table labels (
    run varchar,                  -- the journal
    about varchar, "case" varchar, -- '' for the run itself
    trial varchar,                -- '' for the case itself
    who varchar,
    kind varchar,                 -- verdict | should | tag | note; of a run title | hidden
    value varchar,                -- of a verdict, and of what should be: "what is judged: word"
    "at" timestamp
);
alter table runs add column forked_from varchar;  -- the run of which a person edited an answer
