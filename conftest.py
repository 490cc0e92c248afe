"""Settings that must stand before anything is collected, for the tests and for the notebooks."""

import os
import sys
from pathlib import Path

# The notebooks' kernels inherit it: a live display would change while nbval compares its output.
os.environ["TFDIST_LIVE"] = "off"

# Dask logs that a machine is busy, and what killed workers have left: outputs differ by that.
os.environ["DASK_DISTRIBUTED__LOGGING__DISTRIBUTED"] = "critical"

# Several hundred processes of the tests import tfdist, in a third of the time if it is compiled.
# Where the source folders are to stay clean (PYTHONDONTWRITEBYTECODE), they find that elsewhere.
if sys.dont_write_bytecode and not sys.pycache_prefix:
    sys.pycache_prefix = str(Path(__file__).with_name(".pytest_cache") / "bytecode")
    sys.dont_write_bytecode = False
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    del os.environ["PYTHONDONTWRITEBYTECODE"]

pytest_plugins = ["tests.schedule"]
