"""tf.strings: what is done with strings."""

from tfdist.ops.string_buckets import string_to_hash_bucket as to_hash_bucket
from tfdist.ops.string_buckets import string_to_hash_bucket_fast as to_hash_bucket_fast
from tfdist.ops.string_buckets import string_to_hash_bucket_strong as to_hash_bucket_strong
from tfdist.ops.string_formatting import string_format as format
from tfdist.ops.string_ngrams import ngrams
from tfdist.ops.string_numbers import as_string
from tfdist.ops.string_numbers import string_length as length
from tfdist.ops.string_numbers import string_to_number as to_number
from tfdist.ops.string_regex import regex_full_match, regex_replace
from tfdist.ops.string_splitting import bytes_split, split, unsorted_segment_join
from tfdist.ops.string_unicode import (
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_split,
    unicode_split_with_offsets,
    unicode_transcode,
)
from tfdist.ops.strings import reduce_join, substr
from tfdist.ops.strings import string_join as join
from tfdist.ops.strings import string_lower as lower
from tfdist.ops.strings import string_strip as strip
from tfdist.ops.strings import string_upper as upper
from tfdist.programs.missing import told

__getattr__ = told("tf.strings")
