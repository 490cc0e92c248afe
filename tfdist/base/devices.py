"""Device names: `/job:worker/replica:0/task:1/device:CPU:0`, in whole or in part.

A spec with holes is a request; a full one names a device. TensorFlow's old spellings are read
(`/cpu:0`, `/job:ps/cpu:0`), its present one is written.

Source: TF 1.15 API documentation, tf.DeviceSpec and tf.device.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

# Only CPU and GPU may stand without `device:`, so that a misspelled part is an error.
_PART = re.compile(
    r"/(?:(job|replica|task):([^/]*)"
    r"|(?:(?i:device):([A-Za-z_]\w*)|((?i:cpu|gpu)))(?::(\d+|\*))?)(?=/|$)"
)


class DeviceSpec(NamedTuple):
    """A device or a request for one; None means "any".

    Attributes:
      job: name of the job, such as "ps".
      replica: index of the replica; always 0 here.
      task: index of the task in its job.
      device_type: "CPU", "GPU" or another type, upper case.
      device_index: index among the task's devices of this type.
    """

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None

    @staticmethod
    def from_string(text: str) -> DeviceSpec:
        """Return the spec that `text` spells; see `parse`."""
        return parse(text)

    def to_string(self) -> str:
        """Return the canonical text: "" for no request, "/job:ps/device:CPU:0"."""
        parts = [
            f"/{name}:{value}"
            for name, value in (("job", self.job), ("replica", self.replica), ("task", self.task))
            if value is not None
        ]
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            parts.append(f"/device:{self.device_type.upper()}:{index}")
        return "".join(parts)

    def merge_from(self, other: DeviceSpec) -> DeviceSpec:
        """Return this spec with every field that `other` states taken from there."""
        stated = {field: value for field, value in other._asdict().items() if value is not None}
        return self._replace(**stated)

    def matches(self, device: DeviceSpec) -> bool:
        """Return whether `device` is one that this request allows."""
        return all(a is None or a == b for a, b in zip(self, device, strict=True))

    @property
    def task_name(self) -> str:
        """Return "/job:J/replica:R/task:T", the task that owns the device."""
        return self._replace(device_type=None, device_index=None).to_string()

    def __str__(self) -> str:
        return self.to_string()


@lru_cache(maxsize=4096)
def parse(text: str) -> DeviceSpec:
    """Return the spec that `text` spells.

    Args:
      text: such as "/job:worker/task:1", "/cpu:0", "/device:GPU:*" or "".

    Raises:
      ValueError: a part is not one of /job:NAME, /replica:N, /task:N, /TYPE:N,
        /device:TYPE:N, or stands twice.
    """
    text = "".join(f"/{part}" for part in text.split("/") if part)
    fields: dict[str, Any] = {}
    position = 0
    while position < len(text):
        part = _PART.match(text, position)
        found = _fields(part) if part else {}
        if not found or fields.keys() & found.keys():
            raise ValueError(_not_a_device(text, position, "device_type" in found))
        fields |= found
        position = part.end()  # type: ignore[union-attr]
    return DeviceSpec(**fields)


def _not_a_device(text: str, position: int, is_second_type: bool) -> str:
    unknown = text[position:].strip("/").split("/")[0]
    what = "Cannot specify multiple device types" if is_second_type else (
        f"Unknown attribute: {unknown!r}")  # fmt: skip
    return (
        f"{text!r} is not a device: {what}; expected parts such as /job:ps, /replica:0, /task:1, "
        f"/cpu:0 or /device:GPU:0, each at most once; stopped at {text[position:]!r}"
    )


def _fields(part: re.Match[str]) -> dict[str, Any]:
    name, value, long_type, short_type, index = part.groups()
    if name == "job":
        return {"job": value} if value else {}
    if name:
        return {name: int(value)} if value.isdigit() else {}
    known = index is not None and index != "*"
    device_type = (long_type or short_type).upper()
    return {"device_type": device_type, "device_index": int(index) if known else None}


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """Return `text` in its canonical spelling: "/cpu:0" is "/device:CPU:0"."""
    return parse(text).to_string()


@lru_cache(maxsize=4096)
def merge(outer: str, inner: str) -> str:
    """Return `outer` with what `inner` states taken from there, canonical."""
    return parse(outer).merge_from(parse(inner)).to_string()
