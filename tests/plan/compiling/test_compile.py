"""One contract for all forms of a program: interpreted or compiled, by node or segment, traced."""

import random

import numpy as np
import pytest

import tfdist as tf
from tests.ops.evaluate import evaluate
from tests.plan.executing import FORMS, Environment, build, execute, form_name, partition_of
from tfdist.errors import FailedPreconditionError, InvalidArgumentError
from tfdist.graph.op_def import raw
from tfdist.plan.compiling.generated_file import source_of
from tfdist.runtime.step.descriptions import describe

each_form = pytest.mark.parametrize("form", FORMS, ids=form_name)


def same(one, other):
    np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


def chain():
    x = tf.placeholder(tf.float32, [], name="x")
    y = x
    for _ in range(20):
        y = tf.tanh(y + x)
    return [y], {x: np.float32(0.5)}


def several_outputs():
    x = tf.placeholder(tf.float32, [3, 2], name="x")
    first, _, third = tf.unstack(x)
    return [third, first + third], {x: np.arange(6.0, dtype=np.float32).reshape(3, 2)}


def lists_of_inputs():
    x = tf.placeholder(tf.int32, [2], name="x")
    return [tf.stack([x, x + 1, x]), tf.concat([x, [7]], 0)], {x: np.array([1, 2], np.int32)}


def handed_on():
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.identity(tf.stop_gradient(tf.identity(x)))
    z = x + 1.0
    return [y, tf.identity(z), z, tf.identity(tf.identity(z)) * 2.0], {x: np.ones(2, np.float32)}


def constants_only():
    c = tf.constant([1.0, 2.0])
    return [c, c, tf.constant(3), tf.constant(b"text")], {}


def fed_and_fetched():
    x = tf.placeholder(tf.float32, [], name="x")
    return [x, tf.negative(x), x], {x: np.float32(2)}


def fed_in_the_middle():
    x = tf.placeholder(tf.float32, [], name="x")
    y = x + 1.0
    return [y * 2.0, y], {y: np.float32(5)}


def one_output_of_two_fed():
    first, second = tf.unstack(tf.constant([1.0, 2.0]))
    return [first + second, first, second], {second: np.float32(10)}


def control_only():
    with tf.control_dependencies([tf.no_op()]):
        x = tf.constant(1.0)
    with tf.control_dependencies([x]):
        return [tf.constant(2.0) + 1.0], {}


def scalars_and_arrays():
    x = tf.placeholder(tf.float64, [], name="x")
    return [x / 0.0, tf.reshape(x, [1]), tf.reduce_sum(tf.reshape(x, [1, 1]))], {x: np.float64(3)}


PROGRAMS = [
    chain, several_outputs, lists_of_inputs, handed_on, constants_only, fed_and_fetched,
    fed_in_the_middle, one_output_of_two_fed, control_only, scalars_and_arrays,
]  # fmt: skip


@each_form
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_every_form_gives_what_the_kernels_give(program, form):
    with tf.Graph().as_default() as graph:
        fetches, feeds = program()
    made = build(partition_of(graph, fetches, feeds), form)
    for _ in range(2):
        with np.errstate(all="ignore"):  # as steps run
            values, _ = execute(made, feeds.values())
        for value, expected in zip(values, evaluate(fetches, feeds), strict=True):
            same(value, expected)


def random_graph(seed):
    """Return (graph, fetches, feeds) of 60 random nodes on vectors of length 2."""
    rng = random.Random(seed)
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        pool = [x, tf.constant([0.5, -0.5]), tf.constant(2.0)]
        vectors = [pool[0], pool[1]]
        for _ in range(60):
            waited = rng.sample(pool[1:], rng.choice([0, 0, 0, 1, 2]))
            with tf.control_dependencies(waited):
                new = _random_node(rng, pool, vectors)
            pool += new
            vectors += [each for each in new if each.shape.ndims == 1]
        fetches = rng.sample(pool, 5)
        if rng.random() < 0.5:
            fetches.append(graph.get_operations()[-1])
    fed = rng.choice([[x], [x, rng.choice(vectors[2:])]])
    return graph, fetches, {each: np.array([0.25, 3.0], np.float32) for each in fed}


def _random_node(rng, pool, vectors):
    a, b = rng.choice(pool), rng.choice(vectors)
    kind = rng.randrange(8)
    if kind == 0:
        return [tf.identity(a)]
    if kind == 1:
        return tf.unstack(b)
    if kind == 2:
        return [tf.reduce_sum(tf.stack([b, rng.choice(vectors), b]), 0)]
    if kind == 3:
        return [tf.stop_gradient(a)]
    if kind == 4:
        return [tf.tanh(a)]
    if kind == 5:
        return raw.IdentityN([a, b])
    return [tf.tanh(a + b) if kind == 6 else tf.sin(a * b)]


@pytest.mark.parametrize("seed", range(25))
def test_every_form_gives_the_same_on_random_graphs(seed):
    graph, fetches, feeds = random_graph(seed)
    partition = partition_of(graph, fetches, feeds)
    expected = evaluate([each for each in fetches if isinstance(each, tf.Tensor)], feeds)
    for form in FORMS:
        values, _ = execute(build(partition, form), feeds.values())
        for value, wanted in zip(values, expected, strict=True):
            np.testing.assert_array_equal(value, wanted, form_name(form))


def counter():
    """v is read, then raised, then read again."""
    v = tf.Variable(5.0, name="v")
    before = tf.identity(v)
    with tf.control_dependencies([before]):
        raised = v.assign_add(1.0)
    with tf.control_dependencies([raised]):
        after = v.read_value()
    return v, before, raised, after


@each_form
def test_a_variable_is_read_in_its_turn(form):
    with tf.Graph().as_default() as graph:
        v, *fetches = counter()
    environment = Environment()
    execute(build(partition_of(graph, [v.initializer]), form), (), environment)
    step = build(partition_of(graph, [*fetches, v]), form)
    values, _ = execute(step, (), environment)
    assert values == [5.0, 6.0, 6.0, 6.0]
    assert execute(step, (), environment)[0] == [6.0, 7.0, 7.0, 7.0]


@each_form
def test_a_variable_without_value_is_told(form):
    with tf.Graph().as_default() as graph:
        _, before, *_ = counter()
    with pytest.raises(FailedPreconditionError, match="uninitialized value v"):
        execute(build(partition_of(graph, [before]), form))


@each_form
def test_nodes_that_only_do_something_run(form):
    with tf.Graph().as_default() as graph:
        shown = tf.Print(tf.constant(1), ["hello"])
        with tf.control_dependencies([shown]):
            end = tf.no_op()
    environment = Environment()
    execute(build(partition_of(graph, [end]), form), (), environment)
    assert environment.logged == ["[hello]"]


TRACED = [form for form in FORMS if form["traced"]]


@pytest.mark.parametrize("form", TRACED, ids=form_name)
@pytest.mark.parametrize("seed", range(5))
def test_a_traced_run_notes_every_node_once(seed, form):
    graph, fetches, feeds = random_graph(seed)
    partition = partition_of(graph, fetches, feeds)
    _, notes = execute(build(partition, form), feeds.values())
    noted = [node.name for node, *_ in notes]
    assert sorted(noted) == sorted(node.name for node in partition.nodes)
    position = {name: i for i, name in enumerate(noted)}
    for node, start, end, _ in notes:
        assert start < end
        above = {name for name, _ in node.inputs} | set(node.control)
        assert all(position[name] < position[node.name] for name in above & position.keys())


@pytest.mark.parametrize("form", TRACED, ids=form_name)
def test_a_note_has_the_nodes_result(form):
    with tf.Graph().as_default() as graph:
        first, second = tf.unstack(tf.constant([1.0, 2.0]), name="u")
        total = tf.add(first, second, name="s")
        partition = partition_of(graph, [total, tf.no_op(name="n")])
    _, notes = execute(build(partition, form))
    results = {node.name: result for node, _, _, result in notes}
    scalar = describe(np.float32(0))
    assert [results[name] for name in "sun"] == [scalar, [scalar, scalar], None]


def test_a_plain_run_notes_nothing():
    graph, fetches, feeds = random_graph(1)
    for form in FORMS:
        if not form["traced"]:
            made = build(partition_of(graph, fetches, feeds), form)
            assert execute(made, feeds.values())[1] == []


COMPILED = [form for form in FORMS if form["compiled"]]


def raising_node(error, lines):
    """Return the node on whose generated line `error` was raised."""
    trace = error.__traceback__
    while trace.tb_frame.f_code.co_filename not in {each.file for each in lines}:
        trace = trace.tb_next
    [found] = [each for each in lines if each.file == trace.tb_frame.f_code.co_filename]
    return found.nodes[trace.tb_lineno]


@pytest.mark.parametrize("form", COMPILED, ids=form_name)
def test_a_generated_line_belongs_to_its_node(form):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, name="x")
        y = tf.negative(x, name="before")
        with tf.control_dependencies([y]):
            y = tf.check_numerics(y, "bad", name="check")
        partition = partition_of(graph, [tf.negative(y, name="after")], [x])
    made = build(partition, form)
    with pytest.raises(InvalidArgumentError, match="bad") as raised:
        execute(made, [np.float32(np.inf)])
    assert raising_node(raised.value, made.lines).name == "check"


@pytest.mark.parametrize("form", COMPILED, ids=form_name)
def test_a_read_that_fails_belongs_to_the_node_that_reads(form):
    with tf.Graph().as_default() as graph:
        v = tf.Variable([1.0], name="v")
        partition = partition_of(graph, [tf.negative(v.read_value(), name="n")])
    made = build(partition, form)
    with pytest.raises(FailedPreconditionError) as raised:
        execute(made)
    assert raising_node(raised.value, made.lines).name == "read"


def test_the_interpreter_says_which_node_it_runs():
    environment = Environment()
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, name="x")
        y = tf.check_numerics(tf.negative(x), "bad", name="check")
        partition = partition_of(graph, [tf.negative(y)], [x])
    made = build(partition, {"compiled": False, "grouped": True, "traced": False})
    with pytest.raises(InvalidArgumentError):
        execute(made, [np.float32(np.nan)], environment)
    assert environment.node.name == "check"


def test_generated_source_holds_no_string_of_the_graph():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.string, name="evil/x")
        y = tf.identity(tf.constant("'); import os; ('"), name="import_os")
        partition = partition_of(graph, [tf.stack([x, y], name="quit"), y], [x])
    for form in COMPILED:
        source = "".join(map(source_of, build(partition, form).lines))
        assert source.startswith("def segment(v):")
        for word in ("evil", "import", "quit", "os"):
            assert word not in source


def test_names_of_dead_values_are_taken_again():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, name="x")
        y = x
        for _ in range(50):
            y = tf.negative(y)
        partition = partition_of(graph, [y], [x])
    [lines] = build(partition, {"compiled": True, "grouped": True, "traced": False}).lines
    source = source_of(lines)
    assert source.count("\n  r0 = ") >= 49
    assert "r1" not in source


def test_a_program_tells_what_a_run_may_do():
    form = {"compiled": True, "grouped": True, "traced": False}
    with tf.Graph().as_default() as graph:
        v = tf.Variable(1.0)
        queue = tf.FIFOQueue(1, tf.float32)
        plain = build(partition_of(graph, [tf.constant(1.0) + 1.0]), form)
        changes = build(partition_of(graph, [v.assign_add(1.0)]), form)
        waits = build(partition_of(graph, [queue.dequeue()]), form)
    told = [(p.is_stateful, p.can_block, p.is_compiled) for p in (plain, changes, waits)]
    assert told == [(False, False, True), (True, False, True), (True, True, True)]


def test_an_op_without_kernel_for_its_device_is_told():
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0, name="x")
        partition = partition_of(graph, [tf.as_string(x, name="n")])
    device = "/job:a/replica:0/task:0/device:GPU:0"
    nodes = tuple(node._replace(device=device) for node in partition.nodes)
    for form in FORMS:
        with pytest.raises(InvalidArgumentError, match=r"no kernel for GPU.*\['CPU'\]") as raised:
            build(partition._replace(nodes=nodes), form)
        assert raised.value.node_name == "n"
