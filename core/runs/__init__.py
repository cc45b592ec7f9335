"""Runs: how a run is executed, journaled, resumed and parsed again."""
