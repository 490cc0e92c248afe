"""A TPU at a known address."""

from __future__ import annotations

from typing import Any

from tfdist.cluster.spec import ClusterSpec
from tfdist.launch.cluster_resolver.resolver import SimpleClusterResolver


class TPUClusterResolver(SimpleClusterResolver):
    """A TPU at a known address. There are none here: this is for programs that name one.

    Args:
      tpu: address, as "grpc://HOST:PORT"; "" or "local" for this process.
      zone: not used, as `project`, `credentials`, `service` and `discovery_url`: they tell where
        the address of a TPU with a name is asked for.
      project: see `zone`.
      job_name: job of the TPU.
      coordinator_name: job of the coordinator, if there is one.
      coordinator_address: its address.
      credentials: see `zone`.
      service: see `zone`.
      discovery_url: see `zone`.

    Raises:
      ValueError: there is no `tpu`.
      ImportError: `tpu` is a name, which a service of Google's knows the address of.

    Example:
      >>> contrib.cluster_resolver.TPUClusterResolver("grpc://10.0.0.2:8470").master()
      'grpc://10.0.0.2:8470'
    """

    def __init__(
        self,
        tpu: str | None = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: str | None = None,
    ) -> None:
        if tpu is None:
            raise ValueError("Please provide a TPU Name to connect to.")
        layer, is_address, address = tpu.rpartition("://")
        if not is_address and tpu not in ("", "local"):
            raise ImportError(
                f"googleapiclient and oauth2client must tell where the TPU {tpu!r} is, and "
                "tfdist does not use them: give its address, as grpc://HOST:PORT"
            )
        jobs = {job_name: [address]} if is_address else {}
        if is_address and coordinator_name and coordinator_address:
            jobs[coordinator_name] = [coordinator_address]
        super().__init__(ClusterSpec(jobs), address, rpc_layer=layer or None)

    def cluster_spec(self) -> Any:
        """Return the addresses of all tasks; None for this process."""
        return self._cluster_spec if self._cluster_spec.jobs else None
