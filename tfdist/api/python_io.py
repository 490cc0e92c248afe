"""tf.python_io: TFRecord files in Python, without a graph."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.formats.record_options import TFRecordCompressionType, TFRecordOptions
    from tfdist.formats.tfrecord import TFRecordWriter, tf_record_iterator

__getattr__, __dir__ = lazy(__name__, "tf.python_io")
