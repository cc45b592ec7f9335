"""What Check's page draws by hand."""

from __future__ import annotations

from pages import lab as driver
from pages.labs.consistency import draw, form, methods, table
from pages.labs.consistency.side import SIDE
from pages.parts.rooms import with_form

ROOM = with_form(
    form,
    verb="Hide words",
    choose=draw.choose,
    several=table.draw,
    after=driver.ask_a_real_one,
    methods=methods.draw,
    words=dict([*form.TASKS.items(), *form.EXPLANATIONS.items()]),
    side=SIDE,
)
