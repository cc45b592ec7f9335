"""One room a lab: what its page draws by hand. A lab without a room is drawn from its declaration."""

from functools import cache
from importlib import import_module
from pathlib import Path

from pages.parts.rooms import ROOMS


@cache
def furnish() -> None:
    """Let the pages find every lab's `<name>/room.py`."""
    for path in Path(__file__).parent.glob("*/room.py"):
        ROOMS[path.parent.name] = import_module(f"pages.labs.{path.parent.name}.room").ROOM
