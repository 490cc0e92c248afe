"""What a session asks of a master, and what it is given: plain records."""

from __future__ import annotations

from typing import NamedTuple

from tfdist.base.aliases import RemoteStats, TensorValue
from tfdist.base.dtypes import DType
from tfdist.cluster.spec import ClusterSpec
from tfdist.plan.step_plan import Signature, StepPlan
from tfdist.runtime.devices.kernel_threads import ThreadTuner
from tfdist.runtime.step.peers import Peers
from tfdist.runtime.step.trace import PartTrace


class SessionOptions(NamedTuple):
    """What a session asks of its master.

    Attributes:
      soft_placement: `ConfigProto.allow_soft_placement`.
      default_device: "cluster" puts unpinned nodes on the cluster's first task, "master" on the
        master's own.
      device_filters: tasks that the session spans ("/job:ps", ...); all if empty.
      isolated: `ConfigProto.isolate_session_state`: whether variables and queues are the
        session's own.
      timeout: seconds to wait for the tasks at most; by default what the peers think fit.
      cluster: `ConfigProto.cluster_def`: the session's own cluster, if it has one.
      as_bfloat16: `ConfigProto.graph_options.enable_bfloat16_sendrecv`: whether float32 crosses
        between tasks as bfloat16.
    """

    soft_placement: bool = False
    default_device: str = "cluster"
    device_filters: tuple[str, ...] = ()
    isolated: bool = False
    timeout: float | None = None
    cluster: ClusterSpec | None = None
    as_bfloat16: bool = False


class StepResult(NamedTuple):
    """What a step gives.

    Attributes:
      values: what was fetched, in the signature's order.
      trace: of the nodes that ran in this process, if it was asked for.
      remote: statistics of the partitions that ran in other processes, as they sent them.
    """

    values: list[TensorValue]
    trace: list[PartTrace]
    remote: list[RemoteStats]


class PreparedStep(NamedTuple):
    """A step that is planned and registered.

    Attributes:
      handle: of the session.
      parts: (task, name of the registered partition), the client's task first.
      plan: what each task does.
      peers: reach the tasks.
      keeps_feeds: whether a kernel may hold on to an array that it is given.
      tuner: chooses the number of threads; None if no kernel takes several.
      feed_types: of what is fed, in the signature's order.
    """

    handle: str
    parts: tuple[tuple[str, str], ...]
    plan: StepPlan
    peers: Peers
    keeps_feeds: bool
    tuner: ThreadTuner | None
    feed_types: tuple[DType, ...]

    @property
    def signature(self) -> Signature:
        """Return what the step feeds and fetches."""
        return self.plan.signature
