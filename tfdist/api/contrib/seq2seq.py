"""tf.contrib.seq2seq: decoders, attention, beam search, and losses of sequences."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.rnn.sequence_loss import sequence_loss
    from tfdist.models.seq2seq.attention import *
    from tfdist.models.seq2seq.attention_wrapper import *
    from tfdist.models.seq2seq.beam_search_decoder import *
    from tfdist.models.seq2seq.custom_helpers import *
    from tfdist.models.seq2seq.decoder import *
    from tfdist.models.seq2seq.helpers import *
    from tfdist.models.seq2seq.monotonic_attention import *
    from tfdist.models.seq2seq.scheduled_sampling import *
    from tfdist.ops.nn.gather_tree import gather_tree

__getattr__, __dir__ = lazy(__name__, "tf.contrib.seq2seq")
