"""tf.python_io: TFRecord files in Python, without a graph."""

from tfdist.formats.record_options import TFRecordCompressionType, TFRecordOptions
from tfdist.formats.tfrecord import TFRecordWriter, tf_record_iterator
