"""The memory of GPUs: what crosses is copied, kernels work where their device's memory is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.aliases import TensorValue
from tfdist.errors import ResourceExhaustedError
from tfdist.graph.records import COPY, SENDS, Node
from tfdist.plan.compiling.copies import WRAPPER, with_copies
from tfdist.plan.step_plan import Partition
from tfdist.runtime.devices import cupy
from tfdist.runtime.devices.dispatch import DISPATCHED, HOST_INPUTS, STATE
from tfdist.runtime.devices.local_devices import Device

Kernel = Callable[..., Any]
Around = Callable[[Kernel], Kernel]  # what a device puts around a kernel

_MEBIBYTE = 1 << 20


class Memories:
    """The memories of the GPUs of a task.

    Args:
      devices: the task's, the CPUs first.
    """

    def __init__(self, devices: Sequence[Device]) -> None:
        self._host = devices[0].name
        self._gpus = {each.name: each for each in devices if each.device_type == "GPU"}
        self._cards = {
            name: cupy.card(each.card) for name, each in self._gpus.items() if not each.is_simulated
        }
        for name, card in self._cards.items():
            card.limit_memory(self._gpus[name].memory_limit)

    @property
    def are_there(self) -> bool:
        """Return whether there is any memory but the host's."""
        return bool(self._gpus)

    def renamed(self, names: Mapping[str, str]) -> Memories:
        """Return the same memories for devices that a session knows by other names."""
        found = Memories.__new__(Memories)
        found._host = names[self._host]
        found._gpus = {names[name]: each for name, each in self._gpus.items()}
        found._cards = {names[name]: each for name, each in self._cards.items()}
        return found

    def prepared(self, partition: Partition) -> Partition:
        """Return `partition` with copies of what crosses, and its nodes bound to memories."""
        nodes = with_copies(partition, self._host)
        return nodes._replace(nodes=tuple(map(self._bound, nodes.nodes)))

    def _bound(self, node: Node) -> Node:
        around = self._around(node)
        if around is not None:
            return node._replace(attrs={**node.attrs, WRAPPER: around})
        if node.op == "Const" and node.device in self._cards:
            value = node.attrs["value"]
            if value.dtype.kind in "fc":  # others are shapes and axes mostly: read by Python
                value = cupy.to_card(value, self._cards[node.device])
            return node._replace(attrs={**node.attrs, "value": value})
        return node

    def _around(self, node: Node) -> Around | None:
        """Return what stands around the kernel of `node`, None if nothing does."""
        card = self._cards.get(node.device)
        if node.op == COPY and card is None:
            source = self._cards.get(node.attrs["send_device"].decode())
            return partial(cupy.on_host, module=source) if source else self._limit(node)
        if card is None:
            return self._limit(node)
        if node.op in SENDS:
            return partial(cupy.on_host, module=card)
        if node.op == "Const" or node.op_def.waits:
            return None
        if node.op in STATE or node.op == COPY:
            return partial(cupy.on_card, module=card)
        if node.op in DISPATCHED:
            return partial(cupy.where_it_works, module=card, host=HOST_INPUTS.get(node.op, ()))
        return partial(cupy.through_host, module=card)

    def _limit(self, node: Node) -> Around | None:
        gpu = self._gpus.get(node.device)
        if gpu is None or node.op in SENDS or node.op_def.waits:
            return None
        return partial(limited, device=gpu)


def limited(kernel: Kernel, device: Device) -> Kernel:
    """Return `kernel`, with an error for a result that the memory of `device` cannot hold."""

    def run(*inputs: TensorValue) -> TensorValue:
        result = kernel(*inputs)
        if isinstance(result, np.ndarray) and result.nbytes > device.memory_limit:
            raise _exhausted(result, device)
        return result

    return run


def _exhausted(array: TensorValue, device: Device) -> ResourceExhaustedError:
    shape = ",".join(map(str, array.shape))
    index = device.name.rpartition(":")[2]
    dtype = dtypes.as_dtype(array.dtype).name
    return ResourceExhaustedError(
        f"OOM when allocating tensor with shape[{shape}] and type {dtype} on {device.name} by "
        f"allocator GPU_{index}_bfc: it takes {array.nbytes / _MEBIBYTE:.1f} MiB, and this "
        f"simulated GPU has {device.memory_limit / _MEBIBYTE:.1f}; "
        "GPUOptions(per_process_gpu_memory_fraction=...) sets which part of its memory there is"
    )
