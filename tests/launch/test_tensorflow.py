"""Servers of TensorFlow itself, started by us: traces, places, waits, and what `attach` finds.

Without TFDIST_TENSORFLOW (see `tests/interop/interpreters.py`), and where nobody may make networks,
the tests are skipped.
"""

import numpy as np
import pytest

import tfdist as tf
from tests.interop.directions import KINDS
from tests.interop.interpreters import hindrance, interpreters
from tfdist.launch.attached_cluster import attach
from tfdist.launch.start import start_cluster
from tfdist.tracing.steps.node_row import TRANSFER
from tfdist.tracing.steps.rows import rows

JOBS = {"ps": 1, "worker": 2}
ENGINES = [{"worker": "tensorflow"}, {"ps": "tensorflow"}, "tensorflow"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(hindrance()), reason=hindrance()),
]


def found():
    return [kind for kind in KINDS.values() if kind in interpreters()] if not hindrance() else []


@pytest.fixture(
    scope="module", params=[(kind, engine) for kind in found() for engine in ENGINES], ids=str
)
def cluster(request, tmp_path_factory):
    kind, engine = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path_factory.mktemp("real")))
        python = interpreters()[kind]
        with start_cluster(JOBS, "real", engine=engine, python=python).require() as started:
            yield started


@pytest.fixture(params=["ps:0", "worker:1"])
def session(request, cluster):
    job, _, task = request.param.partition(":")
    with tf.Graph().as_default(), tf.Session(cluster.target(job, int(task))) as made:
        yield made


MANY = 10  # traces, of which one at least is whole


def product():
    """Return the variable, and a product that crosses from the parameter server to a worker."""
    with tf.device("/job:ps"):
        weights = tf.Variable([1.0, 2.0], name="weights")
    with tf.device("/job:worker/task:0"):
        doubled = tf.multiply(weights, 2.0, name="doubled")
    with tf.device("/job:worker/task:1"):
        return weights, tf.add(doubled, weights, name="sum")


def traced(session, fetch):
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    return session.run(fetch, options=options, run_metadata=metadata), metadata


def test_a_trace_has_what_ran_and_what_crossed(session):
    weights, total = product()
    session.run(weights.initializer)
    session.run(total)
    wanted = {
        (False, "weights", "/job:ps/replica:0/"),
        (False, "doubled", "/job:worker/replic"),
        (False, "sum", "/job:worker/replic"),
        (True, "weights/read", "/job:worker/replic"),
        (True, "doubled", "/job:worker/replic"),
    }
    # TensorFlow notes a transfer after it gave the tensor on: the step may end before that.
    noted = set()
    for _ in range(MANY):
        value, metadata = traced(session, total)
        assert value.tolist() == [3, 6]
        noted |= {(r.kind == TRANSFER, r.name, r.device[:18]) for r in rows(metadata.step_stats)}
        if noted >= wanted:
            return
    assert noted >= wanted


def test_placement_is_what_the_graphs_of_a_step_say(session):
    weights, total = product()
    unpinned = tf.identity(total, name="unpinned") * tf.placeholder_with_default(1.0, [])
    session.run(weights.initializer)
    _, metadata = traced(session, unpinned)
    there = {node.name: node.device for graph in metadata.partition_graphs for node in graph.node}
    placed = {node.name: node.device for node in session.placement(unpinned)}
    both = placed.keys() & there.keys()
    assert {"weights", "doubled", "sum"} <= both
    assert {name: placed[name] for name in both} == {name: there[name] for name in both}


def test_only_ours_tell_what_waits(cluster):
    silent = tf.why(cluster).explanation.report.silent
    theirs = [row.task for row in cluster.status() if row.runs != "tfdist"]
    assert [each.task for each in silent] == theirs


def test_attach_tells_which_is_which(cluster):
    spec = cluster.spec.as_dict()
    attached = attach(";".join(f"{job}={','.join(spec[job])}" for job in spec), "again").require()
    runs = [row.runs.partition(" ")[0] for row in cluster.status()]
    assert [row.runs for row in attached.status()] == runs
    attached.stop()


def test_a_large_tensor_goes_both_ways(session):
    value = np.arange(5_000_000, dtype=np.float32)
    fed = tf.placeholder(tf.float32, [None])
    with tf.device("/job:ps"):
        there = fed + 1.0
    with tf.device("/job:worker/task:0"):
        back = there * 2.0
    assert (session.run(back, {fed: value}) == (value + 1) * 2).all()
