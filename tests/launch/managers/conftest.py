"""Fixtures for the tests of cluster managers."""

import pytest

from tests.launch.managers.dask.running import running_dask


@pytest.fixture(scope="session")
def dask_cluster(tmp_path_factory):
    """Yield a Dask cluster of three workers on this host."""
    yield from running_dask(tmp_path_factory.mktemp("dask"))
