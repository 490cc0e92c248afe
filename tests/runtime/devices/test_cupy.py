"""Real GPUs through CuPy, as far as that can be seen without one: with a stand-in (`card`).

Its arrays answer NumPy's dispatch, as CuPy's do, and refuse to become NumPy arrays. Where CuPy and
a card are, the last test runs the same ops there.
"""

from copy import copy
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import tfdist as tf
from tests.ops.test_every_op import Context, cases
from tests.runtime.devices.card import Card, CardArray
from tfdist.graph.graph import Graph
from tfdist.plan.gpu_kernels import _table
from tfdist.runtime.devices import cupy
from tfdist.runtime.devices.dispatch import DISPATCHED, HOST_INPUTS, STATE


def straight(kernel, card, host):
    """Return a kernel that gets its inputs as on a card, with nothing to fall back on."""
    return lambda *inputs: cupy.to_card(kernel(*cupy.placed(inputs, card, host)), card)


def result_on(card, case, around=None):
    """Return what the kernel of a case gives on a card, brought to the host."""
    around = around or partial(straight, host=HOST_INPUTS.get(case.op_def.name, ()))
    rule = case.op_def.kernels["CPU"]
    op = case.build(case.flat)
    kernel = partial(rule.function, **{key: op._attrs[key] for key in rule.keywords})
    if rule.takes_context:
        kernel = partial(kernel, Context())
    with np.errstate(all="ignore"):
        found = around(kernel, card)(*case.inputs)
    return cupy.to_host([found] if case.op_def.has_one_output else list(found), card)


def difference_on(card, case):
    """Return what is wrong with a case on a card, or ""."""
    with Graph().as_default():
        wanted = case.run(case.build(case.flat))
        try:
            found = result_on(card, case)
        except Exception as error:
            return repr(error)
    pairs = list(zip(map(np.asarray, wanted), map(np.asarray, found), strict=True))
    same = all(
        (one.dtype, one.shape) == (other.dtype, other.shape)
        and (
            np.array_equal(one, other)
            if one.dtype == object
            else np.allclose(one, other, rtol=1e-5, atol=1e-6, equal_nan=True)
        )
        for one, other in pairs
    )
    return "" if same else repr(pairs)


def differences_on(card):
    """Return what is wrong on a card, by the name of the case."""
    every = {each.id: each.values[0] for each in cases(sorted(DISPATCHED))}
    found = {name: difference_on(card, case) for name, case in every.items()}
    return {name: what for name, what in found.items() if what}


def test_dispatch_brings_kernels_to_the_card():
    assert differences_on(Card()) == {}


def test_what_dispatch_is_said_to_bring_has_a_gpu_kernel():
    assert DISPATCHED | STATE <= set(_table())


def test_other_kernels_work_through_the_host():
    (softmax, *_) = (each.values[0] for each in cases(["Softmax"]))
    with pytest.raises(TypeError, match="Implicit conversion"):
        result_on(Card(), softmax)
    [found] = result_on(Card(), softmax, cupy.through_host)
    np.testing.assert_array_equal(found, softmax.run(softmax.build(softmax.flat))[0])


@pytest.mark.parametrize(
    ("value", "is_there"),
    [
        pytest.param(np.ones(3), True, id="an array of numbers"),
        pytest.param(np.array(1.0), True, id="also of rank 0"),
        pytest.param(np.float32(1), False, id="a scalar goes with the call"),
        pytest.param(np.array([b"a"], object), False, id="strings stay"),
    ],
)
def test_what_is_brought_to_the_card(value, is_there):
    assert isinstance(cupy.to_card(value, Card()), CardArray) == is_there


class Module(Card):
    """A module like CuPy, with one card."""

    def __init__(self):
        runtime = SimpleNamespace(
            getDeviceCount=lambda: 1,
            getDeviceProperties=lambda number: {"name": b"Stand-in", "totalGlobalMem": 1 << 30},
            CUDARuntimeError=RuntimeError,
        )
        self.cuda = SimpleNamespace(runtime=runtime, Device=lambda number: Device())
        self.limits = []

    def get_default_memory_pool(self):
        return SimpleNamespace(set_limit=lambda size: self.limits.append(size))


class Device:
    """The context of a present card."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


@pytest.fixture
def module(monkeypatch):
    found = Module()
    monkeypatch.setattr(cupy, "_cupy", lambda: found)
    return found


def test_a_session_finds_the_card(module):
    options = tf.GPUOptions(per_process_gpu_memory_fraction=0.5)
    with tf.Session(config=tf.ConfigProto(gpu_options=options)) as session:
        _, gpu = session.list_devices()
    assert gpu.physical_device_desc == "device: 0, name: Stand-in, through CuPy"
    assert (gpu.memory_limit, module.limits) == (1 << 29, [1 << 29])
    assert not gpu.is_simulated


def test_a_session_that_wants_none_has_none(module):
    with tf.Session(config=tf.ConfigProto(device_count={"GPU": 0})) as session:
        assert len(session.list_devices()) == 1


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_program_trains_on_the_card(module, use_resource):
    with tf.variable_scope("", use_resource=use_resource):
        w = tf.get_variable("w", initializer=np.ones((4, 3), np.float32))
    x = tf.placeholder(tf.float32, [None, 4])
    labels = tf.placeholder(tf.int32, [None])
    logits = tf.nn.relu(tf.matmul(x, w))
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    feeds = {x: np.eye(4), labels: [0, 1, 2, 0]}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train], feeds)[0] for _ in range(4)]
        places = {node.name: node.device[-5:] for node in session.placement([loss, train])}
        value = session.run(w)
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]
    assert (places["w"], places["MatMul"]) == ("GPU:0", "GPU:0")
    assert type(value) is np.ndarray


OPTIMIZERS = {
    "Adadelta": tf.train.AdadeltaOptimizer(1.0),
    "Adagrad": tf.train.AdagradOptimizer(0.1),
    "Adam": tf.train.AdamOptimizer(0.1),
    "AdaMax": tf.contrib.opt.AdaMaxOptimizer(0.1),
    "AddSign": tf.contrib.opt.AddSignOptimizer(0.1),
    "Ftrl, which works through the host": tf.train.FtrlOptimizer(0.1),
    "Momentum": tf.train.MomentumOptimizer(0.1, 0.9),
    "PowerSign": tf.contrib.opt.PowerSignOptimizer(0.1),
    "RMSProp": tf.train.RMSPropOptimizer(0.1),
    "RMSProp, centred": tf.train.RMSPropOptimizer(0.1, centered=True),
}


def trained(optimizer, device, rows):
    """Return what three steps make of a variable, all of it or some rows."""
    with tf.device(device):
        w = tf.get_variable("w", initializer=np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3))
    used = tf.gather(w, [0, 2, 0]) if rows else w
    train = optimizer.minimize(tf.reduce_sum(used**2))
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        return session.run(w)


ALL, ROWS = False, True
WITHOUT_ROWS = {"AddSign", "PowerSign"}  # of resource variables: TensorFlow has no such steps


@pytest.mark.parametrize(
    ("name", "use_resource", "rows"),
    [
        (name, use_resource, rows)
        for name in OPTIMIZERS
        for use_resource, rows in ((False, ALL), (False, ROWS), (True, ALL), (True, ROWS))
        if not (use_resource and rows and name in WITHOUT_ROWS)
    ],
)
def test_an_optimizer_does_the_same_on_the_card(module, name, use_resource, rows):
    found, optimizer = [], OPTIMIZERS[name]
    for device in ("/cpu:0", "/gpu:0"):
        with tf.Graph().as_default(), tf.variable_scope("", use_resource=use_resource):
            found.append(trained(copy(optimizer), device, rows))
    np.testing.assert_allclose(*found, rtol=1e-5)


def test_what_is_on_the_card_is_brought_for_cpu_ops_and_fetches(module):
    with tf.device("/gpu:0"):
        a = tf.random_uniform([2, 2], seed=1) * 2.0
    text = tf.as_string(tf.reduce_sum(a))
    i, total = tf.while_loop(lambda i, _: i < 3, lambda i, t: (i + 1, t + a), (0, a))
    with tf.Session() as session:
        for _ in range(2):  # interpreted, then compiled
            found = session.run([a, text, i, total])
            assert type(found[0]) is np.ndarray
            assert float(found[1]) == pytest.approx(found[0].sum(), abs=1e-4)
            assert found[2] == 3
            np.testing.assert_allclose(found[3], 4 * found[0], rtol=1e-5)


def test_compiled_arithmetic_with_constants_of_the_host(module):
    x = tf.placeholder(tf.int32, [3])
    with tf.device("/gpu:0"):
        y = tf.add(tf.abs(x), [1, 2, 3]) * [2, 2, 2]
    with tf.Session() as session:
        for _ in range(3):
            assert session.run(y, {x: [-1, 0, 1]}).tolist() == [4, 4, 8]


def test_a_trace_describes_what_is_on_the_card(module):
    a = tf.ones([2, 3], name="a")
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(tf.exp(a, name="e"), None, options, metadata)
    entries = [node for device in metadata.step_stats.dev_stats for node in device.node_stats]
    [exp] = [node for node in entries if node.node_name == "e"]
    assert [dim.size for dim in exp.output[0].tensor_description.shape.dim] == [2, 3]


@pytest.mark.skipif(not list(cupy.cards()), reason="no card, or no CuPy")
def test_on_a_real_card():
    assert differences_on(cupy.card(0)) == {}
