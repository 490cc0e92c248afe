"""What a server of TensorFlow cannot answer: it may end where a message becomes too long."""

from __future__ import annotations

from collections.abc import Sequence

from tfdist.base.dtypes import resource, string, variant
from tfdist.errors import InvalidArgumentError
from tfdist.graph.operation import Tensor
from tfdist.wire.codec.codec import LARGEST_MESSAGE


def check_fetches(tensors: Sequence[Tensor], limit: int = LARGEST_MESSAGE) -> None:
    """Refuse to fetch what is known to be too long for one message, before anything is sent.

    Args:
      tensors: to be fetched; those of unknown shape, and strings, count as nothing.
      limit: bytes of a message.

    Raises:
      InvalidArgumentError: they are longer together; the largest is named.
    """
    sizes = [_known_bytes(tensor) for tensor in tensors]
    if sum(sizes) <= limit:
        return
    largest = tensors[sizes.index(max(sizes))]
    raise InvalidArgumentError(
        f"what is fetched takes {sum(sizes)} bytes, but one message can have {limit}, and "
        f"TensorFlow's servers may end where one is longer; the largest tensor is {largest.name}, "
        f"{largest.dtype.name}{list(largest.shape.as_list())}, of {max(sizes)} bytes. Cut it and "
        "fetch the parts in several steps, or run the ops that use it on the task that has it"
    ).at_node(largest.op.name, "")


def _known_bytes(tensor: Tensor) -> int:
    elements = tensor.shape.num_elements()
    if elements is None or tensor.dtype.base_dtype in (string, resource, variant):
        return 0
    return elements * tensor.dtype.size
