"""Helpers for several tests: servers, scripted models, small labs, and paths of data that ships."""
