"""The page Study: many runs from one file, planned, made, and summarised in tables."""
