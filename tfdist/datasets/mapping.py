"""Functions that are applied to elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import dtypes
from tfdist.datasets import inputs, structure
from tfdist.datasets.functions import TracedFunction
from tfdist.datasets.structure import DatasetSpec, TensorSpec
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope


def traced(dataset: Any, func: Callable[..., Any], label: str) -> TracedFunction:
    """Return a function of the elements of `dataset`."""
    return TracedFunction(func, label, dataset._structure)


def mapped(
    dataset: Any,
    func: Callable[..., Any],
    num_parallel_calls: Any,
    keeps: bool = False,
    inter_op: bool = True,
) -> Any:
    """See `Dataset.map`.

    Args:
      dataset: the elements.
      func: of each.
      num_parallel_calls: None for the op without it.
      keeps: its attribute `preserve_cardinality`.
      inter_op: its attribute `use_inter_op_parallelism`.
    """
    made = traced(dataset, func, "Dataset.map()")
    attrs: dict[str, Any] = structure.flat_attrs(made.structure)
    attrs |= {"f": made.function, "preserve_cardinality": keeps,
              "use_inter_op_parallelism": inter_op}  # fmt: skip
    given = dataset._variant_tensor, list(made.captured)
    if num_parallel_calls is None:
        return dataset._with(raw.MapDataset(*given, **attrs), made.structure)
    calls = convert_to_tensor(num_parallel_calls, dtypes.int32, name="num_parallel_calls")
    return dataset._with(raw.ParallelMapDataset(*given, calls, **attrs), made.structure)


def _inner(made: TracedFunction) -> Any:
    """Return the structure of the datasets that a function gives."""
    if not isinstance(made.structure, DatasetSpec):
        raise TypeError(f"`map_func` must return a `Dataset` object. Got {type(made.structure)}")
    return made.structure.structure


def flat_map(dataset: Any, func: Callable[..., Any]) -> Any:
    """See `Dataset.flat_map`."""
    made = traced(dataset, func, "Dataset.flat_map()")
    found = _inner(made)
    tensor = raw.FlatMapDataset(
        dataset._variant_tensor, list(made.captured), f=made.function, **structure.flat_attrs(found)
    )
    return dataset._with(tensor, found)


def interleave(
    dataset: Any, func: Callable[..., Any], cycle: Any, block: Any, num_parallel_calls: Any
) -> Any:
    """See `Dataset.interleave`."""
    made = traced(dataset, func, "Dataset.interleave()")
    found = _inner(made)
    given = [
        dataset._variant_tensor,
        list(made.captured),
        inputs.int64(1 if _is_minus_one(cycle) else cycle, "cycle_length"),
        inputs.int64(block, "block_length"),
    ]
    attrs: dict[str, Any] = {"f": made.function, **structure.flat_attrs(found)}
    if num_parallel_calls is None:
        return dataset._with(raw.InterleaveDataset(*given, **attrs), found)
    calls = inputs.int64(num_parallel_calls, "num_parallel_calls")
    return dataset._with(raw.ParallelInterleaveDatasetV2(*given, calls, **attrs), found)


def _is_minus_one(value: Any) -> bool:
    return isinstance(value, int) and value == -1


def parallel_interleave(
    dataset: Any, func: Callable[..., Any], cycle: Any, block: Any, sloppy: Any,
    buffer_output: Any, prefetch_input: Any,
) -> Any:  # fmt: skip
    """See `experimental.parallel_interleave`."""
    made = traced(dataset, func, "tf.data.experimental.parallel_interleave()")
    found = _inner(made)
    tensor = raw.ParallelInterleaveDataset(
        dataset._variant_tensor,
        list(made.captured),
        inputs.int64(cycle, "cycle_length"),
        inputs.int64(block, "block_length"),
        convert_to_tensor(bool(sloppy), dtypes.bool_, name="sloppy"),
        inputs.int64(2 * block if buffer_output is None else buffer_output,
                      "buffer_output_elements"),
        inputs.int64(2 * cycle if prefetch_input is None else prefetch_input,
                      "prefetch_input_elements"),
        f=made.function,
        **structure.flat_attrs(found),
    )  # fmt: skip
    return dataset._with(tensor, found)


def predicate(dataset: Any, func: Callable[..., Any], label: str) -> TracedFunction:
    """Return a function that tells of each element whether something holds.

    Raises:
      ValueError: it gives something else than one bool.
    """
    made = traced(dataset, func, label)
    spec = made.structure
    is_bool = isinstance(spec, TensorSpec) and spec.dtype is dtypes.bool_
    if not is_bool or not spec.shape.is_compatible_with([]):
        raise ValueError(
            f"`predicate` return type must be convertible to a scalar boolean tensor. Was {spec}."
        )
    return made


def filtered(dataset: Any, func: Callable[..., Any]) -> Any:
    """See `Dataset.filter`."""
    made = predicate(dataset, func, "Dataset.filter()")
    told = structure.flat_attrs(dataset._structure)
    tensor = raw.FilterDataset(
        dataset._variant_tensor, list(made.captured), predicate=made.function, **told
    )
    return dataset._with(tensor, dataset._structure)


def loosened(state: Any, trace: Callable[[Any], TracedFunction], part: Callable[[Any], Any]) -> Any:
    """Return a function that makes the next state of a state, and the structure of states.

    The function is traced again until what is known of the state's shapes holds of the next one.

    Args:
      state: what is known of the first state.
      trace: traces the function, given what is known of a state.
      part: of the function's results, what is the next state.

    Raises:
      TypeError: the next state has other types or another structure.
    """
    while True:
        made = trace(state)
        following = part(made.structure)
        try:
            structure.check_same(state, following, check_types=False)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"The element structure for the new state must match the initial state: {error}"
            ) from None
        pairs = list(zip(structure.flatten(state), structure.flatten(following), strict=True))
        for old, new in pairs:
            if old.dtype is not new.dtype:
                raise TypeError(
                    "The element types for the new state must match the initial state. Expected "
                    f"{structure.types_of(state)}; got {structure.types_of(following)}."
                )
        shapes = [structure.most_specific(old.shape, new.shape) for old, new in pairs]
        if all(
            repr(shape) == repr(old.shape) for shape, (old, _) in zip(shapes, pairs, strict=True)
        ):
            return made, state
        specs = [type(old)(shape, old.dtype) for shape, (old, _) in zip(shapes, pairs, strict=True)]
        state = structure.pack_as(state, specs)


def reduced(dataset: Any, initial_state: Any, func: Callable[..., Any]) -> Any:
    """See `Dataset.reduce`."""
    with name_scope("initial_state"):
        first = structure.normal(initial_state)
    known = structure.map_leaves(structure.spec_of, first)
    label = "tf.data.Dataset.reduce()"

    def trace(state: Any) -> TracedFunction:
        return TracedFunction(func, label, (state, dataset._structure))

    made, state = loosened(known, trace, lambda found: found)
    found = raw.ReduceDataset(
        dataset._variant_tensor,
        structure.tensors_of(first),
        list(made.captured),
        f=made.function,
        **structure.flat_attrs(state),
    )
    return structure.packed(state, found)
