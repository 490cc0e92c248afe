"""Optimizers from outside get the loss, its gradient, constraints and bounds as vectors."""

import sys

import numpy as np
import pytest

import tfdist as tf

OPT = tf.contrib.opt


class Asking(OPT.ExternalOptimizerInterface):
    """Notes what it is given, and answers with twos."""

    def _minimize(self, initial_val, loss_grad_func, packed_bounds, step_callback, **given):
        self.given = {"start": initial_val.tolist(), "bounds": packed_bounds, **given}
        loss, slope = loss_grad_func(initial_val + 1)
        self.given.update(loss=float(loss), slope=slope.tolist())
        names = ("equality_funcs", "equality_grad_funcs", "inequality_funcs")
        self.given.update(
            {name: [f(initial_val)[0].tolist() for f in given[name]] for name in names}
        )
        step_callback(initial_val)
        return initial_val * 0 + 2


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
def test_all_variables_are_one_vector(resource):
    steps, losses = [], []
    with tf.Graph().as_default(), tf.Session() as session:
        a = tf.get_variable(
            "a", [2], initializer=tf.constant_initializer(7.0), use_resource=resource
        )
        b = tf.get_variable("b", [1, 2], initializer=tf.constant_initializer(3.0))
        loss = tf.reduce_sum(a * a) + tf.reduce_sum(b * b)
        asking = Asking(
            loss, equalities=[a[0] - 1.0], inequalities=[b - 1.0],
            var_to_bounds={a: ([1, 2], np.inf)}, method="x",
        )  # fmt: skip
        session.run(tf.global_variables_initializer())
        asking.minimize(
            session, fetches=[loss], step_callback=lambda x: steps.append(x.tolist()),
            loss_callback=losses.append,
        )  # fmt: skip
        assert [each.tolist() for each in session.run([a, b])] == [[2, 2], [[2, 2]]]
    assert (steps, losses) == ([[7, 7, 3, 3]], [160.0])
    wanted = {
        "start": [7, 7, 3, 3], "loss": 160, "slope": [16, 16, 8, 8],
        "bounds": [(1, np.inf), (2, np.inf), (-np.inf, np.inf), (-np.inf, np.inf)],
        "equality_funcs": [6], "equality_grad_funcs": [[1, 0, 0, 0]],
        "inequality_funcs": [[[2, 2]]], "optimizer_kwargs": {"method": "x"},
    }  # fmt: skip
    assert {key: asking.given[key] for key in wanted} == wanted


def test_without_scipy_it_is_told_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([7.0])
        session.run(v.initializer)
        with pytest.raises(ModuleNotFoundError, match="pip install scipy"):
            OPT.ScipyOptimizerInterface(tf.reduce_sum(v * v)).minimize(session)


def test_the_base_class_minimizes_nothing():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([7.0])
        session.run(v.initializer)
        with pytest.raises(NotImplementedError, match=r"implement the _minimize\(\) method"):
            OPT.ExternalOptimizerInterface(tf.reduce_sum(v * v)).minimize(session)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({}, [0, 0], id="nothing is in the way"),
        pytest.param({"var_to_bounds": ([1, 2], np.inf)}, [1, 2], id="bounds"),
        pytest.param({"method": "SLSQP", "constrained": True}, [1, 1], id="constraints"),
    ],
)
def test_scipy_finds_the_least_loss(options, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([7.0, 7.0])
        if "var_to_bounds" in options:
            options = {"var_to_bounds": {v: options["var_to_bounds"]}}
        if options.pop("constrained", False):
            options |= {"equalities": [v[1] - 1.0], "inequalities": [v[0] - 1.0]}
        session.run(v.initializer)
        OPT.ScipyOptimizerInterface(tf.reduce_sum(v * v), **options).minimize(session)
        assert session.run(v) == pytest.approx(expected, abs=1e-4)
