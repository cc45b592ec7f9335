select run, "case", cases.lab, coalesce(number, 0) as number, coalesce(runs."at", timestamp '1970-01-01') as "at",
       coalesce(cases.title, '') as title, coalesce(cases.model, runs.model, '') as model,
       cases.outcome_repaired, cases.outcome_paper, facets.* exclude (run, "case")
from cases join runs using (run) join facets using (run, "case") where run = any($runs)
