"""PhasedLSTMCell: a cell whose units listen at their own times.

Source: TF 1.15 API documentation, tf.contrib.rnn.PhasedLSTMCell; Neil et al. 2016
(arXiv:1610.09513).
"""

from __future__ import annotations

import math
from typing import Any

from tfdist.graph.op_def import raw
from tfdist.models.rnn.lstm_cells import LSTMStateTuple
from tfdist.models.rnn.projections import linear
from tfdist.models.rnn.rnn_cell import RNNCell
from tfdist.ops.array.split import split
from tfdist.ops.control_flow.identity_group import stop_gradient
from tfdist.ops.math.arithmetic import floormod
from tfdist.ops.math.comparison import where
from tfdist.ops.random.random_ops import random_uniform
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import constant_initializer, random_uniform_initializer
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["PhasedLSTMCell"]


class PhasedLSTMCell(RNNCell):
    """An LSTM cell whose units are open for a part of a period, and else keep what they have.

    Inputs are pairs: times float [batch, 1], and values [batch, size].

    Args:
      num_units: size of c and h.
      use_peepholes: whether gates see c.
      leak: how much a closed unit lets through.
      ratio_on: part of the period in which a unit is open.
      trainable_ratio_on: whether that is trained.
      period_init_min: least period at first.
      period_init_max: greatest period at first.
      reuse: whether to find variables that exist.

    Example:
      >>> cell = contrib.rnn.PhasedLSTMCell(3)
      >>> output, _ = cell((zeros([2, 1]), zeros([2, 4])), cell.zero_state(2, "float32"))
      >>> output.shape.as_list()
      [2, 3]
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._leak = num_units, use_peepholes, leak
        self._ratio_on, self._trainable_ratio_on = ratio_on, trainable_ratio_on
        self._periods = period_init_min, period_init_max

    @property
    def state_size(self) -> LSTMStateTuple:
        """Return the sizes of c and h."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        """Return the size of h."""
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the output, and the next state."""
        (c, h), (time, x) = state, inputs
        seen = [x, h, c] if self._use_peepholes else [x, h]
        with variable_scope("mask_gates"):
            gates: Any = split(raw.Sigmoid(linear(seen, 2 * self._num_units, True)), 2, 1)
            i, f = gates
        with variable_scope("new_input"):
            candidate = raw.Tanh(linear([x, h], self._num_units, True))
        new_c = c * f + i * candidate
        seen = [x, h, new_c] if self._use_peepholes else [x, h]
        with variable_scope("output_gate"):
            o = raw.Sigmoid(linear(seen, self._num_units, True))
        new_h = raw.Tanh(new_c) * o
        openness = self._openness(time, x.dtype)
        new_c = openness * new_c + (1 - openness) * c
        new_h = openness * new_h + (1 - openness) * h
        return new_h, LSTMStateTuple(new_c, new_h)

    def _openness(self, time: Any, dtype: Any) -> Any:
        """Return how open the units are [batch, units] at times [batch, 1]."""
        units = [self._num_units]
        period = get_variable("period", units, dtype, _exponential(*self._periods))
        phases = random_uniform_initializer(0.0, period.initialized_value(), dtype=dtype)
        phase = get_variable("phase", units, dtype, phases)
        ratio: Any = get_variable(
            "ratio_on", units, dtype, constant_initializer(self._ratio_on),
            trainable=self._trainable_ratio_on,
        )  # fmt: skip
        shifted = time - phase
        # The remainder has the gradient of what it is a remainder of.
        rest = stop_gradient(floormod(shifted, period) - shifted) + shifted
        place: Any = rest / period
        rising = 2 * place / ratio
        falling = 2 - rising
        closed = self._leak * place
        return where(place < 0.5 * ratio, rising, where(place < ratio, falling, closed))


def _exponential(least: float, greatest: float) -> Any:
    """Return an initializer whose logarithms are uniform."""

    def make(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        bounds = math.log(least), math.log(greatest)
        return raw.Exp(random_uniform(shape, *bounds, dtype=dtype))

    return make
