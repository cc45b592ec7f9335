"""A test of what carries the entity functions of Probe out."""
