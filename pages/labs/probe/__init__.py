"""The hand-written parts of Probe's page."""
