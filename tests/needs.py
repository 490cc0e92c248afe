"""What a test needs of the system beyond Python; pytest's summary tells what was missing."""

import os
import shutil
from collections.abc import Mapping

import pytest


def need(programs: Mapping[str, str], root: bool = False) -> None:
    """Skip the test, with what to do about it, unless programs are there.

    Args:
      programs: Debian package of each, by name.
      root: whether it needs to be run by root.
    """
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    missing = sorted({p for name, p in programs.items() if shutil.which(name, path=path) is None})
    if missing:
        pytest.skip(f"NOT TESTED: apt-get install {' '.join(missing)}")
    if root and os.geteuid():
        pytest.skip("NOT TESTED: only root makes networks for it; run this test as root")
