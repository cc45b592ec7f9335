-- The store's tables as migrations 1 to 5 left them, when each lab's had to be written by hand.

-- 1
create table runs (
    run varchar primary key,
    lab varchar,
    status varchar,
    "at" timestamp,
    last_at timestamp,
    finished_at timestamp,
    seconds double,
    seed bigint,
    spec json,
    versions json,
    prompts json,
    title varchar,
    model varchar,
    answered bigint,
    failed bigint,
    error varchar,
    message varchar,
    hint varchar,
    journal varchar,
    bytes bigint,
    lines bigint,
    modified bigint,
    head varchar
);
create table calls (
    run varchar, call varchar, item varchar, role varchar, model varchar, prompt varchar, messages json,
    sampling json, repeat bigint, text varchar, seconds double, first_token_seconds double, cached boolean,
    prompt_tokens bigint, completion_tokens bigint, finish_reason varchar, error varchar, message varchar,
    hint varchar, "at" timestamp,
    primary key (run, call)
);
create table scores (
    run varchar, metric varchar, rules varchar, item varchar, value double, n bigint, "of" bigint, low double,
    high double, detail json, "at" timestamp,
    primary key (run, metric, rules, item)
);
create table drops (
    run varchar, item varchar, reason varchar,
    rules varchar,
    detail varchar, "at" timestamp,
    primary key (run, item, reason, rules)
);
create table records (
    run varchar, record varchar, item varchar, data json, "at" timestamp,
    primary key (run, record, item)
);
create table faults (
    run varchar, line bigint, reason varchar,
    primary key (run, line)
);

-- 2
create table explanations (
    run varchar, item varchar, call varchar, task varchar, method varchar, question varchar, context varchar,
    response_1 varchar, response_2 varchar, answer_paper varchar, answer_repaired varchar,
    explanation_paper varchar, explanation_repaired varchar, gold varchar, extra json, "at" timestamp,
    primary key (run, item)
);
create table counterfactuals (
    run varchar, item varchar, call varchar, generator varchar, operation varchar, text varchar, context varchar,
    response_1 varchar, response_2 varchar,
    origin varchar,
    paper boolean,
    repaired boolean,
    extra json, "at" timestamp,
    primary key (run, item)
);
create table simulations (
    run varchar, item varchar,
    simulator varchar,
    calls json,
    votes json, paper varchar, repaired varchar, extra json, "at" timestamp,
    primary key (run, item, simulator)
);
create table answers (
    run varchar, item varchar, call varchar, paper varchar, repaired varchar, explanation varchar,
    extra json, "at" timestamp,
    primary key (run, item)
);

-- 3
create table paragraphs (
    run varchar, item varchar, task varchar, text varchar, question varchar, choices json, hypothesis varchar,
    label varchar, reference_edit varchar, extra json, "at" timestamp,
    primary key (run, item)
);
create table classifications (
    run varchar, item varchar, call varchar, persona varchar, paper varchar, repaired varchar,
    correct_paper boolean, correct_repaired boolean, extra json, "at" timestamp,
    primary key (run, item)
);
create table abilities (
    run varchar, item varchar, call varchar, persona varchar, paper varchar, repaired varchar,
    extra json, "at" timestamp,
    primary key (run, item)
);
create table self_explanations (
    run varchar, item varchar, call varchar, words_paper json, words_repaired json, edited_paper varchar,
    edited_repaired varchar, wanted varchar,
    basis varchar,
    extra json, "at" timestamp,
    primary key (run, item)
);
create table rechecks (
    run varchar, item varchar, call_paper varchar, call_repaired varchar, paper varchar, repaired varchar,
    extra json, "at" timestamp,
    primary key (run, item)
);
create table mask_controls (
    run varchar, item varchar, texts json, calls json, paper json, repaired json, all_text varchar,
    all_call varchar, all_paper varchar, all_repaired varchar, extra json, "at" timestamp,
    primary key (run, item)
);
create table checks (
    run varchar, item varchar, paragraph varchar, explanation varchar, wording varchar, label varchar,
    before_paper varchar, before_repaired varchar, after_paper varchar, after_repaired varchar,
    faithful_paper varchar,
    faithful_repaired varchar, reason_paper varchar, reason_repaired varchar, control_paper double,
    control_repaired double, distance double, kept double, masked double, over_redacted boolean,
    extra json, "at" timestamp,
    primary key (run, item)
);

-- 4
create table probes (
    run varchar, item varchar, number bigint, round bigint, input varchar, output varchar,
    value double,
    problem varchar,
    how varchar,
    extra json, "at" timestamp,
    primary key (run, item)
);
create table exchanges (
    run varchar, item varchar, round bigint, call varchar, inputs json, told varchar, trouble varchar,
    invented varchar, extra json, "at" timestamp,
    primary key (run, item)
);
create table interpretations (
    run varchar, item varchar, interpreter varchar, call varchar, description_paper varchar,
    description_repaired varchar, domain_paper varchar, domain_repaired varchar, code_paper varchar,
    code_repaired varchar, told_paper varchar, told_repaired varchar, extra json, "at" timestamp,
    primary key (run, item)
);
create table estimates (
    run varchar, item varchar, paper json, repaired json, trouble_paper varchar, trouble_repaired varchar,
    extra json, "at" timestamp,
    primary key (run, item)
);
create table predictions (
    run varchar, item varchar,
    kind varchar,
    input varchar, truth varchar, paper varchar, repaired varchar, error varchar, extra json, "at" timestamp,
    primary key (run, item)
);
create table unit_tests (
    run varchar, item varchar,
    about varchar,
    evaluator varchar, call varchar, options json, correct bigint, picked bigint, paper boolean,
    repaired boolean, extra json, "at" timestamp,
    primary key (run, item)
);
create table audits (
    run varchar, item varchar, supported json, contradicted json, unseen json, invented_rounds json,
    coverage double, longest_gap json, in_corruption bigint, claimed json, extra json, "at" timestamp,
    primary key (run, item)
);
create table truths (
    run varchar, item varchar, id varchar, category varchar, kind varchar, description varchar, parameters json,
    note varchar, noise varchar, corrupted json, x json, y json, extra json, "at" timestamp,
    primary key (run, item)
);

-- 5
alter table calls add column tools json;
alter table calls add column tool_calls json;
alter table exchanges add column tools boolean;
