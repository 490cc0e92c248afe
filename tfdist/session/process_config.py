"""tf.config: what sessions that are given no ConfigProto of their own are made with.

Source: TF 1.15 API documentation, tf.config.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tfdist.base.aliases import TensorLike
from tfdist.protos import pb
from tfdist.runtime.devices.gpus import task_devices
from tfdist.runtime.devices.local_devices import Device, device_options


class PhysicalDevice(NamedTuple):
    """A device of this machine: its name, as "/physical_device:CPU:0", and its kind."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as nodes name it, as "/job:localhost/replica:0/task:0/device:CPU:0"."""

    name: str
    device_type: str


class VirtualDeviceConfiguration(NamedTuple("_Limit", [("memory_limit", Any)])):
    """A part of a GPU: how much of its memory it has, in megabytes."""

    __slots__ = ()

    def __new__(cls, memory_limit: int | None = None) -> VirtualDeviceConfiguration:
        """Return the part."""
        return super().__new__(cls, memory_limit)


class Choices:
    """What a program has chosen for its sessions.

    Attributes:
      config: a ConfigProto, None until something is chosen.
      hidden: kinds of devices of which some are hidden -> those that are seen.
      growth: GPUs -> whether their memory grows.
      virtual: devices -> their parts.
      graph_options: of `optimizer`: names -> whether they are on.
      jit: of `optimizer`.
    """

    def __init__(self) -> None:
        self.config: pb.ConfigProto | None = None
        self.hidden: dict[str, list[PhysicalDevice]] = {}
        self.growth: dict[PhysicalDevice, bool] = {}
        self.virtual: dict[PhysicalDevice, list[Any]] = {}
        self.graph_options: dict[str, Any] = {}
        self.jit = False

    def changed(self) -> pb.ConfigProto:
        """Return the ConfigProto, to be changed."""
        if self.config is None:
            self.config = pb.ConfigProto()
        return self.config


CHOICES = Choices()


def session_config() -> pb.ConfigProto | None:
    """Return the ConfigProto of sessions that are given none, None if nothing was chosen."""
    return CHOICES.config


# devices


def _machine() -> list[tuple[PhysicalDevice, Device]]:
    found = task_devices("localhost", 0, device_options(None))
    return [(PhysicalDevice(f"/physical_device:{each.device_type}:{each.spec.device_index}",
                            each.device_type), each) for each in found]  # fmt: skip


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the devices of this machine, of one kind or of all.

    Example:
      >>> config.experimental.list_physical_devices("CPU")
      [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    return [each for each, _ in _machine() if device_type in (None, each.device_type)]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the devices that sessions see; all until `set_visible_devices` hides some.

    Example:
      >>> config.experimental.get_visible_devices("CPU")
      [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    found = list_physical_devices(device_type)
    return [each for each in found
            if each in CHOICES.hidden.get(each.device_type, [each])]  # fmt: skip


def set_visible_devices(devices: TensorLike, device_type: str | None = None) -> None:
    """Let sessions that are given no ConfigProto see these devices only.

    Args:
      devices: of `list_physical_devices`; one, or a list; [] hides all of a kind.
      device_type: the kind that is meant; by default all kinds.

    Raises:
      ValueError: there is no such device, or it is of another kind.

    Example:
      >>> config.experimental.set_visible_devices([], "GPU")
    """
    chosen = list(devices) if isinstance(devices, list | set) else [devices]
    for each in chosen:
        if each not in list_physical_devices():
            raise ValueError(f"Unrecognized device: {each!r}")
        if device_type not in (None, each.device_type):
            raise ValueError(f"Device {each} is not of type {device_type}")
    kinds = [device_type] if device_type else ["CPU", "GPU"]
    for kind in kinds:
        CHOICES.hidden[kind] = [each for each in chosen if each.device_type == kind]
    if "GPU" in kinds and list_physical_devices("GPU"):
        config = CHOICES.changed()
        numbers = [each.name.rpartition(":")[2] for each in CHOICES.hidden["GPU"]]
        config.device_count["GPU"] = len(numbers)
        config.gpu_options.visible_device_list = ",".join(numbers)


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Return the devices that sessions see, as nodes name them.

    Example:
      >>> config.experimental.list_logical_devices("CPU")[0].device_type
      'CPU'
    """
    seen = set(get_visible_devices(device_type))
    return [LogicalDevice(device.name, each.device_type)
            for each, device in _machine() if each in seen]  # fmt: skip


def experimental_list_devices() -> list[str]:
    """Return the names of the devices that sessions see.

    Example:
      >>> config.experimental_list_devices()[0].endswith("CPU:0")
      True
    """
    return [each.name for each in list_logical_devices()]


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Return whether a GPU's memory is taken as it is needed.

    Raises:
      KeyError: it is no GPU.
    """
    if device.device_type != "GPU":
        raise KeyError(device)
    return CHOICES.growth.get(device, False)


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Choose whether a GPU's memory is taken as it is needed.

    Raises:
      ValueError: it is no GPU.
    """
    if device.device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU devices")
    CHOICES.growth[device] = enable
    CHOICES.changed().gpu_options.allow_growth = enable


def get_virtual_device_configuration(device: PhysicalDevice) -> list[TensorLike] | None:
    """Return the parts of a device that `set_virtual_device_configuration` was told, or None."""
    return CHOICES.virtual.get(device)


def set_virtual_device_configuration(
    device: PhysicalDevice, virtual_devices: Sequence[TensorLike]
) -> None:
    """Note the parts of a device; sessions here do not take devices apart.

    Raises:
      ValueError: a CPU is to have more than one part, or a limit of memory.
    """
    parts = list(virtual_devices)
    if device.device_type == "CPU":
        if any(part.memory_limit is not None for part in parts):
            raise ValueError(
                "Setting memory limit on CPU virtual devices is currently not supported"
            )
        CHOICES.changed().device_count["CPU"] = len(parts)
    CHOICES.virtual[device] = parts


def get_device_policy() -> str:
    """Return "silent": tensors go from device to device without a word."""
    return "silent"


def set_device_policy(device_policy: str | None) -> None:
    """Accept any policy: only an eager program, of which there is none here, has one."""


def get_synchronous_execution() -> bool:
    """Return True; see `set_device_policy`."""
    return True


def set_synchronous_execution(enable: bool) -> None:
    """Accept anything; see `set_device_policy`."""


# placement


def get_soft_device_placement() -> bool:
    """Return whether a node that a device cannot run goes to another one."""
    config = CHOICES.config
    return bool(config is not None and config.allow_soft_placement)


def set_soft_device_placement(enabled: bool) -> None:
    """Choose whether a node that a device cannot run goes to another one.

    Example:
      >>> config.set_soft_device_placement(True)
      >>> config.get_soft_device_placement()
      True
      >>> config.set_soft_device_placement(False)
    """
    CHOICES.changed().allow_soft_placement = enabled


def get_log_device_placement() -> bool:
    """Return whether sessions print where each node runs.

    Example:
      >>> debugging.get_log_device_placement()
      False
    """
    config = CHOICES.config
    return bool(config is not None and config.log_device_placement)


def set_log_device_placement(enabled: bool) -> None:
    """Choose whether sessions print where each node runs.

    Example:
      >>> debugging.set_log_device_placement(False)
    """
    CHOICES.changed().log_device_placement = enabled


def experimental_run_functions_eagerly(run_eagerly: bool) -> None:
    """Accept anything: functions are always made into graphs here."""


# threads


def get_inter_op_parallelism_threads() -> int:
    """Return how many nodes of a step may run at one time; 0 if nothing was chosen."""
    return int(CHOICES.changed().inter_op_parallelism_threads)


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Choose how many nodes of a step may run at one time.

    Example:
      >>> config.threading.set_inter_op_parallelism_threads(0)
    """
    CHOICES.changed().inter_op_parallelism_threads = num_threads


def get_intra_op_parallelism_threads() -> int:
    """Return how many threads one node may take; 0 if nothing was chosen."""
    return int(CHOICES.changed().intra_op_parallelism_threads)


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Choose how many threads one node may take.

    Example:
      >>> config.threading.set_intra_op_parallelism_threads(0)
    """
    CHOICES.changed().intra_op_parallelism_threads = num_threads


# the optimizer of graphs


def get_jit() -> bool:
    """Return what `set_jit` was told: nothing here compiles by XLA."""
    return CHOICES.jit


def set_jit(enabled: bool) -> None:
    """Note whether XLA is wanted, which is not there."""
    CHOICES.jit = enabled


def get_experimental_options() -> dict[str, object]:
    """Return what `set_experimental_options` was told, and that nothing is disabled."""
    never = {"disable_model_pruning": False, "disable_meta_optimizer": False}
    return {**CHOICES.graph_options, **never}


def set_experimental_options(options: dict[str, object]) -> None:
    """Note which of TensorFlow's passes over graphs are wanted; those here are always on."""
    CHOICES.graph_options.update(options)
