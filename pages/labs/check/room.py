"""What Check's page draws by hand."""

from __future__ import annotations

from pages import lab as driver
from pages.components.lab_page import with_form
from pages.labs.check import draw, form, methods, table
from pages.labs.check.side import SIDE

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
