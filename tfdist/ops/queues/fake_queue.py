"""FakeQueue: a queue that new nodes know by its resource, for nodes that know it by reference."""

from __future__ import annotations

from typing import Any

from tfdist.base.shapes import Shape
from tfdist.errors import NotFoundError
from tfdist.graph.op_def import OpDef

__all__: list[str] = []

FAKE_QUEUE = OpDef("FakeQueue(resource: resource) -> handle: Ref(string) !").not_differentiable()


@FAKE_QUEUE.shape
def fake_queue_shape(resource: Shape) -> Shape:
    return (2,)


@FAKE_QUEUE.kernel
def fake_queue_kernel(resource: Any) -> Any:
    if not hasattr(resource, "take_now"):
        raise NotFoundError(f"Resource {resource!r} does not exist as a queue: it is none")
    return resource
