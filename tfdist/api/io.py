"""tf.io: files, records and what they hold."""

from tfdist.formats.record_options import TFRecordCompressionType, TFRecordOptions
from tfdist.formats.tfrecord import TFRecordWriter, tf_record_iterator
from tfdist.graph.graph_files import write_graph
from tfdist.ops.file_ops import matching_files, read_file, write_file
from tfdist.ops.image_decoding import decode_image, is_jpeg
from tfdist.ops.image_files import decode_bmp, decode_gif, decode_png
from tfdist.ops.image_jpeg import (
    decode_and_crop_jpeg,
    decode_jpeg,
    encode_jpeg,
    extract_jpeg_shape,
)
from tfdist.ops.parsing_csv import decode_csv
from tfdist.ops.parsing_examples import parse_example, parse_single_example
from tfdist.ops.parsing_features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
)
from tfdist.ops.parsing_sequences import parse_sequence_example, parse_single_sequence_example
from tfdist.ops.parsing_tensors import (
    decode_compressed,
    decode_json_example,
    parse_tensor,
    serialize_tensor,
)
from tfdist.ops.queue_kinds import PaddingFIFOQueue, PriorityQueue, RandomShuffleQueue
from tfdist.ops.queues import QueueBase
from tfdist.ops.sparse_messages import (
    deserialize_many_sparse,
    serialize_many_sparse,
    serialize_sparse,
)
from tfdist.ops.string_numbers import decode_raw
from tfdist.ops.strings import decode_base64, encode_base64
from tfdist.programs import gfile_later as gfile
from tfdist.programs.missing import told
from tfdist.training.producers import match_filenames_once

__getattr__ = told("tf.io")
