"""Layer: an object that makes variables when it is first called, and nodes whenever it is.

Its variables come from `tf.get_variable` in a variable scope of its own: that of its name, or one
made unique when it is first called. All its nodes stand in the name scope that was opened with it.

Source: TF 1.15 API documentation, tf.layers.Layer.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from tfdist.base import dtypes, lazy, nest
from tfdist.base.names import snake_case
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import raw
from tfdist.models.layers.input_spec import check_inputs
from tfdist.models.layers.members import Members, meant, track
from tfdist.ops.array.cast import cast
from tfdist.ops.array.shape import shape
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.partitioned_variables import PartitionedVariable
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["Layer"]

_NUMBERS: WeakKeyDictionary[Graph, dict[str, int]] = WeakKeyDictionary()


_reached = lazy.function("tfdist.keras_impl.engine.nodes", "reached_from")
_activation = lazy.function("tfdist.keras_impl.activations", "get")


def activation_of(given: Any) -> Any:
    """Return the function that is given, or named; ValueError if there is none of that name."""
    return _activation(given) if isinstance(given, str) else given


def _numbered(base: str) -> str:
    """Return a name for a layer that got none: the first one of a graph is "dense_1"."""
    numbers = _NUMBERS.setdefault(scopes.get_default_graph(), {})
    numbers[base] = numbers.get(base, 0) + 1
    return f"{base}_{numbers[base]}"


class Layer(Members):
    """What all layers are: override `build`, which makes variables, and `call`.

    Args:
      trainable: whether its variables are trained.
      name: of the layer, and of its variables' scope.
      dtype: of its variables; that of the first input by default.
      activity_regularizer: function from the output to a loss.
      _reuse: True to find variables that exist, AUTO_REUSE to find or make them.
      _scope: name, or VariableScope, in which its variables are.
      dynamic: accepted for TensorFlow's sake.
      weights: initial values of its variables.
      **options: `input_shape` and its relatives, which `get_config` tells.

    Attributes:
      built: whether its variables are made.
      input_spec: an `InputSpec`, or a list of them, that inputs must be as.

    Example:
      >>> class Scale(layers.Layer):
      ...     def build(self, input_shape):
      ...         self.factor = self.add_weight("factor", [], initializer=ones_initializer())
      ...         self.built = True
      ...
      ...     def call(self, inputs):
      ...         return inputs * self.factor
      >>> scale = Scale()
      >>> scale(constant([1.0, 2.0])), scale.variables[0].name
      (<tf.Tensor 'scale/mul:0' shape=(2,) dtype=float32>, 'scale/factor:0')
    """

    _use_resource: bool | None = None  # of its variables, where `add_weight` is not told

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
        activity_regularizer: Callable[[Any], Any] | None = None,
        _reuse: Any = None,
        _scope: Any = None,
        dynamic: bool = False,
        weights: Any = None,
        **options: Any,
    ) -> None:
        self._take_settings(options, dynamic, weights)
        self.trainable = trainable
        self.built = False
        self.input_spec: Any = None
        self._base_name = name or snake_case(type(self).__name__)
        self._name = name or _numbered(self._base_name)
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        self._activity_regularizer = meant("activity_regularizer", activity_regularizer)
        self._reuse = _reuse
        self._scope: Any = None
        self._graph = scopes.get_default_graph()
        self._variables: list[Any] = []
        # those that a library's own layer makes otherwise, and adds itself
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._losses: list[Any] = []
        self._regularization: list[Any] = []
        self._updates: list[Any] = []
        self._updates_collection: str | None = GraphKeys.UPDATE_OPS
        if _scope:
            with variable_scope(_scope) as self._scope:
                pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Layer:
        """Return a layer with the same settings, in the same graph, to make variables of its own.

        Programs clone layers before they are called; variables cannot be copied.
        """
        made = memo[id(self)] = type(self).__new__(type(self))
        for name, value in vars(self).items():
            is_shared = name in ("_graph", "_scope")
            vars(made)[name] = value if is_shared else copy.deepcopy(value, memo)
        return made

    # what it is

    @property
    def name(self) -> str:
        """Return the layer's name; its variables' scope may have another (see `scope_name`)."""
        return self._name

    @property
    def dtype(self) -> Any:
        """Return the name of its variables' type, None before it is known."""
        return None if self._dtype is None else self._dtype.name

    @property
    def graph(self) -> Graph:
        """Return the graph it was made in."""
        return self._graph

    @property
    def scope_name(self) -> str:
        """Return the name of its variables' scope.

        Raises:
          ValueError: it has none yet; it gets one when it is first called.
        """
        if self._scope is None:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been '
                "used yet. The scope name is determined the first time the layer is called."
            )
        return self._scope.name  # type: ignore[no-any-return]

    @property
    def weights(self) -> list[Any]:
        """Return its variables: those that are trained, then the others."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def trainable_weights(self) -> list[Any]:
        """Return the variables that are trained."""
        own = [v for v in self._variables if self.trainable and v.trainable]
        return own + self._trainable_weights

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Return the variables that are not trained."""
        own = [v for v in self._variables if not (self.trainable and v.trainable)]
        return own + self._non_trainable_weights

    variables = weights
    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights

    @property
    def losses(self) -> list[Any]:
        """Return the losses that were added, and those of regularizers."""
        return self._losses + self._regularization

    @property
    def updates(self) -> list[Any]:
        """Return the operations that were added, to be run beside training."""
        return list(self._updates) if self.trainable else []

    # what subclasses do

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of a TensorShape; once, before the first `call`."""
        self.built = True

    def call(self, inputs: Any, *arguments: Any, **options: Any) -> Any:
        """Return the output for `inputs`."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the TensorShape of the output for inputs of a shape."""
        raise NotImplementedError(f"{type(self).__name__} does not tell its output's shape")

    def add_weight(
        self,
        name: str,
        shape: Any,
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
        """Return a variable of the layer; the arguments are those of `tf.get_variable`."""
        dtype = dtype or self._dtype or dtypes.float32
        initializer = meant("initializer", initializer)
        regularizer = meant("regularizer", regularizer)
        constraint = meant("constraint", constraint)
        before = self._graph.version
        with self._entered(), scopes.name_scope(self._scope.original_name_scope):
            variable = get_variable(
                name, shape, dtype, initializer,
                trainable=trainable is not False and self.trainable, constraint=constraint,
                use_resource=self._use_resource if use_resource is None else use_resource,
                partitioner=partitioner,
                synchronization=synchronization, aggregation=aggregation,
            )  # fmt: skip
            parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
            is_new = parts[0].op in parts[0].graph.operations_since(before)
            if regularizer is not None and is_new:
                for part in parts:
                    self._regularize_variable(name, part, regularizer)
        self._variables += parts
        for part in parts:
            track(part)
        return variable

    def _regularize_variable(self, name: str, variable: Any, regularizer: Any) -> None:
        with scopes.name_scope(f"{name}/Regularizer"):
            loss = regularizer(variable)
        if loss is not None:
            self._regularization.append(loss)
            scopes.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)

    add_variable = add_weight

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add a loss, or a list of them, to the layer and to REGULARIZATION_LOSSES."""
        losses = list(losses) if isinstance(losses, list | tuple) else [losses]
        losses = [each() if callable(each) else each for each in losses]
        self._losses += losses
        _add_new(GraphKeys.REGULARIZATION_LOSSES, losses)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add an operation, or a list of them, to the layer and to UPDATE_OPS."""
        updates = list(updates) if isinstance(updates, list | tuple) else [updates]
        updates = [each() if callable(each) else each for each in updates]
        self._updates += [getattr(each, "op", each) for each in updates]

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """Return the losses that depend on `inputs`; None for those of regularizers."""
        return list(self._regularization) if inputs is None else _after(inputs, self._losses)

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """Return the updates that depend on `inputs`."""
        return [] if inputs is None else _after(inputs, self.updates)

    # calling it

    def __call__(self, inputs: Any, *arguments: Any, scope: Any = None, **options: Any) -> Any:
        """Return the output for `inputs`, after making the variables if there are none yet."""
        self._find_scope(scope)
        inputs = nest.map_leaves(as_tensor, inputs)
        flat = nest.flatten(inputs)
        if not takes_argument(type(self), "training"):
            options.pop("training", None)
        with self._entered(), scopes.name_scope(self._scope.original_name_scope):
            check_inputs(self.input_spec, flat, self._name)
            if not self.built:
                self._build(inputs, flat)
                check_inputs(self.input_spec, flat, self._name)
            outputs = self.call(inputs, *arguments, **options)
            if self._activity_regularizer is not None:
                self._regularize(outputs)
        if self._updates_collection is not None:
            _add_new(self._updates_collection, self.updates)
        self._note_call(inputs, outputs)
        return outputs

    def apply(self, inputs: Any, *arguments: Any, **options: Any) -> Any:
        """Return what calling the layer does."""
        return self(inputs, *arguments, **options)

    def _find_scope(self, scope: Any = None) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            with variable_scope(scope or self._base_name) as self._scope:
                return
        with variable_scope(scope, default_name=self._base_name) as self._scope:
            pass

    def _entered(self) -> Any:
        """Return the context in which its variables are made, or found."""
        self._find_scope()
        reuse = True if self.built else self._reuse
        return variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False)

    def _build(self, inputs: Any, flat: list[Any]) -> None:
        if self._dtype is None and flat:
            self._dtype = flat[0].dtype.base_dtype
        shapes = nest.map_leaves(lambda tensor: tensor.get_shape(), inputs)
        self.build(shapes)
        self.built = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def _regularize(self, outputs: Any) -> None:
        with scopes.name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self._activity_regularizer(output)  # type: ignore[misc]
                sizes: Any = shape(output)
                batch = cast(sizes[0], loss.dtype)
                self.add_loss(raw.RealDiv(loss, batch, name="truediv"))


def takes_argument(kind: type[Layer], name: str) -> bool:
    """Return whether `call` of a class of layers takes an argument by this name."""
    parameters = inspect.signature(kind.call).parameters
    return name in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


def as_tensor(value: Any) -> Any:
    """Return a tensor; what is like one stays as it is."""
    return value if hasattr(value, "plain_shape") else convert_to_tensor(value)


def _after(inputs: Any, made: list[Any]) -> list[Any]:
    """Return those tensors and operations that depend on some inputs."""
    reached = _reached(nest.flatten(inputs))
    return [each for each in made if getattr(each, "op", each) in reached]


def _add_new(key: str, elements: list[Any]) -> None:
    """Add to a collection what is not in it."""
    kept = scopes.get_collection_ref(key)
    kept += [each for each in elements if not any(each is other for other in kept)]


def shape_of_input(input_shape: Any) -> TensorShape:
    """Return a TensorShape, whatever `build` was given."""
    return input_shape if isinstance(input_shape, TensorShape) else TensorShape(input_shape)


def known_size(layer: Any, input_shape: TensorShape, axis: int, what: str) -> int:
    """Return the size of an axis of an input's shape.

    Raises:
      ValueError: it is unknown.
    """
    size = input_shape.as_list()[axis]
    if size is None:
        name = type(layer).__name__
        raise ValueError(f"The {what} of the inputs to `{name}` should be defined. Found `None`.")
    return size  # type: ignore[no-any-return]
