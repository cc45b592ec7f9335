"""A figure of Ask: how many words an explanation has. Copy this file into $EXPLAIN_HOME/extensions."""

import explain_yourself as ey


@ey.metric("ask", "Words in the explanation", kind="count")
def explanation_words(views):
    """How many words the explanation has, on average."""
    from explain_yourself.core.score import Score, undefined

    counts = [len(view.explanation.split()) for view in views if view.explanation]
    if not counts:
        return undefined(len(views), "there is no explanation")
    return Score(sum(counts) / len(counts), len(counts), len(views))
