"""What `mpirun` refuses is told; what it starts is in the contract of all managers."""

import pytest

from tests.needs import need
from tfdist.launch.managers.mpi import MpiManager
from tfdist.launch.start import start_cluster

REFUSED = [
    pytest.param("nix", "there is no program nix here", id="no such launcher"),
    pytest.param("false", "ended: mpirun ended (1): it said nothing", id="it ends without a word"),
    pytest.param(
        "mpirun.openmpi --host localhost:1",
        "/job:ps/task:0, /job:worker/task:0 ended: mpirun ended (1): There are not enough slots",
        id="too few slots: said once for all",
    ),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_a_launcher_that_starts_nothing_is_told(options, said, tmp_path, runtime, monkeypatch):
    need({"mpirun.openmpi": "openmpi-bin"})
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")
    manager = MpiManager(f"{options} --folder={tmp_path / 'shared'}")
    outcome = start_cluster({"ps": 1, "worker": 1}, on=manager)
    assert (outcome.word, said in outcome.cause) == ("failed", True), outcome.cause
    assert list((tmp_path / "shared").iterdir()) == []
