"""Every door to the outside: command line, HTTP, workspace, the cut."""

import os

# Set before NumPy is imported. Matrices here are small, so more threads only wait for each other, and the
# last digits of a result must not depend on how many cores a machine has.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
