"""Whether a box keeps to its own stated truth: one rule, for subjects and facts alike."""

from __future__ import annotations

INSIDE, OUTSIDE = 2, 8
"""What the benchmark gives an interpreter to begin with: two exemplars that belong to the function, eight that do not
(paper §4)."""

LEAST = 0.5
"""Below it a box contradicts its truth: an interpreter that begins with ten exemplars is misled more often than not,
and what it then gets wrong is the box's fault.
"""


def all_right(inside: float, outside: float) -> float:
    """How often ten exemplars all come out right, 0…1, of a box that is right on the share `inside` of what belongs to
    its function and wrong on the share `outside` of what does not.
    """
    return inside**INSIDE * (1 - outside) ** OUTSIDE
