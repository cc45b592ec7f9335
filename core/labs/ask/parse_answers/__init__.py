"""Parsers of raw text: the authors' (`paper`), and ours for today's chat models (the other files)."""
