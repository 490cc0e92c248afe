"""tf.contrib.training: hyperparameters, buckets, samples, segments, where variables stand."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.training.hparams.hparams import HParams, parse_values
    from tfdist.training.input_queues.bucketing import bucket, bucket_by_sequence_length
    from tfdist.training.input_queues.feeding_queue_runner import FeedingQueueRunner
    from tfdist.training.input_queues.sampling import (
        rejection_sample,
        resample_at_rate,
        stratified_sample,
        weighted_resample,
    )
    from tfdist.training.input_queues.sequence_batches import NextQueuedSequenceBatch
    from tfdist.training.input_queues.sequence_batching import batch_sequences_with_states
    from tfdist.training.input_queues.sequence_states import SequenceQueueingStateSaver
    from tfdist.training.optimizers.train_ops import (
        add_gradients_summaries,
        clip_gradient_norms,
        clip_gradient_norms_fn,
        create_train_op,
        multiply_gradients,
    )
    from tfdist.training.replicas.device_strategies import (
        GreedyLoadBalancingStrategy,
        RandomStrategy,
        byte_size_load_fn,
    )
    from tfdist.training.saving.checkpoint_utils import (
        checkpoints_iterator,
        wait_for_new_checkpoint,
    )
    from tfdist.training.sessions.contrib_train import train
    from tfdist.training.sessions.evaluation import (
        StopAfterNEvalsHook,
        SummaryAtEndHook,
        evaluate_once,
        evaluate_repeatedly,
        get_or_create_eval_step,
    )

__getattr__, __dir__ = lazy(__name__, "tf.contrib.training")
