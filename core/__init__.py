"""Explain Yourself without a screen: labs, models, runs, journal, store."""
