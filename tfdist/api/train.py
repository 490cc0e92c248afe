"""tf.train: clusters and servers, optimizers, replicas, input pipelines of queues."""

from tfdist.cluster.spec import ClusterSpec
from tfdist.formats.events import summary_iterator
from tfdist.graph.graph_files import write_graph
from tfdist.programs.missing import told
from tfdist.training.batching import (
    batch,
    batch_join,
    maybe_batch,
    maybe_batch_join,
    maybe_shuffle_batch,
    maybe_shuffle_batch_join,
    shuffle_batch,
    shuffle_batch_join,
)
from tfdist.training.coordinator import Coordinator
from tfdist.training.device_setter import replica_device_setter
from tfdist.training.file_writer import SummaryWriter
from tfdist.training.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)
from tfdist.training.looper_thread import LooperThread
from tfdist.training.meta_graph import export_meta_graph, import_meta_graph
from tfdist.training.optimizer import GradientDescentOptimizer, Optimizer
from tfdist.training.producers import (
    input_producer,
    limit_epochs,
    match_filenames_once,
    range_input_producer,
    slice_input_producer,
    string_input_producer,
)
from tfdist.training.queue_runner import QueueRunner, add_queue_runner, start_queue_runners
from tfdist.wire.server import Server

__all__ = [
    "ClusterSpec", "Coordinator", "GradientDescentOptimizer", "LooperThread", "Optimizer",
    "QueueRunner", "Server", "SummaryWriter", "add_queue_runner", "assert_global_step", "batch",
    "batch_join", "create_global_step", "export_meta_graph", "get_global_step",
    "get_or_create_global_step", "global_step", "import_meta_graph", "input_producer",
    "limit_epochs", "match_filenames_once", "maybe_batch", "maybe_batch_join",
    "maybe_shuffle_batch", "maybe_shuffle_batch_join", "range_input_producer",
    "replica_device_setter", "shuffle_batch", "shuffle_batch_join", "slice_input_producer",
    "start_queue_runners", "string_input_producer", "summary_iterator", "write_graph",
]  # fmt: skip

_missing = told("tf.train")

# loaded when first asked for
_MESSAGES = {"ClusterDef", "JobDef", "ServerDef", "SaverDef", "Example", "Features", "Feature",
             "BytesList", "FloatList", "Int64List", "SequenceExample", "FeatureList",
             "FeatureLists", "QueueRunnerDef"}  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _MESSAGES:
        from tfdist.protos import pb

        return getattr(pb, name)
    return _missing(name)  # type: ignore[no-any-return]
