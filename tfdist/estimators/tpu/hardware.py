"""What libraries import for real TPUs; there are none here, and using it says so."""

from __future__ import annotations

from typing import Any

__all__ = ["Topology"]


class Topology:
    """How TPUs are connected.

    Raises:
      NotImplementedError: always; there are no TPUs here.
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError(
            "tfdist has no TPUs, and so no Topology of them; use_tpu=False runs on CPUs"
        )
