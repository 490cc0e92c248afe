"""Slots: variables that an optimizer keeps beside each variable that it changes.

A slot is called after both, as "layer/weights/Momentum", and stands on its variable's device.

Source: TF 1.15 API documentation, tf.train.Optimizer, section on slots.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfdist.graph import scopes
from tfdist.ops.array.fill import zeros
from tfdist.ops.array.shape import shape as shape_of
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import zeros_initializer
from tfdist.ops.variables.state_ops import is_resource
from tfdist.ops.variables.variable import Variable
from tfdist.ops.variables.variable_scope import variable_scope
from tfdist.training.saving.trackable import SlotOwner

__all__ = ["create_slot", "create_slot_with_initializer", "create_zeros_slot"]


def create_slot(primary: Any, val: Any, name: str, colocate_with_primary: bool = True) -> Any:
    """Return a new variable beside `primary` that begins with `val`.

    Args:
      primary: Variable or tensor, whose name and device count.
      val: tensor, the initial value.
      name: of the slot, behind that of `primary`.
      colocate_with_primary: whether it stands where `primary` stands.

    Example:
      >>> w = Variable([1.0, 2.0], name="w")
      >>> create_slot(w, constant([0.5, 0.5]), "Half").name
      'w/Half:0'
    """
    is_fixed = val.shape.is_fully_defined()
    with _beside(primary, name, colocate_with_primary):
        return _slot(primary, initializer=val, validate_shape=is_fixed)


def create_slot_with_initializer(
    primary: Any, initializer: Any, shape: Any, dtype: Any, name: str,
    colocate_with_primary: bool = True,
) -> Any:  # fmt: skip
    """Return a new variable beside `primary` that begins with what an initializer gives.

    Args:
      primary: Variable or tensor, whose name and device count.
      initializer: function from shape and dtype to a tensor.
      shape: of the slot.
      dtype: of the slot.
      name: of the slot, behind that of `primary`.
      colocate_with_primary: whether it stands where `primary` stands.

    Example:
      >>> w = Variable([1.0, 2.0], name="w")
      >>> create_slot_with_initializer(w, ones_initializer(), [2], float32, "Ones").name
      'w/Ones:0'
    """
    is_fixed = shape.is_fully_defined() if hasattr(shape, "is_fully_defined") else True
    with _beside(primary, name, colocate_with_primary):
        return _slot(
            primary, initializer=initializer, shape=shape, dtype=dtype, validate_shape=is_fixed
        )


def create_zeros_slot(
    primary: Any, name: str, dtype: Any = None, colocate_with_primary: bool = True
) -> Any:
    """Return a new variable beside `primary` that begins with zeros of its shape.

    Args:
      primary: Variable or tensor, whose name and device count.
      name: of the slot, behind that of `primary`.
      dtype: of the slot; that of `primary` by default.
      colocate_with_primary: whether it stands where `primary` stands.

    Example:
      >>> w = Variable([1.0, 2.0], name="w")
      >>> create_zeros_slot(w, "Momentum").name
      'w/Momentum:0'
    """
    dtype = (primary.dtype if dtype is None else dtype).base_dtype
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return create_slot_with_initializer(
            primary, zeros_initializer(), shape, dtype, name, colocate_with_primary
        )
    value = primary.initialized_value() if isinstance(primary, Variable) else primary
    return create_slot(primary, zeros(shape_of(value), dtype), name, colocate_with_primary)


@contextmanager
def _beside(primary: Any, name: str, is_colocated: bool) -> Iterator[None]:
    """Open the scopes of a slot of `primary`."""
    with variable_scope(None, f"{primary.op.name}/{name}") as scope:
        scope.set_partitioner(None)  # a slot of a part has its shape: it is not divided again
        if not is_colocated:
            yield
            return
        with scopes.colocate_with(primary.op):
            yield


def _slot(primary: Any, **options: Any) -> Any:
    slot = get_variable("", trainable=False, use_resource=is_resource(primary), **options)
    part = getattr(primary, "_save_slice_info", None)
    if part is not None:  # a slot of a part of a variable is a part of that variable's slot
        # What is cut off is as long as the name of `primary`, even where a scope stands in front
        # of it: checkpoints have it so.
        name = slot.op.name[len(primary.op.name) + 1 :]
        slot._set_save_slice_info(
            type(part)(f"{part.full_name}/{name}", part.full_shape, part.var_offset, part.var_shape)
        )
    return slot


class KeepsSlots(SlotOwner):
    """What keeps slots, and variables that stand for all: an optimizer."""

    def __init__(self) -> None:
        self._slots: dict[str, dict[Any, Any]] = {}  # name of a slot -> variable's key -> slot
        self._non_slot_dict: dict[Any, Any] = {}  # (name, graph) -> variable

    def get_slot(self, var: Any, name: str) -> Any:
        """Return the variable that is kept beside `var` as `name`; None if there is none.

        Args:
          var: Variable that was given to `minimize` or `apply_gradients`.
          name: one of `get_slot_names`.
        """
        return self._slots.get(name, {}).get(_key(var))

    def get_slot_names(self) -> list[str]:
        """Return the names of the slots, in alphabetical order."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """Return the variables that the optimizer made in the default graph, ordered by name."""
        graph = scopes.get_default_graph()
        kept = [v for (_, owner), v in self._non_slot_dict.items() if owner is graph]
        kept += [slot for slots in self._slots.values() for slot in slots.values()]
        return sorted((v for v in kept if v.graph is graph), key=lambda v: v.name)

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """Return a variable that stands for all of them, made when first asked for."""
        key = (name, colocate_with.graph)
        if key not in self._non_slot_dict:
            with scopes.colocate_with(colocate_with.op):
                self._non_slot_dict[key] = Variable(
                    initial_value, name=name, trainable=False,
                    use_resource=is_resource(colocate_with),
                )  # fmt: skip
        return self._non_slot_dict[key]

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        """Return what `_create_non_slot_variable` made; None if it did not."""
        return self._non_slot_dict.get((name, graph or scopes.get_default_graph()))

    def _non_slot_variables(self) -> list[Any]:
        """Return all variables that are no slots."""
        return list(self._non_slot_dict.values())

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        """Return the slots called `slot_name`, by their variables' keys."""
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        """Return the slot of `var`, which begins with the tensor `val` if it is new."""
        slots = self._slot_dict(slot_name)
        if _key(var) not in slots:
            slots[_key(var)] = create_slot(var, val, op_name)
        return slots[_key(var)]

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str
    ) -> Any:
        """Return the slot of `var`, which begins with what `initializer` gives if it is new."""
        slots = self._slot_dict(slot_name)
        if _key(var) not in slots:
            slots[_key(var)] = create_slot_with_initializer(var, initializer, shape, dtype, op_name)
        return slots[_key(var)]

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        """Return the slot of `var`, which begins with zeros if it is new."""
        slots = self._slot_dict(slot_name)
        if _key(var) not in slots:
            slots[_key(var)] = create_zeros_slot(var, op_name)
        return slots[_key(var)]


def _key(variable: Any) -> Any:
    return variable.graph, variable.op.name
