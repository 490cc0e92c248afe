"""Single steps of optimizers: the ops ApplyX in all forms, on few numbers.

`optimizer_differential.py` runs them on real TensorFlow and stores what the variables are then.
"""

from __future__ import annotations

import numpy as np

_RMS = {"lr": 0.1, "rho": 0.8, "momentum": 0.5, "epsilon": 1e-3}
_ADAM = {"beta2_power": 0.95, "beta1_power": 0.9, "lr": 0.1, "beta1": 0.9, "beta2": 0.95,
         "epsilon": 1e-3}  # fmt: skip
_FTRL = {"lr": 0.1, "l1": 0.2, "l2": 0.1, "lr_power": -0.5}

# X of ApplyX: its slots; its numbers; its flags; kinds of variables; whether there are sparse ones.
BOTH, RESOURCE = (False, True), (True,)
STEPS = [
    ("Momentum", "accum", {"lr": 0.1, "momentum": 0.9}, {}, BOTH, True),
    ("Momentum", "accum", {"lr": 0.1, "momentum": 0.9}, {"use_nesterov": True}, BOTH, True),
    ("KerasMomentum", "accum", {"lr": 0.1, "momentum": 0.9}, {}, RESOURCE, True),
    ("KerasMomentum", "accum", {"lr": 0.1, "momentum": 0.9}, {"use_nesterov": True}, RESOURCE,
     True),
    ("Adagrad", "accum", {"lr": 0.1}, {}, BOTH, True),
    ("Adagrad", "accum", {"lr": 0.1}, {"update_slots": False}, BOTH, True),
    ("AdagradV2", "accum", {"lr": 0.1, "epsilon": 0.01}, {}, BOTH, True),
    ("AdagradV2", "accum", {"lr": 0.1, "epsilon": 0.01}, {"update_slots": False}, BOTH, True),
    ("AdagradDA", "gradient_accumulator gradient_squared_accumulator",
     {"lr": 0.1, "l1": 0.05, "l2": 0.1, "global_step": 3}, {}, BOTH, True),
    ("AdagradDA", "gradient_accumulator gradient_squared_accumulator",
     {"lr": 0.1, "l1": 0.0, "l2": 0.0, "global_step": 1}, {}, BOTH, True),
    ("Adadelta", "accum accum_update", {"lr": 0.5, "rho": 0.9, "epsilon": 1e-2}, {}, BOTH, True),
    ("Adam", "m v", _ADAM, {}, BOTH, False),
    ("Adam", "m v", _ADAM, {"use_nesterov": True}, BOTH, False),
    ("AdamWithAmsgrad", "m v vhat", _ADAM, {}, RESOURCE, False),
    ("AdaMax", "m v",
     {"beta1_power": 0.9, "lr": 0.1, "beta1": 0.9, "beta2": 0.95, "epsilon": 1e-3}, {}, BOTH,
     False),
    ("AddSign", "m", {"lr": 0.1, "alpha": 1.0, "sign_decay": 0.5, "beta": 0.9}, {}, BOTH, False),
    ("PowerSign", "m", {"lr": 0.1, "logbase": 1.0, "sign_decay": 0.5, "beta": 0.9}, {}, BOTH,
     False),
    ("RMSProp", "ms mom", _RMS, {}, BOTH, True),
    ("CenteredRMSProp", "mg ms mom", _RMS, {}, BOTH, True),
    ("Ftrl", "accum linear", _FTRL, {}, BOTH, True),
    ("Ftrl", "accum linear", {**_FTRL, "lr_power": -0.3, "l1": 0.0}, {}, BOTH, True),
    ("FtrlV2", "accum linear", {**_FTRL, "l2_shrinkage": 0.2}, {}, BOTH, True),
    ("FtrlV2", "accum linear", {**_FTRL, "l2_shrinkage": 0.2, "lr_power": -0.7}, {}, BOTH, True),
    ("ProximalGradientDescent", "", {"alpha": 0.1, "l1": 0.5, "l2": 0.1}, {}, BOTH, True),
    ("ProximalGradientDescent", "", {"alpha": 0.1, "l1": 0.0, "l2": 0.1}, {}, BOTH, True),
    ("ProximalAdagrad", "accum", {"lr": 0.1, "l1": 0.5, "l2": 0.1}, {}, BOTH, True),
    ("ProximalAdagrad", "accum", {"lr": 0.1, "l1": 0.0, "l2": 0.1}, {}, BOTH, True),
]  # fmt: skip

ROWS = [2, 0, 2, 3]  # one twice


def cases():
    """Return (title, op's name, step, dtype) for each form of each step."""
    found = []
    for step in STEPS:
        name, _, numbers, flags, kinds, has_sparse = step
        for is_resource in kinds:
            for is_sparse in (False, True) if has_sparse else (False,):
                dtype = "float64" if is_resource else "float32"
                prefix = ("Resource" if is_resource else "") + ("Sparse" if is_sparse else "")
                op = prefix + "Apply" + name
                found.append((f"{op} {numbers} {flags}", op, step, dtype))
    return found


def values(count, start, shape, dtype):
    """Return different numbers, slots' all positive."""
    drawn = start + np.arange(count) * 0.37 % 1.9 - 0.8
    drawn = drawn.reshape(shape).astype(dtype)
    return np.abs(drawn) + 0.125 if start != 0.3 else drawn


def outcome(tf, make, op, step, dtype):
    """Return what the variables are after an op has run twice."""
    _, slots, numbers, flags, _, _ = step
    is_resource, is_sparse = "Resource" in op, "Sparse" in op
    with tf.Graph().as_default(), tf.Session() as session:
        names = ["var", *slots.split()]
        variables = {
            name: tf.Variable(values(8, 0.3 + 0.2 * i, [4, 2], dtype), use_resource=is_resource)
            for i, name in enumerate(names)
        }
        inputs = {
            name: variable.handle if is_resource else variable._ref()
            for name, variable in variables.items()
        }
        kinds = {"global_step": "int64"}
        for name, value in numbers.items():
            inputs[name] = tf.constant(value, kinds.get(name, dtype))
        grad = tf.constant(values(8, 0.3, [4, 2], dtype)[::-1] * 1.5)
        inputs["delta" if op.endswith("ApplyProximalGradientDescent") and not is_sparse
               else "grad"] = grad  # fmt: skip
        if is_sparse:
            inputs["indices"] = tf.constant(ROWS)
        changed = make(op, dict(inputs, **flags))
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(getattr(changed, "op", changed))
        return [session.run(variables[name]).tolist() for name in names]
