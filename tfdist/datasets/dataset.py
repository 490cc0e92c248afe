"""`tf.data.Dataset`: a pipeline of elements, as a tensor of the graph.

Source: TF 1.15 API documentation, tf.data.Dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.datasets import (
    batching,
    iterators,
    list_files,
    mapping,
    sources,
    structure,
    take_skip_repeat,
)
from tfdist.datasets.options import Options
from tfdist.graph.operation import Tensor


class Dataset(structure.Structured):
    """A pipeline of elements; each method adds a stage and returns the longer pipeline.

    Elements are tensors, or nested tuples and dicts of them. A function that a stage applies is
    traced into a function of the graph; a tuple comes to it as several arguments.

    Args:
      variant_tensor: the pipeline's tensor.
      structure: of the elements; see `structure`.
      options: what its makers said with `with_options`.

    Example:
      >>> pipeline = Dataset.from_tensor_slices([1, 2, 3, 4]).map(lambda x: x * x).batch(3)
      >>> element = pipeline.make_one_shot_iterator().get_next()
      >>> with Session() as session:
      ...     print(session.run(element), session.run(element))
      [1 4 9] [16]
    """

    def __init__(
        self, variant_tensor: Tensor, structure: Any, options: Options | None = None
    ) -> None:
        self._variant_tensor, self._structure = variant_tensor, structure
        self._options = options or Options()

    # where elements come from

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """Return a dataset of one element."""
        return sources.from_tensors(tensors)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """Return a dataset of the slices of tensors along their first axes.

        Raises:
          ValueError: a tensor is a scalar, or their first dimensions differ.
        """
        return sources.from_tensor_slices(tensors)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: Any) -> Dataset:
        """Return a dataset of indices, values and shape of each row of a SparseTensor."""
        return sources.from_sparse_tensor_slices(sparse_tensor)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any,
        output_shapes: Any = None,
        args: Any = None,
    ) -> Dataset:
        """Return a dataset of what a Python generator yields.

        It runs in this process only, as `py_func` does.

        Args:
          generator: a function that returns something to iterate over.
          output_types: structure of the elements' types.
          output_shapes: of their shapes.
          args: tensors whose values the function gets.

        Raises:
          TypeError: `generator` cannot be called.
        """
        return sources.from_generator(generator, output_types, output_shapes, args)

    @staticmethod
    def from_dask(
        collection: Any,
        shards: int | Sequence[str] = 1,
        index: int = 0,
        whole_partitions: bool = False,
        client: Any = None,
    ) -> Dataset:
        """Return a dataset of what a Dask collection holds (not in TensorFlow).

        The collection is computed on Dask's workers and stays there; the process that runs the
        dataset fetches each partition from the worker that holds it, never through this one. This
        process has to stay: with it the partitions are gone.

        Args:
          collection: a Dask array, whose elements here are its rows; a dataframe, whose rows are
            dicts of scalars; a series; or a bag, whose items are numbers, strings and arrays, in
            tuples and dicts, of one shape each.
          shards: among how many datasets the partitions are dealt out; or for each of them the
            address of a Dask worker: those it holds are its own, as far as all get equally many.
          index: which of these this one is.
          whole_partitions: whether an element is a partition, with all its rows, instead of one.
          client: of dask.distributed; by default the current one.

        Raises:
          MissingExtra: dask.distributed is not installed.
          TypeError: `collection` is none of these.
          ValueError: no tensor can have its type; there is no such shard, or no client.
        """
        from tfdist.datasets import dask

        return dask.from_dask(collection, shards, index, whole_partitions, client)

    @staticmethod
    def range(*args: Any) -> Dataset:
        """Return a dataset of int64 numbers: `range(stop)`, `range(start, stop[, step])`."""
        return sources.from_range(args)

    @staticmethod
    def list_files(file_pattern: Any, shuffle: bool | None = None, seed: Any = None) -> Dataset:
        """Return a dataset of the names of files that fit patterns.

        Args:
          file_pattern: a pattern, or several.
          shuffle: whether they come in random order, as by default.
          seed: of that order.
        """
        return list_files.list_files(file_pattern, shuffle, seed)

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """Return a dataset of elements side by side; it ends with the shortest of `datasets`.

        Args:
          datasets: a structure with datasets as leaves.
        """
        return take_skip_repeat.zipped(datasets)

    # which elements, in which order

    def concatenate(self, dataset: Dataset) -> Dataset:
        """Return these elements, and then those of `dataset`; TypeError if it is none."""
        if not isinstance(dataset, Dataset):
            raise TypeError(f"a Dataset is concatenated with another one, not with {dataset!r}")
        return take_skip_repeat.concatenate(self, dataset)

    def prefetch(self, buffer_size: Any) -> Dataset:
        """Return the same elements; a thread makes some ahead if making them is mostly waiting."""
        return take_skip_repeat.prefetch(self, buffer_size)

    def repeat(self, count: Any = None) -> Dataset:
        """Return the elements `count` times, without end if that is None or -1."""
        return take_skip_repeat.repeat(self, count)

    def enumerate(self, start: Any = 0) -> Dataset:
        """Return pairs of a number, from `start` on, and an element."""
        return take_skip_repeat.enumerated(self, start)

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = None
    ) -> Dataset:
        """Return the elements in random order.

        Args:
          buffer_size: how many elements wait to be drawn from.
          seed: makes the order repeatable.
          reshuffle_each_iteration: whether each epoch has another order, as by default.
        """
        return take_skip_repeat.shuffle(self, buffer_size, seed, reshuffle_each_iteration)

    def cache(self, filename: Any = "") -> Dataset:
        """Return the same elements, kept once all of them have come.

        Args:
          filename: how the names of files begin that keep them for later runs too; in memory if "".
        """
        return take_skip_repeat.cache(self, filename)

    def take(self, count: Any) -> Dataset:
        """Return the first `count` elements, all if that is -1."""
        return take_skip_repeat.take(self, count)

    def skip(self, count: Any) -> Dataset:
        """Return all but the first `count` elements."""
        return take_skip_repeat.skip(self, count)

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Return every `num_shards`-th element, from the one at `index` on."""
        return take_skip_repeat.shard(self, num_shards, index)

    # several elements as one

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Dataset:
        """Return batches: each tensor has the batch as a new first axis.

        Args:
          batch_size: number of elements in each.
          drop_remainder: whether a last smaller batch is left out.
        """
        return batching.batch(self, batch_size, drop_remainder)

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any,
        padding_values: Any = None,
        drop_remainder: Any = False,
    ) -> Dataset:
        """Return batches of elements whose shapes differ.

        Args:
          batch_size: number of elements in each.
          padded_shapes: structure of the shapes to pad to; None or -1 stands for the largest
            dimension in the batch.
          padding_values: structure of scalars; 0 and "" if None.
          drop_remainder: whether a last smaller batch is left out.
        """
        return batching.padded_batch(
            self, batch_size, padded_shapes, padding_values, drop_remainder
        )

    def unbatch(self) -> Dataset:
        """Return the slices of each element as elements."""
        return batching.unbatch(self)

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False
    ) -> Dataset:
        """Return datasets of `size` elements each.

        Args:
          size: number of elements in each.
          shift: from the first element of one to that of the next; `size` if None.
          stride: from one element of a window to the next.
          drop_remainder: whether smaller windows at the end are left out.
        """
        return batching.window(self, size, shift, stride, drop_remainder)

    # functions of elements

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        num_threads: Any = None,
        output_buffer_size: Any = None,
    ) -> Dataset:
        """Return what a function makes of each element, in their order.

        Args:
          map_func: takes tensors, returns tensors.
          num_parallel_calls: how many calls may run at a time; they do if they mostly wait.
          num_threads: the same, as TensorFlow 1.2 called it.
          output_buffer_size: accepted.
        """
        return mapping.mapped(self, map_func, num_parallel_calls or num_threads)

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """Return the elements of the datasets that a function makes of each element."""
        return mapping.flat_map(self, map_func)

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = -1,
        block_length: Any = 1,
        num_parallel_calls: Any = None,
    ) -> Dataset:
        """Return elements in turn from the datasets that a function makes of each element.

        Args:
          map_func: takes tensors, returns a dataset.
          cycle_length: number of datasets that are open at a time.
          block_length: number of elements that one gives in a row.
          num_parallel_calls: if given, threads read ahead where reading is mostly waiting.
        """
        return mapping.interleave(self, map_func, cycle_length, block_length, num_parallel_calls)

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """Return the elements for which a function gives True."""
        return mapping.filtered(self, predicate)

    map_with_legacy_function = map
    filter_with_legacy_function = filter

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """Return the last state: a function makes the next one of a state and an element.

        Raises:
          TypeError: the function's results have other types than the state.
        """
        return mapping.reduced(self, initial_state, reduce_func)

    def apply(self, transformation_func: Callable[[Any], Any]) -> Any:
        """Return what a function makes of this dataset; TypeError if that is no dataset."""
        found = transformation_func(self)
        if not isinstance(found, Dataset):
            raise TypeError(f"`transformation_func` must return a Dataset. Got {found}.")
        return found

    # options and iterators

    def options(self) -> Options:
        """Return what `with_options` said."""
        return self._options

    def with_options(self, options: Options) -> Dataset:
        """Return the same elements, with options; TypeError if they are none."""
        if not isinstance(options, Options):
            raise TypeError(f"options are tf.data.Options, not {options!r}")
        merged = self._options.merge(options)
        return Dataset(self._variant_tensor, self._structure, merged)

    def make_one_shot_iterator(self) -> iterators.Iterator:
        """Return an iterator that needs no initializer, and goes through the elements once.

        Raises:
          ValueError: the pipeline depends on a placeholder, a variable or other state.
        """
        return iterators.make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> iterators.Iterator:
        """Return an iterator whose `initializer` begins the elements.

        Args:
          shared_name: by which other sessions of the same server find it.
        """
        return iterators.make_initializable_iterator(self, shared_name)

    def __iter__(self) -> Any:
        raise RuntimeError(
            "__iter__() is only supported inside of tf.function or when eager execution is enabled."
        )

    def _with(self, variant_tensor: Tensor, structure: Any, *others: Dataset) -> Dataset:
        """Return a dataset that continues this one, and others."""
        options = self._options
        for other in others:
            options = options.merge(other._options)
        return Dataset(variant_tensor, structure, options)

    def __repr__(self) -> str:
        shapes = structure.show(structure.map_leaves(_show_shape, self._structure))
        types = structure.show(structure.map_leaves(_show_type, self._structure))
        return f"<{type(self).__name__} shapes: {shapes}, types: {types}>"


def _show_shape(spec: Any) -> str:
    return str(getattr(spec, "shape", TensorShape([]))) if hasattr(spec, "dtype") else repr(spec)


def _show_type(spec: Any) -> str:
    return repr(getattr(spec, "dtype", dtypes.variant)) if hasattr(spec, "dtype") else repr(spec)
