"""How one looks at what a learner has made: its value, and what it needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.jupyter.exercises.kinds import Variables
from tfdist.protos import pb
from tfdist.session.session import Session

PATIENCE_MS = 5_000  # what waits longer waits for ever


def value(variables: Variables, fetch: Any, feed: Mapping[Any, Any] | None = None) -> Any:
    """Return the value of a tensor: on the learner's cluster, or here if there is none.

    Args:
      variables: the learner's.
      fetch: a tensor, or a variable.
      feed: values of placeholders.

    Raises:
      OpError: as `Session.run` does; DeadlineExceededError if it waits.
    """
    cluster = variables.get("cluster")
    target = cluster.target() if cluster is not None else ""
    options = pb.RunOptions(timeout_in_ms=PATIENCE_MS)
    with Session(target, graph=fetch.graph) as session:
        return session.run(fetch, feed, options=options)


def nodes_before(tensor: Any) -> set[str]:
    """Return the types of all ops that a tensor needs, its own among them."""
    found, waiting = {tensor.op}, [tensor.op]
    while waiting:
        op = waiting.pop()
        new = {each.op for each in op.inputs} - found
        found |= new
        waiting += new
    return {op.type for op in found}
