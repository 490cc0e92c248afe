"""Batches of `SequenceExample`s, as they stand in the bytes, to arrays.

Their context is taken as an `Example`; a feature list is a list of features in bytes, one for each
step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfdist.base.dtypes import DType
from tfdist.errors import InvalidArgumentError
from tfdist.formats.examples import Dense, Sparse, check_message, joined, places
from tfdist.formats.features import WORDS, OtherTypeError, stacked, values
from tfdist.protos import pb


class Sequences:
    """The messages of a batch, and the words of their errors.

    Args:
      serialized: at least one.
      names: of the examples, for messages; empty if they have none.

    Raises:
      InvalidArgumentError: one is no SequenceExample.
    """

    def __init__(self, serialized: Sequence[bytes], names: Sequence[bytes]) -> None:
        self._names = names
        self._messages = []
        for index, data in enumerate(serialized):
            try:
                self._messages.append(pb.RawSequenceExample.FromString(data))
            except Exception:  # protobuf's own class; told by the next line
                check_message(pb.RawSequenceExample, data, self.of(index), "sequence example")
                raise

    def __len__(self) -> int:
        return len(self._messages)

    def of(self, index: int) -> str:
        """Return the beginning of what is told of an example."""
        name = self._names[index].decode(errors="replace") if len(self._names) else "<unknown>"
        return f"Name: {name}, "

    def contexts(self) -> list[Any]:
        """Return, for each example, a mapping from names to features in bytes."""
        return [message.context.feature for message in self._messages]

    def lists(self, key: str) -> list[Sequence[bytes] | None]:
        """Return the feature list `key` of each example, None where there is none."""
        maps = [message.feature_lists.feature_list for message in self._messages]
        return [list(found[key].feature) if key in found else None for found in maps]

    def missing_context(self, feature: Dense, index: int) -> InvalidArgumentError:
        """Return the error of an example that lacks a feature of its context."""
        return InvalidArgumentError(
            f"{self.of(index)}Context feature '{feature.key}' is required but could not be found."
        )

    def missing_list(self, key: str, index: int) -> InvalidArgumentError:
        """Return the error of an example that lacks a feature list."""
        return InvalidArgumentError(
            f"{self.of(index)}Feature list '{key}' is required but could not be found.  Did you "
            "mean to include it in feature_list_dense_missing_assumed_empty or "
            "feature_list_dense_defaults?"
        )

    def other_type(self, where: str, wanted: DType, actual: DType) -> InvalidArgumentError:
        """Return the error of a feature that has another type."""
        return InvalidArgumentError(
            f"{where}.  Data types don't match. Expected type: {WORDS[wanted]}, Actual type: "
            f"{WORDS[actual]}"
        )

    def other_size(self, feature: Dense, index: int, step: int, count: int) -> InvalidArgumentError:
        """Return the error of a feature that has another number of values."""
        return InvalidArgumentError(
            f"{self.of(index)}Key: {feature.key}, Index: {step}.  Number of "
            f"{WORDS[feature.dtype]} values != expected.  values size: {count} but output shape: "
            f"{feature.show()}"
        )


class SparseLists(NamedTuple):
    """The values of a feature list in a batch, and where they stand."""

    examples: Any
    steps: Any
    columns: Any
    values: Any
    shape: tuple[int, int, int]


def context_values(sequences: Sequences, feature: Sparse) -> list[Any]:
    """Return the values of a context's feature in each example, none where there is none."""
    found = []
    for index, context in enumerate(sequences.contexts()):
        row = context[feature.key] if feature.key in context else None
        got = _values(sequences, row, feature.dtype, _context(sequences, feature.key, index))
        found.append(() if got is None else got)
    return found


def _context(sequences: Sequences, key: str, index: int) -> str:
    return f"{sequences.of(index)}Context feature: {key}"


def _values(sequences: Sequences, row: bytes | None, dtype: DType, where: str) -> Any:
    try:
        return None if row is None else values(row, dtype)
    except OtherTypeError as error:
        raise sequences.other_type(where, dtype, error.actual) from None


def context_dense(sequences: Sequences, feature: Dense) -> Any:
    """Return the values of a context's feature, [examples, values]."""
    whole = np.empty((len(sequences), feature.stride), feature.dtype.as_numpy_dtype)
    for index, context in enumerate(sequences.contexts()):
        row = context[feature.key] if feature.key in context else None
        got = _values(sequences, row, feature.dtype, _context(sequences, feature.key, index))
        if got is None and feature.default is None:
            raise sequences.missing_context(feature, index)
        got = feature.default if got is None else got
        if len(got) != feature.stride:
            raise sequences.other_size(feature, index, 0, len(got))
        whole[index] = got
    return whole


def sparse_lists(sequences: Sequences, feature: Sparse) -> SparseLists:
    """Return the values of a feature list of which each step may have any number."""
    steps_of, parts = [], []
    for index, steps in enumerate(sequences.lists(feature.key)):
        steps_of.append(len(steps or ()))
        for step, row in enumerate(steps or ()):
            where = f"{sequences.of(index)}Feature List: {feature.key}, Index: {step}"
            got = _values(sequences, row, feature.dtype, where)
            parts.append(() if got is None else got)
    lengths = [len(part) for part in parts]
    rows, columns = places(lengths)
    example_of, step_of = places(steps_of)
    shape = (len(sequences), max(steps_of, default=0), max(lengths, default=0))
    return SparseLists(
        example_of[rows], step_of[rows], columns, joined(parts, feature.dtype), shape
    )


def dense_lists(sequences: Sequences, feature: Dense, may_miss: bool) -> list[Any]:
    """Return the values of a feature list in each example, [steps, values].

    Args:
      sequences: the batch.
      feature: of a step.
      may_miss: whether an example without the list has no steps.

    Raises:
      InvalidArgumentError: an example must have the list and has none, or a step does not fit.
    """
    found = []
    for index, steps in enumerate(sequences.lists(feature.key)):
        if steps is None and not may_miss:
            raise sequences.missing_list(feature.key, index)
        found.append(_steps(sequences, feature, index, steps or ()))
    return found


def _steps(sequences: Sequences, feature: Dense, index: int, steps: Sequence[bytes]) -> Any:
    if steps and (whole := stacked(steps, feature.dtype, feature.stride)) is not None:
        return whole
    whole = np.empty((len(steps), feature.stride), feature.dtype.as_numpy_dtype)
    for step, row in enumerate(steps):
        where = f"{sequences.of(index)}Feature list: {feature.key}, Index: {step}"
        got = _values(sequences, row, feature.dtype, where)
        if got is None or len(got) != feature.stride:
            raise sequences.other_size(feature, index, step, 0 if got is None else len(got))
        whole[step] = got
    return whole
