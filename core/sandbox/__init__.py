"""Runs programs written by models, with limits on everything they may use."""
