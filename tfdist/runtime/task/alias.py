"""A task under the name that one session has for it."""

from __future__ import annotations

from typing import Protocol

from tfdist.runtime.devices.device_memory import Memories
from tfdist.runtime.devices.local_devices import Device
from tfdist.runtime.disturbances.disturber import Disturber
from tfdist.runtime.resources.registry import Resources
from tfdist.runtime.step.peers import Peers
from tfdist.runtime.step.rendezvous import Rendezvous
from tfdist.runtime.step.seams import SessionState, TaskState
from tfdist.tracing.simulated import note_device


class Aliased(TaskState, Protocol):
    """What an alias stands for (`worker.Worker`)."""

    devices: tuple[Device, ...]
    memories: Memories


class Alias:
    """A worker as the runs of one session see it (see `cluster.propagation`).

    Args:
      worker: what it stands for.
      name: of the task in the session's cluster.
      peers: the other tasks of that cluster.
      resources: the session's own.
    """

    def __init__(self, worker: Aliased, name: str, peers: Peers, resources: Resources) -> None:
        self._worker, self.name, self.peers, self.resources = worker, name, peers, resources
        self.counters = worker.counters
        self.devices = tuple(renamed(device, name) for device in worker.devices)
        names = zip(worker.devices, self.devices, strict=True)
        self.memories = worker.memories.renamed({old.name: new.name for old, new in names})

    @property
    def disturber(self) -> Disturber | None:
        """See `Worker.disturber`."""
        return self._worker.disturber

    def rendezvous(self, step_id: int) -> Rendezvous:
        """See `Worker.rendezvous`: steps have numbers of their own in all clusters."""
        return self._worker.rendezvous(step_id)

    def handle_of(self, session: SessionState) -> str:
        """See `Worker.handle_of`."""
        return self._worker.handle_of(session)


def renamed(device: Device, task: str) -> Device:
    """Return a device as one of `task`."""
    name = f"{task}/device:{device.name.partition('/device:')[2]}"
    note_device(name, device.description)
    return device._replace(name=name)
