"""run_n: the same run several times, in a session of its own.

Source: TF 1.15 API documentation, tf.contrib.learn.run_n.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph import scopes
from tfdist.ops.lookup.table_initializers import tables_initializer
from tfdist.ops.variables.collections import (
    GraphKeys,
    global_variables_initializer,
    local_variables_initializer,
)
from tfdist.session.session import Session
from tfdist.training.input_queues.queue_runner import start_queue_runners
from tfdist.training.saving.saver import Saver
from tfdist.training.sessions.coordinator import Coordinator

__all__ = ["run_n"]


def run_n(
    output_dict: dict[str, Any],
    feed_dict: Any = None,
    restore_checkpoint_path: str | None = None,
    n: int = 1,
) -> list[dict[str, Any]]:
    """Return the values of tensors in `n` runs, as a list of dicts by name.

    Args:
      output_dict: tensors of one graph, by name.
      feed_dict: for each run.
      restore_checkpoint_path: checkpoint to begin with; variables are initialised by default.
      n: how many runs.

    Example:
      >>> counter = Variable(0)
      >>> contrib.learn.run_n({"count": assign_add(counter, 1)}, n=2)
      [{'count': np.int32(1)}, {'count': np.int32(2)}]
    """
    graph = next((each.graph for each in output_dict.values()), scopes.get_default_graph())
    coordinator = Coordinator()
    with graph.as_default(), Session(graph=graph) as session:
        if restore_checkpoint_path:
            Saver().restore(session, restore_checkpoint_path)
        else:
            session.run(global_variables_initializer())
        session.run([local_variables_initializer(), tables_initializer()])
        if graph.get_collection(GraphKeys.QUEUE_RUNNERS):
            start_queue_runners(session, coordinator)
        try:
            return [session.run(output_dict, feed_dict) for _ in range(n)]
        finally:
            coordinator.request_stop()
            coordinator.join()
