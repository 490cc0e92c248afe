"""Fixtures for the tests of cluster managers."""

import pytest

from tests.launch.managers.dask.running import running_dask
from tests.launch.slurm import running_slurm
from tests.launch.sshd import running_sshd


@pytest.fixture
def folder(tmp_path):
    """Return a folder of this user alone, which all hosts of this machine see."""
    found = tmp_path / "shared"
    found.mkdir(mode=0o700)
    return found


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


@pytest.fixture(scope="session")
def sshd_of_session(tmp_path_factory):
    """Yield an sshd on the loopback."""
    yield from running_sshd(tmp_path_factory.mktemp("sshd"))


@pytest.fixture
def sshd(sshd_of_session, monkeypatch):
    """Return that sshd, which ssh finds as "hosta" and "hostb" in this test."""
    monkeypatch.setenv("HOME", str(sshd_of_session.home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return sshd_of_session
