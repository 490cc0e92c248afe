"""tf.contrib.deprecated: summaries as the first releases had them."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.summary.legacy_summaries import (
        audio_summary,
        histogram_summary,
        image_summary,
        merge_all_summaries,
        merge_summary,
        scalar_summary,
    )

__getattr__, __dir__ = lazy(__name__, "tf.contrib.deprecated")
