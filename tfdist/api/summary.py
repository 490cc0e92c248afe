"""tf.summary: what a program tells of its steps, in files that TensorBoard reads."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.summary.media import audio, image
    from tfdist.ops.summary.summaries import histogram, merge, merge_all, scalar
    from tfdist.ops.summary.tensor_summary import (
        all_v2_summary_ops,
        get_summary_description,
        tensor_summary,
        text,
    )
    from tfdist.protos.pb import (
        Event,
        SessionLog,
        Summary,
        SummaryDescription,
        TaggedRunMetadata,
    )
    from tfdist.training.events.file_writer import FileWriter, FileWriterCache

__getattr__, __dir__ = lazy(__name__, "tf.summary")
