"""A study: a set of specifications, planned from one file, executed run by run, and reported as tables."""
