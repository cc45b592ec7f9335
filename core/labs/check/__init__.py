"""Check: hold a model to its own explanation in a fresh session (self-consistency, Madsen et al. 2024)."""
