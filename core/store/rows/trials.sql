with failing as (
    select run, "case", trial, min(error) as error from calls where run = any($runs) and error is not null
    group by all
)
select begun.* exclude (item, principal, outcome_repaired, outcome_paper), trial, coalesce(about, '') as about,
       expected_repaired as expected, observed_repaired as observed, observed_paper,
       coalesce(trials.outcome_repaired, '') as outcome, trials.outcome_paper,
       trials.outcome_repaired is distinct from trials.outcome_paper as differ,
       coalesce(counts_repaired, false) as counts, coalesce(counts_paper, false) as counts_paper,
       coalesce(doubt_repaired, '') as doubt,
       if(counts_repaired, '', coalesce(reason_repaired, '')) as reason, coalesce(error, '') as error
from begun join trials using (run, "case") left join failing using (run, "case", trial)
where item = 'trial'
