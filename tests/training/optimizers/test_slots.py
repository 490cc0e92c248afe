"""Slots and steps: where they stand, what they are called, what they refuse; a step is whole."""

import re
import threading

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.places import PLACES
from tfdist.graph.op_def import raw

KINDS = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])


def momentum(**arguments):
    return tf.train.MomentumOptimizer(0.5, 0.5, **arguments)


def names():
    return [variable.name for variable in tf.global_variables()]


@KINDS
def test_slots_are_found_by_variable_and_name(use_resource):
    w = tf.get_variable("w", [2], use_resource=use_resource)
    optimizer = tf.train.AdamOptimizer()
    optimizer.minimize(tf.reduce_sum(w * w))
    assert optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.get_slot(w, "v").name == "w/Adam_1:0"
    assert optimizer.get_slot(w, "w") is None
    assert tf.trainable_variables() == [w]
    with tf.Graph().as_default():
        assert optimizer.variables() == []


def test_slots_are_named_as_in_tensorflow():
    """Each optimizer has slots of its own; a second call of one finds those that it made."""
    w = tf.get_variable("w", [2])
    loss = tf.reduce_sum(w * w)
    once = momentum()
    assert [once.minimize(loss).name, once.minimize(loss).name] == ["Momentum", "Momentum_1"]
    with tf.variable_scope("train"), tf.name_scope("inner"):
        assert momentum().minimize(loss).name == "train/inner/Momentum"
    tf.train.AdamOptimizer().minimize(loss)
    tf.train.AdamOptimizer().minimize(loss)
    assert names()[1:] == [
        "w/Momentum:0", "train/w/Momentum:0", "beta1_power:0", "beta2_power:0", "w/Adam:0",
        "w/Adam_1:0", "beta1_power_1:0", "beta2_power_1:0", "w/Adam_2:0", "w/Adam_3:0",
    ]  # fmt: skip


def test_slots_stand_with_their_variables():
    with tf.device("/job:ps/task:1"):
        v = tf.get_variable("v", [2])
    with tf.device(tf.train.replica_device_setter(2)):
        w = tf.get_variable("w", [2])
        u = tf.get_variable("u", [2], use_resource=True)
        optimizer = tf.train.AdamOptimizer()
        optimizer.minimize(tf.reduce_sum(v + w + u), tf.train.get_or_create_global_step())
    devices = {variable.op.name: variable.device for variable in optimizer.variables()}
    assert devices == {
        "beta1_power": u.device, "beta2_power": u.device, "u/Adam": u.device,
        "u/Adam_1": u.device, "v/Adam": v.device, "v/Adam_1": v.device, "w/Adam": w.device,
        "w/Adam_1": w.device,
    }  # fmt: skip
    groups = tf.get_default_graph().get_operation_by_name("w/Adam").colocation_groups()
    assert groups == [b"loc:@w"]


def test_a_slot_of_a_part_is_a_part_of_the_slot():
    v = tf.get_variable("v", [4, 2], partitioner=tf.fixed_size_partitioner(2))
    momentum().minimize(tf.reduce_sum(tf.convert_to_tensor(v)))
    found = [slot._save_slice_info for slot in tf.global_variables() if "Momentum" in slot.name]
    assert [(part.full_name, part.spec) for part in found] == [
        ("v/Momentum", "4 2 0,2:0,2"), ("v/Momentum", "4 2 2,2:0,2"),
    ]  # fmt: skip


def test_an_optimizer_in_a_scope_that_reuses_needs_its_slots_there():
    with tf.variable_scope("outer"):
        w = tf.get_variable("w", [2])
    with (
        tf.variable_scope("outer", reuse=True),
        pytest.raises(ValueError, match="outer/outer/w/Momentum/ does not exist"),
    ):
        momentum().minimize(tf.reduce_sum(w))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_training_anywhere(place):
    """Dense and sparse gradients, both kinds of variables, slots on another task."""
    with place() as where:
        with tf.device(where.there):
            table = tf.get_variable("table", initializer=np.eye(4, 3, dtype=np.float32))
            w = tf.get_variable("w", initializer=np.ones((3, 1), np.float32), use_resource=True)
        with tf.device(where.here):
            rows = tf.matmul(tf.gather(table, [0, 2, 2]), w)
            loss = tf.reduce_sum(tf.square(rows - 3.0))
            train = tf.train.AdamOptimizer(0.1).minimize(loss)
        with tf.Session(where.target) as session:
            session.run(tf.global_variables_initializer())
            before = session.run(loss)
            for _ in range(30):
                session.run(train)
            assert session.run(loss) < before / 20
            assert session.run(table)[1].tolist() == [0.0, 1.0, 0.0]  # was never looked up


@KINDS
def test_a_constraint_holds_after_each_step(use_resource):
    clip = lambda x: tf.clip_by_value(x, 0.0, 1.0)  # noqa: E731
    w = tf.get_variable("w", initializer=[1.0, 5.0], constraint=clip, use_resource=use_resource)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(w))
    with tf.Session() as session:
        session.run(w.initializer)
        session.run(train)
        assert session.run(w).tolist() == [0.5, 1.0]
    with pytest.raises(RuntimeError, match="Cannot use a constraint function on a sparse"):
        tf.train.GradientDescentOptimizer(0.5).minimize(tf.gather(w, [0]))


def test_all_gradients_can_wait_for_each_other():
    w, v = tf.Variable(1.0), tf.Variable(2.0)
    optimizer = momentum()
    pairs = optimizer.compute_gradients(w * v, gate_gradients=optimizer.GATE_GRAPH)
    [gate] = {op for gradient, _ in pairs for op in gradient.op.control_inputs}
    assert {op.type for op in gate.control_inputs} == {"Mul"}


class Halving(tf.train.Optimizer):
    """What users write: each number that has a gradient is halved."""

    def __init__(self):
        super().__init__(False, "Halving")

    def _prepare(self):
        self._factor = tf.constant(0.5, name="factor")

    def _create_slots(self, var_list):
        for variable in var_list:
            self._zeros_slot(variable, "steps", "Steps")

    def _apply_dense(self, grad, var):
        return tf.group(var.assign(var * self._factor), self.get_slot(var, "steps").assign_add([1]))

    def _apply_sparse(self, grad, var):
        return tf.scatter_mul(var, grad.indices, grad.values * 0.0 + self._factor)


def test_an_optimizer_of_ones_own():
    w = tf.get_variable("w", initializer=[4.0])
    table = tf.get_variable("table", initializer=[[4.0], [8.0], [16.0]])
    train = Halving().minimize(w * w + tf.reduce_sum(tf.gather(table, [2, 0, 2])))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        found = session.run({v.op.name: v for v in tf.global_variables()})
    assert {name: value.reshape(-1).tolist() for name, value in found.items()} == {
        "w": [2.0], "w/Steps": [1.0], "table": [2.0, 8.0, 8.0], "table/Steps": [0.0, 0.0, 0.0],
    }  # fmt: skip


REFUSED = [
    ("there is nothing to train", ValueError, "No variables to optimize.",
     lambda w: momentum().minimize(tf.constant(1.0), var_list=[])),
    ("the loss depends on nothing", ValueError, "No gradients provided for any variable, check",
     lambda w: momentum().minimize(tf.constant(1.0))),
    ("there are no pairs", ValueError, "No variables provided.",
     lambda w: momentum().apply_gradients([])),
    ("there are no gradients", ValueError, "No gradients provided for any variable: .*w:0",
     lambda w: momentum().apply_gradients([(None, w)])),
    ("a gradient is no tensor", TypeError, "Gradient must be convertible to a Tensor or",
     lambda w: momentum().apply_gradients([(object(), w)])),
    ("the loss is an integer", ValueError, "Invalid type tf.int32 for .*, expected: ",
     lambda w: momentum().minimize(tf.constant(1))),
    ("no such gate", ValueError, "gate_gradients must be one of: .* Not 7",
     lambda w: momentum().compute_gradients(w, gate_gradients=7)),
    ("a tensor is no variable", NotImplementedError, "Trying to update a Tensor",
     lambda w: momentum().apply_gradients([(tf.ones([2]), w * 1.0)])),
    ("sums that begin with 0", ValueError, "initial_accumulator_value must be positive: 0",
     lambda w: tf.train.AdagradOptimizer(0.1, 0)),
    ("a rate that grows", ValueError, "learning_rate_power 1.0 needs to be negative or zero",
     lambda w: tf.train.FtrlOptimizer(0.1, 1.0)),
    ("an average of integers", TypeError, "The variables must be half, float, or double",
     lambda w: tf.train.ExponentialMovingAverage(0.9).apply([tf.constant(1)])),
    ("a slot of another shape", ValueError, "var and accum: ",
     lambda w: raw.ApplyMomentum(w, tf.Variable([1.0]), 0.1, [1.0, 1.0], 0.9)),
]  # fmt: skip


@pytest.mark.parametrize(("error", "text", "call"), [pytest.param(*row[1:], id=row[0])
                                                     for row in REFUSED])  # fmt: skip
def test_what_is_refused(error, text, call):
    with pytest.raises(error, match=text):
        call(tf.get_variable("w", [2]))


def unknown(value):
    """Return a tensor whose shape is known only when it runs."""
    return tf.placeholder_with_default(tf.constant(value), None)


def step(use_resource, started="vm", rate=0.1, grad=(1.0, 1.0), rows=None):
    """Return what runs one step of momentum on [1, 2] or on its rows."""
    v, m = (tf.Variable([1.0, 2.0], name=name, use_resource=use_resource) for name in ("v", "m"))
    prefix = ("Resource" if use_resource else "") + ("Sparse" if rows is not None else "")
    inputs = [unknown(rate), unknown(list(grad)), *([] if rows is None else [unknown(rows)])]
    held = [each.handle if use_resource else each for each in (v, m)]
    op = getattr(raw, f"{prefix}ApplyMomentum")(*held, *inputs, unknown(0.9))
    with tf.Session() as session:
        session.run([each.initializer for each in (v, m) if each.op.name in started])
        try:
            session.run(getattr(op, "op", op))
        finally:
            after = [session.run(each) for each in (v, m) if each.op.name in started]
            assert all(value.tolist() == [1.0, 2.0] for value in after)


UNFIT = [
    ("a slot has no value", tf.errors.FailedPreconditionError, "uninitialized value m ",
     {"started": "v"}),
    ("the variable has no value", tf.errors.FailedPreconditionError, "uninitialized value v ",
     {"started": "m"}),
    ("a rate for each", tf.errors.InvalidArgumentError, r"lr is not a scalar: \[2\]",
     {"rate": [0.1, 0.1]}),
    ("too few gradients", tf.errors.InvalidArgumentError,
     r"var and grad do not have the same shape\[2\] \[1\]", {"grad": [1.0]}),
    ("a row that is not there", tf.errors.InvalidArgumentError,
     r"Index 7 at offset 1 in indices is out of range", {"rows": [0, 7]}),
    ("a row below 0", tf.errors.InvalidArgumentError, r"Index -1 at offset 0 in indices is out",
     {"rows": [-1, 0]}),
    ("more rows than gradients", tf.errors.InvalidArgumentError,
     "grad must be the same size as indices in the first dimension", {"rows": [0, 1, 1]}),
    ("rows in a matrix", tf.errors.InvalidArgumentError, "indices must be one-dimensional",
     {"rows": [[0, 1]]}),
]  # fmt: skip


@KINDS
@pytest.mark.parametrize(("error", "text", "arguments"), [pytest.param(*row[1:], id=row[0])
                                                          for row in UNFIT])  # fmt: skip
def test_a_step_that_does_not_fit_changes_nothing(error, text, arguments, use_resource):
    with pytest.raises(error, match=text):
        step(use_resource, **arguments)


@KINDS
def test_steps_of_several_threads_are_whole(use_resource):
    """Each step adds 1 to the slot and what the slot is then to the variable: no order matters."""
    size, each = 70_000, 25  # more than one part
    v, m = (
        tf.get_variable(name, initializer=np.zeros(size), use_resource=use_resource)
        for name in ("v", "m")
    )
    make = raw.ResourceApplyMomentum if use_resource else raw.ApplyMomentum
    held = [each.handle if use_resource else each for each in (v, m)]
    change = make(*held, np.float64(-1.0), np.ones(size), np.float64(1.0))
    run = getattr(change, "op", change)
    seen = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def work():
            for _ in range(each):
                session.run(run)
                seen.append(set(session.run(m).tolist()))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        steps = 3 * each
        assert set(session.run(m).tolist()) == {steps}
        assert set(session.run(v).tolist()) == {steps * (steps + 1) / 2}
    assert all(len(values) == 1 for values in seen)


def test_names_of_functions_in_training_ops():
    from tfdist.ops.optimizer_ops import training_ops

    assert training_ops.resource_apply_centered_rms_prop.name == "ResourceApplyCenteredRMSProp"
    assert re.match("ApplyGradientDescent", training_ops.apply_gradient_descent.name)
    with pytest.raises(AttributeError, match="no 'apply_magic'"):
        _ = training_ops.apply_magic


def test_a_slot_in_a_scope_that_divides_variables_has_tensorflows_names():
    """The scope stands in front of the slot's name, and what is saved loses that many letters."""
    divide = tf.fixed_size_partitioner(1)
    with tf.Graph().as_default(), tf.variable_scope("dnn", partitioner=divide):
        v = tf.get_variable("bias", [3])
        tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.convert_to_tensor(v)))
        names = [(v.op.name, v._save_slice_info.full_name) for v in tf.global_variables()]
    assert names == [
        ("dnn/bias/part_0", "dnn/bias"),
        ("dnn/dnn/bias/part_0/Adagrad", "dnn/bias/t_0/Adagrad"),
    ]
