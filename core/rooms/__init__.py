"""A class that predicts a model's answers together: one projector, a phone for each person."""
