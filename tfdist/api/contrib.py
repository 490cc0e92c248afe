"""tf.contrib: what of it is here."""

from types import SimpleNamespace

from tfdist.api import contrib_data as data
from tfdist.ops.record_input import RecordInput
from tfdist.ops.staging import MapStagingArea, StagingArea
from tfdist.programs.missing import told
from tfdist.training.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
)

framework = SimpleNamespace(
    RecordInput=RecordInput,
    assert_global_step=assert_global_step,
    create_global_step=create_global_step,
    get_global_step=get_global_step,
    get_or_create_global_step=get_or_create_global_step,
)
staging = SimpleNamespace(MapStagingArea=MapStagingArea, StagingArea=StagingArea)

__getattr__ = told("tf.contrib")
