"""tf.keras' Layer: one that notes what it was called on, so that a network can be made of it.

Its variables are resource variables in the name scope of its first call, and sessions of
`get_session` initialize them.

Source: TF 1.15 API documentation, tf.keras.layers.Layer.
"""

from __future__ import annotations

import inspect
from abc import ABCMeta
from typing import Any

import numpy as np

from tfdist.base import dtypes, lazy, nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.operation import Tensor
from tfdist.keras_impl import initializers, regularizers
from tfdist.keras_impl.backend.graph_states import (
    history_of,
    mask_of,
    numbered,
    set_mask,
    track_variable,
)
from tfdist.keras_impl.engine.call_context import calling
from tfdist.keras_impl.engine.layer_tracking import Holdings
from tfdist.keras_impl.engine.nodes import connect, depends_on_layers
from tfdist.keras_impl.settings import floatx
from tfdist.models.layers import base
from tfdist.models.layers.input_spec import check_inputs
from tfdist.ops.autograph.converting import converted
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.variables.variable import Variable

__all__ = ["Layer"]

# What makes layers of operations: set by `operation_layer`, which needs `Layer`.
_wrap = lazy.function("tfdist.keras_impl.engine.operation_layer", "wrap")


class Layer(Holdings, base.Layer, metaclass=ABCMeta):
    """What all layers are: override `build`, which makes variables, and `call`.

    Args:
      trainable: whether its variables are trained.
      name: of the layer, and of its variables' scope.
      dtype: of its variables; that of the first input by default.
      dynamic: accepted for TensorFlow's sake.
      input_shape: of one example, for the first layer of a `Sequential`.
      batch_input_shape: of a batch, for the first layer of a `Sequential`.
      batch_size: of the first layer of a `Sequential`.
      weights: initial values of its variables.
      activity_regularizer: function from the output to a loss.

    Example:
      >>> class Scale(keras.layers.Layer):
      ...     def build(self, input_shape):
      ...         self.factor = self.add_weight("factor", [], initializer="ones")
      ...
      ...     def call(self, inputs):
      ...         return inputs * self.factor
      >>> scale = Scale()
      >>> scale(constant([1.0, 2.0])), scale.weights[0].name
      (<tf.Tensor 'scale/mul:0' shape=(2,) dtype=float32>, 'scale/factor:0')
    """

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
        dynamic: bool = False,
        activity_regularizer: Any = None,
        weights: Any = None,
        **options: Any,
    ) -> None:
        self._hold_nothing()
        name = name or numbered(base.snake_case(type(self).__name__))
        super().__init__(
            trainable, name, dtype, regularizers.get(activity_regularizer), dynamic=dynamic,
            weights=weights, **options,
        )  # fmt: skip

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        """Count the layers of tf.layers in: those of `tf.layers.Dense` are of this `Dense` too."""
        twins = [each for each in cls.__bases__ if each.__name__ == cls.__name__]
        found = any(each in other.__mro__ and not is_of_keras(each) for each in twins)
        return found or NotImplemented

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Variable):  # a program's own: sessions of `get_session` know it too
            track_variable(value)
        super().__setattr__(name, value)

    # its variables

    def add_weight(
        self,
        name: str | None = None,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        use_resource: bool | None = None,
        partitioner: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        **_: Any,
    ) -> Any:
        """Return a new variable of the layer.

        Args:
          name: in the layer's scope.
          shape: of the variable; () by default.
          dtype: that of the layer by default.
          initializer: function from shape and dtype to the initial value, or its name.
          regularizer: function from the variable to a loss.
          trainable: whether it is trained.
          constraint: function from the updated variable to the one to keep.
          use_resource: accepted for TensorFlow's sake; it always is a resource variable.
          partitioner: accepted for TensorFlow's sake; there are no parts.
          synchronization: a `tf.VariableSynchronization`.
          aggregation: a `tf.VariableAggregation`.

        Raises:
          ValueError: there is no initializer, and none by default for the type.
        """
        dtype = dtypes.as_dtype(dtype or self._dtype or floatx()).base_dtype
        make = initializers.get(initializer) or _initializer_for(name, dtype)
        plain = TensorShape(() if shape is None else shape).as_list()
        variable = Variable(
            lambda: make(plain, dtype=dtype), trainable=trainable is not False, dtype=dtype,
            name=name, constraint=constraint, use_resource=True,
            synchronization=synchronization, aggregation=aggregation,
        )  # fmt: skip
        track_variable(variable)
        self._hold(variable, trainable is not False, regularizer)
        return variable

    add_variable = add_weight

    # calling it

    def __call__(self, inputs: Any, *arguments: Any, **options: Any) -> Any:
        """Return the output for `inputs`, after making the variables if there are none yet."""
        inputs = nest.map_leaves(_as_tensor, inputs)
        flat = nest.flatten(inputs)
        names = _arguments_of(type(self))
        if "mask" in names and options.get("mask") is None and len(arguments) < 1:
            masks = nest.map_leaves(mask_of, inputs)
            if any(each is not None for each in nest.flatten(masks)):
                options["mask"] = masks
        kept = dict(options)
        asks, takes = "training" in names, base.takes_argument(type(self), "training")
        with calling(self, options, asks, takes), scopes.name_scope(self._name):
            check_inputs(self.input_spec, flat, self._name)
            self._make(inputs, flat)
            outputs = self._own(converted(self.call)(inputs, *arguments, **options), flat)
            if self._activity_regularizer is not None:
                self._regularize(outputs)
            self._give_masks(inputs, outputs, options.get("mask"))
        self._connect(inputs, flat, outputs, kept)
        return outputs

    def _make(self, inputs: Any, flat: list[Any]) -> None:
        """Make the variables, once."""
        if self.built:
            return
        if self._dtype is None and flat:
            self._dtype = flat[0].dtype.base_dtype
        self._ask_for_resources()
        self.build(_shapes_of(inputs))
        self._ask_for_resources()
        self.built = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def _own(self, outputs: Any, inputs: list[Any]) -> Any:
        """Return the outputs; a tensor of layers that is an input as well becomes another."""
        given = {id(each) for each in inputs if isinstance(each, Tensor)}
        is_same = any(id(each) in given for each in nest.flatten(outputs))
        if not is_same or not depends_on_layers(each for each in inputs if id(each) in given):
            return outputs

        def one(tensor: Any) -> Any:
            if id(tensor) not in given:
                return tensor
            with scopes.name_scope(self._name):
                return identity(tensor)

        return nest.map_leaves(one, outputs)

    def _connect(self, inputs: Any, flat: list[Any], outputs: Any, options: Any) -> None:
        """Note this call, if the inputs come from layers."""
        if not flat or not all(isinstance(each, Tensor) for each in flat):
            return
        strange = [each for each in flat if history_of(each) is None]
        if strange and depends_on_layers(flat):
            from_operations(flat)
            strange = []
        if not strange:
            options = {name: value for name, value in options.items() if value is not None}
            connect(self, inputs, outputs, options)

    # masks

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the mask of the outputs: the inputs' one if masks are supported."""
        return mask if self.supports_masking else None

    def _give_masks(self, inputs: Any, outputs: Any, mask: Any) -> None:
        before = mask if mask is not None else nest.map_leaves(mask_of, inputs)
        flat = nest.flatten(outputs)
        if any(each is None or not isinstance(each, Tensor) for each in flat):
            return
        after = self.compute_mask(inputs, before)
        masks = after if isinstance(after, list | tuple) else [after] * len(flat)
        for tensor, each in zip(flat, masks, strict=False):
            set_mask(tensor, each)


def is_of_keras(kind: type) -> bool:
    """Return whether a class is one of tf.keras' layers, not only counted among them."""
    return Layer in kind.__mro__


def from_operations(tensors: list[Any]) -> None:
    """Make layers of the operations between layers and these tensors; see `operation_layer`."""
    _wrap(tensors)


def _initializer_for(name: Any, dtype: Any) -> Any:
    if dtype.is_floating:
        return initializers.glorot_uniform()
    if dtype.is_integer or dtype is dtypes.bool_:
        return initializers.zeros()
    raise ValueError(
        f"An initializer for variable {name} of type {dtype!r} is required; "
        "add_weight(initializer=...) gives one"
    )


def _as_tensor(value: Any) -> Any:
    if isinstance(value, np.ndarray | float | int | list):
        value = np.asarray(value)
        return base.as_tensor(value.astype(floatx()) if value.dtype == np.float64 else value)
    return base.as_tensor(value)


def _shapes_of(inputs: Any) -> Any:
    return nest.map_leaves(lambda each: each.get_shape(), inputs)


def _arguments_of(kind: Any) -> frozenset[str]:
    """Return the names of the arguments of `call`."""
    return frozenset(inspect.signature(kind.call).parameters)
