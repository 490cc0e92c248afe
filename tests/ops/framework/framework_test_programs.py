"""Programs of the ops that TensorFlow has for tests of its framework; each gives plain values.

Real TensorFlow's own Python (3.7) runs this file too, and stores what it gives:

    cd tests/ops/framework
    PYTHON_OF_1_15 framework_test_programs.py > expected_framework_test_1_15.json
"""

from __future__ import annotations

import json
import os

# What a call of `test_ops` gives: nodes' names, types and static shapes, or an error's class.
BUILT = """
a()
attr(3)
attr(a="x")
attr_bool_list([True, False])
attr_default()
attr_empty_list_default()
attr_enum("apples")
attr_enum(a="pear")
attr_enum_list(["apples", "pear"])
attr_list_default()
attr_list_min([1])
attr_list_min([1, 2])
attr_list_type_default([1], [2])
attr_min(a=4)
attr_min(a=5)
attr_partial_shape([2, None])
attr_shape_list([[1], [2, 3]])
attr_type_default(1)
binary([1], [1, 2])
binary([1], [1.5])
complex_struct(1, 2, [tf.int32, tf.string])
copy_op([1, 2])
default_attrs()
five_float_outputs()
float_input([1.0, 2.0])
float_output_string_output()
foo2(1.0, "a", "b")
foo2(1.0, "a")
func_attr(f="x")
in_polymorphic_twice([1, 2], [3])
int_attr()
int_input(1.5)
int_input_float_input(1, 2.0)
list_input([1, 2])
list_input([])
list_output([tf.int32, tf.float32])
list_output([])
mixed_struct(n_a=2)
n_in_twice([1, 2], ["a", "b"])
n_in_twice([1, 2], ["a"])
n_in_two_type_variables([1, 2], [True, False])
n_ints_in([1])
n_ints_out(N=2)
n_ints_out(N=1)
n_ints_out_default()
n_polymorphic_out_default()
n_polymorphic_restrict_in(["a", "b"])
n_polymorphic_restrict_in([1, 2])
none()
op_with_default_attr()
out_type_list([])
out_type_list_restrict([tf.int32])
polymorphic_default_out()
polymorphic_out(tf.int32)
ref_in(1)
ref_in(tf.Variable(1.0, use_resource=False))
ref_input_float_input(tf.Variable(1.0, use_resource=False), 2.0)
ref_out(tf.float32)
ref_output_float_output()
reserved_attr(1)
reserved_input(1)
restrict("a")
restrict(1)
simple(1)
simple_struct(0)
string_list_attr(["a"], "b")
test_attr(tf.float32)
test_attr(tf.int32)
test_string_output(1.0)
two_refs_in(tf.Variable(1.0, use_resource=False), tf.Variable(1.0, use_resource=False))
type_list([1, "a"])
type_list_restrict([1])
type_list_twice([1, "a"], [2, "b"])
type_list_twice([1, "a"], [2])
kernel_label()
kernel_label_required(1)
kernel_label_required([1])
device_placement_op()
"""


def built(tf, source):
    """Return what a call of BUILT gives."""
    from tensorflow.python.framework import test_ops

    with tf.Graph().as_default():
        try:
            result = eval("test_ops." + source, {"test_ops": test_ops, "tf": tf})
        except (TypeError, ValueError) as error:
            return type(error).__name__
        parts = list(result) if isinstance(result, (list, tuple)) else [result]
        fields = list(getattr(result, "_fields", ()))
        flat = [each for part in parts for each in (part if isinstance(part, list) else [part])]
        return [fields, [told(each) for each in flat], told_attrs(flat)]


def told(each):
    """Return a tensor's or operation's name, type and shape."""
    if not hasattr(each, "dtype"):
        return [each.name, each.type]
    shape = each.shape
    return [each.name, each.dtype.name, None if shape.ndims is None else shape.as_list()]


def told_attrs(flat):
    """Return the attributes of the first node of a result as text."""
    node = getattr(flat[0], "op", flat[0]).node_def if flat else None
    attrs = node.attr if node else {}
    # libraries of messages write 10.0 or 10
    return {key: " ".join(str(attrs[key]).split()).replace(".0", "") for key in sorted(attrs)}


RUN = {}


def program(function):
    """Put a program into the table."""
    RUN[function.__name__] = function
    return function


@program
def a_kernel_by_its_label(tf, test_ops):
    with tf.Graph().as_default() as graph:
        found = [test_ops.kernel_label()]
        with graph._kernel_label_map({"KernelLabel": "overload_1"}):
            found.append(test_ops.kernel_label())
            with graph._kernel_label_map({"KernelLabel": "overload_2"}):
                found.append(test_ops.kernel_label())
        with graph._kernel_label_map({"KernelLabelRequired": "overload_2"}):
            found.append(test_ops.kernel_label_required([1]))
        with tf.Session() as session:
            return [each.decode() for each in session.run(found)]


@program
def what_has_no_kernel(tf, test_ops):
    def labelled():
        with tf.get_default_graph()._kernel_label_map({"KernelLabel": "nope"}):
            return test_ops.kernel_label()

    calls = (
        test_ops.float_output,
        test_ops.none,
        lambda: test_ops.test_attr(tf.float64),
        lambda: test_ops.kernel_label_required([1]),
        labelled,
    )
    found = []
    for call in calls:
        with tf.Graph().as_default(), tf.Session() as session:
            found.append(failure(tf, session, call()))
    return found


@program
def a_kernel_of_one_type(tf, test_ops):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(test_ops.test_attr(tf.float32)).tolist()


@program
def a_resource_that_is_there_or_not(tf, test_ops):
    with tf.Graph().as_default(), tf.Session() as session:
        handle = test_ops.stub_resource_handle_op(container="a", shared_name="b")
        other = test_ops.stub_resource_handle_op(container="a", shared_name="c")
        is_there = [test_ops.resource_initialized_op(each) for each in (handle, other)]
        make, use = test_ops.resource_create_op(handle), test_ops.resource_using_op(handle)
        found = [[bool(each) for each in session.run(is_there)], failure(tf, session, use)]
        session.run(make)
        found += [[bool(each) for each in session.run(is_there)], session.run(use)]
        variable = tf.Variable(1.0, use_resource=True)
        wrong = test_ops.resource_create_op(variable.handle)
        session.run(variable.initializer)
        return [*found, failure(tf, session, make), failure(tf, session, wrong)]


@program
def the_device_of_a_node(tf, test_ops):
    with tf.Graph().as_default(), tf.device("/cpu:0"), tf.Session() as session:
        return session.run(test_ops.device_placement_op()).decode()


@program
def ops_that_a_library_was_told(tf, test_ops):
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.framework import op_def_library

    library, found = op_def_library.OpDefLibrary(), []
    new = op_def_pb2.OpDef(name="NewOne", output_arg=[{"name": "a", "type": 3}])
    known = op_def_pb2.OpDef(
        name="Simple",
        input_arg=[{"name": "a", "type": 3}],
        output_arg=[{"name": "out", "type": 1}],
    )
    library.add_op_list(op_def_pb2.OpList(op=[new, known]))
    calls = (
        lambda: library.add_op(new),
        lambda: library.add_op(op_def_pb2.OpDef()),
        lambda: library.add_op("Simple"),
        lambda: library.apply_op("NewOne"),
        lambda: library.apply_op("NotThere"),
        lambda: library.apply_op("Simple"),
        lambda: library.apply_op("Simple", a=3, b=4),
        lambda: library.apply_op("Simple", a=3, name="s").name,
    )
    with tf.Graph().as_default():
        for call in calls:
            try:
                found.append(call())
            except (TypeError, ValueError, RuntimeError) as error:
                found.append(type(error).__name__)
    return found


def failure(tf, session, fetch):
    """Return the class of the error that a fetch ends with, and whether it names a kernel."""
    try:
        session.run(fetch)
    except tf.errors.OpError as error:
        return [type(error).__name__, "No OpKernel was registered" in str(error)]


def run(tf, name):
    """Return what a program of RUN gives."""
    from tensorflow.python.framework import test_ops

    return RUN[name](tf, test_ops)


def main():
    """Print what this Python's TensorFlow gives."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {source: built(tf, source) for source in BUILT.split("\n") if source}
    found.update({name: run(tf, name) for name in RUN})
    lines = [json.dumps(key) + ": " + json.dumps(value) for key, value in found.items()]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
