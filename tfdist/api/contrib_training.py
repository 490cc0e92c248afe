"""tf.contrib.training: hyperparameters, buckets, samples, segments, where variables stand."""

from tfdist.programs.missing import told
from tfdist.training.bucketing import bucket, bucket_by_sequence_length
from tfdist.training.checkpoint_utils import checkpoints_iterator, wait_for_new_checkpoint
from tfdist.training.contrib_train import train
from tfdist.training.device_strategies import (
    GreedyLoadBalancingStrategy,
    RandomStrategy,
    byte_size_load_fn,
)
from tfdist.training.evaluation import (
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    evaluate_once,
    evaluate_repeatedly,
    get_or_create_eval_step,
)
from tfdist.training.feeding_queue_runner import FeedingQueueRunner
from tfdist.training.hparams import HParams, parse_values
from tfdist.training.sampling import (
    rejection_sample,
    resample_at_rate,
    stratified_sample,
    weighted_resample,
)
from tfdist.training.sequence_batches import NextQueuedSequenceBatch
from tfdist.training.sequence_batching import batch_sequences_with_states
from tfdist.training.sequence_states import SequenceQueueingStateSaver
from tfdist.training.train_ops import (
    add_gradients_summaries,
    clip_gradient_norms,
    clip_gradient_norms_fn,
    create_train_op,
    multiply_gradients,
)

__all__ = [
    "FeedingQueueRunner",
    "GreedyLoadBalancingStrategy",
    "HParams",
    "NextQueuedSequenceBatch",
    "RandomStrategy",
    "SequenceQueueingStateSaver",
    "StopAfterNEvalsHook",
    "SummaryAtEndHook",
    "add_gradients_summaries",
    "batch_sequences_with_states",
    "bucket",
    "bucket_by_sequence_length",
    "byte_size_load_fn",
    "checkpoints_iterator",
    "clip_gradient_norms",
    "clip_gradient_norms_fn",
    "create_train_op",
    "evaluate_once",
    "evaluate_repeatedly",
    "get_or_create_eval_step",
    "multiply_gradients",
    "parse_values",
    "rejection_sample",
    "resample_at_rate",
    "stratified_sample",
    "train",
    "wait_for_new_checkpoint",
    "weighted_resample",
]

__getattr__ = told("tf.contrib.training")
