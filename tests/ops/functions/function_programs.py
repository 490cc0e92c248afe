"""Graphs with functions: those of real TensorFlow that run here, and ours that it reads.

FOREIGN programs use what TensorFlow has for functions (tf.function with its autograph, control
flow v2, Defun); their graphs, and the values that come of them there, are stored. EXPORTED programs
run on both sides: what they export is compared line by line. This file runs on real TensorFlow's
own Python (3.7 or later), by its path, and imports nothing of ours. By itself it prints one JSON
object; with a GraphDef on stdin it prints what becomes of its fetches. To store all that:

    python -m tests.ops.functions.function_programs "PYTHON THAT HAS 1.15" "PYTHON THAT HAS 2.x"
"""

import base64
import json
import os
import re
import shlex
import subprocess
import sys
import warnings
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected_functions.json")
FOREIGN, EXPORTED = {}, {}


def foreign(version):
    """Note a program that takes real TensorFlow and Defun, and returns a list of tensors.

    With a tuple it returns operations to run before, too. Its branches and loops are nodes (1), or
    functions (2).
    """

    def note(function):
        FOREIGN[function.__name__] = (function, version)
        return function

    return note


def exported(function):
    """Note a program that takes either TensorFlow, and Defun."""
    EXPORTED[function.__name__] = function
    return function


def given(tf, value, shape=()):
    """Return a tensor whose value is not known while the graph is built."""
    return tf.placeholder_with_default(value, shape)


# graphs of real TensorFlow


@foreign(2)
def cond_both_ways(tf, Defun):
    x, k = given(tf, 3.0), tf.constant(2.0)
    taken = tf.cond(x > 2.0, lambda: x * k + 1.0, lambda: x)
    left = tf.cond(x > 5.0, lambda: x * k + 1.0, lambda: tf.constant(7.0))
    return [taken, left] + tf.gradients([taken, left], [x, k])  # noqa: RUF005


@foreign(2)
def cond_gradient_of_one_side(tf, Defun):
    x = given(tf, 0.5)
    y = tf.cond(x > 0.0, lambda: tf.exp(x) * tf.tanh(x), lambda: tf.sqrt(-x) * x)
    z = tf.cond(x < 0.0, lambda: tf.exp(x) * tf.tanh(x), lambda: tf.sqrt(x) * x)
    return [y, z] + tf.gradients(y, x) + tf.gradients(z, x)  # noqa: RUF005


@foreign(1)
def optionals(tf, Defun):
    x = given(tf, 3.0)
    there = tf.raw_ops.OptionalFromValue(components=[x, tf.constant([1, 2])])
    absent = tf.raw_ops.OptionalNone()
    found = [tf.raw_ops.OptionalHasValue(optional=each) for each in (there, absent)]
    return found + tf.raw_ops.OptionalGetValue(
        optional=there, output_types=[tf.float32, tf.int32], output_shapes=[[], [2]]
    )


@foreign(2)
def cond_with_a_check(tf, Defun):
    x = given(tf, 3.0)

    def checked():
        with tf.control_dependencies([tf.Assert(x < 10.0, [x])]):
            return tf.identity(x) * 2.0

    return [tf.cond(x > 2.0, checked, lambda: x)]


@foreign(2)
def while_with_constants(tf, Defun):
    x = given(tf, 3.0)
    one = tf.constant(1.0)
    return list(tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * x + one), [0, 1.0]))


@foreign(2)
def while_without_rounds(tf, Defun):
    start = [0, given(tf, 3.0)]
    return list(tf.while_loop(lambda i, a: i < 0, lambda i, a: (i + 1, a * 2.0), start))


@foreign(2)
def loops_and_conds_in_each_other(tf, Defun):
    x, n = given(tf, 3.0), given(tf, 4)

    def inner(i, a):
        return tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * 2.0), [0, a])[1]

    def body(i, a):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a + x, lambda: inner(i, a))

    return list(tf.while_loop(lambda i, a: i < n, body, [0, 1.0]))


@foreign(2)
def every_case(tf, Defun):
    values = [tf.constant(float(i)) for i in range(3)]
    sides = [lambda i=i: values[i] * 2.0 for i in range(3)]
    return [tf.switch_case(given(tf, i), sides) for i in (-1, 0, 1, 2, 3)]


@foreign(2)
def function_with_autograph(tf, Defun):
    k = given(tf, 3.0)

    @tf.function
    def twice(x):
        return x * 2.0

    @tf.function
    def f(x, y):
        if x > y:
            z = twice(x) + k
        else:
            z = y
        for i in tf.range(3):
            z += twice(y) * tf.cast(i, tf.float32)
        while z < 100.0:
            z *= 2.0
        return z, {"a": twice(z)}

    first, second = f(given(tf, 1.0), given(tf, 2.0)), f(given(tf, 2.0), given(tf, 1.0))
    return [first[0], first[1]["a"], second[0], second[1]["a"]]


@foreign(2)
def function_gradient(tf, Defun):
    k = given(tf, 3.0)

    @tf.function
    def f(x):
        return tf.exp(x) * x * k

    @tf.function
    def g(x):
        return f(x) + f(2.0 * x)

    y = g(given(tf, 0.5))
    return [y] + tf.gradients(y, [k])  # noqa: RUF005


@foreign(2)
def function_with_a_check(tf, Defun):
    @tf.function
    def f(x):
        tf.Assert(x > 0.0, [x])
        return tf.constant(5.0)

    return [f(given(tf, 1.0))]


@foreign(2)
def function_on_devices(tf, Defun):
    @tf.function
    def f(x):
        with tf.device("/cpu:0"):
            y = x + 1.0
        return y * 2.0

    with tf.device("/device:CPU:0"):
        return [f(given(tf, [1.0, 2.0], [2]))]


@foreign(2)
def function_of_a_variable(tf, Defun):
    v = tf.get_variable("v", initializer=4.0, use_resource=False)

    @tf.function
    def f(x):
        return x * v

    return [f(given(tf, 2.0))], [v.initializer]


@foreign(1)
def calls_by_name(tf, Defun):
    k = given(tf, 3.0)

    @Defun(tf.float32, tf.float32)
    def f(x, y):
        return tf.cond(x > y, lambda: x * k, lambda: y), x * y

    @Defun(tf.float32)
    def g(x):
        a, b = f(x, x + 1.0)
        return a * b

    return [g(given(tf, 2.0)), *f(k, given(tf, 1.0))]


@foreign(1)
def symbolic_gradients(tf, Defun):
    k = given(tf, 3.0)

    @Defun(tf.float32, tf.float32)
    def f(x, y):
        return x * y * tf.exp(x)

    @Defun(tf.float32)
    def g(x):
        return f(x, x * 2.0)

    @Defun(tf.float32, tf.float32)
    def grad_of_h(x, dy):
        return dy * 100.0 + x

    @Defun(tf.float32, grad_func=grad_of_h)
    def h(x):
        return x * x

    return tf.gradients(g(k), k) + tf.gradients(h(k), k)


@foreign(1)
def a_loop_in_a_call(tf, Defun):
    @Defun(tf.float32, tf.int32)
    def power(x, n):
        base = tf.reshape(x, [])
        return tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * base), [0, 1.0])[1]

    x = given(tf, 2.0)
    return [power(x, given(tf, 3)) + power(x, given(tf, 5))]


@foreign(1)
def a_call_in_a_loop(tf, Defun):
    @Defun(tf.float32)
    def f(x):
        with tf.control_dependencies([tf.Assert(x > 0.0, [x])]):
            return tf.identity(x) * tf.constant(2.0)

    def body(i, a):
        return i + 1, tf.reshape(f(a), [])

    return list(tf.while_loop(lambda i, a: i < 3, body, [0, given(tf, 1.5)]))


@foreign(1)
def branches_of_functions(tf, Defun):
    @Defun(tf.float32)
    def double(x):
        return x * 2.0

    @Defun(tf.float32)
    def triple(x):
        return x * 3.0

    @Defun(tf.float32)
    def small(x):
        return x < 50.0

    @Defun(tf.float32)
    def room(x):
        return tf.maximum(50.0 - x, 0.0)

    conditions = [True, False, 2, 0, 0.5, 0.0, "", "a", [False], [0, 0]]
    x = given(tf, 4.0)
    found = []
    for each in conditions:
        condition = tf.constant(each)
        found += tf.raw_ops.If(cond=condition, input=[x], Tout=[tf.float32], then_branch=double,
                               else_branch=triple)  # fmt: skip
    for i in (-1, 0, 1, 7):
        found += tf.raw_ops.Case(branch_index=given(tf, i), input=[x], Tout=[tf.float32],
                                 branches=[double, triple])  # fmt: skip
    found += tf.raw_ops.While(input=[x], cond=small, body=double)
    found += tf.raw_ops.StatelessWhile(input=[x], cond=room, body=triple)
    return found


# graphs of real TensorFlow whose loops keep what gradients need in lists of tensors


@foreign(2)
def gradient_of_a_while(tf, Defun):
    x, n = given(tf, 1.5), given(tf, 4)
    one = tf.constant(1.0)
    _, y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x + tf.sin(a) + one), [0, x])
    return [y, *tf.gradients(y, [x, one])]


@foreign(2)
def gradients_of_gradients_of_a_while(tf, Defun):
    x = given(tf, 1.5)
    _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * a * x), [0, x])
    [first] = tf.gradients(y, x)
    return [y, first, *tf.gradients(first, x)]


@foreign(2)
def gradient_of_loops_in_each_other(tf, Defun):
    x, n = given(tf, [0.5, 2.0], [2]), given(tf, 3)

    def inner(i, a):
        return tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * x + 0.1), [0, a])[1]

    _, y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, inner(i, a) * a), [0, x])
    return [y, *tf.gradients(y, x)]


@foreign(2)
def gradient_of_conds_in_a_while(tf, Defun):
    x, k = given(tf, 1.5), given(tf, 2.0)

    def body(i, a):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * x * k, lambda: tf.exp(a * 0.1))

    _, y = tf.while_loop(lambda i, a: i < 5, body, [0, x])
    return [y, *tf.gradients(y, [x, k])]


@foreign(2)
def gradient_of_a_while_in_a_cond(tf, Defun):
    x = given(tf, 1.5)

    def loop():
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1]

    taken, left = tf.cond(x > 1.0, loop, lambda: x), tf.cond(x > 2.0, loop, lambda: 3.0 * x)
    return [taken, left, *tf.gradients(taken, x), *tf.gradients(left, x)]


@foreign(2)
def gradient_of_a_recurrent_net(tf, Defun):
    inputs = given(tf, np.linspace(-1.0, 1.0, 12).astype(np.float32).reshape(4, 1, 3), [None, 1, 3])
    weights = given(tf, np.linspace(0.1, 0.9, 15).astype(np.float32).reshape(5, 3), [5, 3])
    steps = tf.shape(inputs)[0]
    rows = tf.TensorArray(tf.float32, steps).unstack(inputs)
    states = tf.TensorArray(tf.float32, steps)

    def body(i, state, states):
        state = tf.tanh(tf.matmul(tf.concat([rows.read(i), state], 1), weights))
        return i + 1, state, states.write(i, state)

    start = [0, tf.zeros([1, 2]), states]
    weights = tf.slice(weights, [0, 0], [5, 2])
    _, last, states = tf.while_loop(lambda i, *_: i < steps, body, start)
    stacked = states.stack()
    loss = tf.reduce_sum(stacked * stacked) + tf.reduce_sum(last)
    return [last, stacked, loss, *tf.gradients(loss, [weights, inputs])]


@foreign(2)
def gradient_of_map_fn(tf, Defun):
    x, k = given(tf, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [None, 2]), given(tf, 0.5)
    y = tf.map_fn(lambda row: tf.reduce_sum(row * row) * k, x)
    return [y, *tf.gradients(y, [x, k])]


@foreign(2)
def gradient_of_scan_and_folds(tf, Defun):
    x = given(tf, [1.0, 2.0, 3.0], [None])
    running = tf.scan(lambda total, each: total * each + 1.0, x, given(tf, 0.5))
    forth = tf.foldl(lambda total, each: total * 0.5 + each * each, x)
    back = tf.foldr(lambda total, each: total * 0.5 + each * each, x)
    return [running, forth, back, *tf.gradients([running, forth, back], x)]


@foreign(2)
def gradient_of_a_function_with_loops(tf, Defun):
    k = given(tf, 2.0)

    @tf.function
    def f(x):
        found = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(4):
            if i % 2 == 0:
                x = x * k
            else:
                x = x + k
            found = found.write(i, x)
        return found.stack()

    x = given(tf, 1.5)
    y = f(x)
    return [y, *tf.gradients(y, [x, k])]


@foreign(2)
def arrays_of_parts(tf, Defun):
    x = given(tf, [[1.0], [2.0], [3.0]], [3, 1])
    parts = tf.TensorArray(tf.float32, 2, infer_shape=False, element_shape=[None, 1])
    parts = parts.split(x * x, [1, 2])
    some = tf.TensorArray(tf.float32, 5, element_shape=[1]).scatter([4, 0], x[1:])
    some = some.gather([0, 1, 4])
    return [parts.concat(), some, parts.size(), *tf.gradients([parts.concat(), some], x)]


@foreign(2)
def lists_of_strings_and_lists(tf, Defun):
    words = tf.raw_ops.TensorListReserve(element_shape=-1, num_elements=3, element_dtype=tf.string)
    words = tf.while_loop(
        lambda i, words: i < 3,
        lambda i, words: (i + 1, tf.raw_ops.TensorListSetItem(
            input_handle=words, index=i, item=tf.as_string(i))),
        [0, words])[1]  # fmt: skip
    outer = tf.raw_ops.EmptyTensorList(
        element_shape=-1, max_num_elements=-1, element_dtype=tf.variant
    )
    outer = tf.raw_ops.TensorListPushBack(input_handle=outer, tensor=words)
    _, inner = tf.raw_ops.TensorListPopBack(
        input_handle=outer, element_shape=-1, element_dtype=tf.variant
    )
    inner = tf.raw_ops.TensorListStack(
        input_handle=inner, element_shape=-1, element_dtype=tf.string
    )
    return [tf.string_to_number(inner), tf.raw_ops.TensorListLength(input_handle=outer)]


# graphs of both


@exported
def arguments_results_captures(tf, Defun):
    v = tf.Variable(2.0, name="v")
    k = tf.constant(7.0, name="k")

    @Defun(tf.float32, tf.float32, func_name="Foo")
    def foo(x, y):
        a, b = tf.unstack(tf.stack([x, y]), 2)
        return x * y + k, a - b + v

    @Defun(tf.float32, func_name="Bar")
    def bar(z):
        with tf.device("/cpu:0"):
            tf.Print(z, [z])
        return foo(z, z)[0]

    one, two = foo(tf.constant(2.0), tf.constant(3.0)), foo(1.0, 2.0, name="named")
    with tf.device("/device:CPU:0"), tf.control_dependencies([v.initializer]):
        three = bar(4.0)
    return [*one, *two, three], [v.initializer]


@exported
def names_that_meet(tf, Defun):
    @Defun(tf.float32, tf.float32, func_name="Swap")
    def swap(x, y):
        return y, x, y

    @Defun(tf.float32, func_name="Named", out_names=["first", "second"])
    def named(X_y):
        with tf.control_dependencies([X_y]):
            return X_y, tf.constant(1.0, name="first")

    return [*swap(1.0, 2.0), *named(3.0)], []


@exported
def functions_by_types(tf, Defun):
    @Defun(func_name="Times")
    def times(x, y):
        return x * y

    return [times(tf.constant(2.0), tf.constant(3.0)), times(tf.constant(2), tf.constant(3))], []


@exported
def nothing_to_give(tf, Defun):
    @Defun(tf.float32, func_name="Check")
    def check(x):
        tf.group(tf.identity(x))

    with tf.control_dependencies([check(1.0)]):
        return [tf.constant(2.0) + 1.0], []


@exported
def captured_by_value(tf, Defun):
    k = tf.constant(3.0) * 2.0

    @Defun(func_name="ByValue", capture_by_value=True)
    def f():
        return k * 2.0

    return [f()], []


@exported
def variables_made_inside(tf, Defun):
    @Defun(tf.float32, func_name="Layer")
    def layer(x):
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        b = tf.Variable(2.0, name="b")
        return w * x + b

    y = layer(3.0)
    return [y], [tf.global_variables_initializer()]


@exported
def gradient_of_its_own(tf, Defun):
    @Defun(tf.float32, tf.float32, func_name="MySquareGrad")
    def square_grad(x, dy):
        return dy * 100.0 + x

    @Defun(tf.float32, func_name="MySquare", grad_func=square_grad)
    def square(x):
        return x * x

    @Defun(tf.float32, func_name="MyCube", python_grad_func=lambda op, dy: dy * 50.0)
    def cube(x):
        return x * x * x

    x = tf.constant(3.0)
    return tf.gradients(square(x), x) + tf.gradients(cube(x), x), []


@exported
def traced(tf, Defun):
    k = tf.constant(3.0, name="k")

    @tf.function
    def half(x):
        return x / 2.0

    @tf.function
    def f(a, b=2.0, *rest):
        return {"sum": a["p"] * b + k, "rest": [half(rest[0]), a["q"]]}

    x, y = tf.constant([1.0], name="x"), tf.constant(4, name="y")
    found = f({"p": x, "q": y}, 5.0, tf.constant(6.0))
    return [found["sum"], *found["rest"]], []


# what is exported, as text


def lines(tf, graph):
    """Return one line for each node and function of a graph, as exported."""
    graph_def = graph.as_graph_def()
    found = [line(tf, node) for node in graph_def.node]
    for function in sorted(graph_def.library.function, key=lambda each: each.signature.name):
        signature = function.signature
        arguments = ", ".join(argument(tf, arg) for arg in signature.input_arg)
        results = ", ".join(
            argument(tf, arg) + " = " + function.ret[arg.name] for arg in signature.output_arg
        )
        kind = " stateful" * signature.is_stateful
        attrs = attributes(tf, function.attr)
        found.append(f"{signature.name}({arguments}) -> ({results}){kind} {{{attrs}}}")
        found += ["  " + line(tf, node) for node in function.node_def]
    found += ["gradient of " + g.function_name + ": " + g.gradient_func
              for g in graph_def.library.gradient]  # fmt: skip
    return [numbered(each) for each in found]


def argument(tf, arg):
    return arg.name + ": " + tf.as_dtype(arg.type).name


def line(tf, node):
    plain = [each for each in node.input if not each.startswith("^")]
    inputs = ", ".join(plain + sorted(node.input[len(plain) :]))
    where = " on " + node.device if node.device else ""
    return f"{node.name} = {node.op}({inputs}){where} {{{attributes(tf, node.attr)}}}"


# What a call says of how a runtime is to run it, and other numbers of the process.
UNSAID = ("_gradient_op_type", "config", "config_proto", "executor_type")


def attributes(tf, attrs):
    said = [key for key in sorted(attrs) if key not in UNSAID]
    return ", ".join(key + ": " + value(tf, attrs[key]) for key in said)


def value(tf, attr):
    kind = attr.WhichOneof("value")
    if kind == "list":
        values = [each for _, part in attr.list.ListFields() for each in part]
        return "[" + ", ".join(map(str, values)) + "]"
    content = getattr(attr, kind)
    if kind == "tensor":
        return str(tf.make_ndarray(content).tolist())
    if kind == "shape":
        return str(tf.TensorShape(content))
    return content.name if kind == "func" else repr(content)


def numbered(text):
    """Return a line without the number of a traced function, which counts in its process."""
    return re.sub(r"(__inference_\w+?)_\d+\b", r"\1_N", text)


# on real TensorFlow's side


def outcome(tf, fetches, before, graph):
    """Return the values of tensors, after `before` has run."""
    with tf.Session(graph=graph) as session:
        session.run(before)
        values = session.run(fetches)
    return [np.asarray(value).tolist() for value in values]


def packed(graph_def):
    """Return a message as text."""
    return base64.b85encode(zlib.compress(graph_def.SerializeToString(), 9)).decode()


def unpacked(text):
    """Return the bytes of a message."""
    return zlib.decompress(base64.b85decode(text))


def prepared():
    """Return real TensorFlow's names of version 1, and its Defun."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    warnings.filterwarnings("ignore")
    import tensorflow as tf
    from tensorflow.python.framework.function import Defun

    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    tf.compat.v1.disable_eager_execution()
    return tf.compat.v1, Defun


def all_said(tf, Defun):
    """Return what real TensorFlow makes of all programs."""
    found = {"foreign": {}, "exported": {}}
    for name, (program, version) in FOREIGN.items():
        (tf.enable_control_flow_v2 if version == 2 else tf.disable_control_flow_v2)()
        graph = tf.Graph()
        with graph.as_default():
            made = program(tf, Defun)
        fetches, before = made if isinstance(made, tuple) else (made, [])
        found["foreign"][name] = {
            "fetches": [tensor.name for tensor in fetches],
            "before": [op.name for op in before],
            "values": outcome(tf, fetches, before, graph),
            "graph": packed(graph.as_graph_def()),
        }
    tf.disable_control_flow_v2()
    for name, program in EXPORTED.items():
        graph = tf.Graph()
        with graph.as_default():
            fetches, before = program(tf, Defun)
        found["exported"][name] = {
            "values": outcome(tf, fetches, before, graph), "lines": lines(tf, graph),
        }  # fmt: skip
    return found


def run_given(tf, request):
    """Return the values of fetches of a GraphDef, in one session."""
    graph_def = tf.GraphDef.FromString(unpacked(request["graph"]))
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
    return outcome(tf, request["fetches"], request["before"], graph)


def main():
    """Answer what stands on stdin, or say what becomes of all programs."""
    tf, Defun = prepared()
    request = sys.stdin.read()
    print(json.dumps(run_given(tf, json.loads(request)) if request else all_said(tf, Defun)))


def ask_real(command, request=""):
    """Return what the TensorFlow that `command` runs makes of a request, or of all programs."""
    script = shlex.split(command) + [os.path.abspath(__file__)]  # noqa: RUF005
    done = subprocess.run(script, input=request, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def store(first, second):
    """Write what 1.15 says, and the foreign graphs of a later version."""
    found = ask_real(first)
    found["later"] = ask_real(second)["foreign"]
    parts = []
    for part, rows in found.items():
        texts = [json.dumps(name) + ": " + json.dumps(row) for name, row in rows.items()]
        parts.append(json.dumps(part) + ": {\n" + ",\n".join(texts) + "\n}")
    with open(EXPECTED, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(parts) + "\n}\n")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        store(*sys.argv[1:])
    else:
        main()
