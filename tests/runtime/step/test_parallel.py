"""Heavy units run side by side, and come to the same."""

import threading

import numpy as np
import pytest

import tfdist as tf
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import REGISTRY, OpDef
from tfdist.runtime.step import parallel
from tfdist.wire.server import start_servers


@pytest.fixture
def workers(monkeypatch):
    """Return two servers on which every compiled unit counts as heavy."""
    monkeypatch.setattr(parallel, "HEAVY", -2)
    monkeypatch.setenv("TFDIST_EXECUTOR", "compiler")
    servers = start_servers({"worker": 2})
    yield servers
    for server in servers:
        server.stop()


@pytest.fixture
def meet():
    """Return an op whose two nodes wait for each other in their kernels."""
    barrier = threading.Barrier(2)
    op_def = OpDef("Meet(x: T) -> y: T [T: type; fails: bool = False]")

    @op_def.kernel
    def meet_kernel(x, *, fails):
        barrier.wait(timeout=20)
        if fails:
            raise InvalidArgumentError("met, and failed")
        return x + 1

    yield op_def
    del REGISTRY["Meet"]


def on_both(build):
    """Return what `build` makes on each worker."""
    made = []
    for index in range(2):
        with tf.device(f"/job:worker/task:{index}"):
            made.append(build(index))
    return made


def test_units_of_two_tasks_run_at_once(workers, meet):
    x = tf.placeholder(tf.float32, [2])
    fetches = on_both(lambda index: meet(x + float(index)))
    with tf.Session(workers[0].target) as session:
        one, other = session.run(fetches, {x: [1.0, 2.0]})
    assert one.tolist() == [2.0, 3.0]
    assert other.tolist() == [3.0, 4.0]


@pytest.mark.parametrize("index", [0, 1])
def test_an_error_beside_is_told_with_its_node(workers, meet, index):
    fetches = on_both(lambda here: meet(tf.constant(1.0), fails=here == index, name=f"meet{here}"))
    with tf.Session(workers[0].target) as session:
        with pytest.raises(InvalidArgumentError, match="met, and failed") as failure:
            session.run(fetches)
    assert failure.value.node_name == f"meet{index}"
    assert f"task:{index}" in failure.value.device


def test_a_trace_shows_both(workers, meet):
    fetches = on_both(lambda index: meet(tf.constant(1.0), name=f"meet{index}"))
    metadata = tf.RunMetadata()
    with tf.Session(workers[0].target) as session:
        session.run(fetches, options=tf.RunOptions(trace_level=3), run_metadata=metadata)
    entries = metadata.step_stats.dev_stats
    ran = {node.node_name: node for entry in entries for node in entry.node_stats}
    one, other = ran["meet0"], ran["meet1"]
    assert one.all_start_nanos < other.all_start_nanos + other.all_end_rel_nanos
    assert other.all_start_nanos < one.all_start_nanos + one.all_end_rel_nanos


def test_numpys_error_state_goes_along(workers):
    x = tf.placeholder(tf.float32, [2])
    fetches = on_both(lambda index: tf.log(x) / x)
    with tf.Session(workers[0].target) as session:
        for result in session.run(fetches, {x: [0.0, 1.0]}):
            assert np.isneginf(result[0])
