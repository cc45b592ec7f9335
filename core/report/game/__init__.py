"""Outguess: packs of cards that a person predicts, each a trial of a run that can be looked at."""
