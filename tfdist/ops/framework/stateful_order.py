"""Which operations do something, so that their order matters."""

from __future__ import annotations

from tfdist.graph.operation import Operation

# Stateful ops whose order means nothing.
_DRAWING = {
    "Multinomial", "ParameterizedTruncatedNormal", "RandomGamma", "RandomPoissonV2",
    "RandomShuffle", "RandomStandardNormal", "RandomUniform", "RandomUniformInt",
    "TruncatedNormal",
}  # fmt: skip


def acts(op: Operation) -> bool:
    """Return whether an operation changes or reads a state, other than that of random numbers."""
    return op.op_def.is_stateful and op.type not in _DRAWING
