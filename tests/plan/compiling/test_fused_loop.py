"""Loops over chains of nodes: the bits that NumPy gives, for every op that may be in one."""

from __future__ import annotations

import threading
from functools import partial

import numpy as np
import pytest

import tfdist as tf
from tests.needs import needs_numba
from tfdist.base import machine_code
from tfdist.graph.op_def import Known, lookup
from tfdist.graph.op_registry import read_index
from tfdist.ops.math import exponentials
from tfdist.plan.compiling import fused_loop
from tfdist.plan.compiling.fused_loop import Chain, FusedLoop, Step, operations, renamed

ELEMENTWISE = sorted(name for name in read_index() if lookup(name).element_rule)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 1e-42, -1e-42, 1e30, -1e30, np.inf, -np.inf, np.nan]
SIZE = 3_000
pytestmark = needs_numba


@pytest.fixture(autouse=True)
def compiled_at_once(monkeypatch):
    monkeypatch.setattr(machine_code, "_WORTH_COMPILING", 0)
    fused_loop._code.cache_clear()
    yield
    fused_loop._code.cache_clear()


def alone(work, size):
    work(0, size)


def floats(count, dtype, seed):
    """Return numbers, each pair of special ones among them."""
    found = np.random.default_rng(seed).normal(size=count).astype(dtype)
    pairs = np.array(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1)
    found[: pairs.shape[1]] = pairs[seed % 2]
    return found


def no_other_way(*operands):
    raise AssertionError("this was to be a loop")


def chain_of(name, dtype):
    """Return a chain of one node, and inputs of it."""
    op_def = lookup(name)
    rule, formula = op_def.element_rule, op_def.element_rule.formula
    names = [arg.name for arg in op_def.signature.inputs]
    inputs = [floats(SIZE, dtype, seed) for seed in range(len(names))]
    if name == "AddN":
        names, inputs = ["inputs0", "inputs1"], [floats(SIZE, dtype, seed) for seed in (0, 1)]
    if name == "Pow":
        inputs[1] = np.array(3, dtype)[()]
    if names[0] == "condition":
        inputs[0] = inputs[0] > 0
    if callable(formula):
        known = Known(((SIZE,),) * 2, (tf.as_dtype(dtype),) * 2, (None, inputs[-1]), {})
        formula = formula(known)
    if formula is None:
        return op_def, inputs, None
    numbers, functions = tuple(range(len(names))), tuple(rule.functions.items())
    step = Step(renamed(formula, names, numbers), numbers, rule.broadcasts, functions)
    return op_def, inputs, step


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["singles", "doubles"])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_a_formula_gives_the_bits_of_the_kernel(name, dtype):
    op_def, inputs, step = chain_of(name, dtype)
    if step is None:
        assert dtype == np.float64 or not exponentials._are_loops_quicker()
        return
    count, types = len(inputs), [each.dtype for each in inputs]
    steps, kernel = [step], op_def.kernels["CPU"].function
    with np.errstate(all="ignore"):
        wanted = kernel(list(inputs)) if name == "AddN" else kernel(*inputs)
        if wanted.dtype == bool:  # a condition chooses
            steps.append(Step(f"v0 if v{count} else v1", (0, count, 1), False))
            wanted = np.where(wanted, inputs[0], inputs[1])
        loop = FusedLoop(Chain(tuple(steps), (*types, np.dtype(dtype))), alone)
        found = loop(no_other_way, *inputs)
    np.testing.assert_array_equal(found, wanted)
    is_number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found)[is_number], np.signbit(wanted)[is_number])
    assert found.dtype == dtype


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        pytest.param([(4, 5), (4, 5), (4, 5)], "eee", id="all alike"),
        pytest.param([(4, 5), (), (1, 1)], "enn", id="numbers"),
        pytest.param([(4, 5), (5,), (4, 1)], "ecr", id="columns and rows"),
        pytest.param([(2, 3, 5), (2, 3, 1), (5,)], "erc", id="rows of two axes"),
        pytest.param([(2, 3, 5), (2, 1, 1), (3, 5)], "erc", id="columns of two axes"),
        pytest.param([(4, 1), (1, 5), ()], "rcn", id="none is as large as the result"),
        pytest.param([(2, 3, 5), (2, 1, 1), (5,)], None, id="rows and columns that do not meet"),
        pytest.param([(2, 3, 5), (1, 3, 1), ()], None, id="neither rows nor columns"),
        pytest.param([(4, 5), (3, 5), ()], None, id="what does not broadcast"),
        pytest.param([(0, 5), (5,), (0, 1)], "ecr", id="nothing"),
    ],
)
def test_how_operands_are_gone_over(shapes, expected):
    steps = Step("v0 * v1", (0, 1), True), Step("v3 + v2", (3, 2), True)
    chain = Chain(steps, (np.dtype(np.float32),) * 4)
    plan = fused_loop._plan_of(chain, shapes)
    assert (plan.kinds or None) == expected
    if expected is not None:
        values = [
            np.asarray(floats(1_000, np.float32, i)[: np.prod(each, dtype=int)])
            for i, each in enumerate(shapes)
        ]
        values = [value.reshape(shape) for value, shape in zip(values, shapes, strict=True)]
        with np.errstate(all="ignore"):
            found = FusedLoop(chain, alone)(no_other_way, *values)
            np.testing.assert_array_equal(found, values[0] * values[1] + values[2])


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: np.ones([6, 4], np.float32).T, id="turned"),
        pytest.param(lambda: np.ones([4, 12], np.float32)[:, ::2], id="every other"),
        pytest.param(
            lambda: np.frombuffer(b"\0" + bytes(96), np.float32, offset=1).reshape(4, 6),
            id="not aligned",
        ),
    ],
)
def test_what_does_not_lie_in_one_piece_is_copied(make):
    chain = Chain((Step("v0 * v1", (0, 1), True),), (np.dtype(np.float32),) * 3)
    given = make(), np.full([4, 6], 3, np.float32)
    np.testing.assert_array_equal(FusedLoop(chain, alone)(no_other_way, *given), given[0] * 3)


def test_what_is_of_another_type_than_was_said_is_left_to_numpy():
    chain = Chain((Step("v0 * v1", (0, 1), True),), (np.dtype(np.float32),) * 3)
    given = np.ones([4, 6]), np.ones([4, 6], np.float32)
    assert FusedLoop(chain, alone)(lambda *operands: operands, *given) == given


def test_what_may_not_be_written_is_read():
    chain = Chain((Step("v0 * v1 + v1", (0, 1), True),), (np.dtype(np.float32),) * 3)
    given = np.full([4, 6], 3, np.float32)
    given.flags.writeable = False
    np.testing.assert_array_equal(FusedLoop(chain, alone)(no_other_way, given, given), given * 4)


def test_large_arrays_are_shared_among_threads():
    chain = Chain((Step("v0 * v1 + v2", (0, 1, 2), True),), (np.dtype(np.float32),) * 4)
    parts = []

    def share(work, size):
        parts.append(size)
        work(size // 2, size)
        work(0, size // 2)

    x, y = floats(1 << 20, np.float32, 0).reshape(1024, -1), np.float32(2)
    with np.errstate(all="ignore"):
        found = FusedLoop(chain, share)(no_other_way, x, y, x)
        np.testing.assert_array_equal(found, x * y + x)
    assert parts == [1 << 20]


def test_an_expression_is_counted_and_renamed():
    assert operations("dy * (one - y * y)") == 3
    assert operations("abs(np.sqrt(x))") == 2
    assert renamed("dy * (one - y * y)", ["y", "dy"], [4, 7]) == "v7 * (one - v4 * v4)"


def activation(x, weights):
    """Return what is mostly elementwise, with rows and columns, of what is fed."""
    centred = x - tf.reduce_mean(x, 1, keepdims=True)
    scaled = centred * tf.rsqrt(tf.reduce_mean(tf.square(centred), 1, keepdims=True) + 1e-5)
    moved = scaled * weights + 0.5
    return 0.5 * moved * (1.0 + tf.tanh(0.79 * (moved + 0.044 * tf.pow(moved, 3))))


@pytest.mark.parametrize("rows", [200, None], ids=["known sizes", "sizes that are fed"])
def test_training_goes_on_with_the_same_bits(rows):
    fed = np.random.default_rng(0).normal(size=(200, 300)).astype(np.float32)
    losses = []
    for runs in (1, 6):  # the first of a session's steps is interpreted, others are compiled
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [rows, 300])
            weights = tf.Variable(tf.ones([300]))
            made = activation(x, weights)
            [slope] = tf.gradients(tf.square(made) * 0.5 - made / 3.0, [weights])
            session.run(tf.global_variables_initializer())
            for _ in range(runs):
                found = session.run([made, slope], {x: fed})
            losses.append(found)
    for one, other in zip(*losses, strict=True):
        np.testing.assert_array_equal(one, other)
    assert fused_loop._code.cache_info().currsize


def test_rounds_of_a_loop_have_loops_over_elements():
    with tf.Graph().as_default(), tf.Session() as session:
        start = tf.placeholder(tf.float32, [300, 300])
        found = tf.while_loop(
            lambda i, x: i < 5,
            lambda i, x: (i + 1, (x * 2.0 - 1.0) * x / 3.0 + x),
            (0, start),
        )[1]
        fed = np.random.default_rng(0).random([300, 300]).astype(np.float32)
        first = session.run(found, {start: fed})
        for _ in range(3):
            np.testing.assert_array_equal(session.run(found, {start: fed}), first)
    assert fused_loop._code.cache_info().currsize == 1


def test_shapes_that_do_not_fit_are_told_of_the_node_that_takes_them():
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = [tf.placeholder(tf.float32, [None, 1_000]) for _ in range(2)]
        total = tf.square(x, name="first")
        for i in range(8):
            total = tf.multiply(total, 2.0, name=f"then{i}")
        total = tf.negative(tf.add(total, y, name="sum"), name="last")
        ones = np.ones([300, 1_000], np.float32)
        for _ in range(3):
            session.run(total, {x: ones, y: ones})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes") as caught:
            session.run(total, {x: ones, y: ones[:200]})
        assert caught.value.node_def.name == "sum"


def test_threads_that_compile_and_run_the_same_loop():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [400, 400])
        made = session.make_callable((x * 2.0 + 1.0) * x - x, [x])
        fed = [np.full([400, 400], i, np.float32) for i in range(4)]
        wanted = [(2.0 * i + 1) * i - i for i in range(4)]
        failures = []

        def run(i):
            for _ in range(50):
                found = made(fed[i])
                if not (found == wanted[i]).all():
                    failures.append((i, found))

        threads = [threading.Thread(target=partial(run, i)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures
