"""Operation and Tensor: the nodes of a graph and their outputs."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType
from typing import Any, NoReturn

import numpy as np

from tfdist.base import lazy, shapes
from tfdist.base.aliases import Array, AttrValue, OwnContext, OwnGraph, TensorLike, TensorValue
from tfdist.base.dtypes import DType, DTypeLike
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import ShapeLike, TensorShape, as_shape
from tfdist.errors import InvalidArgumentError, OperatorNotAllowedInGraphError
from tfdist.graph.op_def import OpDef
from tfdist.graph.stacks import DefaultSession, session_for
from tfdist.protos import pb

_attr_to_proto = lazy.function("tfdist.graph.tensor_proto", "attr_to_proto")
_node_to_proto = lazy.function("tfdist.graph.graph_def", "node_to_proto")
_PACKAGE = str(Path(__file__).resolve().parent.parent) + "/"


def creation_site() -> tuple[CodeType, int] | None:
    """Return code and line of the innermost frame outside of this package."""
    frame = sys._getframe(2)
    while frame.f_code.co_filename.startswith(_PACKAGE):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return frame.f_code, frame.f_lineno


class Operation:
    """A node: a name, an op, inputs, attributes, and the device that was asked for.

    Made by `build.build` only. Attributes are plain values: int, float, bool, bytes, DType,
    TensorShape, ndarray (a tensor), or a list of such.
    """

    __slots__ = (
        "__weakref__", "_attrs", "_context", "_control_inputs", "_device", "_id", "_site", "graph",
        "inputs", "name", "op_def", "outputs", "type",
    )  # fmt: skip

    def __init__(
        self,
        graph: OwnGraph,
        name: str,
        op_def: OpDef,
        inputs: tuple[Tensor, ...],
        attrs: dict[str, AttrValue],
        control_inputs: list[Operation],
        device: str,
    ) -> None:
        self.graph = graph
        self.name = name
        self.op_def = op_def
        self.type = op_def.name
        self.inputs = inputs
        self.outputs: tuple[Tensor, ...] = ()
        self._attrs = attrs
        self._control_inputs = control_inputs
        self._device = device
        self._context: Any = None  # the `contexts.Context` that holds its outputs
        self._site = creation_site()
        self._id = 0  # which node of the graph it is, from 1 on, once it is in it

    @property
    def device(self) -> str:
        """Return the device that was asked for, canonical; "" if none was."""
        return self._device

    @property
    def control_inputs(self) -> list[Operation]:
        """Return the operations that run before this one without giving it a value."""
        return list(self._control_inputs)

    @property
    def node_def(self) -> pb.NodeDef:
        """Return this node as a NodeDef message."""
        proto: pb.NodeDef = _node_to_proto(self)
        return proto

    @property
    def created_at(self) -> str:
        """Return "file:line in function: source" of the user's line that made this node."""
        if self._site is None:
            return ""
        code, line = self._site
        source = linecache.getline(code.co_filename, line).strip()
        # a cell's file is named after a process, or a hash: nothing that tells a reader where
        is_cell = "ipykernel_" in code.co_filename or "<ipython-input-" in code.co_filename
        file = "notebook cell" if is_cell else code.co_filename
        return f"{file}:{line} in {code.co_name}" + (f": {source}" if source else "")

    @property
    def traceback(self) -> list[tuple[str, int, str, str]]:
        """Return [(file, line, function, source)] of the user's line that made this node."""
        if self._site is None:
            return []
        code, line = self._site
        source = linecache.getline(code.co_filename, line).strip()
        return [(code.co_filename, line, code.co_name, source)]

    def get_attr(self, name: str) -> AttrValue:
        """Return the value of the attribute `name`: shapes and tensors as messages, as there.

        Raises:
          ValueError: it has no such attribute; the message names those there are.
        """
        if name not in self._attrs:
            raise ValueError(
                f"node {self.name!r} ({self.type}) has no attribute {name!r}; it has "
                f"{sorted(self._attrs)}"
            )
        value = self._attrs[name]
        if isinstance(value, np.ndarray):
            return _attr_to_proto(value).tensor
        if isinstance(value, list) and value and isinstance(value[0], TensorShape):
            return [each.as_proto() for each in value]
        return value.as_proto() if isinstance(value, TensorShape) else value

    def colocation_groups(self) -> list[bytes]:
        """Return the groups this node shares its device with; its own if it names none."""
        groups = [each for each in self._attrs.get("_class", ()) if each.startswith(b"loc:@")]
        return groups or [f"loc:@{self.name}".encode()]

    def values(self) -> tuple[Tensor, ...]:
        """Return the outputs."""
        return self.outputs

    def run(
        self,
        feed_dict: Mapping[TensorLike, TensorLike] | None = None,
        session: DefaultSession | None = None,
    ) -> None:
        """Run this operation in `session`, or in the default session."""
        session_for(session, self.graph).run(self, feed_dict)

    @property
    def _inputs(self) -> list[Tensor]:
        return list(self.inputs)

    @property
    def _outputs(self) -> list[Tensor]:
        return list(self.outputs)

    def _set_attr(self, name: str, value: AttrValue) -> None:
        self._attrs[name] = value

    def _set_device(self, device: str) -> None:
        self._device = device

    _set_device_from_string = _set_device

    def _update_input(self, index: int, tensor: Tensor) -> None:
        """Let another tensor stand at an input: how a loop's `Merge` gets what comes round."""
        old = self.inputs[index]
        self.inputs = (*self.inputs[:index], tensor, *self.inputs[index + 1 :])
        if old not in self.inputs:
            old._consumers.remove(self)
        tensor._consumers.append(self)

    def _get_control_flow_context(self) -> OwnContext:
        return self._context

    def _add_control_input(self, operation: Operation) -> None:
        self._control_inputs.append(operation)

    def _add_control_inputs(self, operations: list[Operation]) -> None:
        self._control_inputs += operations

    def __str__(self) -> str:
        return str(self.node_def)

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"


# Python's operators, which build nodes; `==` stays identity, as in TensorFlow 1.x.
OPERATORS = (
    "__abs__", "__add__", "__and__", "__div__", "__floordiv__", "__ge__", "__gt__", "__invert__",
    "__le__", "__lt__", "__matmul__", "__mod__", "__mul__", "__neg__", "__or__", "__pow__",
    "__radd__", "__rand__", "__rdiv__", "__rfloordiv__", "__rmatmul__", "__rmod__", "__rmul__",
    "__ror__", "__rpow__", "__rsub__", "__rtruediv__", "__rxor__", "__sub__", "__truediv__",
    "__xor__",
)  # fmt: skip


@lazy.supplied_by("tfdist.ops.math.operators", *OPERATORS)
@lazy.supplied_by("tfdist.ops.array.indexing", "__getitem__")
class Tensor:
    """One output of an operation: a symbol that a session gives a value.

    Compares and hashes by identity; `bool(tensor)` is an error.
    """

    # A dict as well: programs note on tensors what they know of them, as `aliases` of layers.
    __slots__ = ("__dict__", "__weakref__", "_consumers", "_shape", "dtype", "op", "value_index")
    __array_priority__ = 100  # NumPy leaves `array + tensor` to us
    # What a class that stands for a tensor hands on: libraries go through it.
    OVERLOADABLE_OPERATORS = {*OPERATORS, "__eq__", "__getitem__", "__ne__"}  # noqa: RUF012

    def __init__(self, op: Operation, value_index: int, dtype: DType, shape: Shape) -> None:
        self.op = op
        self.value_index = value_index
        self.dtype = dtype
        self._shape = shape
        self._consumers: list[Operation] = []

    @property
    def name(self) -> str:
        """Return "NODE:INDEX"."""
        return f"{self.op.name}:{self.value_index}"

    @property
    def graph(self) -> OwnGraph:
        """Return the graph that holds this tensor."""
        return self.op.graph

    @property
    def device(self) -> str:
        """Return the device that was asked for; "" if none was."""
        return self.op.device

    @property
    def shape(self) -> TensorShape:
        """Return what is known of the shape."""
        return TensorShape(self._shape)

    @property
    def plain_shape(self) -> Shape:
        """Return what is known of the shape, as a plain tuple or None."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """Return what is known of the shape."""
        return TensorShape(self._shape)

    def set_shape(self, shape: ShapeLike) -> None:
        """Add what is known of the shape; ValueError if it contradicts what was known."""
        try:
            self._shape = shapes.merge(self._shape, as_shape(shape), self.name)
        except InvalidArgumentError as error:
            raise ValueError(error.message) from None

    def consumers(self) -> list[Operation]:
        """Return the operations that take this tensor."""
        return list(self._consumers)

    def eval(
        self,
        feed_dict: Mapping[TensorLike, TensorLike] | None = None,
        session: DefaultSession | None = None,
    ) -> TensorValue:
        """Return this tensor's value in `session`, or in the default session."""
        return session_for(session, self.graph).run(self, feed_dict)

    def _as_tensor(self, as_ref: bool) -> Tensor:
        return self

    def _as_tf_output(self) -> Tensor:  # what pywrap_tensorflow's functions take for it
        return self

    def __iter__(self) -> Iterator[Tensor]:
        raise OperatorNotAllowedInGraphError(
            "iterating over `tf.Tensor` is not allowed in Graph execution: Tensor objects are only "
            f"iterable when eager execution is enabled, and {self!r} is a symbol without a value; "
            "tf.unstack splits a tensor of known length, tf.map_fn goes over one of any length"
        )

    def __len__(self) -> NoReturn:
        raise TypeError(
            f"len is not well defined for symbolic Tensors. ({self.name}) Please call `x.shape` "
            "rather than `len(x)` for shape information."
        )

    def __bool__(self) -> NoReturn:
        raise OperatorNotAllowedInGraphError(
            "using a `tf.Tensor` as a Python `bool` is not allowed in Graph execution: "
            f"{self!r} is a symbol without "
            "a value; tf.cond chooses by its value when it runs, `if t is not None:` tests whether "
            "a tensor is there"
        )

    __nonzero__ = __bool__  # Python 2's name

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Return an array that holds this tensor: an element of `np.array([tensor, other])`.

        NumPy asks for an array of a type, or for a copy, where it wants numbers.

        Raises:
          NotImplementedError: numbers are wanted.
        """
        if copy or dtype not in (None, np.dtype(object)):
            self._refuse_numpy()
        holder = np.empty((), object)
        holder[()] = self
        return holder

    def __array_function__(self, *_: object) -> NoReturn:
        self._refuse_numpy()

    def _refuse_numpy(self) -> NoReturn:
        raise NotImplementedError(
            f"Cannot convert a symbolic Tensor to a NumPy array: {self!r} has no value before it "
            "runs; session.run(tensor) gives it"
        )

    def __str__(self) -> str:
        known = "" if self._shape is None else f", shape={shapes.show(self._shape)}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{known}, dtype={self.dtype.name}{device})'

    def __repr__(self) -> str:
        return f"<tf.Tensor {self.name!r} shape={shapes.show(self._shape)} dtype={self.dtype.name}>"
