"""tf.contrib.deprecated: summaries as the first releases had them."""

from tfdist.ops.summary_earlier import (
    audio_summary,
    histogram_summary,
    image_summary,
    merge_all_summaries,
    merge_summary,
    scalar_summary,
)
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.deprecated")
