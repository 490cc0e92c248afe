"""What a person sees below a cell that fails: their own lines, where, why, and what to do next."""

import os
import signal
import threading

import pytest

from tests.jupyter.test_kernel import PATIENCE
from tests.runtime.blocking import until
from tfdist.errors import OpError
from tfdist.jupyter import error_notes
from tfdist.jupyter.watch import waits

SETUP = """import numpy as np
import tfdist as tf
x = tf.placeholder(tf.float32, [2, 3], name="x")
y = tf.multiply(x, 2.0, name="y")
v = tf.Variable(1.0, name="v")
sess = tf.Session()
other = tf.Graph()
with other.as_default():
    far = tf.constant(1.0, name="far")
"""


@pytest.fixture
def fails(notebook, capsys):
    """Return what runs a cell that fails, and returns what is shown then."""
    notebook.shell.colors = "nocolor"

    def run(cell, store=True):
        capsys.readouterr()
        result = notebook.shell.run_cell(cell, store_history=store)
        assert result.error_in_exec is not None, cell
        return "".join(capsys.readouterr())

    assert notebook.shell.run_cell(SETUP, store_history=True).success
    yield run
    notebook.value("sess").close()


# (the cell, what is shown)
MISTAKES = {
    "a feed of another shape": (
        "sess.run(y, {x: np.zeros((3, 2))})",
        ["Cannot feed value of shape (3, 2) for Tensor 'x:0', which has shape '(2, 3)'", "cell:3"],
    ),
    "an uninitialised variable": (
        "sess.run(v)",
        ["uninitialized value v", "global_variables_initializer()", "v (VariableV2) was made in"],
    ),
    "no value for a placeholder": (
        "sess.run(y)",
        ["You must feed a value for placeholder tensor 'x'", "shape [2,3]", "feed_dict="],
    ),
    "a tensor of another graph": (
        "sess.run(far)",
        [
            "'far:0'",
            "cannot be interpreted as a Tensor",
            "is not an element of this graph",
            "tf.Session(graph=",
        ],
    ),
    "a closed session": (
        "s = tf.Session()\ns.close()\ns.run(y)",
        ["Attempted to use a closed Session. Open a new one"],
    ),
    "a device that is nowhere": (
        "with tf.device('/job:nobody'):\n    u = tf.constant(1.0, name='u')\nsess.run(u)",
        ["Make sure the device specification refers to a valid device", "cluster.target()"],
    ),
    "a device that is none": ("tf.device('/jobb:1').__enter__()", ["stopped at '/jobb:1'"]),
    "a variable for a cluster before there is one": (
        "with tf.device('/job:worker/task:0'):\n    e = tf.Variable(1.0)\nsess.run(e.initializer)",
        ["explicitly assigned to /job:worker/task:0", "tf.Session(cluster.target())"],
    ),
    "a name that is not there": (
        "tf.contrib.layer",
        ["tfdist has no tf.contrib.layer; near it are"],
    ),
    "a name that is misspelt": ("tf.matmull(1, 2)", ["tfdist has no tf.matmull", "tf.matmul"]),
    "a tensor's name that is misspelt": (
        "sess.run('z:0')",
        ["operation, 'z', does not exist in the graph", "It has "],
    ),
    "a graph that is finalized": (
        "with other.as_default():\n    other.finalize()\n    tf.constant(1)",
        ["Graph is finalized and cannot be modified", "new tf.Graph()"],
    ),
    "no default session": ("y.eval()", ["No default session is registered", "session="]),
    "a feed of another type": ("sess.run(y, {x: 'abc'})", ["'abc'", "'x:0'", "float32"]),
    "a tensor as a feed": ("sess.run(y, {x: y})", ["cannot be a tf.Tensor object", "session.run"]),
    "an operation's name as a feed": (
        "sess.run(y, {'x': 1})",
        ["Cannot interpret feed_dict key as Tensor", "the first output is 'x:0'"],
    ),
    "a tensor as a bool": ("if y > 0: pass", ["as a Python `bool` is not allowed", "tf.cond"]),
    "a tensor iterated over": (
        "for each in y: pass",
        ["Tensor objects are only iterable when eager", "tf.map_fn", "tf.unstack"],
    ),
    "a variable iterated over": ("list(v)", ["'Variable' object is not iterable", "tf.unstack"]),
    "shapes that do not fit": (
        "a = tf.zeros([1, 2])\nz = tf.matmul(a, a)",
        ["----> 2 z = tf.matmul(a, a)", "must be equal, but are 2 and 1"],
    ),
    "an option that is misspelt": ("%trace --wole y", ["no option --wole; did you mean --whole?"]),
    "a trace of nothing": ("%trace", ["%trace needs something to run: try %trace sess.run(c)"]),
    "no cluster": ("%cluster kill worker:1", ["no cluster runs; start one with: %cluster start"]),
    "a server without its job": (
        "tf.train.Server({'ps': ['localhost:0']}, job_name='worker', task_index=0)",
        ["job 'worker' is not in the cluster; it has ['ps']"],
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_with_what_to_do_and_without_our_frames(fails, mistake):
    cell, expected = MISTAKES[mistake]
    shown = fails(cell)
    for words in expected:
        assert words in shown
    assert "/tfdist/" not in shown  # no frame of ours


def test_the_line_of_the_cell_that_made_the_node_is_shown(fails):
    shown = fails("sess.run(v)")
    assert (
        "v (VariableV2) was made in In [1], line 5:\n"
        '      3 x = tf.placeholder(tf.float32, [2, 3], name="x")\n'
        '      4 y = tf.multiply(x, 2.0, name="y")\n'
        '----> 5 v = tf.Variable(1.0, name="v")\n'
    ) in shown
    assert "device: /job:localhost/replica:0/task:0/device:CPU:0" in shown


def test_functions_of_the_user_stay_in_the_traceback(fails):
    shown = fails(
        "def body(i):\n    return tf.matmul(i, [[1.0, 2.0]])\n"
        "tf.while_loop(lambda i: True, body, [tf.zeros([2, 2])])"
    )
    assert "in body(i)" in shown
    assert "/tfdist/" not in shown


def test_a_defect_of_ours_keeps_its_frames(fails, monkeypatch):
    monkeypatch.setattr("tfdist.session.base_session.Fetches", None)
    assert "/tfdist/session/base_session.py" in fails("sess.run(far)")


def test_an_error_without_us_is_shown_as_ever(notebook, fails):
    ours = fails("1 / 0", store=False)
    notebook.run("%unload_ext tfdist")
    assert fails("1 / 0", store=False) == ours


def test_unloading_puts_back_the_handler_before_ours(shell):
    seen = []

    def handler(self, kind, error, frames, tb_offset=None):
        seen.append(kind)

    shell.set_custom_exc((ZeroDivisionError,), handler)
    shell.run_line_magic("load_ext", "tfdist")
    shell.run_cell("1 / 0")
    shell.run_line_magic("unload_ext", "tfdist")
    assert shell.custom_exceptions == (ZeroDivisionError,)
    shell.run_cell("1 / 0")
    assert seen == [ZeroDivisionError] * 2


def test_an_error_shown_twice_has_its_notes_once(notebook, fails):
    fails("try:\n    sess.run(v)\nexcept tf.errors.OpError as error:\n    kept = error\nraise kept")
    assert fails("raise kept").count("was made in") == 1


def test_what_is_compared_by_nbval_is_the_same_each_time(notebook, fails):
    texts = set()
    for _ in range(2):
        fails("sess.run(v)")
        with pytest.raises(OpError) as caught:
            notebook.value("sess").run(notebook.value("v"))
        texts.add(str(caught.value))
    assert len(texts) == 1
    assert "made at: notebook cell:5 in <module>" in texts.pop()


def test_a_failure_beside_the_magics_has_no_frames_of_ours(notebook, fails):
    shown = fails("%trace sess.run(v)")
    assert "----> 1 sess.run(v)" in shown
    assert "/tfdist/" not in shown


@pytest.mark.parametrize("options", ["", "--processes"])
def test_ctrl_c_is_told_what_the_step_waited_for(notebook, fails, options):
    notebook.run(f"%cluster start ps=1 worker=1 -q {options}")
    notebook.run(
        "with tf.device('/job:ps'):\n"
        "    queue = tf.FIFOQueue(3, tf.float32, [[]], name='queue')\n"
        "    take = queue.dequeue(name='take')\n"
        "on_cluster = tf.Session(cluster.target())\n"
        "on_cluster.run(queue.size());"
    )
    watch = threading.Thread(
        target=lambda: (until(waits), os.kill(os.getpid(), signal.SIGINT)), daemon=True
    )
    watch.start()
    shown = fails("on_cluster.run(take)")
    watch.join(PATIENCE)
    assert "KeyboardInterrupt" in shown
    assert (
        "When it was interrupted the step waited for: take: dequeue on queue 'queue' waits for 1 "
        "more element (it holds 0 of 3)."
    ) in shown
    assert "/tfdist/" not in shown
    notebook.run("on_cluster.close()\n%cluster stop -q")


def test_a_lost_worker_is_told_with_the_command_that_helps(notebook, fails):
    notebook.run("%cluster start ps=1 worker=2 --processes -q")
    notebook.run(
        "with tf.device('/job:worker/task:1'):\n    w = tf.Variable(2.0, name='w')\n"
        "on_cluster = tf.Session(cluster.target())\non_cluster.run(w.initializer)\n"
        "cluster.kill('worker:1')"
    )
    shown = fails("on_cluster.run(w)")
    assert "/job:worker/replica:0/task:1" in shown
    assert "%cluster restart worker:1" in shown
    assert "no task /job:worker/task:9 in cluster" in fails("%cluster kill worker:9")
    notebook.run("on_cluster.close()\n%cluster stop -q")


def test_advice_fits_the_error():
    for kind, words, _ in error_notes._NEXT:
        error = kind(f"{words} /job:worker/task:1")
        assert any("What next: " in note for note in error_notes.notes_of(error))
        assert "{" not in "".join(error_notes.notes_of(error))


@pytest.mark.parametrize(
    ("cell", "line"), [("%trace sess.run(y", 1), ("%%trace\nsess.run(v)\nsess.run(y", 2)]
)
def test_code_that_is_no_python_is_shown_alone(fails, cell, line):
    shown = fails(cell).strip().splitlines()
    assert shown[0].endswith(f", line {line}")
    assert [each.strip() for each in shown[1:]] == [
        "sess.run(y",
        "^",
        "SyntaxError: '(' was never closed",
    ]
