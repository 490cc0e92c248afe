"""What fills the lookup tables of a graph: the members of its collection TABLE_INITIALIZERS.

Source: TF 1.15 API documentation, tf.initializers.tables_initializer.
"""

from __future__ import annotations

from tfdist.graph import scopes
from tfdist.graph.operation import Operation
from tfdist.ops.control_flow.identity_group import group, no_op
from tfdist.ops.variables.collections import GraphKeys

__all__ = ["initialize_all_tables", "tables_initializer"]


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """Return an operation that fills all tables; it does nothing if there are none.

    Example:
      >>> tables_initializer().name
      'init_all_tables'
    """
    found = scopes.get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*found, name=name) if found else no_op(name=name)


initialize_all_tables = tables_initializer  # before TensorFlow 0.12
