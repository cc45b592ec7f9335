"""Outguess: packs of cards that a person foretells, each a trial of a run that can be looked at."""
