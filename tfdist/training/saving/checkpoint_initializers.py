"""Variables that begin with what a checkpoint says, other names perhaps: `init_from_checkpoint`.

Source: TF 1.15 API documentation, tf.train.init_from_checkpoint and
tf.contrib.framework.assign_from_checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfdist.base.devices import parse
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.ops.array.constants import placeholder
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.variables import state_ops
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.partitioned_variables import PartitionedVariable
from tfdist.ops.variables.variable import Variable
from tfdist.training.saving.checkpoint_utils import CheckpointReader, checkpoint_of, load_checkpoint
from tfdist.training.saving.saveable_objects import ResourceVariableSaveable, VariableSaveable
from tfdist.training.saving.saver import Saver

__all__ = ["init_from_checkpoint"]

Parts = list[Any]  # variables that are one tensor of a checkpoint


def init_from_checkpoint(ckpt_dir_or_file: str, assignment_map: Mapping[str, Any]) -> None:
    """Let the initializers of variables give them what a checkpoint says.

    Call it before `tf.global_variables_initializer`, and run that.

    Args:
      ckpt_dir_or_file: what `Saver.save` returned, or a folder.
      assignment_map: what each name in the checkpoint becomes: a variable, its name, the parts of
        a partitioned one; or, if it ends with "/" ("/" is the root), a scope of variables.

    Raises:
      ValueError: a name is in the checkpoint or in the graph only, or shapes differ.
      NotFoundError: there is no such checkpoint.

    Example:
      >>> import tempfile
      >>> old = Variable([1.0, 2.0], name="old/v")
      >>> with Session() as session:
      ...     session.run(old.initializer)
      ...     path = train.Saver().save(session, f"{tempfile.mkdtemp()}/model")
      >>> new = get_variable("new/v", [2])
      >>> train.init_from_checkpoint(path, {"old/": "new/"})
      >>> with Session() as session:
      ...     session.run(new.initializer)
      ...     print(session.run(new))
      [1. 2.]
    """
    path = checkpoint_of(ckpt_dir_or_file)
    reader = load_checkpoint(path)
    stored = reader.get_variable_to_shape_map()
    for name, target in sorted(assignment_map.items(), key=lambda item: item[0]):
        for tensor_name, parts in _assigned(name, target, stored, path):
            _check_shape(tensor_name, parts, stored[tensor_name])
            for part in parts:
                _initialize(part, path, tensor_name)


def _assigned(
    name: str, target: Any, stored: Mapping[str, Any], path: str
) -> list[tuple[str, Parts]]:
    """Return what an entry of the map says: names in the checkpoint, and their variables."""
    if not isinstance(target, str):
        parts = parts_of(target)
    elif target.endswith("/") or not (parts := _named(target)):
        return _in_scope(name, target, stored, path)
    if name not in stored:
        raise ValueError(f"Tensor {name} is not found in {path} checkpoint {dict(stored)}")
    return [(name, parts)]


def parts_of(target: Any) -> Parts:
    if isinstance(target, Variable):
        return [target]
    parts = list(target) if isinstance(target, list | tuple | PartitionedVariable) else []
    if not parts or not all(isinstance(each, Variable) for each in parts):
        raise TypeError(
            f"a variable, a list of parts, or a name of one was expected, but got {target!r}"
        )
    return parts


def _named(name: str) -> Parts:
    """Return the variable of that name, or the parts of the partitioned one."""
    return by_name().get(name, [])


def by_name() -> dict[str, Parts]:
    """Return all variables of the graph by the names that savers give them."""
    found: dict[str, Parts] = {}
    graph = scopes.get_default_graph()
    keys = GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES
    variables = [each for key in keys for each in graph.get_collection(key)]
    for variable in dict.fromkeys(variables):
        info = variable._save_slice_info
        found.setdefault(variable.op.name if info is None else info.full_name, []).append(variable)
    return found


def _in_scope(
    name: str, target: str, stored: Mapping[str, Any], path: str
) -> list[tuple[str, Parts]]:
    scope = target.rstrip("/")
    if not name.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {scope} should map to scope only {name}. Should "
            "be 'scope/': 'other_scope/'."
        )
    begin = f"{scope}/" if scope else ""
    found = []
    for variable_name, parts in sorted(by_name().items()):
        if variable_name.startswith(begin):
            rest = variable_name.removeprefix(target.lstrip("/"))
            wanted = name.removeprefix("/") + rest
            if wanted not in stored:
                raise ValueError(
                    f"Tensor {wanted} ({rest} in {name}) is not found in {path} checkpoint"
                )
            found.append((wanted, parts))
    return found


def _check_shape(name: str, parts: Parts, stored: list[int]) -> None:
    info = parts[0]._save_slice_info
    shape = parts[0].shape if info is None else TensorShape(info.full_shape)
    if not shape.is_compatible_with(stored):
        raise ValueError(
            f"Shape of variable {parts[0].name} ({shape}) doesn't match with shape of tensor "
            f"{name} ({stored}) from checkpoint reader."
        )


def _initialize(variable: Any, path: str, tensor_name: str) -> None:
    """Let a variable's initializer read a tensor of a checkpoint."""
    info = variable._save_slice_info
    device = parse(variable.device)._replace(device_type="CPU", device_index=0).to_string()
    with scopes.init_scope() as graph, graph.name_scope(None):
        with scopes.colocate_with(None, True), scopes.device(device):
            [value] = raw.RestoreV2(
                path, [tensor_name], ["" if info is None else info.spec],
                dtypes=[variable.dtype.base_dtype], name="checkpoint_initializer",
            )  # fmt: skip
        saveable = (
            ResourceVariableSaveable(variable, "", "")
            if state_ops.is_resource(variable)
            else VariableSaveable(variable._ref(), "", "")
        )
        initializer = saveable.restore([value], None)
    variable._initializer = getattr(initializer, "op", initializer)
    variable._initial_value = value


# tf.contrib.framework


def assign_from_checkpoint(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False
) -> tuple[Any, dict[Any, Any]]:
    """Return an op that gives variables what a checkpoint says, and what must be fed to it.

    Args:
      model_path: what `Saver.save` returned.
      var_list: variables, or a dict of variables by their names in the checkpoint.
      ignore_missing_vars: whether variables that are not in the checkpoint are passed over.

    Raises:
      ValueError: the checkpoint has not all of them.
    """
    reader = load_checkpoint(model_path)
    feeds, assigned = {}, []
    for name, parts in _grouped(var_list).items():
        if not reader.has_tensor(name):
            if ignore_missing_vars:
                continue
            raise ValueError(f"Checkpoint is missing variable [{name}]")
        value = reader.get_tensor(name)
        for part in parts:
            told = placeholder(part.dtype.base_dtype, part.shape, f"placeholder/{part.op.name}")
            assigned.append(part.assign(told))
            feeds[told] = _piece(value, part)
    return group(*assigned), feeds


def _grouped(var_list: Any) -> dict[str, Parts]:
    if isinstance(var_list, dict):
        return {name: parts_of(each) for name, each in var_list.items()}
    found: dict[str, Parts] = {}
    for each in var_list:
        info = each._save_slice_info
        found.setdefault(each.op.name if info is None else info.full_name, []).append(each)
    return found


def _piece(value: Any, part: Any) -> Any:
    info = part._save_slice_info
    if info is None:
        return value.reshape(part.shape.as_list()) if part.shape.is_fully_defined() else value
    places = zip(info.var_offset, info.var_shape, strict=True)
    return value[tuple(slice(start, start + length) for start, length in places)]


def assign_from_checkpoint_fn(
    model_path: str,
    var_list: Any,
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[Any], None] | None:
    """Return a function of a Session that gives variables what a checkpoint says.

    Args:
      model_path: what `Saver.save` returned.
      var_list: variables, or a dict of variables by their names in the checkpoint.
      ignore_missing_vars: whether variables that are not in the checkpoint are passed over.
      reshape_variables: whether shapes may differ, as long as the elements are as many.

    Returns:
      The function; None if no variable is left.
    """
    wanted = _grouped(var_list)
    if ignore_missing_vars:
        reader: CheckpointReader = load_checkpoint(model_path)
        wanted = {name: parts for name, parts in wanted.items() if reader.has_tensor(name)}
    if not wanted:
        return None
    single = {
        name: parts[0] if parts[0]._save_slice_info is None else parts
        for name, parts in wanted.items()
    }
    saver = Saver(single, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)
