"""Functions: real TensorFlow's graphs run here, ours are as it writes them and run there.

Where the environment variable TFDIST_REAL_TENSORFLOW holds a command that runs a real TensorFlow's
Python, it is asked; elsewhere what 1.15.5 and 2.21 said is read from `expected_functions.json`.
"""

import json
import os
import zlib
from contextlib import ExitStack, closing, contextmanager
from functools import cache

import numpy as np
import pytest

import tfdist as tf
from tests.ops.functions import function_programs
from tests.runtime.places import EXECUTORS, alone, cluster, grpc, local_path
from tests.wire.calls_at import calls_at, node
from tests.wire.graph_cases import constant
from tests.wire.worker_cases import Task
from tfdist.graph.tensor_proto import make_ndarray
from tfdist.ops.functions import functional as functional_ops
from tfdist.protos import pb
from tfdist.wire.server import Server, start_servers

REAL = os.environ.get("TFDIST_REAL_TENSORFLOW", "")


@cache
def stored():
    with open(function_programs.EXPECTED, encoding="utf-8") as file:
        return json.load(file)


@cache
def expected():
    return function_programs.ask_real(REAL) if REAL else stored()


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture(scope="module")
def server():
    with Server({"a": ["localhost:0"]}, inproc=False) as server:
        yield server


def run(fetches, before=()):
    with tf.Session() as session:
        session.run(list(before))
        return session.run(fetches)


def assert_close(found, wanted):
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


# graphs of real TensorFlow

FOREIGN = [
    pytest.param(version, name, id=f"{name} of {version}")
    for version in ("foreign", "later")
    for name in function_programs.FOREIGN
]


def foreign(version, name):
    """Return a graph, its fetches, what runs before, and the values of TensorFlow."""
    row = expected().get(version, stored()[version])[name]
    graph_def = pb.GraphDef.FromString(function_programs.unpacked(row["graph"]))
    return graph_def, row["fetches"], row["before"], row["values"]


@pytest.mark.parametrize(("version", "name"), FOREIGN)
def test_a_graph_of_tensorflow_runs_when_it_is_imported(version, name):
    graph_def, fetches, before, values = foreign(version, name)
    tf.import_graph_def(graph_def, name="")
    assert_close(run(fetches, before), values)


@pytest.mark.parametrize(("version", "name"), FOREIGN)
def test_a_graph_of_tensorflow_runs_at_a_server(server, version, name):
    """As a client of any language sends it, and in a session that imported it."""
    graph_def, fetches, before, values = foreign(version, name)
    with calls_at(server.address) as asker:
        request = pb.CreateSessionRequest(graph_def=graph_def)
        handle = asker.ask(request).session_handle
        if before:
            asker.run(handle, target=before)
        found = asker.run(handle, fetch=fetches)
        assert_close([make_ndarray(found[each]) for each in fetches], values)
        asker.ask(pb.CloseSessionRequest(session_handle=handle))
    tf.import_graph_def(graph_def, name="again")
    with closing(tf.Session(server.target)) as session:
        session.run([f"again/{each}" for each in before])
        assert_close(session.run([f"again/{each}" for each in fetches]), values)


THOROUGH = [
    (alone, "interpreter"),
    (alone, "compiler"),
    (cluster, "auto"),
]


@pytest.mark.parametrize(
    ("place", "executor", "rows"),
    [
        pytest.param(
            place, executor,
            FOREIGN if (place, executor) in THOROUGH else FOREIGN[turn :: len(EXECUTORS)],
            id=f"{place.__name__} {executor}",
        )
        for place in (alone, cluster, local_path, grpc)
        for turn, executor in enumerate(EXECUTORS)
    ],
)  # fmt: skip
def test_graphs_of_tensorflow_run_over_two_tasks(place, executor, rows, monkeypatch):
    """What makes a list of tensors, say, is on another task than what takes it.

    Each graph runs at every place; where that takes long, the executors share them out.
    """
    monkeypatch.setenv("TFDIST_EXECUTOR", executor)
    with place() as here:
        for row in rows:
            graph_def, fetches, before, values = foreign(*row.values)
            spread(graph_def, (here.here, here.there))
            with tf.Graph().as_default(), tf.Session(here.target) as session:
                tf.import_graph_def(graph_def, name="")
                session.run(before)
                assert_close(session.run(fetches), values)
            if here.target:
                tf.Session.reset(here.target)


def spread(graph_def, devices):
    """Let nodes ask for different devices, but those of which some must be on the same one."""
    for nodes in (graph_def.node, *(each.node_def for each in graph_def.library.function)):
        groups = {node.name: node.attr["_class"].list.s for node in nodes if "_class" in node.attr}
        held = {group.decode().removeprefix("loc:@") for each in groups.values() for group in each}
        for each in nodes:
            if each.name not in held and not groups.get(each.name) and not each.device:
                each.device = devices[zlib.crc32(each.name.encode()) % len(devices)]


@pytest.mark.parametrize(("version", "name"), FOREIGN)
def test_a_graph_of_tensorflow_is_exported_as_it_came(version, name):
    graph_def, fetches, before, values = foreign(version, name)
    tf.import_graph_def(graph_def, name="")
    again = tf.get_default_graph().as_graph_def()
    functions = {each.signature.name: each for each in graph_def.library.function}
    assert {each.signature.name for each in again.library.function} == functions.keys()
    with tf.Graph().as_default():
        tf.import_graph_def(again, name="")
        assert_close(run(fetches, before), values)


# ours


@pytest.mark.parametrize("name", function_programs.EXPORTED)
def test_a_program_exports_and_gives_what_it_does_in_tensorflow(graph, name):
    fetches, before = function_programs.EXPORTED[name](tf, tf.Defun)
    wanted = expected()["exported"][name]
    assert_close(run(fetches, before), wanted["values"])
    found = function_programs.lines(tf, graph)
    assert sorted(without_gradients(found)) == sorted(without_gradients(wanted["lines"]))


def without_gradients(lines):
    """Return lines without the nodes of gradients, which are not all the same."""
    return [line for line in lines if not line.lstrip().startswith("gradients")]


def test_every_program_has_an_expectation():
    assert list(stored()["foreign"]) == list(function_programs.FOREIGN)
    assert list(stored()["exported"]) == list(function_programs.EXPORTED)


# what only we make of them: gradients of branches and loops, values drawn once


def scalar(value):
    return tf.placeholder_with_default(np.float32(value), [])


def powers(x, p):
    """Return x squared if p is true, else x to the fourth power, by a loop."""
    x = tf.reshape(x, [])

    def loop():
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1]

    return tf.cond(p, lambda: x * x, loop)


def branches():
    @tf.Defun(tf.float32, tf.float32, func_name="Double")
    def double(x, k):
        return x * 2.0 * k, x

    @tf.Defun(tf.float32, tf.float32, func_name="SquareIt")
    def square(x, k):
        return x * x, k

    return [double, square]


def a_defun():
    power = tf.Defun(tf.float32, tf.bool, func_name="Power")(powers)
    x = scalar(3.0)
    ys = [power(x, True), power(x, False)]
    return [*ys, *tf.gradients(ys[0], x), *tf.gradients(ys[1], x)], [9, 81, 6, 108]


def a_traced_function():
    power = tf.function(powers)
    x = scalar(3.0)
    ys = [power(x, tf.constant(True)), power(x, tf.constant(False))]
    return [*ys, *tf.gradients(ys[0], x), *tf.gradients(ys[1], x)], [9, 81, 6, 108]


def an_if():
    x, k = scalar(3.0), scalar(4.0)
    then, other = branches()
    found, wanted = [], []
    for cond, values in ((True, [24, 3, 9, 6]), (False, [9, 4, 6, 1])):
        ys = tf.raw_ops.If(
            cond=cond, input=[x, k], Tout=[tf.float32] * 2, then_branch=then, else_branch=other
        )
        found += [*ys, *tf.gradients(ys, [x, k])]
        wanted += values
    return found, wanted


def a_case():
    x, k = scalar(3.0), scalar(4.0)
    found, wanted = [], []
    for i, values in ((0, [9, 6]), (1, [6, 1]), (5, [6, 1])):
        ys = tf.raw_ops.Case(
            branch_index=i, input=[x, k], Tout=[tf.float32] * 2, branches=branches()
        )
        found += tf.gradients(ys, [x, k])
        wanted += values
    return found, wanted


def gradients_of_gradients():
    x = scalar(2.0)
    found = []
    for make in (tf.function, tf.Defun(tf.float32)):
        y = make(lambda x: x * x * x)(x)
        for _ in range(3):
            found.append(y)
            [y] = tf.gradients(y, x)
    return found, [8, 12, 12] * 2


def calls_in_branches_and_loops():
    @tf.function
    def twice(x):
        return x * tf.constant(2.0)

    x = scalar(1.0)
    taken = tf.cond(x > 0.0, lambda: twice(x), lambda: x)
    loop = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, twice(a) + twice(x)), [0, x])[1]
    return [taken, loop, *tf.gradients(loop, x)], [2, 22, 22]


def integers_beside_floats():
    @tf.function
    def f(x, n):
        return x * tf.cast(n, tf.float32), n + 1

    x = scalar(3.0)
    y, n = f(x, tf.constant(4))
    return [y, n, *tf.gradients(y, x)], [12, 5, 4]


def a_result_that_is_an_argument():
    @tf.function
    def f(x):
        return x, 2.0 * x

    x = scalar(3.0)
    return [*f(x), *tf.gradients(f(x), x)], [3, 6, 3]


PROGRAMS = [
    a_defun, a_traced_function, an_if, a_case, gradients_of_gradients,
    calls_in_branches_and_loops, integers_beside_floats, a_result_that_is_an_argument,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_gradients(program):
    fetches, values = program()
    assert_close(run(fetches), values)


if REAL:  # elsewhere there is nothing to ask

    @pytest.mark.parametrize("program", PROGRAMS)
    def test_tensorflow_gives_the_same_for_our_graph(graph, program):
        fetches, values = program()
        request = {
            "graph": function_programs.packed(graph.as_graph_def()),
            "fetches": [tensor.name for tensor in fetches],
            "before": [],
        }
        assert_close(function_programs.ask_real(REAL, json.dumps(request)), values)


def test_a_gradient_without_types_takes_those_of_arguments_and_results():
    @tf.Defun()
    def doubled(x, y, dy):
        return dy * 2.0, dy * y

    @tf.Defun(grad_func=doubled)
    def product(x, y):
        return x * y

    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    found = tf.Session().run(tf.gradients(product(x, y), [x, y]))
    assert [each.tolist() for each in found] == [[2, 2], [3, 4]]
    with pytest.raises(TypeError, match="with types"):
        tf.Defun(tf.float32, tf.float32, grad_func=doubled)(lambda x, y: x * y)


def test_the_gradient_takes_the_random_numbers_of_the_call():
    @tf.function
    def drop(x):
        return x * tf.random_uniform([5])

    x = tf.constant(np.ones(5, np.float32))
    y = drop(x)
    value, slope = run([y, *tf.gradients(y, x)])
    np.testing.assert_array_equal(value, slope)


def noting():
    """Return a list, and a function that adds a node which notes the value of a tensor there."""
    seen = []

    def note(value):
        seen.append(float(value))
        return np.float32(value)

    return seen, lambda x: tf.py_func(note, [x], tf.float32)


def test_what_acts_runs_once_and_in_order_in_a_trace():
    seen, note = noting()

    @tf.function
    def f(x):
        for i in range(5):
            note(x + float(i))
        return x

    x = tf.constant(0.0)
    y = f(x)
    run([y, *tf.gradients(y, x)])
    assert seen == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_a_trace_without_results_gives_its_operation():
    seen, note = noting()

    @tf.function
    def f(x):
        note(x)

    op = f(tf.constant(3.0))
    assert isinstance(op, tf.Operation)
    run(op)
    assert seen == [3.0]


def test_an_operation_that_is_returned_runs():
    v = tf.Variable(1.0)
    seen, note = noting()

    @tf.function
    def f(x):
        return tf.group(note(x))

    run(f(v), [v.initializer])
    assert seen == [1.0]


def test_one_side_of_a_branch_acts():
    seen, note = noting()

    @tf.Defun(tf.float32)
    def loud(x):
        note(x)
        return x + tf.constant(1.0)

    x = scalar(1.0)
    y = tf.cond(x > 2.0, lambda: loud(x), lambda: x)
    with tf.Session() as session:
        assert session.run(y) == 1.0
        assert seen == []
        assert session.run(y, {x: 3.0}) == 4.0
        assert seen == [3.0]


def test_every_round_of_a_loop_acts():
    seen, note = noting()

    @tf.Defun(tf.float32)
    def body(x):
        note(x)
        return x + 1.0

    @tf.Defun(tf.float32)
    def cond(x):
        return x < 3.0

    [y] = tf.raw_ops.While(input=[tf.constant(0.0)], cond=cond, body=body)
    assert run(y) == 3.0
    assert seen == [0.0, 1.0, 2.0]


def test_a_call_runs_after_what_it_waits_for():
    seen, note = noting()

    @tf.Defun()
    def two():
        return note(tf.constant(2.0))

    with tf.control_dependencies([note(tf.constant(1.0))]):
        y = two()
    run(y)
    assert seen == [1.0, 2.0]


def test_a_body_goes_where_it_asks_for_and_else_to_its_caller():
    @tf.Defun(tf.float32, func_name="Spread")
    def spread(x):
        with tf.device("/job:worker"):
            return x * 2.0

    with tf.device("/job:ps"):
        y = spread(scalar(1.0)) + spread(scalar(2.0))
    with two_tasks() as target, closing(tf.Session(target)) as session:
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        assert session.run(y, options=options, run_metadata=metadata) == 6.0
    ran = {
        node.node_name: stats.device.split("/")[1]
        for stats in metadata.step_stats.dev_stats
        for node in stats.node_stats
    }
    assert ran["Spread/mul_0"] == ran["Spread_1/mul_0"] == "job:worker"
    assert ran["Spread"] == ran["add"] == "job:ps"


def test_a_worker_runs_calls_in_its_partitions(server):
    """TensorFlow's masters leave calls by name to the workers, which have their bodies."""

    @tf.Defun(tf.float32, func_name="Halves")
    def halves(x):
        with tf.device("/job:elsewhere"):
            return x / 2.0

    with calls_at(server.address) as asker:
        task = Task(asker)
        request = task.registration(
            constant("one", 1.0), node("y", "Halves", "one"), task.sent("y", "sent")
        )
        request.graph_def.library.function.append(
            pb.FunctionDef.FromString(halves.definition.SerializeToString())
        )
        handle = asker.ask(request).graph_handle
        options = pb.ExecutorOpts(record_timeline=True)
        ran, sent = task.run(handle, exec_opts=options).step_stats.dev_stats
    assert ran.device == sent.device == task.device
    assert {"one", "y/truediv_0", "y"} <= {each.node_name for each in ran.node_stats}


@contextmanager
def two_tasks():
    """Give the target of a parameter server, which has a worker."""
    with ExitStack() as stack:
        servers = [stack.enter_context(each) for each in start_servers({"ps": 1, "worker": 1})]
        yield servers[0].target


# tf.function


def test_python_values_and_types_have_traces_of_their_own():
    traced = []

    @tf.function
    def f(x, flag=False):
        traced.append(flag)
        return x + 1 if flag else x

    one = tf.constant(1)
    found = [f(one), f(tf.constant(2)), f(one, True), f(tf.constant(1.0)), f(5)]
    assert run(found) == [1, 2, 2, 1.0, 5]
    assert traced == [False, True, False, False]


def test_shapes_do_not_matter_if_relaxed():
    traced = []

    @tf.function(experimental_relax_shapes=True)
    def f(x):
        traced.append(x.shape.as_list())
        return tf.reduce_sum(x)

    assert run([f(tf.ones([2])), f(tf.ones([3]))]) == [2.0, 3.0]
    assert traced == [[None]]


def test_an_input_signature_makes_one_trace():
    traced = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="numbers")])
    def f(x):
        traced.append(x.name)
        return x * 2.0

    found = run([f([1.0, 2.0]), f(np.array([3.0])), f(tf.constant([4.0, 5.0, 6.0]))])
    assert [each.tolist() for each in found] == [[2.0, 4.0], [6.0], [8.0, 10.0, 12.0]]
    assert traced == ["numbers:0"]


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        pytest.param([tf.constant], TypeError, "function", id="no value"),
        pytest.param([[[1.0]]], ValueError, "input_signature", id="another shape"),
        pytest.param([1.0, 2.0], TypeError, "argument", id="too many"),
        pytest.param([], TypeError, "argument", id="too few"),
    ],
)
def test_what_an_input_signature_does_not_allow_is_told(args, error, text):
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def f(x):
        return x

    with pytest.raises(error, match=text):
        f(*args)


def test_an_input_signature_of_something_else_is_told():
    with pytest.raises(TypeError, match="TensorSpec"):
        tf.function(lambda x: x, input_signature=[tf.float32])


def test_a_concrete_function_tells_of_itself():
    @tf.function
    def f(x, y):
        return {"sum": x + y}

    found = f.get_concrete_function(tf.TensorSpec([None], tf.float32), 2.0)
    assert found.structured_input_signature == ((tf.TensorSpec([None], tf.float32, "x"), 2.0), {})
    assert [tensor.name for tensor in found.inputs] == ["x:0"]
    assert found.function_def.signature.name.encode() == found.name
    assert run(found(tf.constant([1.0, 2.0])))["sum"].tolist() == [3.0, 4.0]


def test_a_method_is_traced_for_its_object():
    class Layer:
        def __init__(self, factor):
            self.factor = factor

        @tf.function
        def scaled(self, x):
            return x * self.factor

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def added(self, x):
            return x + self.factor

    two, three = Layer(2.0), Layer(3.0)
    x = tf.constant(5.0)
    assert run([two.scaled(x), three.scaled(x), two.added(x), three.added(1)]) == [10, 15, 7, 4]


def test_python_does_not_decide_by_tensors_without_autograph():
    @tf.function(autograph=False)
    def f(x):
        return x if x > 0 else -x

    with pytest.raises(TypeError, match="Python `bool`"):
        f(tf.constant(1.0))


def test_functions_of_several_graphs_do_not_meet():
    f = tf.function(lambda x: x * 2.0)
    g = tf.Defun(tf.float32)(lambda x: x * 3.0)
    for _ in range(2):
        with tf.Graph().as_default():
            assert run([f(tf.constant(1.0)), g(1.0)]) == [2.0, 3.0]


# what is wrong is told


def test_a_reference_variable_cannot_be_changed_in_a_body():
    v = tf.Variable(1.0)

    @tf.Defun(func_name="Change")
    def change():
        return tf.assign_add(v, 1.0)

    with pytest.raises(TypeError, match="'Change'"):
        change()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        pytest.param(lambda: one(tf.constant(1)), "int32 expected float32", id="another type"),
        pytest.param(lambda: one(1.0, 2.0), "arguments: 1, received: 2", id="too many"),
        pytest.param(lambda: tf.Defun(tf.float32)(lambda: 1.0), "fewer", id="a type too many"),
        pytest.param(lambda: tf.Defun(tf.float32)(lambda x, y: x), "more", id="a type too few"),
        pytest.param(lambda: tf.Defun(tf.float32)(lambda x=1.0: x), "defaults", id="a default"),
        pytest.param(lambda: tf.Defun(tf.float32)(3), "callable", id="no function"),
        pytest.param(
            lambda: tf.Defun(tf.float32, no_such=1)(lambda x: x), "no_such", id="an option"
        ),
    ],
)
def test_a_wrong_defun_is_told(make, text):
    with pytest.raises(ValueError, match=text):
        make()


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        pytest.param(lambda: tf.function(3), TypeError, "Python function, not 3", id="a number"),
        pytest.param(lambda: tf.function(max), TypeError, "Python function, not", id="a builtin"),
        pytest.param(lambda: tf.function(same)(), TypeError, r"same\(x\).*'x'", id="too few"),
        pytest.param(lambda: tf.function(same)(1, 2), TypeError, r"same\(x\).*too many", id="more"),
        pytest.param(
            lambda: tf.function(lambda: object())(), TypeError, "must return tensors", id="object"
        ),
        pytest.param(
            lambda: tf.function(same, input_signature=[tf.TensorSpec([])] * 2)(1.0), TypeError,
            r"tells of 2 arguments, but same takes \(x\)", id="a longer signature",
        ),
        pytest.param(lambda: concrete()(), TypeError, r"each of \['x'\]; got 0", id="no tensor"),
        pytest.param(lambda: concrete()(y=1.0), TypeError, r"got 0 .*\['y'\]", id="another name"),
        pytest.param(lambda: tf.Defun()(same)(), ValueError, "arguments: 1, received: 0", id="no"),
        pytest.param(lambda: tf.Defun(same), TypeError, r"@Defun\(\)", id="no parentheses"),
        pytest.param(lambda: tf.Defun(grad_func=3), TypeError, "grad_func must be", id="gradient"),
        pytest.param(lambda: tf.Defun(func_name=3), TypeError, "func_name must be", id="a name"),
        pytest.param(lambda: one(1.0, nope=3), ValueError, "nope", id="an option of a call"),
        pytest.param(
            lambda: tf.Defun(tf.float32)(lambda x: {"a": x})(1.0), TypeError,
            "must return tensors", id="a dict from a Defun",
        ),
        pytest.param(
            lambda: tf.Defun(tf.float32, shape_func=lambda op: [[], []])(same)(1.0), ValueError,
            "2 shapes for 1 results", id="shapes",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_function_is_told(make, error, text):
    with pytest.raises(error, match=text):
        make()


def same(x):
    return x


def concrete():
    return tf.function(same).get_concrete_function(tf.TensorSpec([], tf.float32))


def test_a_concrete_function_takes_tensors_by_name():
    assert run(concrete()(x=2.0)) == 2.0


# functions that call themselves


def test_a_trace_that_asks_for_itself_names_the_way():
    @tf.function
    def even(n):
        return tf.cond(n > 0, lambda: odd(n - 1), lambda: tf.constant(True))

    @tf.function
    def odd(n):
        return tf.cond(n > 0, lambda: even(n - 1), lambda: tf.constant(False))

    with pytest.raises(ValueError, match=r"'even' calls itself: even -> odd -> even\b.*while_loop"):
        even(tf.constant(4))
    assert run(tf.function(same)(tf.constant(4))) == 4  # nothing is left of the failure


def test_a_defun_that_asks_for_itself_names_the_way():
    @tf.Defun(tf.int32, func_name="Down")
    def down(n):
        return tf.cond(n > 0, lambda: down(n - 1), lambda: n)

    with pytest.raises(ValueError, match=r"'Down' calls itself: Down -> Down\b.*while_loop"):
        down(4)


def test_python_values_end_a_recursion():
    @tf.function
    def power(x, n):
        return x * power(x, n - 1) if n else tf.ones_like(x)

    assert run(power(tf.constant(2.0), 5)) == 32.0


def called(x):
    return tf.raw_ops.PartitionedCall(args=[x], Tout=[tf.float32], f="F")[0]


def chosen(x):
    return tf.raw_ops.If(
        cond=x, input=[x], Tout=[tf.float32], then_branch="F", else_branch="F", output_shapes=[]
    )[0]


@pytest.mark.parametrize("inner", [called, chosen])
def test_functions_that_call_each_other_by_name_name_the_way(inner):
    g = tf.Defun(tf.float32, func_name="G")(inner)
    f = tf.Defun(tf.float32, func_name="F")(lambda x: g(x) * 2.0)
    x = tf.constant(1.0)
    y = f(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'F' calls itself: F -> G -> F\b"):
        run(y)
    with pytest.raises(ValueError, match=r"'F' calls itself: F -> G -> F\b"):
        tf.gradients(y, x)


def one(*args, **options):
    return tf.Defun(tf.float32, func_name="One")(lambda x: x)(*args, **options)


def test_two_functions_cannot_have_one_name():
    one(1.0)
    with pytest.raises(ValueError, match="'One'"):
        tf.Defun(tf.float32, func_name="One")(lambda x: x + 1.0)(1.0)
    with pytest.raises(ValueError, match="'Add'"):
        tf.Defun(tf.float32, func_name="Add")(lambda x: x)(1.0)


def test_a_loop_of_functions_has_no_gradient():
    x = tf.constant(1.0)
    body = tf.Defun(tf.float32)(lambda x: x * 2.0)
    cond = tf.Defun(tf.float32)(lambda x: x < 9.0)
    with pytest.raises(LookupError, match=r"tf\.while_loop"):
        tf.gradients(tf.raw_ops.While(input=[x], cond=cond, body=body), x)


def test_an_error_in_a_body_names_the_line_of_the_call():
    @tf.function
    def f(x):
        with tf.control_dependencies([tf.Assert(x > 0.0, [x])]):
            return tf.identity(x)

    y = f(tf.constant(-1.0))  # the line
    with pytest.raises(tf.errors.InvalidArgumentError, match="# the line"):
        run(y)


def test_a_remote_call_runs_where_its_first_input_says():
    @tf.Defun(tf.float32)
    def negative(x):
        return -x

    target = tf.placeholder(tf.string, [])
    args = [tf.constant(3.0)]
    [result] = tf.raw_ops.RemoteCall(target=target, args=args, Tout=[tf.float32], f=negative)
    with tf.Session() as session:
        for here in ("/cpu:0", "/job:localhost/replica:0/task:0/device:CPU:0"):
            assert session.run(result, {target: here}) == -3.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="a constant must name another"):
            session.run(result, {target: "/job:worker/task:1"})


def test_the_functions_of_functional_ops_take_functions_and_lists():
    @tf.Defun(tf.float32)
    def double(x):
        return x * 2.0

    @tf.Defun(tf.float32)
    def more(x):
        return x + 1.0

    @tf.Defun(tf.float32)
    def is_small(x):
        return x < 10.0

    @tf.Defun(tf.int32, tf.float32)
    def scaled(i, x):
        return x * tf.cast(i, tf.float32)

    yes = tf.placeholder_with_default(True, [])
    assert run(functional_ops.If(yes, [3.0], double, more)) == [6.0]
    assert run(functional_ops.While([1.0], is_small, double)) == [16.0]
    assert run(functional_ops.For(1, 5, 1, [1.0], scaled)) == [24.0]
    assert run(functional_ops.For(5, 0, -2, [1.0], scaled)) == [15.0]
