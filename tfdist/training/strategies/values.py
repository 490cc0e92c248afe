"""Values of several replicas: one object in place of many, and back.

Source: TF 1.15 API documentation, tf.distribute.Strategy; kinds of results by experiment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.base import nest
from tfdist.graph.operation import Operation
from tfdist.graph.replicas import merging

__all__: list[str] = []


class PerReplica:
    """One value for each replica.

    Attributes:
      values: the values, in the replicas' order.
    """

    def __init__(self, values: Sequence[Any], devices: Sequence[str] = ()) -> None:
        self.values = tuple(values)
        self.devices = tuple(devices)

    def get(self, device: Any = None) -> Any:
        """Return the value of a device, of this replica by default.

        Raises:
          ValueError: no replica has this device.
        """
        if device is None:
            return self._own()
        if device not in self.devices:
            raise ValueError(f"Device {device} not found in {self.devices}")
        return self.values[self.devices.index(device)]

    @property
    def primary(self) -> Any:
        """Return the first replica's value."""
        return self.values[0]

    def _own(self) -> Any:
        replica = merging()
        return self.values[0 if replica is None else replica._number]

    def _as_tensor(self, as_ref: bool = False) -> Any:
        return self._own()

    def __repr__(self) -> str:
        names = self.devices or [""] * len(self.values)
        pairs = zip(names, self.values, strict=True)
        shown = ",\n".join(f"  {i} {name}: {value}" for i, (name, value) in enumerate(pairs))
        return f"{type(self).__name__}:{{\n{shown}\n}}"


def regrouped(results: Sequence[Any], devices: Sequence[str]) -> Any:
    """Return what replicas returned as one structure, with a PerReplica where they differ."""
    if len(results) == 1:
        return results[0]
    flat = [nest.flatten(each) for each in results]
    return nest.pack_as(results[0], [_grouped(each, devices) for each in zip(*flat, strict=True)])


def _grouped(values: tuple[Any, ...], devices: Sequence[str]) -> Any:
    if all(each is values[0] for each in values):
        return values[0]
    return PerReplica(values, devices)


def selected(replica: int, structure: Any) -> Any:
    """Return a structure as one replica sees it."""
    return nest.map_leaves(
        lambda each: each.values[replica] if isinstance(each, PerReplica) else each, structure
    )


def all_values(value: Any) -> tuple[Any, ...]:
    """Return the values of all replicas, one where they have the same."""
    return value.values if isinstance(value, PerReplica) else (value,)


def operations(structure: Any) -> list[Operation]:
    """Return what is to run to have all values of a structure."""
    found = [each for value in nest.flatten(structure) for each in all_values(value)]
    return [each if isinstance(each, Operation) else each.op for each in found if each is not None]
