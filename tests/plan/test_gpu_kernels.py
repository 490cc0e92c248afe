"""Which nodes have GPU kernels: TensorFlow's table, by family."""

import pytest

import tfdist as tf
from tests.plan.graphs import nodes_of
from tfdist.graph.op_def import REGISTRY, lookup
from tfdist.plan.gpu_kernels import kernel_types, registered_kernels, runs_on_gpu, shortcoming


def node(build):
    """Return the node "n" that `build` makes."""
    return nodes_of(lambda: build("n"))["n"]


def tensor(dtype):
    return tf.placeholder(dtype, [2, 2])


YES = [
    ("arithmetic of floats", lambda n: tf.add(tensor(tf.float32), 1.0, name=n)),
    ("arithmetic of int32, in the host's memory", lambda n: tf.add(tensor(tf.int32), 1, name=n)),
    ("products of floats", lambda n: tf.matmul(tensor(tf.float32), tensor(tf.float32), name=n)),
    ("a variable of floats", lambda n: tf.Variable(1.0, name=n)),
    ("a variable of int64", lambda n: tf.Variable(1, dtype=tf.int64, name=n)),
    ("a handle of a variable", lambda n: tf.Variable(1.0, name=n, use_resource=True)),
    ("a shape", lambda n: tf.shape(tensor(tf.float32), name=n)),
    ("a conversion of numbers", lambda n: tf.cast(tensor(tf.int32), tf.float32, name=n)),
    ("what groups others", lambda n: tf.no_op(name=n)),
    ("a string that is handed on", lambda n: tf.identity(tensor(tf.string), name=n)),
]
NO = [
    ("products of integers", lambda n: tf.matmul(tensor(tf.int32), tensor(tf.int32), name=n)),
    ("a variable of int32", lambda n: tf.Variable(1, name=n)),
    ("strings", lambda n: tf.string_join([tensor(tf.string)], name=n)),
    ("a constant string", lambda n: tf.constant("a", name=n)),
    ("a queue", lambda n: tf.FIFOQueue(1, tf.float32, name=n)),
    ("a reader", lambda n: tf.TextLineReader(name=n)),
    ("a file", lambda n: tf.read_file("x", name=n)),
    ("a summary", lambda n: tf.summary.scalar(n, tensor(tf.float32))),
    ("numbers as text", lambda n: tf.as_string(tensor(tf.float32), name=n)),
    ("a dataset", lambda n: tf.data.Dataset.range(3).make_one_shot_iterator().get_next(name=n)),
]


@pytest.mark.parametrize("build", [pytest.param(build, id=what) for what, build in YES])
def test_what_runs_on_a_gpu(build):
    assert kernel_types(node(build)) == {"CPU", "GPU"}


@pytest.mark.parametrize("build", [pytest.param(build, id=what) for what, build in NO])
def test_what_does_not(build):
    assert kernel_types(node(build)) == {"CPU"}


def test_a_python_function_does_not_either():
    found = nodes_of(lambda: tf.py_func(lambda: 1.0, [], tf.float64, name="n"))
    assert not any(runs_on_gpu(each) for each in found.values() if "PyFunc" in each.op)


def test_what_is_missing_is_told():
    integers = node(lambda n: tf.matmul(tensor(tf.int32), tensor(tf.int32), name=n))
    assert shortcoming(integers) == "MatMul has no GPU kernel for int32"
    assert registered_kernels(integers)[:3] == [
        "device='CPU'", "device='GPU'; T in [DT_FLOAT]", "device='GPU'; T in [DT_DOUBLE]",
    ]  # fmt: skip
    text = node(lambda n: tf.string_join([tensor(tf.string)], name=n))
    assert shortcoming(text) == "StringJoin has no GPU kernel"
    assert registered_kernels(text) == ["device='CPU'"]


def test_the_table_names_attributes_that_ops_have():
    from tfdist.plan.gpu_kernels import _table

    for op, lines in _table().items():
        if op in REGISTRY:
            known = lookup(op).signature.attrs
            assert all(attr in known for line in lines for attr in line.attrs), op
