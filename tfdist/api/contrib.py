"""tf.contrib: what of it is here."""

from types import SimpleNamespace

from tfdist.api import contrib_data as data
from tfdist.ops.staging import MapStagingArea, StagingArea

staging = SimpleNamespace(MapStagingArea=MapStagingArea, StagingArea=StagingArea)
