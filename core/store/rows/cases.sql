with failing as (
    select run, "case", min(error) as error from calls where run = any($runs) and error is not null group by all
), aside as (
    select run, "case", arg_min(reason, (coalesce(trial, ''), "at")) as reason from drops
    where run = any($runs) and rules in ('', 'repaired') group by all
)
select begun.* exclude (item, principal, outcome_repaired, outcome_paper), '' as trial,
       coalesce(about, '') as about,
       expected_repaired as expected, observed_repaired as observed, observed_paper,
       coalesce(begun.outcome_repaired, '') as outcome, begun.outcome_paper,
       begun.outcome_repaired is distinct from begun.outcome_paper as differ,
       true as counts, true as counts_paper, coalesce(doubt_repaired, '') as doubt,
       coalesce(reason, '') as reason, coalesce(error, '') as error
from begun left join trials on (trials.run, trials."case", trial) = (begun.run, begun."case", principal)
     left join failing on (failing.run, failing."case") = (begun.run, begun."case")
     left join aside on (aside.run, aside."case") = (begun.run, begun."case")
where item = 'case' or (begun.run, begun."case") not in (select (run, "case") from trials where run = any($runs))
