"""Which devices a session of this process has: `device_lib.list_local_devices`, and `tf.test`'s.

Source: TF 1.15 API documentation, tf.test.
"""

from __future__ import annotations

from importlib.util import find_spec

from tfdist.protos import pb
from tfdist.runtime.devices.gpus import task_devices
from tfdist.runtime.devices.local_devices import Device, Devices, device_options
from tfdist.wire.service_methods import device_protos

__all__ = [
    "gpu_device_name", "is_built_with_cuda", "is_built_with_gpu_support", "is_gpu_available",
    "list_local_devices",
]  # fmt: skip


def list_local_devices(session_config: pb.ConfigProto | None = None) -> list[pb.DeviceAttributes]:
    """Return a DeviceAttributes message for each device of this process.

    Args:
      session_config: a ConfigProto that says which devices there are to be, or None.

    Example:
      >>> [device.device_type for device in list_local_devices()]
      ['CPU']
    """
    found = Devices(device_protos(_local_devices(session_config)))
    for device in found:
        device.name = f"/device:{device.name.partition('/device:')[2]}"
    return found


def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None
) -> bool:
    """Return whether a session of this process has a GPU.

    Args:
      cuda_only: whether only a real one counts, not a simulated one.
      min_cuda_compute_capability: accepted for TensorFlow's sake.

    Example:
      >>> is_gpu_available()
      False
    """
    return any(not (cuda_only and device.is_simulated) for device in _gpus())


def gpu_device_name() -> str:
    """Return the name of the first GPU of a session of this process, "" if there is none.

    Example:
      >>> gpu_device_name()
      ''
    """
    found = _gpus()
    return f"/device:GPU:{found[0].spec.device_index}" if found else ""


def is_built_with_cuda() -> bool:
    """Return whether real GPUs would be used: CuPy, which reaches them, is installed.

    Example:
      >>> is_built_with_cuda() == is_built_with_gpu_support()
      True
    """
    return find_spec("cupy") is not None


def is_built_with_gpu_support() -> bool:
    """Return the same as `is_built_with_cuda`.

    Example:
      >>> is_built_with_gpu_support() == is_built_with_cuda()
      True
    """
    return is_built_with_cuda()


def _local_devices(config: pb.ConfigProto | None = None) -> tuple[Device, ...]:
    return task_devices("localhost", 0, device_options(config))


def _gpus() -> list[Device]:
    return [device for device in _local_devices() if device.device_type == "GPU"]
