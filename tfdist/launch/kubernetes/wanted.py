"""What a user wants to have on Kubernetes, checked before anything is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tfdist.errors import InvalidArgumentError

PORT = 2222
GRACE = 20  # seconds that running steps may take when a pod is told to end
# What Kubernetes lets an object be called that becomes a host's name; a StatefulSet's also becomes
# a label together with a hash of ten characters.
_NAME = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
_LONGEST = 52
_QUANTITY = re.compile(r"\d+(\.\d+)?(m|[kKMGTP]i?)?")


@dataclass(frozen=True)
class Wanted:
    """A cluster that is to run on Kubernetes.

    Attributes:
      jobs: {job: number of tasks}.
      image: of the containers.
      name: begins the names of all objects.
      port: of every server; the next one is for frames.
      is_encrypted: whether the servers use TLS.
      cpu: of each task, as Kubernetes writes it ("500m" is half a core).
      memory: of each task, as Kubernetes writes it ("2Gi").

    Raises:
      InvalidArgumentError: Kubernetes would refuse one of them; the message says which and why.
    """

    jobs: Mapping[str, int]
    image: str
    name: str = "tfdist"
    port: int = PORT
    is_encrypted: bool = False
    cpu: str = "1"
    memory: str = "1Gi"

    def __post_init__(self) -> None:
        """Check all fields."""
        if not self.jobs:
            raise InvalidArgumentError("a cluster has a job or more, such as ps=1 worker=2")
        for job in self.jobs:
            _check_name(self.object_name(job))
        for what, quantity in (("cpu", self.cpu), ("memory", self.memory)):
            if not _QUANTITY.fullmatch(quantity):
                raise InvalidArgumentError(
                    f"{what} is a quantity of Kubernetes, such as 500m or 2Gi, not {quantity!r}"
                )
        if not 1024 <= self.port < 65535:
            raise InvalidArgumentError(
                f"the port is from 1024 to 65534, since servers do not run as root, not {self.port}"
            )
        if not self.image or self.image != "".join(self.image.split()):
            raise InvalidArgumentError(f"an image is a name without blanks, not {self.image!r}")

    @property
    def frames_port(self) -> int:
        """Return the port for frames: what tasks send each other past gRPC."""
        return self.port + 1

    def object_name(self, job: str) -> str:
        """Return the name of a job's objects: Kubernetes knows no underscores."""
        return f"{self.name}-{job}".replace("_", "-")


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise InvalidArgumentError(
            f"Kubernetes would not take the name {name!r}: wanted are small letters, digits and "
            f"hyphens, a letter first, at most {_LONGEST}"
        )
