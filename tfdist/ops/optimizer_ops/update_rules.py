"""How optimizers change numbers: one rule for each pair of ops ApplyX and SparseApplyX.

A rule takes the op's numbers (learning rate and the like) by name, its flags too, and returns a
function that changes a part of the variable and of its slots in place, given that part of the
gradient. Parts are small enough for the processor's cache, so that rules may use plain
expressions: what they hold for a moment is never in the way.

Source: TF 1.15 API documentation, tf.train.*Optimizer, and the papers that it names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Update = Callable[..., None]


def momentum(*, lr: Any, momentum: Any, use_nesterov: bool) -> Update:
    def update(var: Any, accum: Any, grad: Any) -> None:
        accum *= momentum
        accum += grad
        var -= (grad + accum * momentum) * lr if use_nesterov else accum * lr

    return update


def keras_momentum(*, lr: Any, momentum: Any, use_nesterov: bool) -> Update:
    def update(var: Any, accum: Any, grad: Any) -> None:
        accum *= momentum
        accum -= grad * lr
        var += accum * momentum - grad * lr if use_nesterov else accum

    return update


def adagrad(*, lr: Any, update_slots: bool) -> Update:
    def update(var: Any, accum: Any, grad: Any) -> None:
        if update_slots:
            accum += grad * grad
        var -= grad * lr / np.sqrt(accum)

    return update


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
    def update(var: Any, accum: Any, accum_update: Any, grad: Any) -> None:
        accum *= rho
        accum += grad * grad * (1 - rho)
        step = np.sqrt((accum_update + epsilon) / (accum + epsilon)) * grad
        var -= step * lr
        accum_update *= rho
        accum_update += step * step * (1 - rho)

    return update


def adam(
    *, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any,
    use_nesterov: bool,
) -> Update:  # fmt: skip
    rate = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)

    def update(var: Any, m: Any, v: Any, grad: Any) -> None:
        _approach(m, grad, 1 - beta1, step := np.empty_like(m))
        np.multiply(grad, grad, out=(square := np.empty_like(v)))
        _approach(v, square, 1 - beta2, square)
        ahead = grad * (1 - beta1) + m * beta1 if use_nesterov else m
        np.multiply(ahead, rate, out=step)
        np.sqrt(v, out=square)
        square += epsilon
        step /= square
        var -= step

    return update


def _approach(average: Any, value: Any, part: Any, space: Any) -> None:
    """Move an average by a part of the way to a value; `space` is overwritten.

    Adam is the optimizer that most programs take: memory that is in the cache is used again.
    """
    np.subtract(value, average, out=space)
    space *= part
    average += space


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
    def update(var: Any, ms: Any, mom: Any, grad: Any) -> None:
        ms += (grad * grad - ms) * (1 - rho)
        mom *= momentum
        mom += grad * lr / np.sqrt(ms + epsilon)
        var -= mom

    return update


def centered_rms_prop(*, lr: Any, rho: Any, momentum: Any, epsilon: Any) -> Update:
    def update(var: Any, mg: Any, ms: Any, mom: Any, grad: Any) -> None:
        ms += (grad * grad - ms) * (1 - rho)
        mg += (grad - mg) * (1 - rho)
        mom *= momentum
        mom += grad * lr / np.sqrt(ms - mg * mg + epsilon)
        var -= mom

    return update


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
