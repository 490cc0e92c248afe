"""The devices of a task.

A task has CPUs, as many as asked for, and perhaps GPUs (`gpus`). Which GPUs, `DeviceOptions` says:
made from a ConfigProto, the environment, or the options of a command.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from tfdist.base.devices import DeviceSpec, parse
from tfdist.errors import InvalidArgumentError
from tfdist.tracing.simulated import SIMULATED

SIMULATED_GPUS = "TFDIST_SIMULATED_GPUS"  # how many the tasks of this process have


class Device(NamedTuple):
    """One device.

    Attributes:
      name: full name.
      device_type: "CPU" or "GPU".
      memory_limit: bytes.
      incarnation: random number of this life of the task.
      description: what it is physically, "" for the host's processors.
    """

    name: str
    device_type: str
    memory_limit: int
    incarnation: int
    description: str = ""

    @property
    def spec(self) -> DeviceSpec:
        """Return the name, parsed."""
        return parse(self.name)

    @property
    def physical_device_desc(self) -> str:
        """Return what the device is physically, under TensorFlow's name for it."""
        return self.description

    @property
    def card(self) -> int:
        """Return the number of the card that a GPU is, which `visible_device_list` may change."""
        return int(self.description.removeprefix("device: ").partition(",")[0])

    @property
    def is_simulated(self) -> bool:
        """Return whether this is a GPU for lessons, whose kernels run on the CPU."""
        return SIMULATED in self.description

    def __repr__(self) -> str:
        simulated = ", simulated" if self.is_simulated else ""
        return (
            f"Device({self.name}, {self.device_type}{simulated}, "
            f"memory_limit={self.memory_limit}, incarnation={self.incarnation})"
        )


class Devices(list[Any]):
    """Devices, or what messages tell of them; a notebook shows them as a table."""


class DeviceOptions(NamedTuple):
    """Which devices a task is to have.

    Attributes:
      cpus: number of CPUs.
      simulated: number of simulated GPUs; 0 for real ones, where there are any.
      gpus: how many GPUs at most; None for all there are.
      visible: indices of the GPUs to be used, in order, as "1,0"; "" for all of them.
      memory_fraction: the part of each GPU's memory that may be used; 0 for all of it.
    """

    cpus: int = 1
    simulated: int = 0
    gpus: int | None = None
    visible: str = ""
    memory_fraction: float = 0.0


class GPUOptions(Protocol):
    """What is read of a ConfigProto's `gpu_options`."""

    allocator_type: str
    visible_device_list: str
    per_process_gpu_memory_fraction: float


class Config(Protocol):
    """What is read of a ConfigProto."""

    @property
    def device_count(self) -> Mapping[str, int]:
        """Return how many devices of a type there are to be at most."""

    @property
    def gpu_options(self) -> GPUOptions:
        """Return what is asked of GPUs."""


def device_options(
    config: Config | None = None, environment: Mapping[str, str] = os.environ
) -> DeviceOptions:
    """Return the devices that a ConfigProto and the environment ask for.

    `device_count={"GPU": n}` alone means what it means in TensorFlow: n at most of those that there
    are. Simulated ones are asked for by TFDIST_SIMULATED_GPUS=n, or by
    `gpu_options.allocator_type = "simulated"` beside a `device_count`.

    Args:
      config: a ConfigProto, or None.
      environment: the variables of the process.

    Raises:
      InvalidArgumentError: a number makes no sense.
    """
    simulated = _number(environment.get(SIMULATED_GPUS) or "0")
    if config is None:
        return DeviceOptions(1, simulated) if simulated else USUAL
    count, options = config.device_count, config.gpu_options
    gpus = count["GPU"] if "GPU" in count else None
    if options.allocator_type == SIMULATED:
        simulated = gpus or 0
    fraction = options.per_process_gpu_memory_fraction
    if not 0 <= fraction <= 1 or min(count.values(), default=0) < 0:
        raise InvalidArgumentError(
            f"GPUOptions(per_process_gpu_memory_fraction={fraction}) must be from 0 to 1, and the "
            f"numbers of device_count={dict(count)} must not be below 0"
        )
    cpus = max(1, count["CPU"]) if "CPU" in count else 1
    return DeviceOptions(cpus, simulated, gpus, options.visible_device_list, fraction)


USUAL = DeviceOptions()


def _number(text: str) -> int:
    if not text.isdecimal():
        raise InvalidArgumentError(f"{SIMULATED_GPUS}={text!r}: wanted a number, such as 2")
    return int(text)


def cpu_devices(job: str, task: int, count: int = 1) -> tuple[Device, ...]:
    """Return `count` CPU devices of a task; together they are the host's processors."""
    memory = host_memory()
    prefix = f"/job:{job}/replica:0/task:{task}/device:CPU"
    return tuple(
        Device(f"{prefix}:{index}", "CPU", memory, new_incarnation()) for index in range(count)
    )


def host_memory() -> int:
    """Return the bytes of memory that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def new_incarnation() -> int:
    """Return a number for one life of a device: not 0, and another one each time."""
    return int.from_bytes(os.urandom(8)) >> 2 | 1  # `secrets` takes long to import
