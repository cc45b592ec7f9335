"""The hand-written parts of Plant's page."""
