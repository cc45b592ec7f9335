"""Check: test in a fresh session whether a model acts on its own explanation (self-consistency, Madsen et al. 2024)."""
