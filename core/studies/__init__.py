"""A study: a set of specifications. Planned from one file, executed run by run, read as tables."""
