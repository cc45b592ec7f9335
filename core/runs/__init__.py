"""Runs: how one is executed, journaled, resumed and read again."""
