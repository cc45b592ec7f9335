"""Everything but the screens of Explain Yourself: labs, models, runs, journal, store."""

import os

# Matrices are small here and runs share the processors: extra NumPy threads would only spin while they wait.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
