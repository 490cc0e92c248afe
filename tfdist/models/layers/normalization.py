"""Batch normalization: inputs scaled by mean and variance, of the batch or of all so far.

The moving mean and variance are changed by operations in the collection UPDATE_OPS, which a program
runs beside its training.

Source: TF 1.15 API documentation, tf.layers.batch_normalization; Ioffe and Szegedy 2015,
arXiv 1502.03167.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.models.layers.base import Layer, shape_of_input
from tfdist.models.layers.batch_renorm import (
    checked_clipping,
    move_variance,
    renormalized,
    root_of,
    transformed,
)
from tfdist.models.layers.defaults import ONES, ZEROS
from tfdist.models.layers.input_spec import InputSpec
from tfdist.models.layers.training_switch import chosen, known_flag
from tfdist.ops.array.constants import constant
from tfdist.ops.array.fill import ones_like, zeros_like
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.math.reductions import reduce_mean
from tfdist.ops.nn import functions as nn
from tfdist.ops.variables.state_ops import assign_sub
from tfdist.ops.variables.synchronization import VariableAggregation, VariableSynchronization

__all__ = ["BatchNormalization", "batch_normalization"]


# How the moving averages of several replicas stand to each other.
OF_REPLICAS: dict[str, Any] = {
    "synchronization": VariableSynchronization.ON_READ, "aggregation": VariableAggregation.MEAN,
}  # fmt: skip

# The last arguments that configurations tell.
ENDS = (
    "beta_regularizer", "gamma_regularizer", "beta_constraint", "gamma_constraint",
)  # fmt: skip


class BatchNormalization(Layer):
    """A layer that gives its inputs mean 0 and variance 1 in each channel, then scale and offset.

    Args:
      axis: that of channels, or several.
      momentum: the part of the moving mean and variance that stays in an update.
      epsilon: added to the variance, so that it is not 0.
      center: whether an offset, beta, is added.
      scale: whether it is multiplied by gamma.
      beta_initializer: of beta [channels].
      gamma_initializer: of gamma [channels].
      moving_mean_initializer: of the moving mean [channels].
      moving_variance_initializer: of the moving variance [channels].
      beta_regularizer: function from beta to a loss.
      gamma_regularizer: function from gamma to a loss.
      beta_constraint: function from the updated beta to the one to keep.
      gamma_constraint: function from the updated gamma to the one to keep.
      renorm: whether batches are normalized so that the result is that of the moving averages.
      renorm_clipping: bounds of the correction: a dict of scalars "rmax", "rmin" and "dmax".
      renorm_momentum: the part that stays in an update of the averages for the correction.
      fused: whether one op does it; by default where it can: for [batch, y, x, channels].
      trainable: whether beta and gamma are trained.
      virtual_batch_size: batches of this size are normalized each by itself.
      adjustment: function from the inputs' shape, a tensor, to a scale and an offset that are
        applied while training, before gamma and beta.
      name: of the layer.

    Raises:
      ValueError: there is another bound, or a virtual batch size below 1, or with an adjustment.

    Example:
      >>> layer = layers.BatchNormalization()
      >>> layer(zeros([2, 4]), training=True).shape.as_list(), len(layer.updates)
      ([2, 4], 2)
    """

    CONFIG = (
        "axis", "momentum", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer",
        "moving_mean_initializer", "moving_variance_initializer", *ENDS,
    )  # fmt: skip
    supports_masking = True

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = ZEROS,
        gamma_initializer: Any = ONES,
        moving_mean_initializer: Any = ZEROS,
        moving_variance_initializer: Any = ONES,
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(trainable, name, **options)
        self.axis = list(axis) if isinstance(axis, list | tuple) else axis
        self.momentum, self.epsilon = momentum, epsilon
        self.center, self.scale, self.fused = center, scale, fused
        self.beta_initializer, self.gamma_initializer = beta_initializer, gamma_initializer
        self.moving_mean_initializer = moving_mean_initializer
        self.moving_variance_initializer = moving_variance_initializer
        self.beta_regularizer, self.gamma_regularizer = beta_regularizer, gamma_regularizer
        self.beta_constraint, self.gamma_constraint = beta_constraint, gamma_constraint
        self.renorm, self.renorm_momentum = renorm, renorm_momentum
        self.renorm_clipping = checked_clipping(renorm_clipping) if renorm else {}
        self.virtual_batch_size, self.adjustment = virtual_batch_size, adjustment
        self.beta: Any = None
        self.gamma: Any = None
        self.moving_mean: Any = None
        self.moving_variance: Any = None
        self._data_format = "NHWC"

    def build(self, input_shape: Any) -> None:
        """Make gamma, beta, moving mean and variance.

        Raises:
          ValueError: the rank is unknown, an axis is not there, or its size is unknown.
        """
        sizes = self._sizes(shape_of_input(input_shape))
        self._check_virtual()
        self._choose_form(len(sizes))
        channels = {axis: sizes[axis] for axis in self.axis}
        self.input_spec = InputSpec(ndim=len(sizes), axes=channels)
        self._make_variables(self._parameters_shape(sizes))
        self.built = True

    def _sizes(self, input_shape: TensorShape) -> list[int | None]:
        if input_shape.ndims is None:
            raise ValueError(f"Input has undefined rank: {input_shape}")
        sizes = input_shape.as_list()
        axes = self.axis if isinstance(self.axis, list) else [self.axis]
        self.axis = [axis + len(sizes) if axis < 0 else axis for axis in axes]
        for axis in self.axis:
            if not 0 <= axis < len(sizes):
                raise ValueError(f"Invalid axis: {axis}")
            if sizes[axis] is None:
                raise ValueError(
                    f"Input has undefined `axis` dimension. Input shape: {input_shape}"
                )
        if len(set(self.axis)) != len(self.axis):
            raise ValueError(f"Duplicate axis: {self.axis}")
        return sizes  # type: ignore[no-any-return]

    def _choose_form(self, rank: int) -> None:
        """Use the fused op where it can be used, unless that is not wanted."""
        is_plain = not self.renorm and self.virtual_batch_size is None and self.adjustment is None
        fits = is_plain and rank == 4 and self.axis in ([1], [3])
        self.fused = fits and self.fused in (None, True)
        self._data_format = "NCHW" if self.axis == [1] else "NHWC"

    def _check_virtual(self) -> None:
        if self.virtual_batch_size is None:
            return
        if self.virtual_batch_size < 1:
            raise ValueError(
                "virtual_batch_size must be a positive integer that divides the true batch size of "
                "the input Tensor"
            )
        if self.adjustment is not None:
            raise ValueError("When using virtual_batch_size, adjustment cannot be specified")

    def _parameters_shape(self, sizes: list[int | None]) -> list[int | None]:
        if self.virtual_batch_size is not None:  # as the inputs are: [of a batch, batches, ...]
            return [1, *(size if axis in self.axis else 1 for axis, size in enumerate(sizes))]
        if len(self.axis) == 1:
            return [sizes[self.axis[0]]]
        return [size if axis in self.axis else 1 for axis, size in enumerate(sizes)]

    def _make_variables(self, shape: list[int | None]) -> None:
        # sums of half-precision numbers lose too much
        dtype = dtypes.float32 if self._dtype is dtypes.float16 else self._dtype
        self._make_parameters(shape, dtype)
        self.moving_mean = self._make_moving("moving_mean", shape, dtype)
        self.moving_variance = self._make_moving("moving_variance", shape, dtype)
        if self.renorm:
            root = root_of(self.moving_variance_initializer)
            self.moving_stddev = self._make_moving("moving_stddev", shape, dtype, root)
            initializer = self.moving_mean_initializer
            self.renorm_mean = self._make_moving("renorm_mean", shape, dtype, initializer)
            self.renorm_stddev = self._make_moving("renorm_stddev", shape, dtype, root)

    def _make_parameters(self, shape: list[int | None], dtype: Any) -> None:
        self._make_gamma(shape, dtype)
        self._make_beta(shape, dtype)

    def _make_moving(
        self, name: str, shape: list[int | None], dtype: Any, initializer: Any = None
    ) -> Any:
        """Return a variable that is not split into parts, whatever the scope says."""
        initializer = initializer or getattr(self, f"{name}_initializer")
        partitioner, self._scope.partitioner = self._scope.partitioner, None
        try:
            return self.add_weight(name, shape, dtype, initializer, trainable=False, **OF_REPLICAS)
        finally:
            self._scope.partitioner = partitioner

    def _make_gamma(self, shape: list[int | None], dtype: Any) -> None:
        if self.scale:
            self.gamma = self.add_weight(
                "gamma", shape, dtype, self.gamma_initializer, self.gamma_regularizer,
                constraint=self.gamma_constraint,
            )  # fmt: skip
        elif self.fused:  # the op wants one
            self._fused_gamma = constant(1.0, dtype, shape)

    def _make_beta(self, shape: list[int | None], dtype: Any) -> None:
        if self.center:
            self.beta = self.add_weight(
                "beta", shape, dtype, self.beta_initializer, self.beta_regularizer,
                constraint=self.beta_constraint,
            )  # fmt: skip
        elif self.fused:
            self._fused_beta = constant(0.0, dtype, shape)

    def call(self, inputs: Any, training: Any = False) -> Any:
        """Return the inputs normalized: by themselves where `training` is true."""
        return self._fused(inputs, training) if self.fused else self._composed(inputs, training)

    # one op

    def _fused(self, inputs: Any, training: Any) -> Any:
        outputs, mean, variance = self._run_either(inputs, training)
        known = known_flag(training)
        if known is None:
            keep = chosen(training, lambda: constant(self.momentum), lambda: constant(1.0))
        else:
            keep = convert_to_tensor(self.momentum, dtypes.float32)
        if known is not False:
            self._move_fused(mean, variance, keep)
        return outputs

    def _run_either(self, inputs: Any, training: Any) -> Any:
        gamma = self._fused_gamma if self.gamma is None else self.gamma
        beta = self._fused_beta if self.beta is None else self.beta
        return chosen(
            training,
            lambda: self._run(inputs, (gamma, beta, constant([]), constant([])), True),
            lambda: self._run(inputs, (gamma, beta, self.moving_mean, self.moving_variance), False),
        )

    def _run(self, inputs: Any, given: tuple[Any, ...], own: bool) -> Any:
        made = raw.FusedBatchNormV3(
            inputs, *given, epsilon=self.epsilon, is_training=own, data_format=self._data_format
        )
        return made[:3]

    def _move_fused(self, mean: Any, variance: Any, keep: Any) -> None:
        for variable, value in ((self.moving_mean, mean), (self.moving_variance, variance)):
            with scopes.name_scope("AssignMovingAvg") as scope, scopes.colocate_with(variable.op):
                rate = 1.0 - keep
                change = raw.Mul(variable - value, rate, name="mul")
                self.add_update(assign_sub(variable, change, name=scope))

    # composed of others

    def _composed(self, inputs: Any, training: Any) -> Any:
        if self.virtual_batch_size is None:
            outputs = self._normalized(inputs, training)
        else:
            outputs = self._by_parts(inputs, training)
        outputs.set_shape(inputs.plain_shape)
        return outputs

    def _by_parts(self, inputs: Any, training: Any) -> Any:
        """Return the inputs with each virtual batch normalized by itself."""
        rest = [-1 if size is None else size for size in inputs.plain_shape[1:]]
        parts = reshape(inputs, [self.virtual_batch_size, -1, *rest])
        return reshape(self._normalized(parts, training), [-1, *rest])

    def _normalized(self, inputs: Any, training: Any) -> Any:
        known = known_flag(training)
        gamma, beta = self._spread(inputs, self.gamma), self._spread(inputs, self.beta)
        if self.adjustment is not None and known is not False:
            scale, offset = self._adjusted(inputs, training)
            gamma, beta = transformed(scale, offset, gamma, beta)
        if known is False:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            mean, variance = self._statistics(inputs, training)
            gamma, beta = self._update(inputs, mean, variance, training, gamma, beta)
        return nn.batch_normalization(
            inputs, self._spread(inputs, mean), self._spread(inputs, variance), beta, gamma,
            self.epsilon,
        )  # fmt: skip

    def _adjusted(self, inputs: Any, training: Any) -> tuple[Any, Any]:
        scale, offset = map(convert_to_tensor, self.adjustment(shape(inputs)))
        return (
            chosen(training, lambda: scale, lambda: ones_like(scale)),
            chosen(training, lambda: offset, lambda: zeros_like(offset)),
        )

    def _statistics(self, inputs: Any, training: Any) -> tuple[Any, Any]:
        """Return mean and variance: of the inputs where `training` is true."""
        if self.virtual_batch_size is None:
            kept, own = len(self.axis) > 1, self.axis
        else:
            kept, own = True, [1, *(axis + 1 for axis in self.axis)]
        axes = [axis for axis in range(len(inputs.plain_shape)) if axis not in own]
        mean, variance = nn.moments(inputs, axes, keep_dims=kept)
        return (
            chosen(training, lambda: mean, lambda: self.moving_mean.value()),
            chosen(training, lambda: variance, lambda: self.moving_variance.value()),
        )

    def _update(
        self, inputs: Any, mean: Any, variance: Any, training: Any, gamma: Any, beta: Any
    ) -> tuple[Any, Any]:
        """Let the moving averages move; returns gamma and beta, corrected if that is wanted."""
        if self.virtual_batch_size is not None:
            mean = reduce_mean(mean, 1, keepdims=True)
            variance = reduce_mean(variance, 1, keepdims=True)
        if not self.renorm:
            self._move(self.moving_mean, mean, training)
            self._move(self.moving_variance, variance, training)
            return gamma, beta
        made = renormalized(self, mean, variance, training)
        scale, offset = self._spread(inputs, made.scale), self._spread(inputs, made.offset)
        gamma, beta = transformed(scale, offset, gamma, beta)
        self._move(self.moving_mean, made.mean, training)
        move_variance(self, made.variance, training)
        return gamma, beta

    def _spread(self, inputs: Any, value: Any) -> Any:
        """Return values of channels in a shape that broadcasts to the inputs'."""
        rank = len(inputs.plain_shape)
        is_spread = self.virtual_batch_size is not None or len(self.axis) > 1
        if value is None or is_spread or self.axis == [rank - 1]:
            return value
        shape = [1] * rank
        shape[self.axis[0]] = inputs.plain_shape[self.axis[0]]
        return reshape(value, shape)

    def _move(self, variable: Any, value: Any, training: Any) -> None:
        moved = chosen(training, lambda: self.moved(variable, value, self.momentum), variable.value)
        self.add_update(moved)

    def moved(self, variable: Any, value: Any, momentum: float) -> Any:
        """Return an op that moves an average a part of the way to a value."""
        with scopes.name_scope("AssignMovingAvg") as scope, scopes.colocate_with(variable.op):
            rate = convert_to_tensor(1.0 - momentum, variable.dtype.base_dtype, "decay")
            return assign_sub(variable, raw.Mul(variable - value, rate, name="mul"), name=scope)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape: the same."""
        return shape_of_input(input_shape)


def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = ZEROS,
    gamma_initializer: Any = ONES,
    moving_mean_initializer: Any = ZEROS,
    moving_variance_initializer: Any = ONES,
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Any = None,
) -> Any:
    """Return the inputs normalized, by a new layer `BatchNormalization`.

    While training the updates in UPDATE_OPS must be run as well. `training` is a bool or a tensor;
    `reuse` finds the variables of a layer of that name; the other arguments are those of
    `BatchNormalization`.

    Example: a batch of two examples, with means 2 and 3.
      >>> outputs = layers.batch_normalization([[1.0, 2.0], [3.0, 4.0]], training=True)
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run(outputs).round(2)
      array([[-1., -1.],
             [ 1.,  1.]], dtype=float32)
    """
    layer = BatchNormalization(
        axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer,
        moving_mean_initializer, moving_variance_initializer, beta_regularizer, gamma_regularizer,
        beta_constraint, gamma_constraint, renorm, renorm_clipping, renorm_momentum, fused,
        trainable, virtual_batch_size, adjustment, name, _reuse=reuse, _scope=name,
    )  # fmt: skip
    return layer(convert_to_tensor(inputs), training=training)
