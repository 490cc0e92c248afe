"""tensorflow.python.tools.saved_model_utils: what SavedModels hold, without loading them.

Source: TF 1.15, what this module of its tools returns.
"""

from __future__ import annotations

from typing import Any

from tfdist.training.saved_model.loader import chosen, parse_saved_model

__all__ = ["get_meta_graph_def", "get_saved_model_tag_sets", "read_saved_model"]


def read_saved_model(saved_model_dir: Any) -> Any:
    """Return the SavedModel message of a folder.

    Raises:
      OSError: there is none.
    """
    return parse_saved_model(saved_model_dir)


def get_saved_model_tag_sets(saved_model_dir: Any) -> list[list[str]]:
    """Return the tags of each graph of a SavedModel.

    Raises:
      OSError: there is none.
    """
    graphs = parse_saved_model(saved_model_dir).meta_graphs
    return [list(graph.meta_info_def.tags) for graph in graphs]


def get_meta_graph_def(saved_model_dir: Any, tag_set: str) -> Any:
    """Return the graph of a SavedModel that has just these tags, as a MetaGraphDef.

    Args:
      saved_model_dir: the model's folder.
      tag_set: the tags, with commas between them.

    Raises:
      OSError: there is no SavedModel.
      RuntimeError: no graph has these tags.
    """
    return chosen(parse_saved_model(saved_model_dir), set(tag_set.split(",")))
