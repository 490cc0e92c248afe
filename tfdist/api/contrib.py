"""tf.contrib: what of it is here."""

from types import SimpleNamespace

from tfdist.api import contrib_data as data
from tfdist.ops.staging import MapStagingArea, StagingArea
from tfdist.programs.missing import told

staging = SimpleNamespace(MapStagingArea=MapStagingArea, StagingArea=StagingArea)

__getattr__ = told("tf.contrib")
