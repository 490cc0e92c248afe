"""LSTM and GRU steps, and whole LSTM sequences, as one node each.

Gates stand side by side in the order input, candidate, forget, output ("icfo"); w is [inputs +
units, 4 * units]. Gradients pass by the bound of the cell's state, as in TensorFlow.

Source: TF 1.15 op registry, contrib/rnn; Graves 2013 (arXiv:1308.0850), Cho et al. 2014
(arXiv:1406.1078).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import zeros_like
from tfdist.ops.math.reductions import reduce_sum

__all__: list[str] = []

_GATES = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T"
_WEIGHTS = "w: T, wci: T, wcf: T, wco: T, b: T"
_WEIGHT_GRADS = "wci_grad: T, wcf_grad: T, wco_grad: T"
_ATTRS = "forget_bias: float = 1.0; cell_clip: float = 3.0; use_peephole: bool = False"


class Weights(NamedTuple):
    """What a step needs besides its inputs and state."""

    w: Any
    wci: Any
    wcf: Any
    wco: Any
    b: Any


class Gates(NamedTuple):
    """What a step gives: the gates, the cell's state, and the output."""

    i: Any
    cs: Any
    f: Any
    o: Any
    ci: Any
    co: Any
    h: Any


def _sigmoid(x: Any) -> Any:
    return (np.tanh(x / 2) + 1) / 2  # which cannot overflow


def _step(
    icfo: Any, cs_prev: Any, weights: Weights, forget_bias: Any, clip: Any, peeps: Any
) -> Gates:
    """Return what a step makes of what its gates sum up, [batch, 4 * units]."""
    i, ci, f, o = np.split(icfo, 4, 1)
    f = f + icfo.dtype.type(forget_bias)
    if peeps:
        i, f = i + weights.wci * cs_prev, f + weights.wcf * cs_prev
    i, ci, f = _sigmoid(i), np.tanh(ci), _sigmoid(f)
    cs = ci * i + cs_prev * f
    if clip > 0:
        cs = np.clip(cs, -clip, clip).astype(icfo.dtype, copy=False)
    o = _sigmoid(o + weights.wco * cs if peeps else o)
    co = np.tanh(cs)
    return Gates(i, cs, f, o, ci, co, co * o)


def _step_back(
    gates: Gates, cs_prev: Any, weights: Weights, d_cs: Any, d_h: Any, peeps: Any
) -> Any:
    """Return the gradients of what the gates sum up, and of the state before."""
    i, _, f, o, ci, co, _ = gates
    d_o = o * (1 - o) * d_h * co
    d_cs = (1 - co * co) * d_h * o + d_cs
    if peeps:
        d_cs = d_cs + d_o * weights.wco
    d_ci = (1 - ci * ci) * d_cs * i
    d_f = f * (1 - f) * d_cs * cs_prev
    d_i = i * (1 - i) * d_cs * ci
    before = d_cs * f
    if peeps:
        before = before + d_i * weights.wci + d_f * weights.wcf
    return np.concatenate([d_i, d_ci, d_f, d_o], 1), before


def _peephole_gradients(d_icfo: Any, cs_prev: Any, cs: Any, peeps: Any) -> list[Any]:
    """Return the gradients of wci, wcf and wco; zeros if they are not used."""
    units = cs.shape[-1]
    if not peeps:
        return [np.zeros(units, cs.dtype) for _ in range(3)]
    d_i, _, d_f, d_o = np.split(d_icfo.reshape(-1, 4 * units), 4, 1)
    flat = [each.reshape(-1, units) for each in (cs_prev, cs)]
    pairs = ((d_i, flat[0]), (d_f, flat[0]), (d_o, flat[1]))
    return [(one * other).sum(0, dtype=cs.dtype) for one, other in pairs]


def _state_shape(x: Shape, cs_prev: Shape, h_prev: Shape) -> Shape:
    shapes.require_rank(x, "x", 2)
    shapes.require_rank(cs_prev, "cs_prev", 2)
    shapes.require_rank(h_prev, "h_prev", 2)
    batch = (None if x is None else x[0], None)
    return shapes.merge(shapes.merge(cs_prev, h_prev, "states"), batch, "x and states")


LSTM_CELL = OpDef(
    f"LSTMBlockCell(x: T, cs_prev: T, h_prev: T, {_WEIGHTS}) -> {_GATES} "
    f"[{_ATTRS}; T: type {{half,float}}]"
)


@LSTM_CELL.checked_shape
def lstm_cell_shape(
    x: Shape, cs_prev: Shape, h_prev: Shape, w: Shape, wci: Shape, wcf: Shape, wco: Shape, b: Shape
) -> list[Shape]:
    _check_weights(w, b)
    return [_state_shape(x, cs_prev, h_prev)] * 7


def _check_weights(w: Shape, b: Shape) -> None:
    shapes.require_rank(w, "w", 2)
    shapes.require_rank(b, "b", 1)


@LSTM_CELL.kernel
def lstm_cell_kernel(
    x: Any, cs_prev: Any, h_prev: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any, *,
    forget_bias: float, cell_clip: float, use_peephole: bool,
) -> Gates:  # fmt: skip
    _check_sizes(x.shape[-1], cs_prev.shape[-1], w, b)
    weights = Weights(w, wci, wcf, wco, b)
    icfo = np.concatenate([x, h_prev], 1) @ w + b
    return _step(icfo, cs_prev, weights, forget_bias, cell_clip, use_peephole)


def _check_sizes(inputs: int, units: int, w: Any, b: Any) -> None:
    wanted = (inputs + units, 4 * units)
    if w.shape != wanted or b.shape != wanted[1:]:
        raise InvalidArgumentError(
            f"w must be {list(wanted)} and b [{wanted[1]}] for {inputs} inputs and {units} units, "
            f"but they are {list(w.shape)} and {list(b.shape)}"
        )


@LSTM_CELL.gradient
def lstm_cell_gradient(op: Any, *grads: Any) -> Any:
    x, _, h_prev, w = op.inputs[:4]
    before, d_icfo, *peepholes = raw.LSTMBlockCellGrad(
        *op.inputs,
        *op.outputs[:6],
        *_arrived(op, grads, 1, 6),
        use_peephole=op.get_attr("use_peephole"),
    )
    return _cell_gradients(x, h_prev, w, d_icfo, before, peepholes)


def _arrived(op: Any, grads: Any, *numbers: int) -> list[Any]:
    """Return the gradients of some outputs: zeros where none has come."""
    pairs = ((grads[number], op.outputs[number]) for number in numbers)
    return [zeros_like(output) if grad is None else grad for grad, output in pairs]


def _cell_gradients(x: Any, h_prev: Any, w: Any, d_icfo: Any, before: Any, peepholes: Any) -> Any:
    """Return the gradients of all inputs of a cell, from that of what its gates sum up."""
    size = x.plain_shape[1]
    d_xh = raw.MatMul(d_icfo, w, transpose_b=True)
    d_w = raw.MatMul(concat([x, h_prev], 1), d_icfo, transpose_a=True)
    d_b = reduce_sum(d_icfo, 0)
    return [d_xh[:, :size], before, d_xh[:, size:], d_w, *peepholes, d_b]


LSTM_CELL_GRAD = OpDef(
    f"LSTMBlockCellGrad(x: T, cs_prev: T, h_prev: T, {_WEIGHTS}, i: T, cs: T, f: T, o: T, ci: T, "
    f"co: T, cs_grad: T, h_grad: T) -> cs_prev_grad: T, dicfo: T, {_WEIGHT_GRADS} "
    "[use_peephole: bool; T: type {half,float}]"
).not_differentiable()


@LSTM_CELL_GRAD.checked_shape
def lstm_cell_grad_shape(x: Shape, cs_prev: Shape, h_prev: Shape, *others: Shape) -> list[Shape]:
    state = _state_shape(x, cs_prev, h_prev)
    peepholes = [shapes.merge(each, (None,), "peepholes") for each in others[1:4]]
    gates = None if state is None else (state[0], None if state[1] is None else 4 * state[1])
    return [state, gates, *peepholes]


@LSTM_CELL_GRAD.kernel
def lstm_cell_grad_kernel(
    x: Any, cs_prev: Any, h_prev: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any, i: Any,
    cs: Any, f: Any, o: Any, ci: Any, co: Any, cs_grad: Any, h_grad: Any, *, use_peephole: bool,
) -> Any:  # fmt: skip
    weights, gates = Weights(w, wci, wcf, wco, b), Gates(i, cs, f, o, ci, co, None)
    d_icfo, before = _step_back(gates, cs_prev, weights, cs_grad, h_grad, use_peephole)
    return before, d_icfo, *_peephole_gradients(d_icfo, cs_prev, cs, use_peephole)


BLOCK_LSTM = OpDef(
    f"BlockLSTM(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, {_WEIGHTS}) -> {_GATES} "
    f"[{_ATTRS}; T: type {{half,float}}]"
)


@BLOCK_LSTM.checked_shape
def block_lstm_shape(
    seq_len_max: Shape, x: Shape, cs_prev: Shape, h_prev: Shape, w: Shape, wci: Shape, wcf: Shape,
    wco: Shape, b: Shape,
) -> list[Shape]:  # fmt: skip
    shapes.require_rank(x, "x", 3)
    _check_weights(w, b)
    state = _state_shape(None if x is None else x[1:], cs_prev, h_prev)
    known = state or (None, None)
    units = known[1]
    if units is None and b is not None and b[0] is not None:
        units = b[0] // 4
    return [(None if x is None else x[0], known[0], units)] * 7


@BLOCK_LSTM.kernel
def block_lstm_kernel(
    seq_len_max: Any, x: Any, cs_prev: Any, h_prev: Any, w: Any, wci: Any, wcf: Any, wco: Any,
    b: Any, *, forget_bias: float, cell_clip: float, use_peephole: bool,
) -> Gates:  # fmt: skip
    """All inputs go through their weights at once, states step by step; 0 behind the longest."""
    steps, batch, size = x.shape
    units = cs_prev.shape[-1]
    _check_sizes(size, units, w, b)
    weights = Weights(w, wci, wcf, wco, b)
    longest = min(int(seq_len_max), steps)
    made = Gates(*(np.empty((steps, batch, units), x.dtype) for _ in Gates._fields))
    summed = (x[:longest].reshape(-1, size) @ w[:size] + b).reshape(longest, batch, 4 * units)
    for time in range(longest):
        icfo = summed[time] + h_prev @ w[size:]
        gates = _step(icfo, cs_prev, weights, forget_bias, cell_clip, use_peephole)
        for whole, part in zip(made, gates, strict=True):
            whole[time] = part
        cs_prev, h_prev = gates.cs, gates.h
    for whole in made:
        whole[longest:] = 0
    return made


@BLOCK_LSTM.gradient
def block_lstm_gradient(op: Any, *grads: Any) -> Any:
    made = raw.BlockLSTMGrad(
        *op.inputs,
        *op.outputs,
        *_arrived(op, grads, 1, 6),
        use_peephole=op.get_attr("use_peephole"),
    )
    return [None, *made]


BLOCK_LSTM_GRAD = OpDef(
    f"BlockLSTMGrad(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, {_WEIGHTS}, {_GATES}, "
    "cs_grad: T, h_grad: T) -> x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, "
    f"{_WEIGHT_GRADS}, b_grad: T [use_peephole: bool; T: type {{half,float}}]"
).not_differentiable()


@BLOCK_LSTM_GRAD.checked_shape
def block_lstm_grad_shape(seq_len_max: Shape, *others: Shape) -> list[Shape]:
    ranks = (3, 2, 2, 2, 1, 1, 1, 1)
    unknown = [(None,) * rank for rank in ranks]
    pairs = zip(others[:8], unknown, strict=True)
    return [shapes.merge(given, known, "the input and its gradient") for given, known in pairs]


@BLOCK_LSTM_GRAD.kernel
def block_lstm_grad_kernel(
    seq_len_max: Any, x: Any, cs_prev: Any, h_prev: Any, w: Any, wci: Any, wcf: Any, wco: Any,
    b: Any, i: Any, cs: Any, f: Any, o: Any, ci: Any, co: Any, h: Any, cs_grad: Any, h_grad: Any, *,
    use_peephole: bool,
) -> Any:  # fmt: skip
    """Step by step from the end; the gradients of weights are one product for all steps."""
    steps, _, size = x.shape
    weights, gates = Weights(w, wci, wcf, wco, b), Gates(i, cs, f, o, ci, co, h)
    longest = min(int(seq_len_max), steps)
    cs_before = np.concatenate([cs_prev[None], cs[: max(longest - 1, 0)]])[:longest]
    h_before = np.concatenate([h_prev[None], h[: max(longest - 1, 0)]])[:longest]
    d_icfo = np.zeros((steps, x.shape[1], w.shape[1]), x.dtype)
    d_cs, d_h = np.zeros_like(cs_prev), np.zeros_like(h_prev)
    for time in reversed(range(longest)):
        now = Gates(*(each[time] for each in gates))
        d_icfo[time], d_cs = _step_back(
            now, cs_before[time], weights, d_cs + cs_grad[time], d_h + h_grad[time], use_peephole
        )
        d_h = d_icfo[time] @ w[size:].T
    flat = d_icfo[:longest].reshape(-1, w.shape[1])
    d_x = d_icfo @ w[:size].T
    inputs = np.concatenate([x[:longest], h_before], 2).reshape(-1, w.shape[0])
    peepholes = _peephole_gradients(d_icfo[:longest], cs_before, cs[:longest], use_peephole)
    return d_x, d_cs, d_h, inputs.T @ flat, *peepholes, flat.sum(0, dtype=x.dtype)


GRU_CELL = OpDef(
    "GRUBlockCell(x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T) -> r: T, u: T, c: T, h: T "
    "[T: type {float}]"
)


@GRU_CELL.checked_shape
def gru_cell_shape(
    x: Shape, h_prev: Shape, w_ru: Shape, w_c: Shape, b_ru: Shape, b_c: Shape
) -> list[Shape]:
    _check_weights(w_ru, b_ru)
    _check_weights(w_c, b_c)
    return [_state_shape(x, h_prev, h_prev)] * 4


@GRU_CELL.kernel
def gru_cell_kernel(x: Any, h_prev: Any, w_ru: Any, w_c: Any, b_ru: Any, b_c: Any) -> Any:
    _check_gru(x.shape[1], h_prev.shape[1], w_ru, w_c)
    r, u = np.split(_sigmoid(np.concatenate([x, h_prev], 1) @ w_ru + b_ru), 2, 1)
    c = np.tanh(np.concatenate([x, h_prev * r], 1) @ w_c + b_c)
    return r, u, c, u * h_prev + (1 - u) * c


def _check_gru(inputs: int, units: int, w_ru: Any, w_c: Any) -> None:
    wanted = (inputs + units, 2 * units), (inputs + units, units)
    if (w_ru.shape, w_c.shape) != wanted:
        raise InvalidArgumentError(
            f"w_ru and w_c must be {wanted[0]} and {wanted[1]} for {inputs} inputs and {units} "
            f"units, but they are {w_ru.shape} and {w_c.shape}"
        )


@GRU_CELL.gradient
def gru_cell_gradient(op: Any, *grads: Any) -> Any:
    x, h_prev = op.inputs[:2]
    r, u, c, _ = op.outputs
    d_x, d_h, d_c_bar, d_ru_bar = raw.GRUBlockCellGrad(*op.inputs, r, u, c, *_arrived(op, grads, 3))
    d_w_ru = raw.MatMul(concat([x, h_prev], 1), d_ru_bar, transpose_a=True)
    d_w_c = raw.MatMul(concat([x, h_prev * r], 1), d_c_bar, transpose_a=True)
    return [d_x, d_h, d_w_ru, d_w_c, reduce_sum(d_ru_bar, 0), reduce_sum(d_c_bar, 0)]


GRU_CELL_GRAD = OpDef(
    "GRUBlockCellGrad(x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T, r: T, u: T, c: T, d_h: T) "
    "-> d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T [T: type {float}]"
).not_differentiable()


@GRU_CELL_GRAD.checked_shape
def gru_cell_grad_shape(x: Shape, h_prev: Shape, *others: Shape) -> list[Shape]:
    state = _state_shape(x, h_prev, h_prev)
    both = None if state is None else (state[0], None if state[1] is None else 2 * state[1])
    return [shapes.merge(x, (None, None), "x"), state, state, both]


@GRU_CELL_GRAD.kernel
def gru_cell_grad_kernel(
    x: Any, h_prev: Any, w_ru: Any, w_c: Any, b_ru: Any, b_c: Any, r: Any, u: Any, c: Any, d_h: Any
) -> Any:
    size = x.shape[1]
    d_c_bar = d_h * (1 - u) * (1 - c * c)
    d_xhr = d_c_bar @ w_c.T
    d_hr = d_xhr[:, size:]
    d_r_bar = d_hr * h_prev * r * (1 - r)
    d_u_bar = d_h * (h_prev - c) * u * (1 - u)
    d_ru_bar = np.concatenate([d_r_bar, d_u_bar], 1)
    d_xh = d_ru_bar @ w_ru.T
    d_h_prev = d_xh[:, size:] + d_hr * r + d_h * u
    return d_xh[:, :size] + d_xhr[:, :size], d_h_prev, d_c_bar, d_ru_bar
