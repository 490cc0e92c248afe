"""Settings that must stand before anything is collected, for the tests and for the notebooks."""

import os

# The notebooks' kernels inherit it: a live display would change while nbval compares its output.
os.environ["TFDIST_LIVE"] = "off"
