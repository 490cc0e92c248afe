"""Where a cluster is started on, by name."""

import pytest

from tfdist.launch.managers.on import MANAGERS, manager_on
from tfdist.launch.start import start_cluster


@pytest.mark.parametrize("name", ["kernel", "processes"])
def test_this_host_needs_no_manager(name):
    assert manager_on(name) is None


def test_an_unknown_name_is_answered_with_all_that_there_are():
    wanted = rf"called 'kernle'; there are kernel, processes.*{'.*'.join(MANAGERS)}.*'kernel'\?"
    with pytest.raises(ValueError, match=wanted):
        start_cluster({"ps": 1}, on="kernle")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param(
            {"engine": "tensorflow"}, "show no certificates.*TFDIST_REMOTE=plain", id="TF"
        ),
        pytest.param({"processes": True}, "in processes of their own: leave out", id="processes"),
    ],
)
def test_what_goes_with_no_manager(options, said):
    with pytest.raises(ValueError, match=said):
        start_cluster({"worker": 1}, on="mpi", **options)


@pytest.mark.parametrize("on", ["kernel", "processes", "slurm"])
def test_tasks_that_cannot_stay_are_not_said_to(on):
    with pytest.raises(ValueError, match=r"end with th.* process.*; those on Dask may stay"):
        start_cluster({"ps": 1}, on=on, keep=True)
