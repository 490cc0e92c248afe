"""The graph of objects that a checkpoint of `tf.train.Checkpoint` holds beside its tensors.

Source: TF 1.15 API documentation, tf.train.Checkpoint.
"""

from __future__ import annotations

from typing import Any

from tfdist.ops.variables.collections import GraphKeys
from tfdist.protos import pb
from tfdist.training.saving.checkpoint_utils import CheckpointReader, load_checkpoint
from tfdist.training.saving.saveable_objects import names_to_saveables

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"  # the key of the graph itself


def stored_graph(reader: CheckpointReader) -> Any:
    """Return the TrackableObjectGraph of a checkpoint; None if it is one of `tf.train.Saver`."""
    if not reader.has_tensor(OBJECT_GRAPH):
        return None
    return pb.TrackableObjectGraph.FromString(reader.get_tensor(OBJECT_GRAPH))


def by_keys(wanted: Any, graph: Any, path: str) -> dict[str, Any] | None:
    """Return what a saver restores by its keys in a file of `tf.train.Checkpoint`.

    Args:
      wanted: variables and others as a list, or as a dict by name; None for all variables.
      graph: of the variables.
      path: of the file.

    Returns:
      The same by key; None if it is a file of `tf.train.Saver`, or has not all.
    """
    stored = stored_graph(load_checkpoint(path))
    if stored is None:
        return None
    attributes = [each for node in stored.nodes for each in node.attributes if each.full_name]
    keys = {each.full_name: each.checkpoint_key for each in attributes}
    given = graph.get_collection(GraphKeys.GLOBAL_VARIABLES) if wanted is None else wanted
    named = names_to_saveables(given)
    if not named.keys() <= keys.keys():
        return None
    return {keys[name]: each for name, each in named.items()}
