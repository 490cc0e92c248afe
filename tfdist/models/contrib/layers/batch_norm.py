"""Batch normalization as tf.contrib.layers did it, before tf.layers: other nodes in another order.

Source: TF 1.15 API documentation, tf.contrib.layers.batch_norm.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph import scopes
from tfdist.models.layers.normalization import BatchNormalization
from tfdist.models.layers.training_switch import chosen, known_flag
from tfdist.ops.array.reshape import reshape
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.nn import functions as nn
from tfdist.ops.nn.normalization import weighted_moments
from tfdist.ops.variables.moving_average import assign_moving_average
from tfdist.ops.variables.variable_scope import get_variable_scope, variable_scope


class LegacyBatchNormalization(BatchNormalization):
    """Batch normalization that makes beta first, and moves both averages in one branch.

    Attributes:
      is_forced: whether the averages move whenever the result is computed, without updates.
      zero_debias: whether the moving mean does not show the zeros that it began with.
      outer_getter: custom getter of the scope around the layer's. The fused form makes the
        variables of the moving mean by it, so that they are no model variables.
    """

    is_forced = False
    zero_debias = False
    outer_getter: Any = None

    def _make_parameters(self, shape: list[int | None], dtype: Any) -> None:
        self._make_beta(shape, dtype)
        self._make_gamma(shape, dtype)

    def _fused(self, inputs: Any, training: Any) -> Any:
        with variable_scope(get_variable_scope(), auxiliary_name_scope=False) as entered:
            entered.set_custom_getter(self.outer_getter)
            return self._fused_and_moved(inputs, training)

    def _fused_and_moved(self, inputs: Any, training: Any) -> Any:
        outputs, mean, variance = self._run_either(inputs, training)
        if known_flag(training) is False:
            return outputs
        if self.is_forced:
            return chosen(
                training, lambda: self._after_moves(mean, variance, [outputs])[0], lambda: outputs
            )
        moves = chosen(training, lambda: self._moves(mean, variance), self._kept)
        for move in moves:
            self.add_update(move)
        return outputs

    def _statistics(self, inputs: Any, training: Any) -> tuple[Any, Any]:
        """Return mean and variance; where forced, the averages move before they are used."""
        mean, variance = self._moments(inputs)
        if self.is_forced:
            results = [mean, variance]
            found = chosen(training, lambda: self._after_moves(mean, variance, results), self._kept)
            return found[0], found[1]
        for move in chosen(training, lambda: self._moves(mean, variance), self._kept):
            self.add_update(move)
        found = chosen(training, lambda: [mean, variance], self._kept)
        return found[0], found[1]

    def _moments(self, inputs: Any) -> tuple[Any, Any]:
        """Return the mean and variance of each channel."""
        axes = [axis for axis in range(len(inputs.plain_shape)) if axis not in self.axis]
        mean, variance = nn.moments(inputs, axes)
        return mean, variance

    def _update(
        self, inputs: Any, mean: Any, variance: Any, training: Any, gamma: Any, beta: Any
    ) -> tuple[Any, Any]:
        return gamma, beta  # the averages have moved

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add a tensor to the updates; collections have it as it is."""
        self._updates.append(updates)

    def _kept(self) -> list[Any]:
        return [self.moving_mean.value(), self.moving_variance.value()]

    def _moves(self, mean: Any, variance: Any) -> list[Any]:
        return [
            assign_moving_average(self.moving_mean, mean, self.momentum, self.zero_debias),
            assign_moving_average(self.moving_variance, variance, self.momentum, False),
        ]

    def _after_moves(self, mean: Any, variance: Any, results: list[Any]) -> list[Any]:
        with scopes.control_dependencies(self._moves(mean, variance)):
            return [identity(result) for result in results]


class WeightedBatchNormalization(LegacyBatchNormalization):
    """The same with mean and variance in which some examples of a batch count more than others.

    Attributes:
      batch_weights: how much each example counts, in a shape that broadcasts to the inputs'.
    """

    batch_weights: Any = None

    def _choose_form(self, rank: int) -> None:
        self.fused = False  # the op knows no weights

    def _moments(self, inputs: Any) -> tuple[Any, Any]:
        """Return the weighted mean and variance of each channel."""
        rank = len(inputs.plain_shape)
        axes = [axis for axis in range(rank) if axis not in self.axis]
        is_last = self.axis == [rank - 1]
        found = weighted_moments(inputs, axes, self.batch_weights, keep_dims=not is_last)
        mean, variance = found if is_last else (reshape(each, [-1]) for each in found)
        return mean, variance
