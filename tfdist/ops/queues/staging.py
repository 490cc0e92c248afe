"""`tf.contrib.staging`: small buffers on a device, by which stages of a graph run side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.control_flow.identity_group import no_op
from tfdist.ops.queues import staging_ops

__all__: list[str] = []  # api.contrib has its names


class BaseStagingArea:
    """What both kinds of staging areas can do; made by a subclass.

    Args:
      dtypes: list of the components' types.
      shapes: list of the components' shapes, None if they are not known.
      names: list of the components' names, by which elements are dicts; or None.
      shared_name: name by which other sessions on the same server find it; by default one that
        no other staging area of the graph has.
      capacity: how many elements it holds at most; 0 if there is no bound.
      memory_limit: how many bytes; 0 if there is no bound.

    Raises:
      ValueError: there are not as many shapes or names as types.
    """

    def __init__(
        self,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        graph = scopes.get_default_graph()
        self._name = shared_name or graph.unique_name(type(self).__name__)
        self._dtypes = _types(dtypes)
        if shapes is not None and len(shapes) != len(self._dtypes):
            raise ValueError("StagingArea shapes must be the same length as dtypes")
        self._shapes = [TensorShape(each) for each in shapes or [None] * len(self._dtypes)]
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._names = names
        self._capacity, self._memory_limit = capacity, memory_limit
        with scopes.name_scope(f"{self._name}_root"):
            self._root = no_op()

    @property
    def name(self) -> str:
        """Return the name by which it is found."""
        return self._name

    @property
    def dtypes(self) -> list[Any]:
        """Return the types of the components."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """Return the shapes of the components."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """Return the names of the components, None if they have none."""
        return self._names

    @property
    def capacity(self) -> int:
        """Return how many elements it holds at most; 0 if there is no bound."""
        return self._capacity

    @property
    def memory_limit(self) -> int:
        """Return how many bytes it holds at most; 0 if there is no bound."""
        return self._memory_limit

    def _add(self, op: OpDef, *inputs: Any, name: str | None, suffix: str) -> Any:
        """Return what a new node of an op on this staging area gives."""
        return op(
            *inputs,
            dtypes=self._dtypes,
            capacity=self._capacity,
            memory_limit=self._memory_limit,
            shared_name=self._name,
            name=name or f"{self._name}_{suffix}",
        )

    def _values(self, vals: Any, indices: Sequence[int] | None) -> tuple[list[Any], list[int]]:
        """Return components, as tensors, and where they belong."""
        if isinstance(vals, dict):
            values, places = self._by_names(vals)
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a staging area with names")
        else:
            values = list(vals) if isinstance(vals, list | tuple) else [vals]
            places = list(range(len(values))) if indices is None else list(indices)
        if len(places) != len(values):
            raise ValueError(f"Values and indices are not as many: {len(values)}, {len(places)}")
        pairs = zip(values, places, strict=True)
        return [self._component(value, place) for value, place in pairs], places

    def _by_names(self, vals: dict[str, Any]) -> tuple[list[Any], list[int]]:
        if not self._names:
            raise ValueError("Staging areas must have names to enqueue a dictionary")
        if not set(vals) <= set(self._names):
            raise ValueError(
                "Keys in dictionary to put do not match names of staging area. Dictionary: "
                f"({sorted(vals)}), Queue: ({sorted(self._names)})"
            )
        places = [i for i, name in enumerate(self._names) if name in vals]
        return [vals[self._names[i]] for i in places], places

    def _component(self, value: Any, place: int) -> Tensor:
        dtype = self._dtypes[place]
        if not hasattr(value, "_as_tensor"):
            value = convert.convert_to_tensor(value, dtype)
        if value.dtype.base_dtype != dtype:
            raise ValueError(f"Datatypes do not match. {value.dtype!r} != {dtype!r}")
        value.shape.assert_is_compatible_with(self._shapes[place])
        tensor: Tensor = value
        return tensor

    def _element(self, outputs: Sequence[Tensor], places: Sequence[int]) -> Any:
        no_op()  # TensorFlow's graphs have it, too
        for output, place in zip(outputs, places, strict=True):
            output.set_shape(self._shapes[place])
        if self._names:
            return {self._names[i]: each for i, each in zip(places, outputs, strict=True)}
        return list(outputs)


def _types(listed: Any) -> list[Any]:
    every = listed if isinstance(listed, list | tuple) else [listed]
    return [dtypes.as_dtype(each) for each in every]


class StagingArea(BaseStagingArea):
    """A buffer whose elements leave in the order in which they came; see `BaseStagingArea`.

    Example:
      >>> import tfdist as tf
      >>> area = tf.contrib.staging.StagingArea([tf.float32], shapes=[[]])
      >>> put, get, session = area.put([tf.constant(2.0)]), area.get(), tf.Session()
      >>> session.run(put)
      >>> session.run(get)
      [np.float32(2.0)]
    """

    def put(self, values: Any, name: str | None = None) -> Operation:
        """Return an op that puts an element, waiting while there is no room.

        Args:
          values: the components: a list, one tensor, or a dict by names.
          name: of the node.

        Raises:
          ValueError: number, types or shapes of the components do not fit.
        """
        with scopes.colocate_with(self._root):
            tensors, _ = self._values(values, None)
            if len(tensors) != len(self._dtypes):
                raise ValueError(
                    f"Unexpected number of inputs {len(tensors)}, expected {len(self._dtypes)}"
                )
            op: Operation = self._add(staging_ops.STAGE, tensors, name=name, suffix="put")
        return op

    def get(self, name: str | None = None) -> Any:
        """Return the first element, waiting for it: a list, or a dict by names."""
        with scopes.colocate_with(self._root):
            outputs = self._add(staging_ops.UNSTAGE, name=name, suffix="get")
        return self._element(outputs, range(len(outputs)))

    def peek(self, index: Any, name: str | None = None) -> Any:
        """Return the element at `index`, which stays, waiting for it; as `get`."""
        with scopes.colocate_with(self._root):
            outputs = self._add(staging_ops.PEEK, index, name=name, suffix="peek")
        return self._element(outputs, range(len(outputs)))

    def size(self, name: str | None = None) -> Tensor:
        """Return an int32 tensor: the number of elements."""
        size: Tensor = self._add(staging_ops.SIZE, name=name, suffix="size")
        return size

    def clear(self, name: str | None = None) -> Operation:
        """Return an op that forgets all elements."""
        op: Operation = self._add(staging_ops.CLEAR, name=name, suffix="clear")
        return op


class MapStagingArea(BaseStagingArea):
    """A buffer whose elements have keys, and may come and leave in parts.

    Args:
      dtypes: as for `StagingArea`, and so are the following.
      shapes: the components'.
      names: the components'.
      shared_name: by which it is found.
      ordered: whether `get` without a key gives the least one.
      capacity: how many elements it holds at most; 0 if there is no bound.
      memory_limit: how many bytes; 0 if there is no bound.
    """

    def __init__(
        self,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        ordered: bool = False,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._kind = bool(ordered)

    def put(self, key: Any, vals: Any, indices: Any = None, name: str | None = None) -> Operation:
        """Return an op that puts components of the element of a key, waiting for room.

        Args:
          key: int64 scalar.
          vals: components: a list or tuple, one tensor, or a dict by names.
          indices: where those of a list belong.
          name: of the node.

        Raises:
          ValueError: it is a list without indices, or types or shapes do not fit.
          InvalidArgumentError: when it runs and such a component is there already.
        """
        if isinstance(vals, list | tuple) and indices is None:
            raise ValueError("Indices must be supplied when inserting a list of tensors")
        with scopes.colocate_with(self._root):
            tensors, places = self._values(vals, indices)
            op: Operation = self._add(
                staging_ops.MAP_STAGE[self._kind], key, places, tensors, name=name, suffix="put"
            )
        return op

    def get(self, key: Any = None, indices: Any = None, name: str | None = None) -> Any:
        """Return (key, components) of an element that is whole, waiting for it.

        Args:
          key: of the element; None for any.
          indices: of the components wanted; all by default, and others stay.
          name: of the node.
        """
        places = self._places(indices)
        with scopes.colocate_with(self._root):
            if key is None:
                key, *outputs = self._add(
                    staging_ops.MAP_UNSTAGE_ANY[self._kind], places, name=name, suffix="get_nokey"
                )
            else:
                outputs = self._add(
                    staging_ops.MAP_UNSTAGE[self._kind], key, places, name=name, suffix="get"
                )
        return key, self._element(outputs, places)

    def peek(self, key: Any, indices: Any = None, name: str | None = None) -> Any:
        """Return components of the element of a key, which stay; as `get` does."""
        places = self._places(indices)
        with scopes.colocate_with(self._root):
            outputs = self._add(
                staging_ops.MAP_PEEK[self._kind], key, places, name=name, suffix="pop"
            )
        return self._element(outputs, places)

    def _places(self, indices: Any) -> list[int]:
        if indices is None:
            return list(range(len(self._dtypes)))
        listed = indices if isinstance(indices, list | tuple) else [indices]
        return [(self._names or []).index(i) if isinstance(i, str) else i for i in listed]

    def size(self, name: str | None = None) -> Tensor:
        """Return an int32 tensor: the number of whole elements."""
        size: Tensor = self._add(staging_ops.MAP_SIZE[self._kind], name=name, suffix="size")
        return size

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """Return an int32 tensor: the number of elements that lack a component."""
        size: Tensor = self._add(
            staging_ops.MAP_INCOMPLETE_SIZE[self._kind], name=name, suffix="incomplete_size"
        )
        return size

    def clear(self, name: str | None = None) -> Operation:
        """Return an op that forgets all elements."""
        op: Operation = self._add(staging_ops.MAP_CLEAR[self._kind], name=name, suffix="clear")
        return op
