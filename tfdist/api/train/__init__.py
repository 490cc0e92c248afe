"""tf.train: clusters and servers, optimizers, replicas, input pipelines of queues."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.train import experimental, queue_runner
    from tfdist.cluster.spec import ClusterSpec
    from tfdist.formats.events import summary_iterator
    from tfdist.graph.graph_files import write_graph
    from tfdist.protos.pb import (
        BytesList,
        ClusterDef,
        Example,
        Feature,
        FeatureList,
        FeatureLists,
        Features,
        FloatList,
        Int64List,
        JobDef,
        QueueRunnerDef,
        SaverDef,
        SequenceExample,
        ServerDef,
    )
    from tfdist.training.events.file_writer import SummaryWriter
    from tfdist.training.global_step import (
        assert_global_step,
        create_global_step,
        get_global_step,
        get_or_create_global_step,
        global_step,
    )
    from tfdist.training.input_queues.batching import (
        batch,
        batch_join,
        maybe_batch,
        maybe_batch_join,
        maybe_shuffle_batch,
        maybe_shuffle_batch_join,
        shuffle_batch,
        shuffle_batch_join,
    )
    from tfdist.training.input_queues.producers import (
        input_producer,
        limit_epochs,
        match_filenames_once,
        range_input_producer,
        slice_input_producer,
        string_input_producer,
    )
    from tfdist.training.input_queues.queue_runner import (
        QueueRunner,
        add_queue_runner,
        start_queue_runners,
    )
    from tfdist.training.learning_rate.cosine_decay import (
        cosine_decay,
        cosine_decay_restarts,
        linear_cosine_decay,
        noisy_linear_cosine_decay,
    )
    from tfdist.training.learning_rate.decay import (
        exponential_decay,
        inverse_time_decay,
        natural_exp_decay,
        piecewise_constant,
        piecewise_constant_decay,
        polynomial_decay,
    )
    from tfdist.training.optimizers.adam import AdamOptimizer
    from tfdist.training.optimizers.adaptive import (
        AdadeltaOptimizer,
        AdagradDAOptimizer,
        AdagradOptimizer,
        ProximalAdagradOptimizer,
        RMSPropOptimizer,
    )
    from tfdist.training.optimizers.ftrl import FtrlOptimizer
    from tfdist.training.optimizers.gradient_descent import (
        GradientDescentOptimizer,
        MomentumOptimizer,
        ProximalGradientDescentOptimizer,
    )
    from tfdist.training.optimizers.moving_averages import ExponentialMovingAverage
    from tfdist.training.optimizers.optimizer import Optimizer
    from tfdist.training.replicas.device_setter import replica_device_setter
    from tfdist.training.replicas.sync_replicas import (
        SyncReplicasOptimizer,
        SyncReplicasOptimizerV2,
    )
    from tfdist.training.saving.checkpoint import Checkpoint
    from tfdist.training.saving.checkpoint_initializers import init_from_checkpoint
    from tfdist.training.saving.checkpoint_management import (
        checkpoint_exists,
        generate_checkpoint_state_proto,
        get_checkpoint_mtimes,
        get_checkpoint_state,
        latest_checkpoint,
        remove_checkpoint,
        update_checkpoint_state,
    )
    from tfdist.training.saving.checkpoint_manager import CheckpointManager
    from tfdist.training.saving.checkpoint_utils import (
        NewCheckpointReader,
        checkpoints_iterator,
        list_variables,
        load_checkpoint,
        load_variable,
    )
    from tfdist.training.saving.meta_graph import export_meta_graph
    from tfdist.training.saving.meta_graph_import import import_meta_graph
    from tfdist.training.saving.saver import Saver
    from tfdist.training.saving.warm_starting import VocabInfo, warm_start
    from tfdist.training.sessions.coordinator import Coordinator
    from tfdist.training.sessions.looper_thread import LooperThread
    from tfdist.training.sessions.monitored_session import (
        MonitoredSession,
        SingularMonitoredSession,
    )
    from tfdist.training.sessions.monitored_training_session import MonitoredTrainingSession
    from tfdist.training.sessions.saving_hooks import (
        CheckpointSaverHook,
        CheckpointSaverListener,
        ProfilerHook,
        SummarySaverHook,
    )
    from tfdist.training.sessions.scaffold import Scaffold
    from tfdist.training.sessions.session_creators import (
        ChiefSessionCreator,
        SessionCreator,
        WorkerSessionCreator,
    )
    from tfdist.training.sessions.session_manager import SessionManager
    from tfdist.training.sessions.session_run_hook import (
        SessionRunArgs,
        SessionRunContext,
        SessionRunHook,
        SessionRunValues,
    )
    from tfdist.training.sessions.step_hooks import (
        GlobalStepWaiterHook,
        SecondOrStepTimer,
        StepCounterHook,
        StopAtStepHook,
    )
    from tfdist.training.sessions.supervisor import Supervisor, basic_train_loop
    from tfdist.training.sessions.value_hooks import (
        FeedFnHook,
        FinalOpsHook,
        LoggingTensorHook,
        NanLossDuringTrainingError,
        NanTensorHook,
    )
    from tfdist.wire.server import Server

__getattr__, __dir__ = lazy(__name__, "tf.train")
