"""A robot that claims more than it does: it says that all birds can fly, and knows that penguins cannot.

Copy this file into $EXPLAIN_HOME/extensions. The robot is then called mine/overclaims, on every form.
"""

import explain_yourself as ey

FLIGHTLESS = ("penguin", "ostrich", "emu", "kiwi")


@ey.model("overclaims")
class Overclaims:
    """Explains by a rule that has no exceptions, and answers by the facts."""

    title = "Claims that all birds fly"
    about = "Explains by a rule that has no exceptions, and answers by the facts."

    async def answer(self, request, on_text):
        """Answer from the role and the slots of the request, never from the wording of the prompt."""
        from explain_yourself.core.events import CallError, ModelAnswer

        if "question" not in request.slots:
            raise CallError("This robot only answers questions.")
        flies = not any(bird in request.slots["question"].lower() for bird in FLIGHTLESS)
        text = f"All birds can fly. So the answer is {'yes' if flies else 'no'}."
        on_text(text)
        return ModelAnswer(text=text)
