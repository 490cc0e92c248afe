"""Variable: a value that stays in a task between steps, as four nodes and a Python object.

`NAME/initial_value`, `NAME` (the variable itself), `NAME/Assign` (its initializer) and `NAME/read`.
Two sessions on one server share a variable if its node has one name in both graphs.

Source: TF 1.15 API documentation, tf.Variable.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from tfdist.base import lazy
from tfdist.base.dtypes import DType
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import replicas, scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.stacks import session_for
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.math.operators import OPERATORS
from tfdist.ops.variables import state_ops
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.colocation_groups import class_of, join_group
from tfdist.ops.variables.creator_scope import Creating
from tfdist.ops.variables.save_slice_info import SaveSliceInfo as SliceInfo
from tfdist.ops.variables.scatter import Scattered
from tfdist.ops.variables.sliced_assignment import ReferencePart
from tfdist.ops.variables.synchronization import (
    VariableAggregation,
    VariableSynchronization,
    of_replicas,
)
from tfdist.protos import pb

__all__ = ["Variable"]

# Returns the class of a new variable: of `use_resource` and a VariableDef, each None perhaps.
_kind = lazy.function("tfdist.ops.variables.variable_scope", "kind_in_scope")


def kind_of(use_resource: bool | None, variable_def: Any = None) -> type[Variable]:
    """Return the class of a variable that is to be made, or that a VariableDef describes."""
    found: type[Variable] = _kind(use_resource, variable_def)
    return found


class Variable(Scattered, metaclass=Creating):
    """A value that stays in a task between steps; works like a tensor in expressions.

    Args:
      initial_value: a tensor, anything that converts to one, or a function that returns one.
      trainable: whether optimizers change it by default.
      collections: names of collections to add it to; GLOBAL_VARIABLES by default.
      validate_shape: whether its shape is fixed to that of the initial value.
      caching_device: where the value is kept for its readers.
      name: of the variable's node.
      dtype: to which the initial value is converted.
      expected_shape: accepted for TensorFlow's sake.
      constraint: function from the updated value to the one to keep, for optimizers.
      use_resource: whether it is a `ResourceVariable`; by default what the variable scope says, or
        `tf.enable_resource_variables()`.
      synchronization: a `tf.VariableSynchronization`; a variable ON_READ is not trained by default.
      aggregation: a `tf.VariableAggregation`.
      shape: of the values it may take, if that is not to be the shape of the initial value; open
        where values of several shapes are to be assigned.

    Raises:
      ValueError: there is no initial value, or its shape is unknown and `validate_shape`, or does
        not fit `shape`.
    """

    SaveSliceInfo = SliceInfo
    _save_slice_info: SliceInfo | None = None  # of which whole it is a part
    _caching_device: Any = None
    synchronization = VariableSynchronization.AUTO
    aggregation = VariableAggregation.NONE
    _part_type: type[Tensor] = ReferencePart

    def __new__(cls, *arguments: Any, **options: Any) -> Variable:
        """Return a variable of the kind that is asked for, still empty."""
        if cls is Variable:
            cls = kind_of(options.get("use_resource"), options.get("variable_def"))
        return object.__new__(cls)

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
        if variable_def is not None:
            self._from_proto(variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError("initial_value must be specified: a tensor, or a function")
        if isinstance(collections, str):
            raise ValueError(
                "collections argument to Variable constructor must be a list, tuple, or set, not "
                f"{collections!r}"
            )
        if constraint is not None and not callable(constraint):
            raise ValueError(f"The `constraint` argument must be a callable, not {constraint!r}.")
        self.synchronization, self.aggregation, self._trainable = of_replicas(
            synchronization, aggregation, trainable, name
        )
        self._caching_device = caching_device
        self.constraint = constraint
        with scopes.init_scope() as graph, graph.name_scope(name or "Variable") as scope:
            self._build(graph, scope, initial_value, dtype, validate_shape, shape)
        keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
        if self._trainable and GraphKeys.TRAINABLE_VARIABLES not in keys:
            keys.append(GraphKeys.TRAINABLE_VARIABLES)
        graph.add_to_collections(keys, self)

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
        if callable(initial_value):
            # an initializer's nodes go where the variable goes
            with graph.name_scope("Initializer"), graph.device(None), class_of(graph, label):
                initial = convert_to_tensor(initial_value(), dtype, "initial_value")
        else:
            initial = convert_to_tensor(initial_value, dtype, "initial_value")
        if validate_shape and initial.plain_shape is None:
            raise ValueError(
                f"the initial value of variable {name!r} must have a known shape; "
                "validate_shape=False allows an unknown one"
            )
        self._initial_value = initial
        if shape is None and validate_shape:
            shape = initial.shape
        self._variable: Tensor = raw.VariableV2(
            shape=TensorShape(shape), dtype=initial.dtype.base_dtype, name=scope
        )
        if callable(initial_value):
            join_group(self._variable.op, label)
        with graph.colocate_with(self._variable.op):
            self._initializer: Operation = state_ops.ASSIGN(
                self._variable, initial, validate_shape=validate_shape, name="Assign"
            ).op
        with self._cached(graph):
            self._snapshot: Tensor = raw.Identity(self._variable, name="read")

    def _cached(self, graph: Any) -> AbstractContextManager[Any]:
        """Return the scope of nodes that hold the value for readers: the caching device's."""
        if self._caching_device is None:
            return graph.colocate_with(self._variable.op)  # type: ignore[no-any-return]
        return graph.device(self._caching_device)  # type: ignore[no-any-return]

    def _from_proto(self, variable_def: Any, import_scope: str | None) -> None:
        graph = scopes.get_default_graph()
        prefix = f"{import_scope}/" if import_scope else ""

        def find(name: str) -> Any:
            return graph.as_graph_element(prefix + name)

        self._variable = find(variable_def.variable_name)
        self._initializer = find(variable_def.initializer_name)
        self._snapshot = find(variable_def.snapshot_name)
        initial = variable_def.initial_value_name
        self._initial_value = find(initial) if initial else self._initializer.inputs[1]
        self.synchronization, self.aggregation, self._trainable = of_replicas(
            variable_def.synchronization, variable_def.aggregation, variable_def.trainable, None
        )
        self.constraint = None
        if variable_def.HasField("save_slice_info_def"):
            self._save_slice_info = SliceInfo(
                save_slice_info_def=variable_def.save_slice_info_def, import_scope=import_scope
            )

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Variable:
        """Return the variable that a VariableDef describes, in the default graph."""
        return Variable(variable_def=variable_def, import_scope=import_scope)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return a VariableDef: names of variable, initializer and snapshot."""
        prefix = f"{export_scope}/" if export_scope else ""
        info = self._save_slice_info
        return pb.VariableDef(
            variable_name=self._variable.name.removeprefix(prefix),
            initializer_name=self._initializer.name.removeprefix(prefix),
            snapshot_name=self._snapshot.name.removeprefix(prefix),
            save_slice_info_def=info and info.to_proto(export_scope),
            synchronization=self.synchronization.value,
            aggregation=self.aggregation.value,
        )

    def _set_save_slice_info(self, save_slice_info: SliceInfo) -> None:
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> SliceInfo | None:
        return self._save_slice_info

    # what it is

    @property
    def name(self) -> str:
        """Return "NAME:0"."""
        return self._variable.name

    @property
    def _shared_name(self) -> str:
        return self.name.removesuffix(":0")

    @property
    def op(self) -> Operation:
        """Return the operation that holds the variable."""
        return self._variable.op

    @property
    def graph(self) -> Graph:
        """Return the graph it belongs to."""
        return self._variable.graph

    @property
    def device(self) -> str:
        """Return the device that was asked for; "" if none was."""
        return self._variable.device

    @property
    def dtype(self) -> DType:
        """Return the reference type, such as float32_ref; `.base_dtype` is the values' type."""
        return self._variable.dtype

    @property
    def shape(self) -> TensorShape:
        """Return the shape."""
        return self._variable.shape

    def get_shape(self) -> TensorShape:
        """Return the shape."""
        return self._variable.shape

    def set_shape(self, shape: Any) -> None:
        """Add what is known of the shape."""
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    @property
    def trainable(self) -> bool:
        """Return whether optimizers change it by default."""
        return self._trainable

    @property
    def initializer(self) -> Operation:
        """Return the operation that gives it its initial value."""
        return self._initializer

    @property
    def initial_value(self) -> Tensor:
        """Return the tensor of the initial value."""
        return self._initial_value

    # its value

    def value(self) -> Tensor:
        """Return the tensor that reads it, NAME/read."""
        return self._snapshot

    def read_value(self) -> Tensor:
        """Return a new tensor that reads it when that node runs."""
        tensor: Tensor = raw.Identity(self._variable, name="read")
        return tensor

    def initialized_value(self) -> Tensor:
        """Return a tensor for initial values of other variables: its value, or the initial one."""
        with scopes.init_scope():
            tensor: Tensor = cond(
                state_ops.is_variable_initialized(self),
                self.read_value,
                lambda: self._initial_value,
            )
        return tensor

    def eval(self, session: Any = None) -> Any:
        """Return its value in `session`, or in the default session."""
        return session_for(session, self.graph).run(self)

    def load(self, value: Any, session: Any = None) -> None:
        """Give it `value` in `session`, or in the default session, without a new node."""
        self._initializer.run({self._initializer.inputs[1]: value}, session)

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Return an op that sets it to `value`, and gives the variable unless not `read_value`."""
        if (merged := replicas.updated(self, value, state_ops.assign)) is not None:
            return merged
        made = state_ops.ASSIGN(self._variable, value, use_locking=use_locking, name=name)
        return made if read_value else made.op

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Return an op that adds `delta`, and gives the variable."""
        if (merged := replicas.updated(self, delta, state_ops.assign_add)) is not None:
            return merged
        made = state_ops.ASSIGN_ADD(self._variable, delta, use_locking=use_locking, name=name)
        return made if read_value else made.op

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Return an op that subtracts `delta`, and gives the variable."""
        if (merged := replicas.updated(self, delta, state_ops.assign_sub)) is not None:
            return merged
        made = state_ops.ASSIGN_SUB(self._variable, delta, use_locking=use_locking, name=name)
        return made if read_value else made.op

    def count_up_to(self, limit: int) -> Any:
        """Return a tensor of the value, which is one more from then on; see `tf.count_up_to`."""
        return raw.CountUpTo(self._variable, limit=limit)

    # how the graph sees it

    def _as_tensor(self, as_ref: bool) -> Tensor:
        return self._variable if as_ref else self._snapshot

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def _ref(self) -> Tensor:
        return self._variable

    def __getitem__(self, key: Any) -> Tensor:
        return self._part(self.value()[key])  # type: ignore[index]

    def _part(self, read: Any) -> Any:
        """Return `read`, from then on with a method `assign` if it is a slice."""
        if type(read) is Tensor and read.op.type == "StridedSlice":
            read.__class__ = self._part_type
        return read

    def __iter__(self) -> Any:
        raise TypeError(f"'Variable' object is not iterable: {self!r}; tf.unstack splits its value")

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<tf.Variable {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


Variable.__array_priority__ = 100  # type: ignore[attr-defined]  # NumPy leaves `array + v` to us


def _delegate(name: str, function: Any) -> None:
    def operator(self: Variable, *others: Any) -> Any:
        return function(self.value(), *others)

    operator.__name__ = name
    setattr(Variable, name, operator)


for _name, _function in OPERATORS.items():
    _delegate(_name, _function)
