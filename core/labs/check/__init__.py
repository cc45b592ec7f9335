"""Check: test in a fresh session whether a model is consistent with its own explanation (Madsen et al. 2024)."""
