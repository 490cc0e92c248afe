"""%explain, after %trace on a cluster in this process."""

import pytest

PROGRAM = """
import tfdist as tf
tf.reset_default_graph()
with tf.device("/job:ps/task:0"):
    v = tf.Variable(tf.ones([4]), name="v")
with tf.device("/job:worker/task:1"):
    total = tf.reduce_sum(v * 2.0, name="total")
sess = tf.Session(cluster.target("worker", 0))
sess.run(tf.global_variables_initializer())
"""


@pytest.fixture
def traced(on_cluster):
    """Yield a notebook that traced a step over three tasks."""
    on_cluster.run(PROGRAM)
    on_cluster.run("%trace -q sess.run(total)")
    yield on_cluster
    on_cluster.run("sess.close()")


def test_picture_path_and_savings(traced):
    picture, path, *_ = traced.run("%explain")
    assert picture["text/plain"].startswith("Critical path of ")
    assert "total" in path["text/plain"]
    assert "image/png" in picture
    assert path["text/html"].count("<table") == 1


def test_several_runs_are_summed_up(traced):
    traced.run("%trace -n 3 -q -o many sess.run(total)")
    shown = traced.run("%explain many")
    assert "of 3 runs" in shown[-1]["text/plain"]
    assert "What was on the critical path in 3 runs." in shown[-1]["text/plain"]


def test_new_runs_are_made_and_explained(traced):
    shown = traced.run("%explain -n 4 sess.run(total)")
    assert shown[0]["text/plain"].startswith("In 4 runs a step took ")
    assert shown[1]["text/plain"] == "Each of 4 runs."
    assert "image/png" in shown[1]
    assert "What was on the critical path in 4 runs." in shown[-1]["text/plain"]


def test_a_tensor_is_run_as_trace_runs_it(traced):
    assert traced.text("%explain -n 4 total").startswith("In 4 runs a step took ")


def test_two_sets_of_runs_are_compared(traced):
    traced.run("%explain -n 5 -q -o before sess.run(total)")
    assert len(traced.value("before").complete_runs) == 5
    shown = traced.run("%explain -n 6 --against before sess.run(total)")
    assert "5 and 6 runs" in shown[0]["text/plain"]
    assert shown[1]["text/plain"] == "Each run of before and of the new runs."
    assert sum("image/png" in each for each in shown) == 2  # and the critical path
    assert "before" in shown[0]["text/html"]
    assert "the new runs" in shown[0]["text/html"]
    assert "5 and 2 runs" in traced.text("%explain -n 2 --against before sess.run(total)")


def test_savings_are_checked_by_slowing_the_rest_and_nothing_stays_slow(traced):
    shown = traced.run("%explain -n 3 --check sess.run(total)")
    assert shown[-1]["text/plain"].startswith("With everything twice as slow but one part: ")
    assert "all nodes on" in shown[-1]["text/plain"]
    assert traced.value("cluster").disturbances == ()


def test_the_last_runs_of_a_trace_are_explained(traced):
    traced.run("%trace -n 5 -q -o many sess.run(total)")
    assert traced.text("%explain -n 3 many").startswith("In 3 runs")
    assert traced.text("%explain -n 5").startswith("In 5 runs")


def test_comparing_says_nothing_that_changes_when_outputs_are_compared(traced):
    traced.run("%trace -n 3 -q -o many sess.run(total)")
    traced.run("%config TFDist.live = 'off'")
    assert (
        traced.text("%explain --against many many") == "many beside many.\nCritical path of a step."
    )


def test_the_path_is_kept_and_the_picture_saved(traced, tmp_path):
    traced.run(f"%explain -q -o path --save {tmp_path}/path.svg")
    assert traced.value("path").rows[-1].name == "total"
    assert (tmp_path / "path.svg").read_text().startswith("<?xml")


def test_nothing_that_changes_is_shown_when_outputs_are_compared(traced):
    traced.run("%config TFDist.live = 'off'")
    assert traced.text("%explain") == "Critical path of a step."


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("v", "v is a Variable; wanted is a Trace"),
        ("--step 7", "step 7: the trace has 1 complete runs"),
        ("-n 9", r"%explain -n 9: the last trace has 1 run of that step; .* %explain -n 9 sess"),
        ("--check", r"%explain --check runs code on a cluster that %cluster started: %explain -n"),
        ("--against nothing", "nothing is not defined; wanted is a Trace"),
    ],
)
def test_errors(traced, line, message):
    with pytest.raises(Exception, match=message):
        traced.run(f"%explain {line}")
