"""ResourceVariable: a variable that ops reach by a handle, and that each of them reads anew.

`NAME/Initializer/...`, `NAME` (the handle), `NAME/IsInitialized/VarIsInitializedOp`, `NAME/Assign`
and `NAME/Read/ReadVariableOp`. Every use in the graph adds a ReadVariableOp of its own, so that
what is read after an assignment is what was assigned.

Source: TF 1.15 API documentation, tf.Variable, tf.enable_resource_variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tfdist.base.dtypes import DType
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import replicas, scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.graph import Graph
from tfdist.graph.handles import source_of
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.variables import state_ops
from tfdist.ops.variables.colocation_groups import class_of, join_group
from tfdist.ops.variables.count_up_to import count_up_to
from tfdist.ops.variables.in_place import refuse_changes_in_place
from tfdist.ops.variables.sliced_assignment import RESOURCE_STRIDED_SLICE_ASSIGN, assigned
from tfdist.ops.variables.variable import Variable

__all__ = [
    "disable_resource_variables", "enable_resource_variables", "resource_variables_enabled",
]  # fmt: skip


class ResourceVariable(Variable):
    """A variable whose value is read by a node of its own wherever it is used.

    See `Variable` for the arguments; `caching_device` is where the value is kept for readers.
    """

    _kept: Tensor | None = None  # its value, on the caching device

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Iterable[Any] | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        use_resource: bool | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        super().__init__(
            initial_value, trainable, collections, validate_shape, caching_device, name,
            variable_def, dtype, expected_shape, import_scope, constraint, use_resource,
            synchronization, aggregation, shape,
        )  # fmt: skip

    def _build(
        self,
        graph: Graph,
        scope: str,
        initial_value: Any,
        dtype: Any,
        validate_shape: bool,
        shape: Any,
    ) -> None:
        name = scope.removesuffix("/")
        label = f"loc:@{name}".encode()
        with graph.name_scope("Initializer"), graph.device(None), class_of(graph, label):
            value = initial_value() if callable(initial_value) else initial_value
            initial = convert_to_tensor(value, dtype, "initial_value")
        self._initial_value = initial
        self._variable = raw.VarHandleOp(
            shared_name=name, dtype=initial.dtype.base_dtype, shape=_shape(initial, shape),
            name=scope,
        )  # fmt: skip
        join_group(self._variable.op, label)
        with graph.name_scope("IsInitialized"):
            raw.VarIsInitializedOp(self._variable)
        with _beside(self.handle):
            self._initializer = raw.AssignVariableOp(self._variable, initial, name="Assign")
        with graph.name_scope("Read"):
            with scopes.device(self.handle.device or None):
                self._snapshot = self._read()
            if self._caching_device is not None:
                # a caching device of its own, wherever the variable was asked for
                with scopes.colocate_with(None, True), scopes.device(self._caching_device):
                    self._kept = raw.Identity(self._snapshot)

    def _from_proto(self, variable_def: Any, import_scope: str | None) -> None:
        super()._from_proto(variable_def, import_scope)
        if not variable_def.is_resource:
            raise ValueError("Trying to restore Variable as ResourceVariable.")

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return a VariableDef: names of handle, initializer, snapshot and initial value."""
        proto = super().to_proto(export_scope)
        prefix = f"{export_scope}/" if export_scope else ""
        proto.initial_value_name = self._initial_value.name.removeprefix(prefix)
        proto.is_resource = True
        proto.trainable = self._trainable
        return proto

    # what it is

    @property
    def handle(self) -> Tensor:
        """Return the tensor by which ops reach it."""
        return self._variable

    @property
    def dtype(self) -> DType:
        """Return the type of its values."""
        dtype: DType = self.handle.op.get_attr("dtype")
        return dtype

    @property
    def shape(self) -> TensorShape:
        """Return the shape."""
        shape: TensorShape = self.handle.op._attrs["shape"]
        return shape

    def get_shape(self) -> TensorShape:
        """Return the shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Raise NotImplementedError: the shape is that of the handle."""
        raise NotImplementedError("ResourceVariable does not implement set_shape()")

    @property
    def create(self) -> Operation:
        """Return the operation that gives it its initial value."""
        return self._initializer

    # its value

    def _read(self) -> Tensor:
        tensor: Tensor = raw.ReadVariableOp(self.handle, dtype=self.dtype)
        return tensor

    def value(self) -> Tensor:
        """Return a new tensor that reads it, or the one that is kept on the caching device."""
        if self._kept is not None:
            return self._kept
        with _beside(self.handle):
            return self._read()

    def read_value(self) -> Tensor:
        """Return a new tensor that reads it when that node runs."""
        with scopes.name_scope("Read"), _beside(self.handle):
            value = self._read()
        tensor: Tensor = raw.Identity(value)
        return tensor

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """Return a tensor of the rows that `indices` name; the others are not read."""
        rows = raw.ResourceGather(self.handle, indices, dtype=self.dtype, name=name or "Gather")
        tensor: Tensor = raw.Identity(rows)
        return tensor

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """Return a tensor of the elements or slices that rows of `indices` spell."""
        parts = raw.ResourceGatherNd(
            self.handle, indices, dtype=self.dtype, name=name or "GatherNd"
        )
        tensor: Tensor = raw.Identity(parts)
        return tensor

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Return a bool tensor: whether it has a value."""
        tensor: Tensor = raw.VarIsInitializedOp(self.handle, name=name)
        return tensor

    def initialized_value(self) -> Tensor:
        """Return a tensor for initial values of other variables: its value, or the initial one."""
        with scopes.init_scope():
            tensor: Tensor = cond(
                self.is_initialized(), self.read_value, lambda: self._initial_value
            )
        return tensor

    def numpy(self) -> Any:
        """Raise NotImplementedError: there is no value outside of a session."""
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    def count_up_to(self, limit: int) -> Any:
        """Return a tensor of the value, which is one more from then on; see `tf.count_up_to`."""
        return count_up_to(self, limit)

    # what changes it

    def assign(
        self,
        value: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Return the variable after it was set to `value`; just the op without `read_value`."""
        if (merged := replicas.updated(self, value, state_ops.assign)) is not None:
            return merged
        tensor = convert_to_tensor(value, self.dtype)
        self.shape.assert_is_compatible_with(tensor.shape)
        return self.after(raw.AssignVariableOp(self.handle, tensor, name=name), read_value)

    def assign_add(
        self,
        delta: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Return the variable after `delta` was added; just the op without `read_value`."""
        if (merged := replicas.updated(self, delta, state_ops.assign_add)) is not None:
            return merged
        tensor = convert_to_tensor(delta, self.dtype)
        return self.after(raw.AssignAddVariableOp(self.handle, tensor, name=name), read_value)

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Return the variable after `delta` was subtracted; just the op without `read_value`."""
        if (merged := replicas.updated(self, delta, state_ops.assign_sub)) is not None:
            return merged
        tensor = convert_to_tensor(delta, self.dtype)
        return self.after(raw.AssignSubVariableOp(self.handle, tensor, name=name), read_value)

    def after(self, change: Operation, read_value: bool = True) -> Any:
        """Return the variable as readers find it after `change`, or `change` itself."""
        return Changed(self, change) if read_value else change

    # how the graph sees it

    def _as_tensor(self, as_ref: bool) -> Tensor:
        return self.value()

    def _as_graph_element(self) -> Tensor:
        return self._snapshot

    def _as_operation(self) -> Operation:
        return self.op

    def _ref(self) -> Tensor:
        raise AttributeError("a ResourceVariable has a `handle`, and no reference")

    def __bool__(self) -> bool:
        return bool(self.read_value())

    __nonzero__ = __bool__  # Python 2's name


def _shape(initial: Tensor, asked: Any) -> TensorShape:
    """Return the shape of a variable: what was asked for, or that of its initial value."""
    if asked is None:
        return initial.shape
    if not initial.shape.is_compatible_with(asked):
        raise ValueError(
            f"The initial value's shape ({initial.shape}) is not compatible with the explicitly "
            f"supplied `shape` argument ({asked})."
        )
    return TensorShape(asked)


refuse_changes_in_place(ResourceVariable)


class Changed(ResourceVariable):
    """A resource variable as it is after an operation: who reads it waits for that."""

    def __init__(self, variable: ResourceVariable, change: Operation) -> None:
        self._variable = variable.handle
        self._initializer = variable._initializer
        self._initial_value = variable._initial_value
        self._trainable = variable._trainable
        self.constraint = variable.constraint
        self._change = change
        self._snapshot = self._read()

    def __new__(cls, *_: Any) -> Changed:
        """Return it, still empty."""
        return object.__new__(cls)

    @property
    def name(self) -> str:
        """Return the name of the operation."""
        return self._change.name

    @property
    def op(self) -> Operation:
        """Return the operation."""
        return self._change

    def _read(self) -> Tensor:
        with scopes.control_dependencies([self._change]):
            return super()._read()

    def value(self) -> Tensor:
        """Return a new tensor that reads it after the change."""
        return self._read()

    def read_value(self) -> Tensor:
        """Return a new tensor that reads it after the change."""
        return self._read()


class Part(Tensor):
    """A slice of a resource variable, which can be assigned to."""

    __slots__ = ()

    def assign(self, value: Any, name: str | None = None) -> Any:
        """Return the variable after this part of it was set to `value`."""
        handle = self.op.inputs[0].op.inputs[0]
        source = source_of(handle)  # a branch has the handle from a Switch
        variable = _variable_behind(handle if source is None else source)
        tensor = convert_to_tensor(value, self.dtype)
        change = assigned(self, RESOURCE_STRIDED_SLICE_ASSIGN, variable.handle, tensor, name)
        return variable.after(change)


ResourceVariable._part_type = Part


def _variable_behind(handle: Tensor) -> ResourceVariable:
    """Return a variable object for a handle, as far as changing and reading it goes."""
    variable = object.__new__(ResourceVariable)
    variable._variable = handle
    variable._initializer = variable._initial_value = variable.constraint = None  # type: ignore[assignment]
    variable._trainable = False
    return variable


@contextmanager
def _beside(handle: Tensor) -> Iterator[None]:
    """Let nodes made inside be with no other node, on the device that the handle asks for."""
    with scopes.colocate_with(None, True), scopes.device(None), scopes.device(handle.device):
        yield


# which kind a new variable is

_enabled = False


def enable_resource_variables() -> None:
    """Make new variables resource variables, unless they are asked not to be.

    Example:
      >>> enable_resource_variables()
      >>> resource_variables_enabled()
      True
      >>> disable_resource_variables()
    """
    global _enabled
    _enabled = True


def disable_resource_variables() -> None:
    """Make new variables reference variables, unless they are asked not to be."""
    global _enabled
    _enabled = False


def resource_variables_enabled() -> bool:
    """Return whether new variables are resource variables by default.

    Example:
      >>> resource_variables_enabled()
      False
    """
    return _enabled


def kind(use_resource: bool | None, variable_def: Any = None) -> type[Variable]:
    """Return the class of a variable that is to be made, or that a VariableDef describes."""
    if variable_def is not None:
        return ResourceVariable if variable_def.is_resource else Variable
    wanted = _enabled if use_resource is None else use_resource
    return ResourceVariable if wanted else Variable
