"""Compiled loops give the bits that NumPy gives, as soon as compiling is worth while."""

from __future__ import annotations

import sys
import threading
from contextlib import nullcontext

import numpy as np
import pytest

import tfdist as tf
from tests.needs import needs_numba
from tfdist.graph.op_def import raw
from tfdist.ops.framework import compiled_loops
from tfdist.ops.framework.compiled_loops import Elementwise, one_pass
from tfdist.ops.optimizer_ops import update_rules as rules
from tfdist.runtime.devices.denormals import FLUSHED

_ADAM = {"beta1_power": 0.5, "beta2_power": 0.9, "lr": 0.01, "beta1": 0.9, "beta2": 0.999,
         "epsilon": 1e-8}  # fmt: skip
_RMS = {"lr": 0.01, "rho": 0.9, "momentum": 0.3, "epsilon": 1e-10}
_MOMENTUM = {"lr": 0.01, "momentum": 0.9}
# rule, its numbers, its flags, number of slots
RULES = [
    (rules.momentum, _MOMENTUM, {"use_nesterov": False}, 1),
    (rules.momentum, _MOMENTUM, {"use_nesterov": True}, 1),
    (rules.keras_momentum, _MOMENTUM, {"use_nesterov": False}, 1),
    (rules.keras_momentum, _MOMENTUM, {"use_nesterov": True}, 1),
    (rules.adagrad, {"lr": 0.01}, {"update_slots": True}, 1),
    (rules.adadelta, {"lr": 0.01, "rho": 0.95, "epsilon": 1e-6}, {}, 2),
    (rules.adam, _ADAM, {"use_nesterov": False}, 2),
    (rules.adam, _ADAM, {"use_nesterov": True}, 2),
    (rules.rms_prop, _RMS, {}, 2),
    (rules.centered_rms_prop, _RMS, {}, 3),
]  # fmt: skip
SPECIAL = [0.0, -0.0, 1e-42, -1e-42, 1e30, -1e30, np.inf, -np.inf, np.nan]


def work_of(rule, numbers, flags, dtype):
    return rule(**{name: dtype(number) for name, number in numbers.items()}, **flags)


def floats(count, dtype, seed=0):
    return np.random.default_rng(seed).normal(size=count).astype(dtype)


def bits(array):
    """Return what is to be the same, without which NaN it is."""
    return np.where(np.isnan(array), array.dtype.type(np.nan), array).tobytes()


@needs_numba
@pytest.mark.parametrize("is_flushed", [False, True], ids=["denormals", "flushed"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", RULES, ids=lambda case: f"{case[0].__name__}{[*case[2].values()]}")
def test_a_loop_gives_the_bits_of_numpy(case, dtype, is_flushed):
    rule, numbers, flags, slots = case
    work = work_of(rule, numbers, flags, dtype)
    code = compiled_loops.machine_code(work.rule, np.dtype(dtype), slots + 1, len(work.numbers))
    loop = code.compiled()
    usual = [np.abs(floats(10_007, dtype, seed)) for seed in range(slots + 2)]
    usual[0], usual[-1] = floats(10_007, dtype, 7), floats(10_007, dtype, 8)
    for place, array in enumerate(usual):
        some = array[place :: 11 + place]
        some[:] = np.resize(SPECIAL, len(some))
    fast = [array.copy() for array in usual]
    for _ in range(3):
        with np.errstate(all="ignore"), FLUSHED if is_flushed else nullcontext():
            work(*usual)
            loop(*fast, work.numbers)
    assert [bits(array) for array in fast] == [bits(array) for array in usual]


def descent(var, delta, rate):
    var -= delta * rate
    return (var,)


def asked_often(work, like):
    """Return what `one_pass` answers in the end."""
    found = None
    for _ in range(100_000):
        found = found or one_pass(work, 1, like)
    return found


@needs_numba
def test_few_small_arrays_are_not_worth_compiling():
    work = Elementwise(lambda var, delta, rate: (var - delta * rate,), (np.float32(1),))
    assert all(one_pass(work, 1, np.ones(10, np.float32)) is None for _ in range(1_000))


@needs_numba
@pytest.mark.parametrize("shape", [(), (1,), (7, 3), (300, 1_000), (1_100, 1_000)], ids=str)
def test_one_pass_goes_over_arrays_of_all_shapes(shape):
    fast = asked_often(Elementwise(descent, (np.array(0.5, np.float32),)), np.ones(5, np.float32))
    var, delta = np.full(shape, 3, np.float32), np.full(shape[::-1], 2, np.float32).T
    delta.flags.writeable = False
    fast(var, delta)
    np.testing.assert_array_equal(var, np.full(shape, 2))


NOT_COMPILED = {
    "16 bits": (Elementwise(descent, (np.float16(1),)), np.ones(9, np.float16)),
    "a function of arrays": (lambda var, delta: None, np.ones(9, np.float32)),
}


@pytest.mark.parametrize("name", NOT_COMPILED)
def test_what_is_left_to_numpy(name):
    assert asked_often(*NOT_COMPILED[name]) is None


def test_without_numba_all_is_left_to_numpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert compiled_loops.machine_code(descent, np.dtype(np.float32), 1, 1).compiled() is None


ROUNDS, SIZE = 150, 200_000


@pytest.mark.parametrize("is_resource", [False, True], ids=["reference", "resource"])
def test_training_goes_on_with_the_same_bits(is_resource):
    start, gradient = floats(SIZE, np.float32), floats(SIZE, np.float32, 1)
    with tf.Graph().as_default(), tf.Session() as session:
        weights = tf.Variable(start, use_resource=is_resource)
        train = tf.train.MomentumOptimizer(0.01, 0.9).apply_gradients([(gradient, weights)])
        session.run(tf.global_variables_initializer())
        for _ in range(ROUNDS):
            session.run(train)
        trained = session.run(weights)
    work = work_of(rules.momentum, _MOMENTUM, {"use_nesterov": False}, np.float32)
    wanted, slot = start.copy(), np.zeros_like(start)
    for _ in range(ROUNDS):
        work(wanted, slot, gradient)
    np.testing.assert_array_equal(trained, wanted)


def test_steps_of_several_threads_are_all_counted():
    with tf.Graph().as_default(), tf.Session() as session:
        weights = tf.Variable(tf.zeros([300, 1_000]))
        pair = tf.ones([300, 1_000]), weights
        train = tf.train.AdagradOptimizer(1.0, 1.0).apply_gradients([pair])
        [slot] = [each for each in tf.global_variables() if each is not weights]
        session.run(tf.global_variables_initializer())
        threads = [
            threading.Thread(target=lambda: [session.run(train) for _ in range(50)])
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (session.run(slot) == 1 + 4 * 50).all()


def test_a_variable_that_was_transposed_is_updated():
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.float32, [600, 400])
        weights = tf.Variable(tf.zeros([400, 600]))
        set_weights = weights.assign(tf.transpose(fed))
        train = tf.train.GradientDescentOptimizer(1.0).apply_gradients([(weights, weights)])
        session.run(tf.global_variables_initializer())
        for _ in range(150):
            session.run(set_weights, {fed: np.ones([600, 400], np.float32)})
            session.run(train)
            assert not session.run(weights).any()


def test_a_rate_that_is_no_scalar_is_refused():
    weights, rate = tf.Variable(tf.zeros([3_000])), tf.placeholder(tf.float32)
    descent = raw.ApplyGradientDescent(weights, rate, tf.ones([3_000]))
    with tf.Session() as session:
        session.run(weights.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"alpha is not a scalar: \[2\]"):
            session.run(descent, {rate: [1, 2]})
