"""`TensorArray`: the public class around the ops of `element_ops`.

Source: TF 1.15 API documentation, tf.TensorArray.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import convert, scopes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.range import range as range_
from tfdist.ops.array.shape import shape as shape_
from tfdist.ops.tensor_array.element_ops import gradient_array

__all__ = ["TensorArray"]


class _Known:
    """What all TensorArrays of one handle know together.

    Attributes:
      element_shape: what is known of the shape of every element.
      infers: whether what is written adds to it.
      follows: whether what writes stands on the device of the first value that was written.
      first: the node of that value.
    """

    def __init__(self, element_shape: Shape, infers: bool, follows: bool) -> None:
        self.element_shape, self.infers, self.follows = element_shape, infers, follows
        self.first: Operation | None = None

    def learn(self, shape: Shape) -> None:
        """Add what a value tells of the shape; ValueError if it does not fit."""
        if not shapes.compatible(self.element_shape, shape):
            raise ValueError(
                f"Inconsistent shapes: saw {shapes.show(shape)} but expected "
                f"{shapes.show(self.element_shape)} (infer_shape=False allows elements of several "
                "shapes)"
            )
        if self.infers:
            self.element_shape = shapes.merge(self.element_shape, shape)

    def beside(self, value: Tensor) -> AbstractContextManager[None]:
        """Return the scope for a node that writes `value`."""
        if not self.follows:
            return nullcontext()
        self.first = self.first or value.op
        context: AbstractContextManager[None] = value.graph.colocate_with(self.first)
        return context


class TensorArray:
    """An array of tensors that are written once and read later, in a loop above all.

    It lives for one step. Each write gives a new TensorArray, which stands for the same array after
    that write; reads of it happen after all writes before. Gradients flow through.

    Args:
      dtype: of the elements.
      size: how many there are: an int, or a scalar tensor.
      dynamic_size: whether writing behind the last element makes the array longer.
      clear_after_read: whether an element is given up when it is read (the default): reading it
        again is an error then.
      tensor_array_name: for messages.
      handle: of an array that exists; then `flow` is needed and what describes a new one is not
        allowed.
      flow: what has to happen to that array before.
      infer_shape: whether all elements have one shape.
      element_shape: what is known of the elements' shapes.
      colocate_with_first_write_call: whether the array stands on the device of the first value that
        is written, whatever the scopes around it say.
      name: of the node.

    Raises:
      ValueError: neither or both of `size` and `handle` are given, or `handle` without `flow`.

    Example:
      >>> array = TensorArray("float32", size=2)
      >>> array = array.write(0, [1.0, 2.0]).write(1, [3.0, 4.0])
      >>> Session().run(array.stack())
      array([[1., 2.],
             [3., 4.]], dtype=float32)
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = bool(dynamic_size)
        shape = None if element_shape is None else TensorShape(element_shape).as_tuple()
        self._known = _Known(shape, infer_shape, colocate_with_first_write_call)
        if handle is None:
            self._handle, self._flow = self._make(size, clear_after_read, tensor_array_name, name)
            return
        _check_alone(
            size=size,
            dynamic_size=dynamic_size,
            clear_after_read=clear_after_read,
            tensor_array_name=tensor_array_name,
            element_shape=element_shape,
        )
        if flow is None:
            raise ValueError("flow must be given with handle: it says what has to happen before")
        with scopes.name_scope(name, "TensorArray", [handle]):
            self._handle, self._flow = handle, flow

    def _make(
        self, size: Any, clear_after_read: bool | None, array_name: str | None, name: str | None
    ) -> list[Tensor]:
        """Return handle and flow of a new array."""
        if size is None:
            raise ValueError("Size must be given if no handle is")
        with scopes.name_scope(name, "TensorArray", [size]) as scope, self._anywhere():
            made: list[Tensor] = raw.TensorArrayV3(
                size,
                dtype=self._dtype,
                element_shape=self._known.element_shape,
                dynamic_size=self._dynamic_size,
                clear_after_read=clear_after_read is None or clear_after_read,
                identical_element_shapes=self._known.infers,
                tensor_array_name=array_name or "",
                name=scope,
            )
        return made

    def _anywhere(self) -> AbstractContextManager[None]:
        """Return the scope for the array's node, which goes where the first write will be."""
        if self._known.follows:
            return scopes.colocate_with(None, ignore_existing=True)
        return nullcontext()

    @property
    def dtype(self) -> DType:
        """Return the type of the elements."""
        return self._dtype

    @property
    def handle(self) -> Tensor:
        """Return the tensor that stands for the array."""
        return self._handle

    @property
    def flow(self) -> Tensor:
        """Return the tensor that stands for what has happened to the array."""
        return self._flow

    @property
    def dynamic_size(self) -> bool:
        """Return whether writing behind the last element makes the array longer."""
        return self._dynamic_size

    @property
    def element_shape(self) -> TensorShape:
        """Return what is known of the shape of every element."""
        return TensorShape(self._known.element_shape)

    def identity(self) -> TensorArray:
        """Return the same array after the control dependencies around this call."""
        return with_flow(self, raw.Identity(self._flow, name="Identity"))

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        """Return the array of the gradients of this one's elements.

        What is written to one of its elements adds up; elements that nothing was written to are 0.

        Args:
          source: tells computations of gradients apart: each has an array of its own.
          flow: what has to happen before; by default all that this array stands for.
          name: of the nodes.
        """
        before = self._flow if flow is None else flow
        handle, flow = gradient_array(self._handle, before, source, name)
        known = _Known(self._known.element_shape, self._known.infers, follows=False)
        return self._changed(_handle=handle, _flow=flow, _known=known, _dynamic_size=False)

    def _changed(self, **state: Any) -> TensorArray:
        """Return a TensorArray like this one but for `state`."""
        made = object.__new__(TensorArray)
        made.__dict__.update(self.__dict__, **state)
        return made

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Return the array with `value` as element `index`.

        Raises:
          ValueError: the shape does not fit the other elements.
          InvalidArgumentError: when it runs and the element was set before, `index` is out of
            range, or the value is of another type or shape.
        """
        with scopes.name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = convert.convert_to_tensor(value, name="value", preferred_dtype=self._dtype)
            self._known.learn(value.plain_shape)
            with self._known.beside(value):
                flow = raw.TensorArrayWriteV3(self._handle, index, value, self._flow, name=name)
            return with_flow(self, flow)

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """Return element `index` (an int32 scalar); zeros if it was never written.

        Raises:
          InvalidArgumentError: when it runs and the element was given up by an earlier read, is out
            of range, or was never written and has no known shape.

        Example:
          >>> Session().run(TensorArray("int32", 2).unstack([5, 6]).read(1))
          np.int32(6)
        """
        value: Tensor = raw.TensorArrayReadV3(
            self._handle, index, self._flow, dtype=self._dtype, name=name
        )
        value.set_shape(self._known.element_shape)
        return value

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Return the array with the slices of `value` along its first axis as elements.

        Raises:
          ValueError: `value` is a scalar, or its slices do not fit the other elements.
          InvalidArgumentError: when it runs and an element was set before, or there are too many.
        """
        with scopes.name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            count = shape_(value)[0]  # type: ignore[index]
            return self.scatter(range_(0, count), value, name=name)

    def stack(self, name: str | None = None) -> Tensor:
        """Return all elements along a new first axis, as a tensor [size, ...].

        Raises:
          InvalidArgumentError: when it runs and elements differ in shape, or cannot be read.
          UnimplementedError: when it runs and there are no elements, of no known shape.
        """
        graph = self._handle.graph
        with graph.colocate_with(self._handle):
            with scopes.name_scope(name, "TensorArrayStack", [self._handle]):
                return self.gather(range_(0, self.size()), name=name)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Return the array with the slices of `value` along its first axis as elements `indices`.

        Raises:
          ValueError: `indices` is no vector with an index for each slice, or the slices do not fit
            the other elements.
          InvalidArgumentError: when it runs and an element was set before, or is out of range.

        Example:
          >>> array = TensorArray("int32", 3).scatter([2, 0], [[1, 2], [3, 4]])
          >>> Session().run([array.read(0), array.read(2)])
          [array([3, 4], dtype=int32), array([1, 2], dtype=int32)]
        """
        with scopes.name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = convert.convert_to_tensor(value, name="value", preferred_dtype=self._dtype)
            self._known.learn(value.shape[1:].as_tuple())
            with self._known.beside(value):
                flow = raw.TensorArrayScatterV3(self._handle, indices, value, self._flow, name=name)
            return with_flow(self, flow)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """Return the elements `indices`, an int32 vector, along a new first axis; see `stack`."""
        each = self._known.element_shape
        value: Tensor = raw.TensorArrayGatherV3(
            self._handle, indices, self._flow, dtype=self._dtype, element_shape=each, name=name
        )
        return value

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Return the array with pieces of `value` along its first axis as elements.

        Args:
          value: a vector at least.
          lengths: of the pieces, as many as the array has elements; they add up to the length of
            `value`.
          name: of the node.

        Raises:
          ValueError: `lengths` is no vector, or the pieces do not fit the other elements.
          InvalidArgumentError: when it runs and the lengths do not add up, or are too few or many.

        Example:
          >>> array = TensorArray("int32", 2, infer_shape=False).split([1, 2, 3], [1, 2])
          >>> Session().run([array.read(0), array.read(1)])
          [array([1], dtype=int32), array([2, 3], dtype=int32)]
        """
        with scopes.name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = convert.convert_to_tensor(value, self._dtype, "value")
            with self._known.beside(value):
                lengths = cast(lengths, dtypes.int64)
                self._known.learn(_piece_shape(value, lengths))
                flow = raw.TensorArraySplitV3(self._handle, value, lengths, self._flow, name=name)
            return with_flow(self, flow)

    def concat(self, name: str | None = None) -> Tensor:
        """Return all elements one after the other, along their first axis.

        Raises:
          InvalidArgumentError: when it runs and an element is a scalar, or other axes differ.

        Example: elements may differ in length.
          >>> array = TensorArray("int32", 2, infer_shape=False).write(0, [1]).write(1, [2, 3])
          >>> Session().run(array.concat())
          array([1, 2, 3], dtype=int32)
        """
        each = self._known.element_shape
        value: Tensor
        value, _ = raw.TensorArrayConcatV3(
            self._handle,
            self._flow,
            dtype=self._dtype,
            element_shape_except0=None if each is None else each[1:],
            name=name,
        )
        return value

    def size(self, name: str | None = None) -> Tensor:
        """Return an int32 tensor: the number of elements, written or not."""
        size: Tensor = raw.TensorArraySizeV3(self._handle, self._flow, name=name)
        return size

    def close(self, name: str | None = None) -> Operation:
        """Return an op that gives the elements up; at the end of a step that happens anyway."""
        op: Operation = raw.TensorArrayCloseV3(self._handle, name=name)
        return op

    pack, unpack = stack, unstack  # their names in the first releases

    def __repr__(self) -> str:
        shape = shapes.show(self._known.element_shape)
        return f"<tf.TensorArray {self._handle.op.name!r} shape={shape} dtype={self._dtype.name}>"


def with_flow(array: TensorArray, flow: Tensor) -> TensorArray:
    """Return a TensorArray for the same array after what `flow` stands for.

    What a loop needs: it carries `array.flow`, and makes an array of each flow it meets.
    """
    array.handle.graph.unique_name("TensorArray")  # TensorFlow uses a name up, which nobody sees
    return array._changed(_flow=flow)


def _check_alone(**described: Any) -> None:
    """Raise ValueError if something describes a new array where a handle is given."""
    for name, value in described.items():
        if value is not None:
            raise ValueError(f"Cannot provide both a handle and {name} at the same time")


def _piece_shape(value: Tensor, lengths: Tensor) -> Shape:
    """Return what is known of each piece's shape; something only if all are of one length."""
    known = constant_value(lengths)
    if value.plain_shape is None or known is None or known.ndim != 1 or len(set(known)) != 1:
        return None
    return (int(known[0]), *value.plain_shape[1:])
