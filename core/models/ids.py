"""What a model's id says about it."""

CONTROL = "control/"

OWN = "mine/"
"""The prefix of models that are functions of one's own (`core.extensions`)."""


GIVEN = "given/words"
"""Words that were given in place of a model's: it repeats the last turn of its request."""


def is_control(model: str) -> bool:
    """Whether the model is a robot, whose true behaviour is known."""
    return model.startswith(CONTROL)


def is_free(model: str) -> bool:
    """Whether the model's answers are free: a robot's, or a replay's."""
    return model == GIVEN or model.startswith((CONTROL, "replay/"))
