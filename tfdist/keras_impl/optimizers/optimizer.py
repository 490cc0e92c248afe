"""Optimizer of tf.keras: its settings are variables, and a count of steps is among its weights.

A subclass says how one resource variable follows its gradient, in `_resource_apply_dense` and
`_resource_apply_sparse`.

Source: TF 1.15 API documentation, tf.keras.optimizers.Optimizer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes, nest
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.keras_impl.backend.graph_states import track_variable
from tfdist.keras_impl.backend.sessions import (
    batch_get_value,
    batch_set_value,
    get_value,
    set_value,
)
from tfdist.keras_impl.optimizers.schedules import LearningRateSchedule
from tfdist.keras_impl.optimizers.schedules import deserialize as deserialize_schedule
from tfdist.keras_impl.optimizers.schedules import serialize as serialize_schedule
from tfdist.ops.array.cast import cast
from tfdist.ops.array.fill import zeros
from tfdist.ops.array.shape import shape as shape_of
from tfdist.ops.autodiff.gradients import IndexedSlices, gradients
from tfdist.ops.control_flow import identity_group
from tfdist.ops.math.clip import clip_by_norm, clip_by_value
from tfdist.ops.variables.variable import Variable

_ARGUMENTS = {"clipnorm", "clipvalue", "lr", "decay"}


def tracked(initial_value: Any, name: str, dtype: Any) -> Any:
    """Return a new variable that is not trained, and that keras' sessions initialize."""
    with scopes.init_scope():
        variable: Any = Variable(
            initial_value, trainable=False, name=name, dtype=dtype, use_resource=True
        )
    track_variable(variable)
    return variable


class Optimizer:
    """What all optimizers of keras do; a subclass says how one variable follows its gradient.

    A subclass gives its settings to `_set_hyper`, makes slots in `_create_slots(var_list)` by
    `add_slot`, and has `_resource_apply_dense(grad, var)` and
    `_resource_apply_sparse(grad, var, indices)`, which return operations.

    Args:
      name: of its nodes.
      **kwargs: `clipnorm`, `clipvalue`: bounds of each gradient; `lr`, the learning rate; `decay`,
        by which it is divided: 1 + decay * steps.

    Raises:
      TypeError: another argument is given.
      ValueError: one is below 0.

    Example:
      >>> class SignDescent(keras.optimizers.Optimizer):
      ...     def _resource_apply_dense(self, grad, var):
      ...         return var.assign_sub(sign(grad))
      >>> w = Variable(5.0, use_resource=True)
      >>> train = SignDescent("SignDescent").get_updates(w * w, [w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     _ = session.run(train)
      ...     session.run(w)
      np.float32(4.0)
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        for key, value in kwargs.items():
            if key not in _ARGUMENTS:
                raise TypeError(
                    f"Unexpected keyword argument passed to optimizer: {key}; there are also "
                    f"{', '.join(sorted(_ARGUMENTS))}"
                )
            if not isinstance(value, LearningRateSchedule) and value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        self._hyper: dict[str, Any] = {}
        self._slots: dict[str, dict[str, Any]] = {}  # name of a variable -> name -> slot
        self._weights: list[Any] = []
        self._iterations: Any = None
        self._name = name
        self._initial_decay = kwargs.pop("decay", 0.0)
        vars(self).update({key: value for key, value in kwargs.items() if key != "lr"})

    # settings

    def _set_hyper(self, name: str, value: Any) -> None:
        """Set a setting: a number, tensor, schedule, or function that returns one."""
        previous = self._hyper.get(name)
        if isinstance(previous, Variable) and not isinstance(value, LearningRateSchedule):
            set_value(previous, value)
        else:
            self._hyper[name] = value

    def _get_hyper(self, name: str, dtype: Any = None) -> Any:
        """Return a setting: its variable, which is made when first asked for."""
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return value
        if callable(value) and not isinstance(value, Variable):
            value = value()
        if isinstance(value, int | float | np.number):
            value = self._hyper[name] = tracked(float(value), name, dtypes.float32)
        return value if dtype is None else cast(convert_to_tensor(value), dtype)

    def __getattr__(self, name: str) -> Any:
        key = "learning_rate" if name == "lr" else name
        if key in self.__dict__.get("_hyper", ()):
            return self._get_hyper(key)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        key = "learning_rate" if name == "lr" else name
        if key in self.__dict__.get("_hyper", ()):
            self._set_hyper(key, value)
        else:
            super().__setattr__(name, value)

    def _decayed_lr(self, var_dtype: Any) -> Any:
        """Return the learning rate of this step as a tensor."""
        rate = self._get_hyper("learning_rate")
        if isinstance(rate, LearningRateSchedule):
            rate = rate(cast(self.iterations.value(), var_dtype))
        rate = cast(convert_to_tensor(rate), var_dtype)
        if self._initial_decay > 0.0:
            steps = cast(self.iterations.value(), var_dtype)
            rate = rate / (1.0 + self._get_hyper("decay", var_dtype) * steps)
        return rate

    def _serialize_hyperparameter(self, name: str) -> Any:
        """Return a setting as a number, or as the configuration of a schedule."""
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return serialize_schedule(value)
        if isinstance(value, Variable):
            return get_value(value).item()
        return value() if callable(value) else value

    def get_config(self) -> dict[str, Any]:
        """Return the settings, from which `from_config` makes the optimizer again."""
        names = ("clipnorm", "clipvalue")
        clips: dict[str, Any] = {key: vars(self)[key] for key in names if key in vars(self)}
        return {"name": self._name, **clips}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> Any:
        """Return the optimizer with these settings."""
        config = dict(config)
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        if isinstance(config.get("learning_rate"), Mapping):
            config["learning_rate"] = deserialize_schedule(config["learning_rate"])
        return cls(**config)

    # weights

    @property
    def iterations(self) -> Any:
        """The variable that counts steps."""
        if self._iterations is None:
            self.iterations = tracked(0, "iter", dtypes.int64)
        return self._iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        if self._iterations is not None:
            raise RuntimeError("Cannot set `iterations` to a new Variable after it was made.")
        self._iterations = variable
        self._weights.append(variable)

    @property
    def weights(self) -> list[Any]:
        """The count of steps and all slots, in the order in which they were made."""
        return self._weights

    def variables(self) -> list[Any]:
        """Return `weights`."""
        return self._weights

    def get_weights(self) -> list[Any]:
        """Return the values of `weights`."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Give `weights` values.

        Raises:
          ValueError: there are more or fewer, or one has another shape.
        """
        if len(self.weights) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a weight list "
                f"of length {len(weights)}, but the optimizer was expecting {len(self.weights)} "
                f"weights. Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(self.weights, weights, strict=True):
            if tuple(variable.shape.as_list()) != np.shape(value):
                raise ValueError(
                    f"Optimizer weight shape {variable.shape} not compatible with provided weight "
                    f"shape {np.shape(value)}"
                )
        batch_set_value(list(zip(self.weights, weights, strict=True)))

    def add_weight(
        self, name: str, shape: Any, dtype: Any = None, initializer: Any = "zeros", **_: Any
    ) -> Any:
        """Return a new variable among `weights`.

        Args:
          name: of the variable.
          shape: of the variable.
          dtype: float32 by default.
          initializer: "zeros", or a function from shape and dtype to a tensor.
        """
        dtype = dtype or dtypes.float32
        first = zeros(shape, dtype) if initializer == "zeros" else initializer(shape, dtype=dtype)
        self._weights.append(tracked(first, name, dtype))
        return self._weights[-1]

    def add_slot(self, var: Any, slot_name: str, initializer: Any = "zeros") -> Any:
        """Return the variable that is kept beside `var`, made if it is new.

        Args:
          var: variable.
          slot_name: of the slot.
          initializer: "zeros", or a function from shape and dtype to a tensor.
        """
        slots = self._slots.setdefault(var.op.name, {})
        if slot_name not in slots:
            name, dtype = f"{var.op.name}/{slot_name}", var.dtype.base_dtype
            slots[slot_name] = self.add_weight(name, var.shape.as_list(), dtype, initializer)
        return slots[slot_name]

    def get_slot(self, var: Any, slot_name: str) -> Any:
        """Return the variable that is kept beside `var` under a name."""
        return self._slots[var.op.name][slot_name]

    def get_slot_names(self) -> list[str]:
        """Return the names of slots."""
        return sorted({name for slots in self._slots.values() for name in slots})

    # steps

    def minimize(
        self, loss: Any, var_list: Any, grad_loss: Any = None, name: str | None = None
    ) -> Any:
        """Return an operation that changes variables to lower a loss, once.

        Args:
          loss: function that returns a float tensor, or the tensor.
          var_list: variables to change, or a function that returns them.
          grad_loss: gradient of the loss; ones by default.
          name: of the operation.
        """
        loss = loss() if callable(loss) else loss
        variables = nest.flatten(var_list() if callable(var_list) else var_list)
        found = gradients(loss, variables, grad_ys=grad_loss)
        pairs = [(self._clipped(grad), var) for grad, var in zip(found, variables, strict=True)]
        return self.apply_gradients(pairs, name=name)

    def get_gradients(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """Return the gradients of a loss, clipped if the optimizer clips.

        Raises:
          ValueError: a variable has no gradient.
        """
        found = gradients(loss, params)
        for grad, param in zip(found, params, strict=True):
            if grad is None:
                raise ValueError(
                    f"Variable {param} has `None` for gradient. Please make sure that all of your "
                    "ops have a gradient defined (i.e. are differentiable). Common ops without "
                    "gradient: K.argmax, K.round, K.eval."
                )
        return [self._clipped(grad) for grad in found]

    def _clipped(self, grad: Any) -> Any:
        if grad is not None and "clipnorm" in vars(self):
            grad = clip_by_norm(grad, vars(self)["clipnorm"])
        if grad is not None and "clipvalue" in vars(self):
            bound = vars(self)["clipvalue"]
            grad = clip_by_value(grad, -bound, bound)
        return grad

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """Return, in a list, the operation that changes variables to lower a loss, once."""
        grads = self.get_gradients(loss, params)
        return [self.apply_gradients(zip(grads, params, strict=True))]

    def apply_gradients(self, grads_and_vars: Iterable[Any], name: str | None = None) -> Any:
        """Return an operation that changes each variable along its gradient, once.

        Args:
          grads_and_vars: pairs of gradient and variable; those without gradient stay.
          name: of the operation.

        Raises:
          ValueError: there is no gradient at all.
        """
        given = list(grads_and_vars)
        pairs = [(grad, var) for grad, var in given if grad is not None]
        if not pairs:
            names = [var.name for _, var in given]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        with scopes.name_scope(self._name):
            steps = self.iterations
            for key in sorted(self._hyper):
                self._get_hyper(key)
            self._create_slots([var for _, var in pairs])
        with scopes.name_scope(name or self._name):
            self._prepare([var for _, var in pairs])
            updates = [self._update(grad, var) for grad, var in pairs]
            with scopes.control_dependencies(updates):
                return steps.assign_add(1, read_value=False)

    def _update(self, grad: Any, var: Any) -> Any:
        with scopes.name_scope(f"update_{var.op.name}"), scopes.colocate_with(var.op):
            if isinstance(grad, IndexedSlices):
                update = self._resource_apply_sparse_duplicate_indices(
                    grad.values, var, grad.indices
                )
            else:
                update = self._resource_apply_dense(grad, var)
            if var.constraint is None:
                return update
            with scopes.control_dependencies([update]):
                return var.assign(var.constraint(var))

    # what a subclass says

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Make the slots of variables."""

    def _prepare(self, var_list: Sequence[Any]) -> None:
        """Make the nodes that all updates share."""

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        """Return what changes a variable along a dense gradient."""
        raise NotImplementedError(f"{type(self).__name__} has no _resource_apply_dense")

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        """Return what changes rows of a variable, each of which is named once."""
        raise NotImplementedError(f"{type(self).__name__} has no _resource_apply_sparse")

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        """Return what changes rows of a variable; a row may be named more than once."""
        unique, places = raw.Unique(indices)
        count: Any = shape_of(unique)
        summed = raw.UnsortedSegmentSum(grad, places, count[0])
        return self._resource_apply_sparse(summed, handle, unique)

    def _resource_scatter_add(self, x: Any, i: Any, v: Any) -> Any:
        """Return the value of a variable after `v` is added to its rows `i`."""
        with scopes.control_dependencies([raw.ResourceScatterAdd(x.handle, i, v)]):
            return x.value()


class TFOptimizer(Optimizer):
    """An optimizer of `tf.train` in the place of one of keras."""

    def __init__(self, optimizer: Any, iterations: Any = None) -> None:
        super().__init__("TFOptimizer")
        self.optimizer = optimizer
        if iterations is not None:
            self.iterations = iterations

    @property
    def weights(self) -> list[Any]:
        raise NotImplementedError("an optimizer of tf.train tells its variables by variables()")

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """Return, in a list, the operation that changes variables to lower a loss, once."""
        pairs = self.optimizer.compute_gradients(loss, list(params))
        update = self.optimizer.apply_gradients(pairs, global_step=self.iterations)
        for variable in self.optimizer.variables():
            track_variable(variable)
        return [update]

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError("an optimizer of tf.train has no configuration")


def grouped(*updates: Any) -> Any:
    """Return one operation for several updates."""
    return identity_group.group(*updates)
