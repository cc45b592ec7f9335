"""Intervals, paired tests, agreement, groups and comparisons (docs/measuring.md §6). The lowest layer: it imports no
other module of this project, and heavy libraries only where they are used.
"""
