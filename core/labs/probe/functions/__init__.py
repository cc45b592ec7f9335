"""The black boxes: numeric, string, entity and relation functions, generated here or published with the paper."""
