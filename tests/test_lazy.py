"""Names and ops load when they are first asked for, and nobody can tell but by the time."""

import ast
import json
import pickle
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import tfdist as tf
from tfdist.api import index


def fresh(program):
    """Return what `program` prints as JSON in a process that has imported nothing before it."""
    command = [sys.executable, "-c", f"import json, sys\n{program}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout)


def test_the_tables_hold_what_the_namespaces_and_families_say():
    done = subprocess.run(
        [sys.executable, "-m", "tfdist.api.index", "--check"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}`python -m tfdist.api.index` writes them anew"


@pytest.mark.parametrize(
    ("statement", "folders"),
    [
        ("tfdist.__version__", "session ops models training keras_impl datasets estimators"),
        ("tfdist.Session().run(tfdist.constant(1) + 2)", "models training keras_impl estimators"),
        ("tfdist.train.Server", "models keras_impl estimators datasets"),
        ("tfdist.nn.softmax", "session training keras_impl estimators datasets"),
        ("dir(tfdist), hasattr(tfdist, 'no_such')", "session ops training keras_impl"),
    ],
)
def test_what_is_not_asked_for_is_not_loaded(statement, folders):
    found = fresh(f"import tfdist\n{statement}\nprint(json.dumps(list(sys.modules)))")
    names = {f"tfdist.{name}" for name in folders.split()}
    assert names & set(found) == set()
    assert all(find_spec(name) for name in names), "the table has a folder that is not there"


@pytest.mark.parametrize(
    "program",
    [
        "t = tf.constant([1.0, 2.0]); print((t * 2 + 1 - t)[1].op.type == 'StridedSlice')",
        "t = tf.ragged.constant([[1], [2, 3]]); print((t + 1).values.op.type.startswith('Add'))",
        "t = tf.SparseTensor([[0]], [1.0], [2]); print(type(t / 2.0) is tf.SparseTensor)",
        "print(tf.Graph().as_graph_def().DESCRIPTOR.name == 'GraphDef')",
        "print(tf.Graph().create_op('NoOp', [], []).node_def.op == 'NoOp')",
        "print(tf.TensorShape([1]).as_proto().dim[0].size == 1)",
        "print(tf.get_variable_scope().get_variable(None, 'v', [2]).shape == [2])",
        "x = tf.constant(2.0); print(tf.gradients(x * x, x)[0].dtype.name == 'float32')",
        "print(tf.get_default_graph().op_def('Conv2D').kernels.keys() >= {'CPU'})",
    ],
)
def test_a_class_has_what_is_written_elsewhere(program):
    assert fresh(f"import tfdist as tf\n{program.replace('print(', 'print(json.dumps(')})") is True


def test_threads_that_ask_first_at_once_get_what_is_whole():
    found = fresh(
        """
import threading
import tfdist as tf
from tfdist.graph.op_def import REGISTRY

start, found = threading.Barrier(8), []

def ask(number):
    start.wait()
    op_def = REGISTRY["Conv2D"]
    found.append([bool(op_def.kernels), bool(op_def.gradient_rule), tf.nn.softmax.__name__])

threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
[each.start() for each in threads]
[each.join() for each in threads]
print(json.dumps(found))
"""
    )
    assert found == [[True, True, "softmax"]] * 8


def test_dir_and_star_give_names_that_are_not_loaded():
    found = fresh(
        """
import tfdist as tf
listed = dir(tf.nn)
loaded = "tfdist.ops" in sys.modules
names = {}
exec("from tfdist import *", names)
print(json.dumps([loaded, "softmax" in listed, "matmul" in names, "print" in names]))
"""
    )
    assert found == [False, True, True, False]


@pytest.mark.parametrize("value", [tf.nn.softmax, tf.train.AdamOptimizer, tf.errors.OpError])
def test_what_is_lazy_pickles(value):
    assert pickle.loads(pickle.dumps(value)) is value


def test_every_name_of_the_tables_is_there():
    missing = [
        f"{space}.{name}"
        for space in index.spaces()
        for name in index.names_of(space)
        if not hasattr(import_module(space), name)
    ]
    assert missing == []


def late_functions():
    """Yield (module, name) of all functions that are named as text, to be imported later."""
    for path in sorted(Path(tf.__file__).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        nodes = ast.walk(ast.parse(text)) if "lazy.function" in text else ()
        for node in nodes:  # each worker asks when it collects: in haste
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "lazy.function":
                module, name = node.args
                if isinstance(name, ast.Constant):
                    yield module.value, name.value


@pytest.mark.parametrize(("module", "name"), sorted(set(late_functions())))
def test_what_is_named_as_text_is_there(module, name):
    assert callable(getattr(import_module(module), name))
