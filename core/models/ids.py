"""What a model's id tells of it."""

CONTROL = "control/"


def is_control(model: str) -> bool:
    """Whether it is a robot, whose truth is known."""
    return model.startswith(CONTROL)


def is_free(model: str) -> bool:
    """Whether its answers are free: a robot's, or a replay's."""
    return model.startswith((CONTROL, "replay/"))
