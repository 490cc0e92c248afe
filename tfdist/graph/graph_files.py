"""Graphs in files: `write_graph`.

Source: TF 1.15 API documentation, tf.io.write_graph.
"""

from __future__ import annotations

import os
from pathlib import Path

from tfdist.graph.graph import Graph
from tfdist.protos import pb

__all__ = ["write_graph"]


def write_graph(
    graph_or_graph_def: Graph | pb.GraphDef,
    logdir: str | os.PathLike[str],
    name: str,
    as_text: bool = True,
) -> str:
    """Write a graph to a file, whole or not at all.

    Args:
      graph_or_graph_def: a Graph, or a GraphDef message.
      logdir: folder of the file; made if need be.
      name: of the file.
      as_text: whether it is written in protobuf's text format.

    Returns:
      The file's path.

    Raises:
      TypeError: `graph_or_graph_def` is neither.

    Example:
      >>> import tempfile
      >>> with Graph().as_default() as graph, tempfile.TemporaryDirectory() as folder:
      ...     _ = constant(1.0, name="one")
      ...     with open(write_graph(graph, folder, "graph.pbtxt")) as file:
      ...         print(file.read(26))
      node {
        name: "one"
        op:
    """
    message = _message(graph_or_graph_def)
    data = pb.to_text(message).encode() if as_text else message.SerializeToString()
    path = Path(os.fsdecode(logdir)) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_bytes(data)
    part.replace(path)
    return str(path)


def _message(given: Graph | pb.GraphDef) -> pb.GraphDef:
    if isinstance(given, Graph):
        return given.as_graph_def()
    if not hasattr(given, "DESCRIPTOR"):
        raise TypeError(f"expected a Graph or a GraphDef, not {type(given).__name__}")
    return given
