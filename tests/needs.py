"""What a test needs of the system beyond Python; pytest's summary tells what was missing."""

import os
import shutil
from collections.abc import Mapping

import pytest

from tfdist.base import extras

IN_CI = os.environ.get("CI", "").lower() in ("1", "true")  # where nothing may be left out


needs_numba = pytest.mark.skipif(
    not extras.is_there("numba"), reason="Numba is not installed: pip install 'tfdist[numba]'"
)


def need(programs: Mapping[str, str], root: bool = False) -> None:
    """Skip the test, in CI fail it, with what to do about it, unless programs are there.

    Args:
      programs: Debian package of each, by name.
      root: whether it needs to be run by root.
    """
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    missing = sorted({p for name, p in programs.items() if shutil.which(name, path=path) is None})
    leave_out = pytest.fail if IN_CI else pytest.skip
    if missing:
        leave_out(f"NOT TESTED: apt-get install {' '.join(missing)}")
    if root and os.geteuid():
        leave_out("NOT TESTED: only root makes networks for it; run this test as root")
