"""Which methods a role may call."""

import re

import pytest

import tfdist as tf
from tfdist.launch.authority import Authority
from tfdist.wire.common.identity import ROLES
from tfdist.wire.roles import ALLOWED, may_call, refusal
from tfdist.wire.service_methods import (
    BELONG,
    END,
    FOLLOW,
    FOLLOW_SESSION,
    HEALTH,
    INSPECTION,
    MASTER,
    RUN,
    WORKER,
)
from tfdist.wire.services.inspection import Inspection
from tfdist.wire.services.master import MasterService
from tfdist.wire.services.runner import LoopRunner
from tfdist.wire.services.worker import WorkerService

MNIST = Authority("mnist")
TASK = MNIST.identity(["10.0.0.7"], "join")


def test_each_role_has_a_row():
    assert tuple(ALLOWED) == ROLES


R, L, J = "run", "look", "join"
MAY = {
    f"{MASTER}CreateSession": {R},
    f"{MASTER}ExtendSession": {R},
    f"{MASTER}PartialRunSetup": {R},
    f"{MASTER}RunStep": {R},
    f"{MASTER}CloseSession": {R},
    f"{MASTER}ListDevices": {R, L, J},
    f"{MASTER}Reset": {R},
    f"{MASTER}MakeCallable": {R},
    f"{MASTER}RunCallable": {R},
    f"{MASTER}ReleaseCallable": {R},
    f"{WORKER}GetStatus": {R, L, J},
    f"{WORKER}CreateWorkerSession": {R, J},
    f"{WORKER}DeleteWorkerSession": {R, J},
    f"{WORKER}RegisterGraph": {R, J},
    f"{WORKER}DeregisterGraph": {R, J},
    f"{WORKER}RunGraph": {R, J},
    f"{WORKER}CleanupGraph": {R, J},
    f"{WORKER}CleanupAll": {R, J},
    f"{WORKER}RecvTensor": {R, J},
    f"{WORKER}Logging": {R, L, J},
    f"{INSPECTION}Hello": {R, L, J},
    f"{INSPECTION}Attach": {R, L, J},
    f"{INSPECTION}Placement": {R, L, J},
    f"{INSPECTION}Why": {R, L, J},
    f"{INSPECTION}Census": {R, L, J},
    f"{INSPECTION}Costs": {R, L, J},
    f"{INSPECTION}Disturb": {R},
    f"{HEALTH}Check": {R, L, J},
    f"{HEALTH}Watch": {R, L, J},
    FOLLOW: {R, J},
    FOLLOW_SESSION: {R, J},
    RUN: {R, J},
    END: {R, J},
    BELONG: {R, L, J},
}


@pytest.mark.parametrize("path", MAY)
def test_who_may_call_what(path):
    assert {role for role in ROLES if may_call(role, path)} == MAY[path]


def test_every_method_has_a_row():
    server = tf.train.Server.create_local_server(start=False)
    runner = LoopRunner()
    try:
        served = {
            **MasterService(server.task, runner, None).methods(),
            **WorkerService(server.task, runner, None).methods(),
            **Inspection(server.task, "", set()).methods(),
        }
    finally:
        runner.stop()
        server.stop()
    assert set(served) == set(MAY)


AS = {  # what gRPC says of a caller
    role: {"peer_uri": [f"tfdist://mnist/{role}".encode()]} for role in (*ROLES, "root")
}
CALLERS = [
    pytest.param(AS["run"], f"{MASTER}RunStep", "", id="run may run"),
    pytest.param(AS["look"], f"{INSPECTION}Why", "", id="look may look"),
    pytest.param(
        AS["look"], f"{MASTER}RunStep",
        r"has the role look, which may not call /.*RunStep; wanted is the role run\.",
        id="look may not run",
    ),
    pytest.param(
        AS["look"], f"{WORKER}RecvTensor", "wanted is the role run or join", id="two may do that"
    ),
    pytest.param(AS["join"], f"{MASTER}CreateSession", "wanted is the role run", id="so join"),
    pytest.param(AS["root"], f"{HEALTH}Check", "the role root.* run or look or join", id="unknown"),
    pytest.param({}, f"{HEALTH}Check", "names no role.* tfdist://CLUSTER/ROLE", id="no role"),
    pytest.param(
        {"peer_uri": [b"tfdist://cifar/run"]}, f"{HEALTH}Check",
        "is for the cluster cifar.*one for mnist", id="another cluster",
    ),
    pytest.param(
        {**AS["join"], "x509_pem_cert": [TASK.certificate]}, f"{MASTER}CreateSession", "",
        id="a task may open sessions at itself",
    ),
    pytest.param(
        {**AS["join"], "x509_pem_cert": [MNIST.identity(["10.0.0.7"], "join").certificate]},
        f"{MASTER}CreateSession", "the role run", id="but not at another one",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("certificate", "path", "said"), CALLERS)
def test_why_a_caller_is_refused(certificate, path, said):
    found = refusal(certificate, path, TASK)
    if said:
        assert re.search(said, found.message)
    else:
        assert found is None
