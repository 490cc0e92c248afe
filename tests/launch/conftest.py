"""Clusters of a test end with it; some tests want a folder for files that is empty."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tfdist.launch.clusters import running_clusters


@pytest.fixture
def runtime(tmp_path, monkeypatch) -> Path:
    """Return the runtime folder of one test, empty."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "tfdist"


@pytest.fixture
def no_clusters() -> Iterator[None]:
    """Stop what a test started."""
    yield
    for cluster in running_clusters():
        cluster.stop()


@pytest.fixture
def everybody_may() -> Iterator[None]:
    """Let new files be everybody's, unless their maker takes care."""
    before = os.umask(0)
    yield
    os.umask(before)
