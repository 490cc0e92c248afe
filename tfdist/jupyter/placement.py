"""`placement`: where nodes would run, and why; nothing runs."""

from __future__ import annotations

from typing import Any

from tfdist.jupyter.sessions import session_for
from tfdist.session.recording import PlacedNode


def placement(fetches: Any = None, target: str | None = None) -> list[PlacedNode]:
    """Return where the nodes are placed that `fetches` need.

    Args:
      fetches: a graph element, a name, or a structure of them; by default the whole default graph.
      target: task of the session that is asked; see `sessions.session_for`.
    """
    with session_for(fetches, target) as session:
        return session.placement(fetches)
