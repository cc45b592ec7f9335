"""A reliability test of the backbones that carry out the entity functions of Probe."""
