"""GPUs: simulated ones, for lessons on machines without a card, and those that CuPy finds.

A simulated GPU runs NumPy kernels on the host's processors. It has TensorFlow's name, so that
programs find it, memory of its own, so that what crosses is copied, and says that it is simulated
wherever it shows (`tracing.simulated`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfdist.errors import InvalidArgumentError
from tfdist.runtime.devices.cupy import cards
from tfdist.runtime.devices.local_devices import Device, DeviceOptions, cpu_devices, new_incarnation
from tfdist.tracing.simulated import SIMULATED, note_device

SIMULATED_MEMORY = 1 << 30  # bytes: small, so that a lesson about too little of it stays harmless


class Card(NamedTuple):
    """A card, real or not.

    Attributes:
      memory: bytes.
      description: what it is.
    """

    memory: int
    description: str


def task_devices(job: str, task: int, options: DeviceOptions) -> tuple[Device, ...]:
    """Return the devices of a task, the CPUs first.

    Raises:
      InvalidArgumentError: a GPU is to be visible that is not there.
    """
    found = cpu_devices(job, task, options.cpus)
    if options.gpus == 0:
        return found
    prefix = f"/job:{job}/replica:0/task:{task}/device:GPU"
    return found + tuple(_gpus(prefix, options))


def _gpus(prefix: str, options: DeviceOptions) -> Iterator[Device]:
    there = (
        _simulated(options.simulated) if options.simulated else [Card(*card) for card in cards()]
    )
    visible = _visible(options.visible, len(there)) if there else []
    for index, number in enumerate(visible[: options.gpus]):
        card, name = there[number], f"{prefix}:{index}"
        memory = int(card.memory * (options.memory_fraction or 1.0))
        note_device(name, card.description)
        yield Device(name, "GPU", memory, new_incarnation(), card.description)


def _simulated(count: int) -> list[Card]:
    return [
        Card(SIMULATED_MEMORY, f"device: {i}, name: {SIMULATED} GPU (NumPy on the CPU)")
        for i in range(count)
    ]


def _visible(text: str, count: int) -> list[int]:
    """Return the numbers of the GPUs in `visible_device_list`."""
    words = [word.strip() for word in text.split(",")] if text else list(map(str, range(count)))
    found = [int(word) for word in words if word.isdecimal() and int(word) < count]
    if len(set(found)) != len(words):
        raise InvalidArgumentError(
            f"visible_device_list={text!r}: wanted different numbers from 0 to {count - 1}, "
            'such as "0,1"'
        )
    return found
