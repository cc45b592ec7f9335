"""Stop sequences, applied on our side as well: some servers pass over them, and others take only four."""

from __future__ import annotations


class StopCutter:
    """Cuts a text that comes in pieces at the first stop sequence, which is not part of the result.

    What may still turn out to be the beginning of a stop sequence is held back until that is clear. The text that
    all calls of `feed` and `rest` return, joined, is the text before the stop sequence that is complete first, as a
    server stops there; however the text is cut into pieces.
    """

    def __init__(self, stops: tuple[str, ...]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""
        self.stopped = False

    def feed(self, piece: str) -> str:
        """What can be shown now that `piece` has come; empty once a stop sequence has come."""
        if self.stopped:
            return ""
        self._held += piece
        stops = [(at + len(stop), at) for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if stops:
            self.stopped = True
            out, self._held = self._held[: min(stops)[1]], ""
            return out
        keep = max((_overlap(self._held, stop) for stop in self._stops), default=0)
        cut = len(self._held) - keep
        out, self._held = self._held[:cut], self._held[cut:]
        return out

    def rest(self) -> str:
        """What was held back, once no more comes."""
        out, self._held = self._held, ""
        return out


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` with which `stop` begins."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)
