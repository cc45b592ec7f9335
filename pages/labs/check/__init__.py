"""The hand-written parts of Check's page."""
