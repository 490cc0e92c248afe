"""Tables in checkpoints: those that steps change have a state, all their keys and values.

Source: TF 1.15 API documentation, tf.contrib.lookup.MutableHashTable; keys by writing files.
"""

from __future__ import annotations

from typing import Any

from tfdist.ops.lookup.mutable_tables import DenseHashTable, MutableHashTable, TableSaveable
from tfdist.ops.variables.variable import Variable


def is_table(value: Any) -> bool:
    """Return whether an object is a table that steps change."""
    return isinstance(value, MutableHashTable | DenseHashTable)


def has_tensors(value: Any) -> bool:
    """Return whether a session has the state of an object."""
    return isinstance(value, Variable) or is_table(value)


def graph_of(value: Any) -> Any:
    """Return the graph of a variable or table."""
    return value.resource_handle.graph if is_table(value) else value.graph


def saved_by_keys(values: dict[str, Any]) -> dict[str, Any]:
    """Return what a saver saves by keys: variables as they are, tables in parts."""
    return {
        key: TableSaveable(each, key) if is_table(each) else each for key, each in values.items()
    }
