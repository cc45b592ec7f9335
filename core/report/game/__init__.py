"""Outguess: packs of cards that a person predicts. Each card is a trial of a run that can be viewed."""
