"""tf.train: clusters and servers, optimizers, replicas, input pipelines of queues."""

from tfdist.api import train_experimental as experimental
from tfdist.api import train_queue_runner as queue_runner
from tfdist.cluster.spec import ClusterSpec
from tfdist.formats.events import summary_iterator
from tfdist.graph.graph_files import write_graph
from tfdist.programs.missing import told
from tfdist.training.adam_optimizer import AdamOptimizer
from tfdist.training.adaptive_optimizers import (
    AdadeltaOptimizer,
    AdagradDAOptimizer,
    AdagradOptimizer,
    ProximalAdagradOptimizer,
    RMSPropOptimizer,
)
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
from tfdist.training.checkpoint import Checkpoint
from tfdist.training.checkpoint_initializers import init_from_checkpoint
from tfdist.training.checkpoint_management import (
    checkpoint_exists,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    remove_checkpoint,
    update_checkpoint_state,
)
from tfdist.training.checkpoint_manager import CheckpointManager
from tfdist.training.checkpoint_utils import (
    NewCheckpointReader,
    checkpoints_iterator,
    list_variables,
    load_checkpoint,
    load_variable,
)
from tfdist.training.coordinator import Coordinator
from tfdist.training.descent_optimizers import (
    GradientDescentOptimizer,
    MomentumOptimizer,
    ProximalGradientDescentOptimizer,
)
from tfdist.training.device_setter import replica_device_setter
from tfdist.training.file_writer import SummaryWriter
from tfdist.training.ftrl_optimizer import FtrlOptimizer
from tfdist.training.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)
from tfdist.training.learning_rate_cosine import (
    cosine_decay,
    cosine_decay_restarts,
    linear_cosine_decay,
    noisy_linear_cosine_decay,
)
from tfdist.training.learning_rate_decay import (
    exponential_decay,
    inverse_time_decay,
    natural_exp_decay,
    piecewise_constant,
    piecewise_constant_decay,
    polynomial_decay,
)
from tfdist.training.looper_thread import LooperThread
from tfdist.training.meta_graph import export_meta_graph
from tfdist.training.meta_graph_import import import_meta_graph
from tfdist.training.monitored_session import MonitoredSession, SingularMonitoredSession
from tfdist.training.monitored_training_session import MonitoredTrainingSession
from tfdist.training.moving_averages import ExponentialMovingAverage
from tfdist.training.optimizer import Optimizer
from tfdist.training.producers import (
    input_producer,
    limit_epochs,
    match_filenames_once,
    range_input_producer,
    slice_input_producer,
    string_input_producer,
)
from tfdist.training.queue_runner import QueueRunner, add_queue_runner, start_queue_runners
from tfdist.training.saver import Saver
from tfdist.training.saving_hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    ProfilerHook,
    SummarySaverHook,
)
from tfdist.training.scaffold import Scaffold
from tfdist.training.session_creators import (
    ChiefSessionCreator,
    SessionCreator,
    WorkerSessionCreator,
)
from tfdist.training.session_manager import SessionManager
from tfdist.training.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tfdist.training.step_hooks import (
    GlobalStepWaiterHook,
    SecondOrStepTimer,
    StepCounterHook,
    StopAtStepHook,
)
from tfdist.training.supervisor import Supervisor, basic_train_loop
from tfdist.training.sync_replicas import SyncReplicasOptimizer, SyncReplicasOptimizerV2
from tfdist.training.value_hooks import (
    FeedFnHook,
    FinalOpsHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
)
from tfdist.training.warm_starting import VocabInfo, warm_start
from tfdist.wire.server import Server

__all__ = [
    "AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "AdamOptimizer",
    "Checkpoint", "CheckpointManager", "CheckpointSaverHook", "CheckpointSaverListener",
    "ChiefSessionCreator", "ClusterSpec",
    "Coordinator", "ExponentialMovingAverage", "FeedFnHook", "FinalOpsHook", "FtrlOptimizer",
    "GlobalStepWaiterHook", "GradientDescentOptimizer", "LoggingTensorHook", "LooperThread",
    "MomentumOptimizer", "MonitoredSession", "MonitoredTrainingSession",
    "NanLossDuringTrainingError", "NanTensorHook", "NewCheckpointReader", "Optimizer",
    "ProfilerHook", "ProximalAdagradOptimizer", "ProximalGradientDescentOptimizer",
    "QueueRunner", "RMSPropOptimizer", "Saver", "Scaffold", "SecondOrStepTimer", "Server",
    "SessionCreator", "SessionManager", "SessionRunArgs", "SessionRunContext", "SessionRunHook",
    "SessionRunValues", "SingularMonitoredSession", "StepCounterHook", "StopAtStepHook",
    "SummarySaverHook", "SummaryWriter", "Supervisor", "SyncReplicasOptimizer",
    "SyncReplicasOptimizerV2", "VocabInfo", "WorkerSessionCreator",
    "add_queue_runner", "assert_global_step", "basic_train_loop", "batch", "batch_join",
    "checkpoint_exists", "checkpoints_iterator", "cosine_decay", "cosine_decay_restarts",
    "create_global_step", "exponential_decay", "export_meta_graph",
    "generate_checkpoint_state_proto", "get_checkpoint_mtimes", "get_checkpoint_state",
    "get_global_step", "get_or_create_global_step", "global_step", "import_meta_graph",
    "init_from_checkpoint", "input_producer", "inverse_time_decay", "latest_checkpoint",
    "limit_epochs", "linear_cosine_decay", "list_variables", "load_checkpoint", "load_variable",
    "match_filenames_once", "maybe_batch", "maybe_batch_join", "maybe_shuffle_batch",
    "maybe_shuffle_batch_join", "natural_exp_decay", "noisy_linear_cosine_decay",
    "piecewise_constant", "piecewise_constant_decay", "polynomial_decay",
    "range_input_producer", "remove_checkpoint", "replica_device_setter", "shuffle_batch",
    "shuffle_batch_join", "slice_input_producer", "start_queue_runners",
    "string_input_producer", "summary_iterator", "update_checkpoint_state", "warm_start",
    "write_graph",
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
