"""%histograms: which tensors, from which session, over steps, and wrong lines."""

import pytest
from IPython.core.error import UsageError

import tfdist as tf
from tfdist.errors import InvalidArgumentError
from tfdist.plots.graph.data import TIMES

NETWORK = """
import tfdist as tf
x = tf.placeholder(tf.float32, [None, 2], name="x")
w = tf.get_variable("w", initializer=[[1.0], [0.0]])
free = tf.get_variable("free", initializer=[3.0, 4.0, 5.0])
guess = tf.matmul(x, w, name="guess")
loss = tf.reduce_sum(guess, name="loss")
nan = tf.divide(tf.constant([0.0, 1.0]), 0.0, name="nan")
step = tf.train.get_or_create_global_step()
data = {x: [[1.0, 2.0], [3.0, 4.0]]}
sess = tf.Session()
sess.run(tf.global_variables_initializer())
"""


@pytest.fixture
def network(notebook):
    """Return a notebook with variables that have values in a session `sess`."""
    notebook.run(NETWORK)
    yield notebook
    notebook.value("sess").close()


def cells(text):
    return [line.split() for line in text.splitlines() if line.startswith(("w ", "free", " "))]


def test_all_trainable_variables_as_picture_and_table(network):
    picture, table = network.run("%histograms --session sess")
    assert picture["image/png"]
    assert picture["text/plain"] == "Histograms of 2 variables: 5 values."
    assert [row[:5] for row in cells(table["text/plain"])] == [
        ["w", "variable", f"2{TIMES}1", "2", "0.5"],
        ["free", "variable", "3", "3", "4"],
    ]


def test_gradients_stand_beside_their_variables(network):
    line = "%histograms --session sess --gradients loss --feed data"
    text = network.text(line)
    assert [row[:2] for row in cells(text)] == [["w", "variable"], ["gradient", f"2{TIMES}1"],
                                                ["free", "variable"]]  # fmt: skip
    assert ["gradient", f"2{TIMES}1", "2", "5"] in [
        row[:4] for row in cells(text)
    ]  # 1 + 3 and 2 + 4
    count = len(tf.get_default_graph().get_operations())
    network.run(line)
    assert len(tf.get_default_graph().get_operations()) == count  # they are added once


def test_tensors_by_expression_and_by_name(network):
    text = network.text(
        "%histograms [w,free] guess nan:0 --session sess --feed '{x: [[5.0, 1.0]]}'"
    )
    assert "Histograms of 2 variables and 2 tensors: 8 values; nan has 1 NaN, 1 infinite." in text


def test_the_default_session_is_asked(network):
    network.run("with sess.as_default(): get_ipython().run_line_magic('histograms', '-q -o found')")
    assert repr(network.value("found")) == "<HistogramRecorder of 2 tensors at 1 step>"


def test_a_cluster_keeps_the_values(on_cluster):
    assert cells(on_cluster.text("%histograms"))[0:1] == []
    assert "a     variable  scalar       1     1" in on_cluster.text("%histograms")


def test_rows_over_steps_are_drawn_as_ridges(network):
    network.run("%histograms --session sess --into history -q")
    network.run("sess.run([w.assign_add([[1.0], [1.0]]), step.assign(20)])")
    network.run("%histograms --session sess --into history -q")
    text = network.text("%histograms --session sess --into history")
    assert "Histograms of 2 variables: 5 values at 3 steps, 0 to 21." in text
    assert [step for step, _ in network.value("history").rows] == [0, 20, 21]


def test_outputs_are_the_same_each_time_without_times(network):
    network.run("%config TFDist.live = 'off'")
    line = "%histograms --session sess --gradients loss --feed data"
    assert network.run(line) == network.run(line)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "a new session, which does not know the values: .*try %histograms --session sess"),
        ("nothing --session sess", "'nothing' refers to an Operation not in the graph"),
        ("data --session sess", "data is dict, nothing to fetch"),
        ("w.initializer --session sess", "is an operation, which would be run"),
        ("--session sess --gradients [loss,guess]", "name one tensor"),
        ("--session data", "is dict, no session"),
        ("--session nothing", "--session nothing: name 'nothing' is not defined"),
        ("--session sess --into w", "w is .*Variable, not a HistogramRecorder"),
        ("-t worker:9", "no cluster runs"),
        ("--session sess --gradients x --feed data w --step -1", "zero or more"),
    ],
)
def test_wrong_lines_are_told_in_one_line(network, line, message):
    with pytest.raises(UsageError, match=message):
        network.run(f"%histograms {line}")


def test_a_missing_feed_is_the_session_s_error(network):
    with pytest.raises(InvalidArgumentError, match="You must feed"):
        network.run("%histograms guess --session sess")


def test_texts_have_no_histogram(network):
    with pytest.raises(UsageError, match="no numbers"):
        network.run("%histograms tf.constant('a') --session sess")


def test_a_graph_without_variables(notebook):
    with pytest.raises(UsageError, match="no trainable variables"):
        notebook.run("%histograms")
