"""PartitionedVariable: a variable in several parts, which may be on several servers.

The parts are variables `NAME/part_0`, `NAME/part_1` and so on, slices of the whole along one axis.
Where a tensor is wanted they are joined (`NAME/ConcatPartitions`). A checkpoint has the whole,
under its own name: see `save_slice_info`.

Source: TF 1.15 API documentation, tf.get_variable, tf.create_partitioned_variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.split import split
from tfdist.ops.variables.save_slice_info import SaveSliceInfo

Plain = list[int]  # a shape, or an offset


class PartitionInfo:
    """What an initializer is told of the part that it makes.

    Args:
      full_shape: of the whole.
      var_offset: where the part begins, along each axis.

    Raises:
      ValueError: they have different lengths, or the part begins outside of the whole.
    """

    def __init__(self, full_shape: Sequence[int], var_offset: Sequence[int]) -> None:
        self.full_shape, self.var_offset = list(full_shape), list(var_offset)
        for offset, dim in zip(self.var_offset, self.full_shape, strict=True):
            if not 0 <= offset < dim:
                raise ValueError(
                    f"Expected 0 <= offset < shape but found offset={offset}, shape={dim} for "
                    f"var_offset={self.var_offset}, full_shape={self.full_shape}; there cannot be "
                    "more parts than rows"
                )

    def single_offset(self, shape: Sequence[int]) -> int:
        """Return where a part of `shape` begins along the axis that is split; 0 if none is."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """Return the axis along which a part of `shape` differs from the whole; None if none does.

        Raises:
          ValueError: it differs along several axes.
        """
        if len(shape) != len(self.full_shape):
            raise ValueError(f"a part of shape {list(shape)} is of a whole of {self.full_shape}")
        differing = [i for i, dim in enumerate(shape) if int(dim) != self.full_shape[i]]
        if len(differing) > 1:
            raise ValueError(
                f"a part of shape {list(shape)} differs from {self.full_shape} along several axes"
            )
        return differing[0] if differing else None


class PartitionedVariable:
    """A variable in parts; a tensor of the whole wherever a tensor is wanted.

    Made by `tf.get_variable` with a partitioner. Iterating over it gives the parts.

    Args:
      name: of the whole.
      shape: of the whole.
      dtype: of the values.
      variable_list: the parts, in order.
      partitions: into how many parts each axis is split.
    """

    def __init__(
        self,
        name: str,
        shape: Any,
        dtype: Any,
        variable_list: Sequence[Any],
        partitions: Sequence[int],
    ) -> None:
        self._name, self._shape = name, TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._variable_list, self._partitions = list(variable_list), list(partitions)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        return len(self._variable_list)

    @property
    def name(self) -> str:
        """Return the name of the whole; no node has it."""
        return self._name

    @property
    def dtype(self) -> DType:
        """Return the type of the values."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """Return the shape of the whole."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """Return the shape of the whole."""
        return self._shape

    def _get_variable_list(self) -> list[Any]:
        return self._variable_list

    def _get_partitions(self) -> list[int]:
        return self._partitions

    def _partition_axes(self) -> list[int]:
        """Return the axes that are split; the first one if none is."""
        return [i for i, count in enumerate(self._partitions) if count > 1] or [0]

    def checked(self, shape: Any, dtype: DType, partitioner: Any) -> PartitionedVariable:
        """Return itself, if that is what is asked for.

        Raises:
          ValueError: it has another shape or type, or other parts.
        """
        wanted = TensorShape(shape)
        if not self._shape.is_compatible_with(wanted):
            raise ValueError(
                f"Trying to reuse partitioned variable {self._name}, but specified shape {wanted} "
                f"and found shape {self._shape}."
            )
        if dtype is not self._dtype:
            raise ValueError(
                f"Trying to reuse partitioned variable {self._name}, but specified dtype "
                f"{dtype.name} and found dtype {self._dtype.name}."
            )
        if partitioner is not None:
            partitions = partitioned_by(partitioner, self._shape, dtype)[1]
            if partitions != self._partitions:
                raise ValueError(
                    f"Trying to reuse partitioned variable {self._name}, but specified partitions "
                    f"{partitions} and found partitions {self._partitions}."
                )
        return self

    # its value

    def as_tensor(self) -> Tensor:
        """Return a tensor of the whole, joined at the root of the graph."""
        with scopes.control_dependencies(None):
            return self._concat()

    def _concat(self) -> Tensor:
        (axis,) = self._partition_axes()
        with scopes.name_scope(f"{self._name}/ConcatPartitions/"):
            parts = self._variable_list
            whole = parts[0] if len(parts) == 1 else raw.ConcatV2(parts, axis, name="concat")
        with scopes.name_scope(None):
            tensor: Tensor = raw.Identity(whole, name=self._name)
        return tensor

    def _as_tensor(self, as_ref: bool) -> Tensor:
        return self.as_tensor()

    # what changes it

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:
        """Return, for each part, what sets it to its slice of `value`, or to that part of a list.

        Args:
          value: tensor of the whole, or a list of values for the parts.
          use_locking: as for `tf.Variable.assign`, and so are the following.
          name: of the nodes.
          read_value: whether to give the parts after the change, or the operations.

        Raises:
          AssertionError: a list has not as many values as there are parts.
        """
        return self._change("assign", value, use_locking, name, read_value)

    def assign_add(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:
        """Return, for each part, what adds its slice of `value`; see `assign`."""
        return self._change("assign_add", value, use_locking, name, read_value)

    def assign_sub(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:
        """Return, for each part, what subtracts its slice of `value`; see `assign`."""
        return self._change("assign_sub", value, use_locking, name, read_value)

    def _change(
        self, how: str, value: Any, use_locking: bool, name: str | None, read_value: bool
    ) -> list[Any]:
        changed = [
            getattr(part, how)(part_value, use_locking=use_locking, name=name)
            for part, part_value in zip(self._variable_list, self._slices(value), strict=True)
        ]
        return changed if read_value else [each.op for each in changed]

    def _slices(self, value: Any) -> list[Any]:
        """Return the slice of `value` for each part."""
        if isinstance(value, list):
            if len(value) != len(self._variable_list):
                raise AssertionError(
                    f"{len(value)} values for the {len(self._variable_list)} parts of {self._name}"
                )
            return value
        (axis,) = self._partition_axes()
        sizes = convert_to_tensor([int(part.shape[axis]) for part in self._variable_list])
        return split(value, sizes, axis)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return (
            f"<tf.PartitionedVariable {self._name!r} shape={self._shape} dtype={self._dtype.name} "
            f"in {len(self)} parts>"
        )


def partitioned_by(partitioner: Any, shape: Any, dtype: DType) -> tuple[Plain, list[int]]:
    """Return a shape as a list, and into how many parts a partitioner splits each axis.

    Raises:
      ValueError: the shape is not fully known, or what the partitioner gives is no list of positive
        numbers, one an axis, of which one is above 1 at most.
    """
    whole = TensorShape(shape)
    if not whole.is_fully_defined():
        raise ValueError(
            "Shape of a new partitioned variable must be fully defined, but instead was "
            f"{whole}; an initial value that is no tensor needs one, too"
        )
    partitions = partitioner(shape=whole, dtype=dtype)
    return [int(dim) for dim in whole], _checked_partitions(partitions, whole)


def _checked_partitions(partitions: Any, shape: TensorShape) -> list[int]:
    if not isinstance(partitions, Sequence) or isinstance(partitions, str):
        raise ValueError(f"Partitioner must return a sequence, but saw: {partitions}")
    if len(partitions) != shape.ndims:
        raise ValueError(
            "Partitioner returned a partition list that does not match the Variable's rank: "
            f"{partitions} vs. {shape}; one number an axis is wanted"
        )
    if any(count < 1 for count in partitions):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {partitions}")
    if sum(count > 1 for count in partitions) > 1:
        raise ValueError(
            f"Can only slice a variable along one dimension: shape: {shape}, partitioning: "
            f"{partitions}"
        )
    return list(partitions)


def slices(shape: Plain, partitions: list[int]) -> Iterator[tuple[Plain, Plain]]:
    """Yield offset and shape of each part; the first ones are longer by one where needed."""
    axis = next((i for i, count in enumerate(partitions) if count > 1), 0)
    length, longer = divmod(shape[axis], partitions[axis])
    begin = 0
    for number in range(partitions[axis]):
        end = begin + length + (number < longer)
        offset = [0] * len(shape)
        offset[axis] = begin
        yield offset, [*shape[:axis], end - begin, *shape[axis + 1 :]]
        begin = end


def made_in_parts(
    name: str, shape: Plain, dtype: DType, partitions: list[int], initializer: Any,
    make: Callable[[str, Plain | None, Any], Any],
) -> PartitionedVariable:  # fmt: skip
    """Return a variable whose parts `make` makes or finds.

    Args:
      name: of the whole.
      shape: of the whole.
      dtype: of the values.
      partitions: into how many parts each axis is split.
      initializer: a function as `tf.get_variable` takes them, which is told of each part, or a
        tensor of the whole.
      make: from the name of a part, its shape (None if the value has it) and its initializer.
    """
    parts = []
    for number, (offset, part_shape) in enumerate(slices(shape, partitions)):
        info = PartitionInfo(shape, offset)
        part_name = f"{name}/part_{number}"
        if callable(initializer):
            part = make(part_name, part_shape, _told(initializer, info))
        else:
            part = make(part_name, None, _slice(initializer, part_name, offset, part_shape))
        part._set_save_slice_info(SaveSliceInfo(name, shape, offset, part_shape))
        parts.append(part)
    return PartitionedVariable(name, shape, dtype, parts, partitions)


def _told(initializer: Callable[..., Any], info: PartitionInfo) -> Callable[..., Any]:
    return lambda shape, dtype: initializer(shape, dtype=dtype, partition_info=info)


def _slice(value: Any, name: str, offset: Plain, shape: Plain) -> Tensor:
    with scopes.name_scope(f"{name}/PartitionedInitializer/"):
        tensor: Tensor = raw.Slice(convert_to_tensor(value), offset, shape, name="Slice")
    return tensor
