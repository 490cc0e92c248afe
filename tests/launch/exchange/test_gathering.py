"""Who is told what, and when, as the tasks of a cluster come and go."""

from tfdist.launch.exchange.gathering import Gathering
from tfdist.launch.exchange.messages import Bound, Cluster, Ended, Serves

PS, W0, W1 = "/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1"
TASKS = [PS, W0, W1]


def gathered(lease=0.0, sign=None):
    """Return a gathering of three tasks that have all bound their ports."""
    found = Gathering(TASKS, lease, sign)
    for number, task in enumerate(TASKS):
        told = found.heard(task, Bound(f"h:{number}"))
    return found, told


def test_nobody_is_told_anything_until_all_have_a_port():
    found = Gathering(TASKS)
    assert found.heard(PS, Bound("h:0")) == []
    assert found.heard(W0, Bound("h:1")) == []
    assert found.missing == [W1]


def test_the_last_one_to_come_has_all_told_the_cluster():
    addresses = {PS: "h:0", W0: "h:1", W1: "h:2"}
    found, told = gathered(lease=7.0)
    assert told == [(task, Cluster(addresses, 7.0)) for task in TASKS]
    assert found.missing == TASKS  # none serves yet


def test_all_serve_when_each_has_said_so():
    found, _ = gathered()
    for task in TASKS:
        assert not found.is_complete
        assert found.heard(task, Serves()) == []
    assert found.is_complete
    assert found.missing == []


def test_a_task_that_is_back_in_its_place_is_told_alone():
    found, _ = gathered()
    found.heard(W1, Ended("killed"))
    assert found.causes == {W1: "killed"}
    assert found.missing == [W1]
    assert [task for task, _ in found.heard(W1, Bound("h:2"))] == [W1]
    assert found.causes == {}


def test_a_task_that_is_back_elsewhere_is_told_to_all():
    found, _ = gathered()
    found.ended(W1)
    told = found.heard(W1, Bound("other:9"))
    assert [task for task, _ in told] == TASKS
    assert told[0][1].addresses[W1] == "other:9"


def test_those_that_have_ended_too_are_not_told():
    found, _ = gathered()
    found.ended(W0)
    found.ended(W1)
    assert [task for task, _ in found.heard(W1, Bound("other:9"))] == [PS, W1]


def test_the_first_cause_of_an_end_stays():
    found, _ = gathered()
    found.heard(W0, Ended("port 7 is taken"))
    found.ended(W0, "exited (1)")
    assert found.causes[W0] == "port 7 is taken"


def test_each_task_gets_a_certificate_for_its_own_request():
    found = Gathering([PS], sign=lambda task, bound: (f"for {task} at {bound.host}", "authority"))
    ((_, told),) = found.heard(PS, Bound("h:0", host="node", request="csr"))
    assert (told.certificate, told.authority) == (f"for {PS} at node", "authority")


def test_a_task_that_asks_for_none_gets_no_certificate():
    found = Gathering([PS], sign=lambda task, bound: ("certificate", "authority"))
    ((_, told),) = found.heard(PS, Bound("h:0"))
    assert told.certificate == ""
