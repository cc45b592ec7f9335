"""Plant: put a cue into the question that points to another answer, and look whether the explanation names it."""
