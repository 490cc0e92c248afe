"""`DeviceSpec` as programs have it: a request for a device that can be changed.

Source: TF 1.15 API documentation, tf.DeviceSpec.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import devices


class DeviceSpec:
    """A device or a request for one; None means "any".

    Attributes:
      job: name of the job, such as "ps".
      replica: index of the replica.
      task: index of the task in its job.
      device_type: "CPU", "GPU" or another type, upper case.
      device_index: index among the task's devices of this type.

    Example:
      >>> DeviceSpec(job="ps", device_type="CPU", device_index=0).to_string()
      '/job:ps/device:CPU:0'
    """

    def __init__(
        self,
        job: Any = None,
        replica: Any = None,
        task: Any = None,
        device_type: Any = None,
        device_index: Any = None,
    ) -> None:
        self.job, self.replica, self.task = job, _number(replica), _number(task)
        self.device_type = None if device_type is None else str(device_type).upper()
        self.device_index = _number(device_index)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Take all fields from a text, and return this spec.

        Raises:
          ValueError: it is not a device's name; see `devices.parse`.
        """
        self._take(devices.parse(spec))
        return self

    @staticmethod
    def from_string(spec: str) -> DeviceSpec:
        """Return the spec that a text spells; ValueError if it is not a device's name."""
        return DeviceSpec().parse_from_string(spec)

    def merge_from(self, dev: Any) -> None:
        """Take every field that another spec states."""
        self._take(self._plain().merge_from(DeviceSpec._plain(dev)))

    def make_merged_spec(self, dev: Any) -> DeviceSpec:
        """Return this spec with every field that another one states."""
        merged = self.replace()
        merged.merge_from(dev)
        return merged

    def replace(self, **fields: Any) -> DeviceSpec:
        """Return this spec with other `fields`."""
        job, replica, task, device_type, device_index = self._plain()
        known = dict(job=job, replica=replica, task=task, device_type=device_type,
                     device_index=device_index)  # fmt: skip
        return DeviceSpec(**known | fields)

    def matches(self, device: DeviceSpec) -> bool:
        """Return whether `device` is one that this request allows."""
        return self._plain().matches(device._plain())

    def to_string(self) -> str:
        """Return the canonical text: "" for no request, "/job:ps/device:CPU:0"."""
        return self._plain().to_string()

    def _plain(self) -> devices.DeviceSpec:
        where = (self.job, self.replica, self.task)
        return devices.DeviceSpec(*where, self.device_type, self.device_index)

    def _take(self, plain: devices.DeviceSpec) -> None:
        self.job, self.replica, self.task, self.device_type, self.device_index = plain

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self._plain() == other._plain()

    def __hash__(self) -> int:
        return hash(self._plain())

    def __repr__(self) -> str:
        return f"DeviceSpec({self.to_string()!r})"

    def __str__(self) -> str:
        return self.to_string()


def _number(value: Any) -> int | None:
    return None if value is None else int(value)
