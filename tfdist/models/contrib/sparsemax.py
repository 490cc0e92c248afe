"""tf.contrib.sparsemax: softmax's neighbour that gives zeros.

Source: Martins and Astudillo, "From softmax to sparsemax" (2016); TF 1.15 API documentation,
tf.contrib.sparsemax.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import stack
from tfdist.ops.array.gather_nd import gather_nd
from tfdist.ops.math.comparison import where_v2
from tfdist.ops.math.cumulative import cumsum
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.math.top_k import top_k

__all__ = ["sparsemax", "sparsemax_loss"]


def sparsemax(logits: Any, name: str | None = None) -> Tensor:
    """Return the distributions nearest to the logits: each row sums up to 1.

    Args:
      logits: float [batch, classes].
      name: prefix for the nodes.

    Example:
      >>> Session().run(contrib.sparsemax.sparsemax([[1.0, 2.0, 0.5], [0.0, 0.5, 0.0]]))[0]
      array([0., 1., 0.], dtype=float32)
    """
    with name_scope(name, "sparsemax", [logits]):
        z: Any = convert_to_tensor(logits, name="logits")
        sizes: Any = raw.Shape(z)
        rows, classes = sizes[0], sizes[1]
        ordered, _ = top_k(z, classes)
        sums: Any = cumsum(ordered, 1)
        numbers = cast(raw.Range(1, classes + 1, 1), z.dtype)
        kept = cast(raw.Greater(1.0 + numbers * ordered, sums), "int32")
        count = reduce_sum(kept, 1)
        last = raw.Maximum(count, 1) - 1
        places = stack([raw.Range(0, rows, 1), raw.Reshape(last, [-1])], 1)
        last_sums: Any = gather_nd(sums, places)
        tau = (last_sums - 1.0) / cast(count, z.dtype)
        found = raw.Maximum(z - raw.ExpandDims(tau, -1), cast(0, z.dtype))
        broken = raw.LogicalOr(raw.Equal(count, 0), raw.IsNan(sums[:, -1]))  # type: ignore[index]
        nan = raw.Fill(sizes, cast(float("nan"), z.dtype))
        return where_v2(raw.ExpandDims(broken, 1), nan, found)


def sparsemax_loss(logits: Any, sparsemax: Any, labels: Any, name: str | None = None) -> Tensor:
    """Return the loss of each row, 0 where `sparsemax` is the label.

    Args:
      logits: float [batch, classes].
      sparsemax: of them.
      labels: of the same shape; each row is a distribution.
      name: prefix for the nodes.

    Returns:
      float [batch].

    Example:
      >>> logits = constant([[0.0, 0.0, 0.0]])
      >>> chosen = contrib.sparsemax.sparsemax(logits)
      >>> loss = contrib.sparsemax.sparsemax_loss(logits, chosen, constant([[1.0, 0.0, 0.0]]))
      >>> Session().run(loss)
      array([0.33333334], dtype=float32)
    """
    with name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        z: Any = convert_to_tensor(logits, name="logits")
        p: Any = convert_to_tensor(sparsemax, name="sparsemax")
        q: Any = convert_to_tensor(labels, name="labels")
        inner = raw.SelectV2(raw.Greater(p, cast(0, p.dtype)), p * (z - 0.5 * p), raw.ZerosLike(p))
        outer = q * (0.5 * q - z)
        outer = raw.SelectV2(raw.Equal(q, cast(0, q.dtype)), raw.ZerosLike(q), outer)
        return reduce_sum(inner + outer, 1)
