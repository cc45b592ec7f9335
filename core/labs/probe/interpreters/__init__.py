"""Who describes a function from what it can observe of it."""
