"""The hand-written parts of Ask's page."""
