"""tf.contrib.summary: summaries that the graph writes into event files itself."""

from tfdist.models.contrib_summary_writers import *
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.summary")
