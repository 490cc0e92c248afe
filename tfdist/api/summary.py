"""tf.summary: what a program tells of its steps, in files that TensorBoard reads."""

from tfdist.ops.summaries import histogram, merge, merge_all, scalar
from tfdist.ops.summary_media import audio, image
from tfdist.ops.summary_tensors import (
    all_v2_summary_ops,
    get_summary_description,
    tensor_summary,
    text,
)
from tfdist.programs.missing import told
from tfdist.training.file_writer import FileWriter, FileWriterCache

__all__ = [
    "FileWriter", "FileWriterCache", "all_v2_summary_ops", "audio", "get_summary_description",
    "histogram", "image", "merge", "merge_all", "scalar", "tensor_summary", "text",
]  # fmt: skip

_missing = told("tf.summary")

# loaded when first asked for
_MESSAGES = {"Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata"}


def __getattr__(name: str) -> object:
    if name in _MESSAGES:
        from tfdist.protos import pb

        return getattr(pb, name)
    return _missing(name)  # type: ignore[no-any-return]
