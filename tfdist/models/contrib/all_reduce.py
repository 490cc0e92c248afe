"""tf.contrib.all_reduce: sums over devices, as nodes on those devices: ring, halves, shuffle.

Each function takes one tensor a device, on which it stands, and returns as many: what the
reduction of all comes to, on each device. Names and devices of the nodes are those of TF 1.15.5.

Sources: TF 1.15 API documentation, tensorflow.contrib.all_reduce.python.all_reduce; P. Patarasuk
and X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009 (ring);
R. Thakur, R. Rabenseifner and W. Gropp, Optimization of collective communication operations in
MPICH, 2005 (recursive halving and doubling).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import unwrap
from itertools import product
from typing import Any

from tfdist.base.device_spec import DeviceSpec
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import device
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import zeros
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.slice import slice as slice_
from tfdist.ops.array.split import split
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.math.arithmetic import add

Reduction = Callable[..., Any]
Tensors = list[Tensor]


def build_ring_all_reduce(
    input_tensors: Sequence[Tensor], num_workers: int, num_subchunks: int, gpu_perm: list[int],
    red_op: Reduction, un_op: Reduction | None = None,
) -> Tensors:  # fmt: skip
    """Return the reductions of tensors whose chunks go round a ring of their devices, twice.

    Each device first adds its part to what comes from the one before it, then passes on what is
    complete. No device sends more than about twice the length of a tensor.

    Args:
      input_tensors: of one shape and dtype, at least 2; those of a worker stand together.
      num_workers: tasks that they are of.
      num_subchunks: rings at a time, each of which starts at another device.
      gpu_perm: order of the ring within a worker: numbers of its devices, from 0.
      red_op: of two tensors, as `tf.add`.
      un_op: of one, for what is reduced.

    Raises:
      ValueError: too few tensors, of different shapes, of one that is not known, or more subchunks
        than devices of a worker.
      IndexError: `gpu_perm` and `num_workers` do not make up the number of tensors.

    Example:
      >>> from tfdist.models.contrib.all_reduce import build_ring_all_reduce
      >>> sums = build_ring_all_reduce([constant([1, 2]), constant([3, 4])], 1, 1, [0, 1], add)
      >>> Session().run(sums)
      [array([4, 6], dtype=int32), array([4, 6], dtype=int32)]
    """
    if len(input_tensors) < 2:
        raise ValueError(f"input_tensors must be length 2 or longer, got {len(input_tensors)}")
    flat, shape = _flattened(input_tensors)
    rings = _rings(len(flat), num_workers, num_subchunks, gpu_perm)
    pieces = [_padded_chunks(tensor, len(flat) * num_subchunks) for tensor in flat]
    _go_round(pieces, flat, rings, len(flat) - 2, red_op)
    if un_op is not None:
        pieces = _on_devices(lambda chunks: [un_op(chunk) for chunk in chunks], pieces, flat)
    _go_round(pieces, flat, rings, len(flat) - 1, lambda arriving, _: identity(arriving))
    return _reshaped(_cut(_joined(pieces, flat), flat), flat, shape)


def _rings(count: int, num_workers: int, num_subchunks: int, gpu_perm: list[int]) -> Any:
    """Return for each ring the devices in its order; the rings start at different ones."""
    own = len(gpu_perm)
    if num_subchunks > own:
        raise ValueError(f"num_subchunks {num_subchunks} must be <= num_gpus {own}")
    if num_workers * own != count or sorted(gpu_perm) != list(range(own)):
        raise IndexError(
            f"gpu_perm must hold each of 0 to n - 1 once, and num_workers * n be the number of "
            f"input_tensors: got {gpu_perm}, {num_workers} workers and {count} tensors"
        )
    step = max(1, own // num_subchunks)
    turned = [gpu_perm[step * k :] + gpu_perm[: step * k] for k in range(num_subchunks)]
    return [[own * w + each for w in range(num_workers) for each in order] for order in turned]


def _go_round(pieces: Any, flat: Tensors, rings: Any, first: int, make: Reduction) -> None:
    """Make chunks of what each device has and of what comes from the one before, once round.

    In the first tick a device's chunk is its rank in the ring plus `first`, then one less a tick.
    """
    count = len(flat)
    for tick, own in product(range(count - 1), range(count)):
        for number, ring in enumerate(rings):
            rank = ring.index(own)
            chunk = (rank + first - tick) % count * len(rings) + number
            with device(flat[own].device):
                pieces[own][chunk] = make(pieces[ring[rank - 1]][chunk], pieces[own][chunk])


def _padded_chunks(tensor: Tensor, count: int) -> Tensors:
    """Return `count` chunks of one length, the last ones with zeros at the end.

    Where only the last chunk is too short it alone is padded, as in TensorFlow.
    """
    length = tensor.shape[0].value
    chunk = -(-length // count)
    missing = chunk * count - length
    with device(tensor.device):
        if not missing:
            return split(tensor, count)
        if missing >= chunk:
            return split(concat([tensor, zeros([missing], tensor.dtype)], 0), count)
        chunks = split(tensor, [chunk] * (count - 1) + [chunk - missing])
        return [*chunks[:-1], concat([chunks[-1], zeros([missing], tensor.dtype)], 0)]


def _cut(padded: Tensors, flat: Tensors) -> Tensors:
    """Return the tensors without the zeros at the end."""
    length = flat[0].shape[0].value
    if padded[0].shape[0].value == length:
        return padded
    return _on_devices(lambda tensor: slice_(tensor, [0], [length]), padded, flat)


def build_recursive_hd_all_reduce(
    input_tensors: Sequence[Tensor], red_op: Reduction, un_op: Reduction | None = None
) -> Tensors:
    """Return the reductions of tensors by recursive halving, then doubling.

    In each round a device reduces one half of what it has with a partner, at twice the distance of
    the round before, and leaves the other half to it; the rounds backwards put the parts together.

    Args:
      input_tensors: of one shape and dtype, a power of 2 of them, which divides their length.
      red_op: of two tensors, as `tf.add`.
      un_op: of one, for what is reduced.

    Raises:
      ValueError: a number of tensors that is no power of 2, a length that it does not divide,
        shapes that differ or are not known.

    Example:
      >>> from tfdist.models.contrib.all_reduce import build_recursive_hd_all_reduce
      >>> sums = build_recursive_hd_all_reduce([constant([1, 2]), constant([3, 4])], add)
      >>> Session().run(sums)
      [array([4, 6], dtype=int32), array([4, 6], dtype=int32)]
    """
    flat, shape = _flattened(input_tensors)
    count = len(flat)
    if count & (count - 1):
        raise ValueError(f"num_devices must be a power of 2, got {count} input_tensors")
    distances = [1 << hop for hop in range(count.bit_length() - 1)]
    parts = list(flat)
    for one, other in _pairs(distances, count):
        left, right = split(parts[one], 2), split(parts[other], 2)
        for at, half in ((one, 0), (other, 1)):
            with device(flat[at].device):
                parts[at] = red_op(left[half], right[half])
    if un_op is not None:
        parts = [un_op(part) for part in parts]
    for one, other in _pairs(distances[::-1], count):
        halves = [parts[one], parts[other]]
        for at in (one, other):
            with device(flat[at].device):
                parts[at] = concat(halves, 0)
    return _reshaped(parts, flat, shape)


def _pairs(distances: list[int], count: int) -> list[tuple[int, int]]:
    """Return the partners of each round, one round after the other."""
    return [(at, at + far) for far in distances for at in range(count) if not at & far]


def build_shuffle_all_reduce(
    input_tensors: Sequence[Tensor], gather_devices: Sequence[str], red_op: Reduction,
    un_op: Reduction | None = None,
) -> Tensors:  # fmt: skip
    """Return the reductions of tensors by shards, each reduced on a device, as by servers.

    Args:
      input_tensors: of one shape and dtype.
      gather_devices: names; each reduces a shard of the tensors, the last one also what remains.
      red_op: of a list of tensors, as `tf.add_n`.
      un_op: of one, for what is reduced.

    Raises:
      ValueError: no tensors, shapes that differ or are not known.
      ZeroDivisionError: no devices.

    Example:
      >>> from tfdist.models.contrib.all_reduce import build_shuffle_all_reduce
      >>> tensors = [constant([1, 2]), constant([3, 4])]
      >>> Session().run(build_shuffle_all_reduce(tensors, ["/cpu:0", "/cpu:0"], add_n))
      [array([4, 6], dtype=int32), array([4, 6], dtype=int32)]
    """
    flat, shape = _flattened(input_tensors)
    shards = _gather_shards(flat, gather_devices, red_op, un_op)
    return _reshaped(_joined([shards] * len(flat), flat), flat, shape)


def _gather_shards(
    flat: Tensors, gather_devices: Sequence[str], red_op: Reduction, un_op: Reduction | None
) -> Tensors:
    if not gather_devices:
        raise ZeroDivisionError("gather_devices is empty: name a device for each shard")
    pieces = [_shards(tensor, len(gather_devices)) for tensor in flat]
    shards = []
    for name, parts in zip(gather_devices, zip(*pieces, strict=True), strict=True):
        with device(name):
            total = red_op(list(parts))
            shards.append(total if un_op is None else un_op(total))
    return shards


def _shards(tensor: Tensor, count: int) -> Tensors:
    length = tensor.shape[0].value
    each, rest = divmod(length, count)
    with device(tensor.device):
        return split(tensor, [each] * (count - 1) + [each + rest] if rest else count)


def build_shuffle_then_ring(
    input_tensors: Sequence[Tensor], gather_devices: Sequence[str], subdiv: int,
    red_n_op: Reduction, red_op: Reduction, un_op: Reduction | None = None,
) -> Tensors:  # fmt: skip
    """Return reductions: of each worker on one device, then of the workers in a ring.

    Args:
      input_tensors: of one shape and dtype, on devices whose names have a task; the results stand
        worker by worker, in the order of each worker's first.
      gather_devices: one for each worker, in that order.
      subdiv: rings at a time between the workers: 1.
      red_n_op: of a list of tensors, within a worker, as `tf.add_n`.
      red_op: of two tensors, between workers, as `tf.add`.
      un_op: of one, for what is reduced.

    Raises:
      ValueError: as `build_ring_all_reduce`; not one gather device for each worker.
      AssertionError: a tensor stands on no task.

    Example:
      >>> from tfdist.models.contrib.all_reduce import build_shuffle_then_ring
      >>> with device("/task:0"):
      ...     tensors = [constant([1, 2]), constant([3, 4])]
      >>> Session().run(build_shuffle_then_ring(tensors, ["/task:0"], 1, add_n, add))
      [array([4, 6], dtype=int32), array([4, 6], dtype=int32)]
    """

    def ring(tensors: Tensors) -> Tensors:
        return build_ring_all_reduce(tensors, len(tensors), subdiv, [0], red_op, un_op)

    return _hybrid(input_tensors, gather_devices, red_n_op, ring, un_op)


def build_shuffle_then_shuffle(
    input_tensors: Sequence[Tensor], first_gather_devices: Sequence[str],
    second_gather_devices: Sequence[str], red_op: Reduction, un_op: Reduction | None = None,
) -> Tensors:  # fmt: skip
    """Return reductions: of each worker on one device, then of the workers by shards.

    Args:
      input_tensors: of one shape and dtype, on devices whose names have a task; the results stand
        worker by worker, in the order of each worker's first.
      first_gather_devices: one for each worker, in that order.
      second_gather_devices: any number, for the shards of the second step.
      red_op: of a list of tensors, as `tf.add_n`.
      un_op: of one, for what is reduced.

    Raises:
      ValueError: as `build_shuffle_all_reduce`; not one first device for each worker.
      AssertionError: a tensor stands on no task.

    Example:
      >>> from tfdist.models.contrib.all_reduce import build_shuffle_then_shuffle
      >>> with device("/task:0"):
      ...     tensors = [constant([1, 2]), constant([3, 4])]
      >>> Session().run(build_shuffle_then_shuffle(tensors, ["/task:0"], ["/task:0"], add_n))
      [array([4, 6], dtype=int32), array([4, 6], dtype=int32)]
    """

    def shuffle(tensors: Tensors) -> Tensors:
        return build_shuffle_all_reduce(tensors, second_gather_devices, red_op, un_op)

    return _hybrid(input_tensors, first_gather_devices, red_op, shuffle, un_op)


def _hybrid(
    input_tensors: Sequence[Tensor], gather_devices: Sequence[str], red_n_op: Reduction,
    between: Callable[[Tensors], Tensors], un_op: Reduction | None,
) -> Tensors:  # fmt: skip
    """Reduce within each worker, `between` workers if there are several, and spread the results."""
    flat, shape = _flattened(input_tensors)
    workers = _by_worker(flat)
    if len(gather_devices) != len(workers):
        raise ValueError(
            "For shuffle hybrid, gather_devices must contain one device per worker. Got "
            f"{len(gather_devices)} devices, {list(gather_devices)}, for {len(workers)} workers"
        )
    alone = len(workers) == 1
    totals = [
        _gather_shards(own, [name], red_n_op, un_op if alone else None)[0]
        for own, name in zip(workers, gather_devices, strict=True)
    ]
    if not alone:
        totals = between(totals)
    ordered = [tensor for own in workers for tensor in own]
    spread = [[total] for own, total in zip(workers, totals, strict=True) for _ in own]
    return _reshaped(_joined(spread, ordered), ordered, shape)


def _by_worker(tensors: Tensors) -> list[Tensors]:
    """Return the tensors of each task, the tasks in the order of their first tensors."""
    found: dict[Any, Tensors] = {}
    for tensor in tensors:
        spec = DeviceSpec.from_string(tensor.device or "")
        if spec.task is None:
            raise AssertionError(
                f"failed to parse device {tensor.device}: {tensor.name} must be on a task, as "
                "in with tf.device('/job:worker/task:0')"
            )
        found.setdefault((spec.job, spec.replica, spec.task), []).append(tensor)
    return list(found.values())


def build_nccl_all_reduce(
    input_tensors: Sequence[Tensor], red_op: Reduction, un_op: Reduction | None = None
) -> Tensors:
    """Refuse: NCCL adds up on NVIDIA's cards, and TensorFlow has no kernel of it for a CPU either.

    Raises:
      ValueError: `red_op` is not `tf.add`.
      NotImplementedError: otherwise.
    """
    return _refuse_nccl(red_op, "build_shuffle_all_reduce or build_ring_all_reduce")


def build_nccl_then_ring(
    input_tensors: Sequence[Tensor], subdiv: int, red_op: Reduction, un_op: Reduction | None = None
) -> Tensors:
    """Refuse, as `build_nccl_all_reduce`."""
    return _refuse_nccl(red_op, "build_shuffle_then_ring")


def build_nccl_then_recursive_hd(
    input_tensors: Sequence[Tensor], red_op: Reduction, un_op: Reduction | None = None
) -> Tensors:
    """Refuse, as `build_nccl_all_reduce`."""
    return _refuse_nccl(red_op, "build_recursive_hd_all_reduce")


def build_nccl_then_shuffle(
    input_tensors: Sequence[Tensor], gather_devices: Sequence[str], nccl_red_op: Reduction,
    shuffle_red_op: Reduction, un_op: Reduction | None = None,
) -> Tensors:  # fmt: skip
    """Refuse, as `build_nccl_all_reduce`."""
    return _refuse_nccl(nccl_red_op, "build_shuffle_then_shuffle")


def _refuse_nccl(red_op: Reduction, instead: str) -> Tensors:
    if unwrap(red_op) is not add:  # the public name is wrapped
        raise ValueError(f"red_op not supported by NCCL all-reduce: {red_op}; it takes tf.add")
    raise NotImplementedError(f"NCCL needs NVIDIA's cards, of which there are none: use {instead}")


def _flattened(tensors: Sequence[Tensor]) -> tuple[Tensors, TensorShape]:
    """Return the tensors as vectors, where they stand, and the shape that they had."""
    if not tensors:
        raise ValueError("tensors cannot be empty: input_tensors must have one of each device")
    shape = tensors[0].shape
    for tensor in tensors:
        shape = shape.merge_with(tensor.shape)
    if not shape.is_fully_defined():
        raise ValueError(f"Tensors must have statically known shape, got {shape}")
    if shape.ndims == 1:
        return list(tensors), shape
    return _on_devices(lambda tensor: reshape(tensor, [-1]), tensors, tensors), shape


def _joined(pieces: Sequence[Tensors], like: Tensors) -> Tensors:
    return _on_devices(lambda parts: concat(parts, 0), pieces, like)


def _reshaped(vectors: Tensors, like: Tensors, shape: TensorShape) -> Tensors:
    if shape.ndims == 1:
        return vectors
    return _on_devices(lambda vector: reshape(vector, shape.as_list()), vectors, like)


def _on_devices(make: Reduction, values: Sequence[Any], like: Sequence[Tensor]) -> list[Any]:
    """Return what `make` makes of each value, on the device where the tensor like it stands."""
    made = []
    for value, tensor in zip(values, like, strict=True):
        with device(tensor.device):
            made.append(make(value))
    return made
