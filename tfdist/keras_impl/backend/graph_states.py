"""What tf.keras keeps for each graph: names given out, variables, and where tensors came from.

It lives in the graph, and goes with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.models.layers.members import KeptByKeras

__all__ = ["get_uid", "reset_uids"]


class History(NamedTuple):
    """Which output of which call of which layer a tensor is."""

    layer: Any
    node_index: int
    tensor_index: int


@dataclass
class State(KeptByKeras):
    """What is kept for one graph.

    Attributes:
      numbers: how often a name was given out.
      phase: its learning phase: a tensor, 0 or 1, or None before it is asked for.
      variables: those that a session initializes on its own, by name of node.
      known: names of those among them that were found initialized, with the session.
      histories: of tensors that layers gave.
      masks: of tensors that have one.
      metrics: that gave tensors.
    """

    numbers: dict[str, int] = field(default_factory=dict)
    phase: Any = None
    variables: dict[str, Any] = field(default_factory=dict)
    known: tuple[Any, set[str]] = (None, set())
    histories: dict[Any, History] = field(default_factory=dict)
    masks: dict[Any, Any] = field(default_factory=dict)
    metrics: dict[Any, Any] = field(default_factory=dict)


def state_of(graph: Graph | None = None) -> State:
    """Return what is kept for a graph; None for the default one."""
    graph = (graph or scopes.get_default_graph()).outermost
    return graph.kept(State)


def get_uid(prefix: str = "") -> int:
    """Return how often this was asked for a prefix in this graph, this time included.

    Example:
      >>> keras.backend.get_uid("dense"), keras.backend.get_uid("dense")
      (1, 2)
    """
    numbers = state_of().numbers
    numbers[prefix] = numbers.get(prefix, 0) + 1
    return numbers[prefix]


def reset_uids() -> None:
    """Let the names of layers start anew in this graph."""
    state_of().numbers.clear()


def numbered(base: str) -> str:
    """Return a name for a layer that got none: "dense", then "dense_1".

    Example:
      >>> numbered("dense"), numbered("dense")
      ('dense', 'dense_1')
    """
    number = get_uid(f"{base}/") - 1  # counted apart from what programs ask for
    return f"{base}_{number}" if number else base


def track_variable(variable: Any) -> None:
    """Let sessions of `get_session` initialize a variable."""
    state_of(variable.graph).variables[variable.op.name] = variable


def history_of(tensor: Any) -> History | None:
    """Return which layer gave a tensor, or what stands for one; None if none did."""
    if type(tensor).__hash__ is None:  # an array
        return None
    return state_of(getattr(tensor, "graph", None)).histories.get(tensor)


def set_history(tensor: Any, history: History) -> None:
    """Note which layer gave a tensor, or an object of a library's that stands for one."""
    state_of(getattr(tensor, "graph", None)).histories[tensor] = history


def mask_of(tensor: Any) -> Any:
    """Return the mask of a tensor: which time steps count; None if all do."""
    graph = getattr(tensor, "graph", None)
    return None if graph is None else state_of(graph).masks.get(tensor)


def set_mask(tensor: Any, mask: Any) -> None:
    """Say which time steps of a tensor count."""
    if mask is not None:
        state_of(tensor.graph).masks[tensor] = mask


def metric_of(tensor: Any) -> Any:
    """Return the metric whose value a tensor is; None if it is none's."""
    graph = getattr(tensor, "graph", None)
    return None if graph is None else state_of(graph).metrics.get(tensor)


def set_metric(tensor: Any, metric: Any) -> None:
    """Say which metric's value a tensor is."""
    state_of(tensor.graph).metrics[tensor] = metric
