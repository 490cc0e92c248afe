"""Device names: what is read, how it is written, how requests are merged and matched."""

import pytest

from tfdist.base import devices
from tfdist.base.devices import DeviceSpec


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        pytest.param("", DeviceSpec(), id="no request"),
        pytest.param("/job:ps", DeviceSpec(job="ps"), id="a job"),
        pytest.param("/job:ps/task:3", DeviceSpec("ps", None, 3), id="a task"),
        pytest.param("job:ps/task:3", DeviceSpec("ps", None, 3), id="without the first slash"),
        pytest.param("/replica:0", DeviceSpec(replica=0), id="a replica"),
        pytest.param("/cpu:0", DeviceSpec(None, None, None, "CPU", 0), id="the old spelling"),
        pytest.param("/GPU:1", DeviceSpec(None, None, None, "GPU", 1), id="capitals"),
        pytest.param("/device:CPU:0", DeviceSpec(None, None, None, "CPU", 0), id="the new one"),
        pytest.param("/device:gpu:1", DeviceSpec(None, None, None, "GPU", 1), id="lower case"),
        pytest.param("/gpu", DeviceSpec(None, None, None, "GPU"), id="a type without index"),
        pytest.param("/gpu:*", DeviceSpec(None, None, None, "GPU"), id="any index"),
        pytest.param("/device:GPU:*", DeviceSpec(None, None, None, "GPU"), id="any, new spelling"),
        pytest.param(
            "/job:worker/replica:0/task:12/device:CPU:1",
            DeviceSpec("worker", 0, 12, "CPU", 1),
            id="a full name",
        ),
        pytest.param("/task:1/job:ps", DeviceSpec("ps", None, 1), id="in any order"),
    ],
)
def test_parse(text, spec):
    assert devices.parse(text) == spec
    assert DeviceSpec.from_string(text) == spec


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("/job:ps/task:x", id="a task is a number"),
        pytest.param("/job:ps/tsak:1", id="a misspelled part is not a device type"),
        pytest.param("/job:ps/junk", id="a word is not a device type"),
        pytest.param("/jobs:ps", id="jobs is not job"),
        pytest.param("/cpu:0/gpu:0", id="one type at most"),
        pytest.param("/task:1/task:2", id="one task at most"),
        pytest.param("/job:/task:1", id="a job has a name"),
        pytest.param("/cpu:x", id="an index is a number"),
        pytest.param("/task:-1", id="a task is not negative"),
    ],
)
def test_parse_refuses(text):
    with pytest.raises(ValueError, match="is not a device"):
        devices.parse(text)


def test_a_refusal_shows_where_it_stopped():
    with pytest.raises(ValueError, match=r"'/job:ps/task:x' is not .*stopped at '/task:x'"):
        devices.parse("/job:ps/task:x")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "", id="no request"),
        pytest.param("/cpu:0", "/device:CPU:0", id="old becomes new"),
        pytest.param("/job:ps/gpu:1", "/job:ps/device:GPU:1", id="inside a longer name"),
        pytest.param("/gpu", "/device:GPU:*", id="any index is a star"),
        pytest.param("/task:1/job:ps", "/job:ps/task:1", id="in the usual order"),
        pytest.param("/job:a/replica:0/task:1", "/job:a/replica:0/task:1", id="nothing to do"),
    ],
)
def test_canonical(text, expected):
    assert devices.canonical(text) == expected
    assert devices.canonical(expected) == expected


def test_a_spec_made_by_hand_is_written_in_capitals():
    assert DeviceSpec(job="ps", device_type="cpu").to_string() == "/job:ps/device:CPU:*"


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        pytest.param("/job:ps", "/cpu:0", "/job:ps/device:CPU:0", id="inner adds"),
        pytest.param("/job:ps", "/job:worker", "/job:worker", id="inner wins"),
        pytest.param("/job:ps/task:1", "/task:2", "/job:ps/task:2", id="inner wins in part"),
        pytest.param("/cpu:0", "", "/device:CPU:0", id="an empty one changes nothing"),
        pytest.param("", "/cpu:0", "/device:CPU:0", id="into nothing"),
        pytest.param("/gpu:1", "/gpu:*", "/device:GPU:1", id="a star does not forget an index"),
        pytest.param("/task:0", "/job:ps", "/job:ps/task:0", id="the outer one had the task"),
    ],
)
def test_merge(outer, inner, expected):
    assert devices.merge(outer, inner) == expected


@pytest.mark.parametrize(
    ("request_", "device", "fits"),
    [
        pytest.param("", "/job:a/replica:0/task:0/cpu:0", True, id="no request fits all"),
        pytest.param("/job:a", "/job:a/replica:0/task:7/cpu:0", True, id="the job is right"),
        pytest.param("/job:b", "/job:a/replica:0/task:7/cpu:0", False, id="another job"),
        pytest.param("/task:0", "/job:a/replica:0/task:0/cpu:0", True, id="task 0 is a request"),
        pytest.param("/task:0", "/job:a/replica:0/task:1/cpu:0", False, id="task 1 is not it"),
        pytest.param("/gpu:*", "/job:a/replica:0/task:0/gpu:3", True, id="any card"),
        pytest.param("/gpu:*", "/job:a/replica:0/task:0/cpu:0", False, id="but a card"),
    ],
)
def test_matches(request_, device, fits):
    assert devices.parse(request_).matches(devices.parse(device)) is fits


def test_the_task_of_a_device():
    assert devices.parse("/job:a/replica:0/task:1/cpu:0").task_name == "/job:a/replica:0/task:1"


def test_a_spec_prints_as_its_name():
    assert str(DeviceSpec("ps", 0, 1, "CPU", 0)) == "/job:ps/replica:0/task:1/device:CPU:0"
