"""The environment of programs that the tests start."""

import os
from pathlib import Path

from tfdist.launch.server_process import own_environment

ROOT = Path(__file__).parents[2]


def environment_of_tests(**more):
    """Return that of a child which finds this tfdist, and the folder of the tests."""
    found = own_environment()
    paths = [str(ROOT), *filter(None, [found.get("PYTHONPATH")])]
    return found | {"PYTHONPATH": os.pathsep.join(paths)} | more
