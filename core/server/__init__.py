"""People and their runs: who began a run, how they keep it, what they say about it, and how much they may use."""
