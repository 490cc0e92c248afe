"""tf.strings: what is done with strings."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.strings.conversions import as_string
    from tfdist.ops.strings.conversions import string_length as length
    from tfdist.ops.strings.conversions import string_to_number as to_number
    from tfdist.ops.strings.format import string_format as format
    from tfdist.ops.strings.hash_buckets import string_to_hash_bucket as to_hash_bucket
    from tfdist.ops.strings.hash_buckets import string_to_hash_bucket_fast as to_hash_bucket_fast
    from tfdist.ops.strings.hash_buckets import (
        string_to_hash_bucket_strong as to_hash_bucket_strong,
    )
    from tfdist.ops.strings.join_substr import reduce_join, substr
    from tfdist.ops.strings.join_substr import string_join as join
    from tfdist.ops.strings.join_substr import string_lower as lower
    from tfdist.ops.strings.join_substr import string_strip as strip
    from tfdist.ops.strings.join_substr import string_upper as upper
    from tfdist.ops.strings.ngrams import ngrams
    from tfdist.ops.strings.regex import regex_full_match, regex_replace
    from tfdist.ops.strings.split import bytes_split, split, unsorted_segment_join
    from tfdist.ops.strings.unicode import (
        unicode_decode,
        unicode_decode_with_offsets,
        unicode_encode,
        unicode_split,
        unicode_split_with_offsets,
        unicode_transcode,
    )
    from tfdist.ops.strings.unicode_script import unicode_script

__getattr__, __dir__ = lazy(__name__, "tf.strings")
