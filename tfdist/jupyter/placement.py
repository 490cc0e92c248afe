"""Where nodes run, and why; where they should run."""

from __future__ import annotations

from typing import Any

from tfdist.jupyter.sessions import session_for
from tfdist.session.placement_optimizer import OptimizedPlacement, Verdict
from tfdist.session.recording import PlacedNode


def placement(fetches: Any = None, target: str | None = None) -> list[PlacedNode]:
    """Return where the nodes are placed that `fetches` need.

    Args:
      fetches: a graph element, a name, or a structure of them; by default the whole default graph.
      target: task of the session that is asked; see `sessions.session_for`.
    """
    with session_for(fetches, target) as session:
        return session.placement(fetches)


def optimized(
    fetches: Any, target: str | None = None, runs: int = 20, move_state: bool = False
) -> tuple[OptimizedPlacement, Verdict | None]:
    """Return where a step should run, and what came of trying it; None if it was not worth that.

    Args:
      fetches: a graph element, a name, or a structure of them.
      target: task of the session that runs it; see `sessions.session_for`.
      runs: timed ones, and as many traced ones; 0 for none: what units took so far counts.
      move_state: whether variables and queues may move.
    """
    with session_for(fetches, target) as session:
        found = session.optimize_placement(fetches, runs=runs, move_state=move_state)
        can_be_tried = runs and not move_state  # what moved is not initialised there
        return found, found.verify(runs) if found.is_worth_it and can_be_tried else None
