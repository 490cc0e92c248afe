"""How tasks of one process are found, by address."""

import pytest

from tfdist.errors import UnavailableError
from tfdist.runtime.task import peers
from tfdist.runtime.task.task import Task


@pytest.mark.parametrize(
    ("address", "normal"),
    [
        pytest.param("localhost:2222", "127.0.0.1:2222", id="localhost"),
        pytest.param("0.0.0.0:2222", "127.0.0.1:2222", id="all interfaces"),
        pytest.param("[::]:2222", "127.0.0.1:2222", id="all interfaces of version 6"),
        pytest.param("[::1]:2222", "127.0.0.1:2222", id="the loopback of version 6"),
        pytest.param("127.0.0.1:2222", "127.0.0.1:2222", id="itself"),
        pytest.param("ps0.example.com:2222", "ps0.example.com:2222", id="another host"),
    ],
)
def test_one_host_has_many_names(address, normal):
    assert peers.normal_address(address) == normal


@pytest.fixture
def task():
    """Return a task at an address that nobody else has."""
    name = "/job:a/replica:0/task:0"
    task = Task("a", 0, {name: "localhost:1", "/job:b/replica:0/task:0": "localhost:2"})
    yield task
    task.stop()


def test_a_task_is_found_while_it_runs(task):
    with pytest.raises(UnavailableError):
        peers.find_task("localhost:1")
    task.start()
    assert peers.find_task("127.0.0.1:1") is peers.find_task("localhost:1") is task
    task.stop()
    with pytest.raises(UnavailableError, match="no server answers at localhost:1"):
        peers.find_task("localhost:1")


def test_who_is_not_there_is_told_with_who_is(task):
    task.start()
    with pytest.raises(UnavailableError, match=r"127\.0\.0\.1:2 \(/job:b.*127\.0\.0\.1:1"):
        task.peers.devices(["/job:b/replica:0/task:0"], None)


def test_a_stopped_task_does_not_withdraw_its_successor(task):
    task.start()
    other = Task("a", 0, {task.name: "localhost:1"})
    other.start()
    task.stop()
    assert peers.find_task("localhost:1") is other
    other.stop()


def test_a_task_knows_itself_without_being_found(task):
    [device] = task.peers.devices([task.name], None)
    assert device.name == "/job:a/replica:0/task:0/device:CPU:0"
    assert (str(device.spec), device.device_type) == (device.name, "CPU")
