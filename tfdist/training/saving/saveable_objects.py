"""What savers save: an object for each variable, or part of one, that knows how it is restored.

Source: TF 1.15 API documentation, tf.train.Saver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfdist.errors import InvalidArgumentError
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.io.saveable_object import SaveableObject, SaveSpec
from tfdist.ops.variables import state_ops
from tfdist.ops.variables.partitioned_variables import PartitionedVariable
from tfdist.ops.variables.variable import Variable

_VARIABLE_OPS = ("Variable", "VariableV2", "VarHandleOp", "ReadVariableOp")


class VariableSaveable(SaveableObject):
    """A reference variable."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        super().__init__(var, [SaveSpec(var, slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """See `SaveableObject`."""
        variable = self.op if self.op.dtype.is_ref else self.op.op.inputs[0]
        validate = restored_shapes is None and variable.shape.is_fully_defined()
        value = _fitting(restored_tensors, restored_shapes)
        return state_ops.ASSIGN(variable, value, validate_shape=validate)


class ResourceVariableSaveable(SaveableObject):
    """A resource variable."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        if isinstance(var, Variable):
            self._handle: Tensor = var.handle  # type: ignore[attr-defined]
            tensor: Any = _reading(var)
        else:
            self._handle, tensor = var.op.inputs[0], var
        spec = SaveSpec(tensor, slice_spec, name, dtype=var.dtype, device=self._handle.device)
        super().__init__(var, [spec], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """See `SaveableObject`."""
        value = _fitting(restored_tensors, restored_shapes)
        shape = self._handle.op._attrs["shape"]
        with scopes.device(self._handle.device or None):
            value = raw.Identity(value)
            shape.assert_is_compatible_with(value.shape)
            return raw.AssignVariableOp(self._handle, value)


def _fitting(tensors: Sequence[Tensor], shapes: Any) -> Tensor:
    return tensors[0] if shapes is None else raw.Reshape(tensors[0], shapes[0])


def _reading(variable: Any) -> Callable[[], Tensor]:
    def read() -> Tensor:
        with scopes.device(variable.device or None):
            value = variable.read_value()
        with scopes.device("/device:CPU:0"):
            tensor: Tensor = raw.Identity(value)
        return tensor

    return read


# from what users give


def names_to_saveables(var_list: Any) -> dict[str, Any]:
    """Return what is to be saved by its names: variables, lists of parts, saveable objects.

    Args:
      var_list: a dict of these, or a list.

    Raises:
      TypeError: it is neither, or something in it cannot be saved.
      ValueError: two things have one name.
    """
    if isinstance(var_list, dict):
        return var_list
    if not isinstance(var_list, list | tuple | set):
        raise TypeError(f"Variables to save should be passed in a dict or a list: {var_list}")
    found: dict[str, Any] = {}
    for each in sorted(var_list, key=_sorted_by):
        _name(found, each)
    return found


def _sorted_by(each: Any) -> str:
    return str(getattr(each, "name", ""))


def _name(found: dict[str, Any], each: Any) -> None:
    info = getattr(each, "_save_slice_info", None)
    if isinstance(each, SaveableObject):
        name = each.name
    elif isinstance(each, PartitionedVariable):
        name = each.name
    elif info is not None:
        parts = found.setdefault(info.full_name, [])
        if not isinstance(parts, list):
            raise ValueError(f"At least two variables have the same name: {info.full_name}")
        parts.append(each)
        return
    else:
        name = _variable_name(each)
    if name in found:
        raise ValueError(f"At least two variables have the same name: {name}")
    found[name] = each


def _variable_name(each: Any) -> str:
    if isinstance(each, Variable):
        return getattr(each, "_shared_name", None) or each.op.name
    if not (isinstance(each, Tensor) and each.op.type in _VARIABLE_OPS):
        raise TypeError(f"Variable to save is not a Variable: {each}")
    return str(each.op.name)


def saveables_of(var_list: Any) -> list[SaveableObject]:
    """Return the saveable objects of what is to be saved, sorted by name.

    Args:
      var_list: as for `names_to_saveables`.

    Raises:
      TypeError: something in it cannot be saved.
      ValueError: something is in it twice.
    """
    saveables: list[SaveableObject] = []
    seen: set[int] = set()
    for name, value in sorted(names_to_saveables(var_list).items(), key=_by_name):
        for saveable in _converted(name, value):
            known = id(saveable.op)
            if known in seen:
                raise ValueError(f"The same saveable will be restored with two names: {name}")
            seen.add(known)
            saveables.append(saveable)
    return saveables


def _by_name(item: tuple[Any, Any]) -> str:
    if not isinstance(item[0], str):
        raise TypeError(
            "names_to_saveables must be a dict mapping string names to trackable operations. Name "
            f"is not a string: {item[0]}"
        )
    return item[0]


def _converted(name: str, value: Any) -> Iterable[SaveableObject]:
    if isinstance(value, SaveableObject):
        return [value]
    if isinstance(value, list | tuple | PartitionedVariable):
        return [_part(name, part) for part in value]
    variable = _checked(value)
    if state_ops.is_resource(variable):
        return [ResourceVariableSaveable(variable._as_graph_element(), "", name)]
    if isinstance(variable, Tensor):
        if variable.op.type == "ReadVariableOp":
            return [ResourceVariableSaveable(variable, "", name)]
        return [VariableSaveable(variable, "", name)]
    return [VariableSaveable(variable._ref(), "", name)]


def _checked(value: Any) -> Any:
    if isinstance(value, Variable):
        return value
    try:
        tensor = convert_to_tensor(value)
    except (TypeError, ValueError, InvalidArgumentError):
        tensor = value
    if isinstance(tensor, Tensor) and tensor.op.type in _VARIABLE_OPS:
        return tensor
    raise TypeError(
        "names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a "
        f"variable: {tensor}"
    )


def _part(name: str, part: Any) -> SaveableObject:
    info = getattr(part, "_save_slice_info", None)
    if not isinstance(part, Variable) or info is None:
        raise ValueError(f"Slices must all be slices: {part}")
    if state_ops.is_resource(part):
        return ResourceVariableSaveable(part, info.spec, name)
    return VariableSaveable(part.value(), info.spec, name)
