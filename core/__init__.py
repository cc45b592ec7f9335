"""Explain Yourself without a screen: labs, models, runs, journal, store."""

import os

# Matrices are small here, and runs share the processors: further threads of NumPy's would spin while they wait.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
