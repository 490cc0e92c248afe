"""Variables that count up to a limit, whose end is the end of the data.

Source: TF 1.15 API documentation, tf.count_up_to.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import OutOfRangeError
from tfdist.graph.handles import Handled
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.ops.variables.resource_ops import known_shape
from tfdist.ops.variables.state_ops import is_resource

__all__ = ["count_up_to"]

COUNT_UP_TO = OpDef(
    "CountUpTo(ref: Ref(T)) -> output: T [limit: int; T: type {int32,int64}]"
).not_differentiable()


@COUNT_UP_TO.shape
def count_up_to_shape(ref: Shape) -> Shape:
    shapes.require_rank(ref, "ref", 0)
    return ()


@COUNT_UP_TO.kernel
def count_up_to_kernel(ref: Any, *, limit: int) -> Any:
    def raised(count: Any, out: Any) -> Any:
        if count >= limit:
            raise OutOfRangeError(f"Reached limit of {limit}")
        return count + type(count)(1)

    after = ref.update(raised)
    return after - type(after)(1)


RESOURCE_COUNT_UP_TO = OpDef(
    "ResourceCountUpTo(resource: resource) -> output: T [limit: int; T: type {int32,int64}] !"
).not_differentiable()


@RESOURCE_COUNT_UP_TO.shape
def resource_count_up_to_shape(
    resource: Shape, *, resource_handle: Handled | None, T: DType
) -> Shape:
    shapes.require_rank(known_shape(resource_handle, T), "resource", 0)
    return ()


@RESOURCE_COUNT_UP_TO.kernel
def resource_count_up_to_kernel(resource: Any, *, limit: int) -> Any:
    return count_up_to_kernel(resource, limit=limit)


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """Return the value of the variable `ref`, which is one more from then on.

    Args:
      ref: a Variable, int32 or int64 [].
      limit: that it does not pass.
      name: of the node.

    Raises:
      OutOfRangeError: when it runs and `ref` has reached `limit`.

    Example:
      >>> counter = Variable(0)
      >>> with Session() as session:
      ...     session.run(counter.initializer)
      ...     [int(session.run(count_up_to(counter, 2))) for _ in "ab"]
      [0, 1]
    """
    if is_resource(ref):
        counted: Tensor = RESOURCE_COUNT_UP_TO(ref.handle, limit=limit, T=ref.dtype, name=name)
        return counted
    tensor: Tensor = COUNT_UP_TO(ref, limit=limit, name=name)
    return tensor
