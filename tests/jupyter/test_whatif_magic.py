"""%whatif: training that nobody has started, with given times and with a trace's."""

from statistics import median

import pytest

TOLD = "%whatif train --compute 900ms --push 100MB --bandwidth 1GB/s"

PROGRAM = """
import tfdist as tf
tf.reset_default_graph()
with tf.device("/job:ps/task:0"):
    v = tf.Variable(tf.ones([300, 300]), name="v")
with tf.device("/job:worker/task:1"):
    gradient = tf.matmul(v, v, name="gradient")
train = v.assign_sub(0.001 * gradient)
sess = tf.Session(cluster.target("worker", 0))
sess.run(tf.global_variables_initializer())
"""


def test_given_times(notebook):
    picture, table = notebook.run(f"{TOLD} --workers 1:50")
    assert "image/png" in picture
    assert "busy all the time from 10 workers on" in picture["text/plain"]
    assert "staleness" in table["text/plain"]


def test_in_step_with_spare_replicas(notebook):
    shown = notebook.run("%whatif train --compute 1s --sync --spare 2 --straggle 1%:5 --workers 40")
    assert len(shown) == 3
    assert "spare replica" in shown[-1]["text/plain"]


def test_the_result_is_kept_and_the_picture_saved(notebook, tmp_path):
    notebook.run(f"{TOLD} --workers 1:8 --ps 2 -q -o found --save {tmp_path}/f.svg")
    assert notebook.value("found").setup.ps == 2
    assert (tmp_path / "f.svg").read_text().startswith("<?xml")


def test_a_bandwidth_that_no_trace_tells_is_probed_across_processes(notebook):
    """The tensors of the step have some forty bytes; narrow ways make the noise small."""
    notebook.run("%cluster start ps=1 worker=2 --processes -q")
    notebook.run("%cluster rate * * 200MB/s")
    notebook.run(PROGRAM.replace("[300, 300]", "[3, 3]"))
    notebook.run("%trace -n 2 -q sess.run(train.op)")
    told = notebook.run("%whatif train --workers 1:4 -o found")[1]["text/plain"]
    assert "(from 2 traced runs, the bandwidth from a probe)" in told
    assert notebook.value("found").setup.ps_bandwidth < 1e12
    told = notebook.run("%whatif train --workers 1:4 --bandwidth 1MB/s -o found")[1]["text/plain"]
    assert "(from 2 traced runs)" in told
    notebook.run("sess.close()")


def test_a_trace_says_what_a_worker_does(on_cluster):
    on_cluster.run(PROGRAM)
    on_cluster.run("%trace -n 5 -q -o steps sess.run(train.op)")
    shown = on_cluster.run("%whatif train --workers 1:20 -o found")
    assert "from 5 traced runs" in shown[1]["text/plain"]
    setup = on_cluster.value("found").setup
    assert (setup.pull_bytes, setup.push_bytes) == (360_000, 360_000)
    calls_s = on_cluster.value("steps").repetitions_s()  # with the client's own time
    rest = median(call - part for call, part in zip(calls_s, setup.samples_s, strict=True))
    assert setup.transfers_s + setup.latency_s == pytest.approx(rest)
    on_cluster.run("%whatif train --from steps --compute 1s -o told -q")
    assert on_cluster.value("told").setup.mean_compute_s == 1.0
    on_cluster.run("sess.close()")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("train", "nothing was traced yet"),
        ("run --compute 1s", "'run' is asked for; there is train: try"),
        ("", "nothing is asked for; there is train"),
        ("train --compute 1", "'1' is not a duration: 50ms, 1.5s"),
        ("train --compute 1s --bandwidth 1GB", "'1GB' is not a rate: 10MB/s"),
        ("train --compute 1s --workers 9:3", "'9:3' is not a number or a range"),
        ("train --compute 1s --straggle 5", "'5' is not a share and how many times as long: 1%:5"),
        ("train --compute 1s --straggle 1%", "'1%' is not a share and how many"),
        ("train --compute 1s --overlap 200%", "'200%' is more than all: a share is 1%"),
        ("train --compute 1s --spread -1", "sigma is -1.0, which is not 0 or more"),
    ],
)
def test_errors(notebook, line, message):
    with pytest.raises(Exception, match=message):
        notebook.run(f"%whatif {line}")
