"""tf.contrib.util: what GraphDefs use.

Source: TF 1.15 API documentation, tf.contrib.util.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.op_list import used_ops

__all__ = ["ops_used_by_graph_def", "stripped_op_list_for_graph"]


def ops_used_by_graph_def(graph_def: Any) -> list[str]:
    """Return the names of the ops that a GraphDef uses, those in its functions too.

    Example:
      >>> _ = constant(1.0)
      >>> contrib.util.ops_used_by_graph_def(get_default_graph().as_graph_def())
      ['Const']
    """
    own = {function.signature.name for function in graph_def.library.function}
    nodes = [*graph_def.node, *(n for f in graph_def.library.function for n in f.node_def)]
    return list(dict.fromkeys(node.op for node in nodes if node.op not in own))


def stripped_op_list_for_graph(graph_def: Any) -> Any:
    """Return an OpList of the ops that a GraphDef uses.

    Example:
      >>> _ = constant(1.0)
      >>> used = contrib.util.stripped_op_list_for_graph(get_default_graph().as_graph_def())
      >>> [each.name for each in used.op]
      ['Const']
    """
    return used_ops(graph_def)
