"""The addresses that tasks tell each other, as a ClusterSpec."""

from __future__ import annotations

from tfdist.cluster.spec import ClusterSpec
from tfdist.launch.exchange.messages import Addresses
from tfdist.launch.task_names import split_task


def spec_of(addresses: Addresses) -> ClusterSpec:
    """Return the cluster whose tasks have these addresses.

    Example:
      >>> spec_of({"/job:ps/task:0": "10.0.0.7:40123"}).as_dict()
      {'ps': ['10.0.0.7:40123']}
    """
    spec: dict[str, dict[int, str]] = {}
    for name, address in addresses.items():
        job, index = split_task(name)
        spec.setdefault(job, {})[index] = address
    return ClusterSpec(spec)
