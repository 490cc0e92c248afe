"""Fixtures for the tests of cluster managers."""

import pytest

from tests.launch.managers.dask.running import running_dask
from tests.launch.slurm import running_slurm


@pytest.fixture(scope="session")
def dask_cluster(tmp_path_factory):
    """Yield a Dask cluster of three workers on this host."""
    yield from running_dask(tmp_path_factory.mktemp("dask"))


@pytest.fixture(scope="session")
def slurm_of_session(tmp_path_factory):
    """Yield a SLURM with two nodes."""
    yield from running_slurm(tmp_path_factory.mktemp("slurm"))


@pytest.fixture
def slurm(slurm_of_session, monkeypatch):
    """Return that SLURM, which the test's commands find; its clusters are encrypted."""
    monkeypatch.setenv("SLURM_CONF", str(slurm_of_session.configuration))
    monkeypatch.delenv("TFDIST_REMOTE", raising=False)
    return slurm_of_session
