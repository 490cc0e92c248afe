"""tf.contrib.legacy_seq2seq: networks from lists of steps to lists of steps, and their losses."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.rnn.sequence_loss import legacy_sequence_loss as sequence_loss
    from tfdist.models.rnn.sequence_loss import sequence_loss_by_example
    from tfdist.models.seq2seq.legacy import *
    from tfdist.models.seq2seq.legacy_decoders import *

__getattr__, __dir__ = lazy(__name__, "tf.contrib.legacy_seq2seq")
