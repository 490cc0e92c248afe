"""How optimizers change numbers: one rule for each pair of ops ApplyX and SparseApplyX.

A rule takes the op's numbers (learning rate and the like) by name, its flags too, and returns what
changes a part of the variable and of its slots in place, given that part of the gradient. Parts are
small enough for the processor's cache, so that rules may use plain expressions: what they hold for
a moment is never in the way. Rules of optimizers that many programs take are `Elementwise`, which
may become a loop; the others are functions.

Source: TF 1.15 API documentation, tf.train.*Optimizer, and the papers that it names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.ops.framework.compiled_loops import Elementwise

Update = Callable[..., None]
Changed = tuple[Any, ...]  # the variable and its slots


def momentum(*, lr: Any, momentum: Any, use_nesterov: bool) -> Update:
    return Elementwise(_nesterov_momentum if use_nesterov else _momentum, (lr, momentum))


def _momentum(var: Any, accum: Any, grad: Any, lr: Any, momentum: Any) -> Changed:
    accum *= momentum
    accum += grad
    var -= accum * lr
    return var, accum


def _nesterov_momentum(var: Any, accum: Any, grad: Any, lr: Any, momentum: Any) -> Changed:
    accum *= momentum
    accum += grad
    var -= (grad + accum * momentum) * lr
    return var, accum


def keras_momentum(*, lr: Any, momentum: Any, use_nesterov: bool) -> Update:
    rule = _nesterov_keras_momentum if use_nesterov else _keras_momentum
    return Elementwise(rule, (lr, momentum))


def _keras_momentum(var: Any, accum: Any, grad: Any, lr: Any, momentum: Any) -> Changed:
    accum *= momentum
    accum -= grad * lr
    var += accum
    return var, accum


def _nesterov_keras_momentum(var: Any, accum: Any, grad: Any, lr: Any, momentum: Any) -> Changed:
    accum *= momentum
    accum -= grad * lr
    var += accum * momentum - grad * lr
    return var, accum


def adagrad(*, lr: Any, update_slots: bool) -> Update:
    if update_slots:
        return Elementwise(_adagrad, (lr,))

    def update(var: Any, accum: Any, grad: Any) -> None:
        var -= grad * lr / np.sqrt(accum)

    return update


def _adagrad(var: Any, accum: Any, grad: Any, lr: Any) -> Changed:
    accum += grad * grad
    var -= grad * lr / np.sqrt(accum)
    return var, accum


def adagrad_v2(*, lr: Any, epsilon: Any, update_slots: bool) -> Update:
    def update(var: Any, accum: Any, grad: Any) -> None:
        if update_slots:
            accum += grad * grad
        var -= grad * lr / (np.sqrt(accum) + epsilon)

    return update


def adagrad_da(*, lr: Any, l1: Any, l2: Any, global_step: Any) -> Update:
    steps = np.asarray(lr).dtype.type(global_step)

    def update(var: Any, total: Any, squares: Any, grad: Any) -> None:
        total += grad
        squares += grad * grad
        var[...] = shrunk(total, l1 * steps) * -lr / (l2 * steps * lr + np.sqrt(squares))

    return update


def adadelta(*, lr: Any, rho: Any, epsilon: Any) -> Update:
    return Elementwise(_adadelta, (lr, rho, 1 - rho, epsilon))


def _adadelta(
    var: Any, accum: Any, accum_update: Any, grad: Any, lr: Any, rho: Any, part: Any, epsilon: Any
) -> Changed:
    accum *= rho
    accum += grad * grad * part
    step = np.sqrt((accum_update + epsilon) / (accum + epsilon)) * grad
    var -= step * lr
    accum_update *= rho
    accum_update += step * step * part
    return var, accum, accum_update


def adam(
    *, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any,
    use_nesterov: bool,
) -> Update:  # fmt: skip
    rate = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    if use_nesterov:
        return Elementwise(_nesterov_adam, (rate, beta1, 1 - beta1, 1 - beta2, epsilon))
    return Elementwise(_adam, (rate, 1 - beta1, 1 - beta2, epsilon))


def _adam(
    var: Any, m: Any, v: Any, grad: Any, rate: Any, part1: Any, part2: Any, epsilon: Any
) -> Changed:
    m += (grad - m) * part1
    v += (grad * grad - v) * part2
    var -= m * rate / (np.sqrt(v) + epsilon)
    return var, m, v


def _nesterov_adam(
    var: Any, m: Any, v: Any, grad: Any, rate: Any, beta1: Any, part1: Any, part2: Any, epsilon: Any
) -> Changed:
    m += (grad - m) * part1
    v += (grad * grad - v) * part2
    var -= (grad * part1 + m * beta1) * rate / (np.sqrt(v) + epsilon)
    return var, m, v


def adam_with_amsgrad(
    *, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any
) -> Update:
    rate = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)

    def update(var: Any, m: Any, v: Any, vhat: Any, grad: Any) -> None:
        m += (grad - m) * (1 - beta1)
        v += (grad * grad - v) * (1 - beta2)
        np.maximum(vhat, v, out=vhat)
        var -= m * rate / (np.sqrt(vhat) + epsilon)

    return update


def ada_max(*, beta1_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any) -> Update:
    rate = lr / (1 - beta1_power)

    def update(var: Any, m: Any, v: Any, grad: Any) -> None:
        m += (grad - m) * (1 - beta1)
        np.maximum(v * beta2, np.abs(grad), out=v)
        var -= m * rate / (v + epsilon)

    return update


def add_sign(*, lr: Any, alpha: Any, sign_decay: Any, beta: Any) -> Update:
    def update(var: Any, m: Any, grad: Any) -> None:
        m *= beta
        m += grad * (1 - beta)
        var -= (np.sign(grad) * np.sign(m) * sign_decay + alpha) * grad * lr

    return update


def power_sign(*, lr: Any, logbase: Any, sign_decay: Any, beta: Any) -> Update:
    def update(var: Any, m: Any, grad: Any) -> None:
        m *= beta
        m += grad * (1 - beta)
        var -= np.exp(np.sign(grad) * np.sign(m) * (logbase * sign_decay)) * grad * lr

    return update


def rms_prop(*, lr: Any, rho: Any, momentum: Any, epsilon: Any) -> Update:
    return Elementwise(_rms_prop, (lr, 1 - rho, momentum, epsilon))


def _rms_prop(
    var: Any, ms: Any, mom: Any, grad: Any, lr: Any, part: Any, momentum: Any, epsilon: Any
) -> Changed:
    ms += (grad * grad - ms) * part
    mom *= momentum
    mom += grad * lr / np.sqrt(ms + epsilon)
    var -= mom
    return var, ms, mom


def centered_rms_prop(*, lr: Any, rho: Any, momentum: Any, epsilon: Any) -> Update:
    return Elementwise(_centered_rms_prop, (lr, 1 - rho, momentum, epsilon))


def _centered_rms_prop(
    var: Any, mg: Any, ms: Any, mom: Any, grad: Any, lr: Any, part: Any, momentum: Any,
    epsilon: Any,
) -> Changed:  # fmt: skip
    ms += (grad * grad - ms) * part
    mg += (grad - mg) * part
    mom *= momentum
    mom += grad * lr / np.sqrt(ms - mg * mg + epsilon)
    var -= mom
    return var, mg, ms, mom


def ftrl(*, lr: Any, l1: Any, l2: Any, lr_power: Any) -> Update:
    return ftrl_v2(lr=lr, l1=l1, l2=l2, l2_shrinkage=None, lr_power=lr_power)


def ftrl_v2(*, lr: Any, l1: Any, l2: Any, l2_shrinkage: Any, lr_power: Any) -> Update:
    def power(accum: Any) -> Any:
        return np.sqrt(accum) if lr_power == -0.5 else accum**-lr_power

    def update(var: Any, accum: Any, linear: Any, grad: Any) -> None:
        before = power(accum)
        accum += grad * grad
        after = power(accum)
        if l2_shrinkage is not None:
            grad = grad + var * (2 * l2_shrinkage)
        linear += grad - (after - before) / lr * var
        var[...] = 0 - shrunk(linear, l1) / (after / lr + 2 * l2)  # and never -0

    return update


def proximal_gradient_descent(*, alpha: Any, l1: Any, l2: Any) -> Update:
    def update(var: Any, delta: Any) -> None:
        var -= delta * alpha
        var[...] = shrunk(var, l1 * alpha if l1 > 0 else l1) / (1 + l2 * alpha)

    return update


def proximal_adagrad(*, lr: Any, l1: Any, l2: Any) -> Update:
    def update(var: Any, accum: Any, grad: Any) -> None:
        accum += grad * grad
        rate = lr / np.sqrt(accum)
        var -= grad * rate
        var[...] = shrunk(var, l1 * rate) / (1 + l2 * rate) if l1 > 0 else var / (1 + l2 * rate)

    return update


def shrunk(x: Any, by: Any) -> Any:
    """Return `x` nearer to 0 by `by`, and 0 where it is as near already."""
    if np.ndim(by) == 0 and not by > 0:
        return x
    return np.copysign(np.maximum(np.abs(x) - by, 0), x)
