"""tf.io: files, records and what they hold."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.formats.record_options import TFRecordCompressionType, TFRecordOptions
    from tfdist.formats.tfrecord import TFRecordWriter, tf_record_iterator
    from tfdist.graph.graph_files import write_graph
    from tfdist.ops.image.decode_image import decode_image, is_jpeg
    from tfdist.ops.image.jpeg import (
        decode_and_crop_jpeg,
        decode_jpeg,
        encode_jpeg,
        extract_jpeg_shape,
    )
    from tfdist.ops.image.png_gif_bmp import decode_bmp, decode_gif, decode_png
    from tfdist.ops.io.decode_csv import decode_csv
    from tfdist.ops.io.feature_specs import (
        FixedLenFeature,
        FixedLenSequenceFeature,
        SparseFeature,
        VarLenFeature,
    )
    from tfdist.ops.io.file_ops import matching_files, read_file, write_file
    from tfdist.ops.io.parse_example import parse_example, parse_single_example
    from tfdist.ops.io.parse_sequence_example import (
        parse_sequence_example,
        parse_single_sequence_example,
    )
    from tfdist.ops.io.parse_tensor import (
        decode_compressed,
        decode_json_example,
        parse_tensor,
        serialize_tensor,
    )
    from tfdist.ops.queues.queue_base import QueueBase
    from tfdist.ops.queues.queue_kinds import PaddingFIFOQueue, PriorityQueue, RandomShuffleQueue
    from tfdist.ops.sparse.serialization import (
        deserialize_many_sparse,
        serialize_many_sparse,
        serialize_sparse,
    )
    from tfdist.ops.strings.conversions import decode_raw
    from tfdist.ops.strings.join_substr import decode_base64, encode_base64
    from tfdist.programs import gfile_later as gfile
    from tfdist.training.input_queues.producers import match_filenames_once

__getattr__, __dir__ = lazy(__name__, "tf.io")
