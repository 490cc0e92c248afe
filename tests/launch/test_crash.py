"""A server that crashes is told of with the op that it crashed in, and where its traceback is."""

import os
import signal
import subprocess
import sys

import pytest

import tfdist as tf
from tests.launch.waiting import wait_until
from tfdist.launch.crash import Frame, frames_of, place_of
from tfdist.launch.start import start_cluster

# A program whose kernel crashes as code in C does, in its third step: that is a compiled one.
PROGRAM = """
import faulthandler
import tfdist as tf
from {package} import {module}

class Crash:
    def __getattr__(self, name):
        faulthandler._sigsegv()

fetch = {fetch}
with tf.Session() as session:
    for _ in range(2):
        session.run(fetch)
    {module}.np = Crash()
    session.run(fetch)
"""

SIZES, FILTER = "[1, 4, 4, 2]", "tf.ones([3, 3, 2, 2])"
ONES = f"tf.ones({SIZES}) * tf.placeholder_with_default(1.0, [])"
CRASHES = {
    "one of several ops whose kernels have one wrapper": (
        f"tf.nn.conv2d_backprop_input({SIZES}, {FILTER}, {ONES}, [1] * 4, 'SAME')",
        "tfdist.ops.convolution",
        "blas",
        "Conv2DBackpropInput",
    ),
    "one whose kernel is a function of its own": (
        "tf.unique(tf.cast(tf.random_uniform([9]) * 3, tf.int32))[0]",
        "tfdist.ops.array",
        "dynamic_partition",
        "Unique",
    ),
}


def crashed(program):
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == -signal.SIGSEGV, done.stderr
    return done.stderr


@pytest.mark.parametrize(("fetch", "package", "module", "op"), CRASHES.values(), ids=CRASHES)
def test_the_op_is_told_by_its_kernel(fetch, package, module, op):
    log = crashed(PROGRAM.format(fetch=fetch, package=package, module=module))
    assert place_of(frames_of("tfdist: /job:ps/task:0 serves at ...\n" + log)) == op


LOG = """\
Fatal Python error: Segmentation fault

Thread 0x00007f0000000001 (most recent call first):
  File "/lib/threading.py", line 320 in wait

Current thread 0x00007f0000000002 (most recent call first):
  File "{file}", line 12 in inner
  File "/lib/threading.py", line 975 in run

Extension modules: numpy._core._multiarray_umath (total: 1)
"""


@pytest.mark.parametrize(
    ("log", "place"),
    [
        pytest.param("/job:ps/task:0 serves at ...\n", "", id="no crash"),
        pytest.param(LOG.format(file="/home/me/x.py"), "", id="in no kernel"),
        pytest.param(
            LOG.format(file="/x/tfdist/ops/new.py"),
            "inner (tfdist/ops/new.py, line 12)",
            id="in a function that no op is known by",
        ),
    ],
)
def test_what_is_told_of_other_logs(log, place):
    assert place_of(frames_of(log)) == place


def test_frames_are_those_of_the_thread_that_crashed():
    assert frames_of(LOG.format(file="a.py")) == [
        Frame("a.py", 12, "inner"),
        Frame("/lib/threading.py", 975, "run"),
    ]


def run_many(session, fetch):
    """Run steps until one fails: a server serves on while one of its threads writes why it ends."""
    for _ in range(1_000_000):
        session.run(fetch)


def test_a_server_that_crashed_is_told_of():
    with start_cluster({"ps": 1, "worker": 1}, "crashing", processes=True).require() as cluster:
        server = cluster.server("worker:0")
        with tf.Graph().as_default(), tf.device("/job:worker"):
            three = tf.placeholder_with_default(1, []) + 2
            with tf.Session(cluster.target("ps")) as session:
                assert session.run(three) == 3
                os.kill(server.pid, signal.SIGSEGV)
                with pytest.raises(tf.errors.UnavailableError) as found:
                    run_many(session, three)
        wait_until(lambda: not server.is_running)
        assert "/job:worker/task:0 crashed (SIGSEGV)" in str(found.value)
        assert str(server.log) in str(found.value)
        assert server.log.exists()
        assert [row.state for row in cluster.status()] == ["up", "crashed (SIGSEGV)"]
        cluster.restart("worker:0")  # what was logged before the restart does not count
        server.kill()
        assert server.state == "exited (SIGKILL)"
