"""Data-dependent sizes: a step may take much more memory, though its inputs have the same size.

`Fill` makes what its input `dims` says: a few bytes from outside tell whether that is nothing or
gigabytes. A shape that is taken of a tensor is no such value: how large that is can be seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfdist.graph.records import RECEIVES, Node
from tfdist.plan.prune import Endpoint
from tfdist.plan.step_plan import Partition

# Inputs whose values tell how large a result is, in whichever op they stand.
SIZES = frozenset(
    "block_shape crop_size crops dense_shape depth dims fft_length filter_sizes image_size "
    "input_sizes limit limits max_output_size max_output_size_per_class max_total_size multiples "
    "new_shape num num_cols num_elements num_rows num_samples num_segments output_shape paddings "
    "shape size".split()
)
# Ops that have such an input, and whose results are no larger than what else they take.
BOUNDED = frozenset(
    "ConcatOffset RandomCrop Reshape Reverse Slice SparseReshape SparseSplit UnravelIndex".split()
)
_RANGES = frozenset({"RaggedRange", "Range"})  # each of their inputs tells
_KNOWN = frozenset({"Const", "Rank", "Shape", "ShapeN", "Size"})  # by what is in sight


def has_data_dependent_sizes(partition: Partition) -> bool:
    """Return whether a value that is fed, received or kept tells how large a result is."""
    nodes = {node.name: node for node in partition.nodes}
    seen: set[Endpoint] = set(partition.feeds)
    stack = [each for node in partition.nodes for each in _sizes(node)]
    while stack:
        endpoint = stack.pop()
        node = nodes.get(endpoint[0])
        if endpoint in partition.feeds or node is None:
            return True
        if endpoint in seen or node.op in _KNOWN:
            continue
        if not node.inputs or node.op in RECEIVES:
            return True
        seen.add(endpoint)
        stack += node.inputs
    return False


def _sizes(node: Node) -> Iterator[Endpoint]:
    """Yield the inputs of a node whose values tell how large its results are."""
    if node.op in BOUNDED or not node.inputs:
        return
    args = node.op_def.signature.inputs
    if SIZES.isdisjoint([arg.name for arg in args]):
        return
    at = 0
    for arg in args:
        count = arg.count(node.attrs)
        if arg.name in SIZES or node.op in _RANGES:
            yield from node.inputs[at : at + count]
        at += count
