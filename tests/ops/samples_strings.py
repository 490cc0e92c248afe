"""Samples of the ops on strings; see `samples.py`."""

from __future__ import annotations

import numpy as np

try:
    from tests.ops.samples_reading import text
except ImportError:  # another Python runs this file, by its path
    from samples_reading import text

# of every class of length that the hashes know
LENGTHS = text(
    *[bytes(range(1, 1 + n)) for n in (0, 1, 3, 4, 7, 8, 15, 16, 17, 32, 33, 64, 65, 129)]
)
WORDS = text(b"a b  c", b"", b"  d e ", b"f")
HOW = {"separator": " ", "left_pad": "", "right_pad": "", "pad_width": 0,
       "preserve_short_sequences": False}  # fmt: skip
PADDED = {"separator": "|", "left_pad": "<", "right_pad": ">", "pad_width": -1,
          "preserve_short_sequences": True}  # fmt: skip
ROWS = (text(b"a", b"b", b"c", b"d"), np.array([0, 3, 3, 4]))
NUMBERS = np.array([1.5, 0.1, 1e10, 123456789.0, -2.0, 7.25, 3.0], np.float32)

SAMPLES = {
    # string_buckets.py
    "StringToHashBucketFast": [(LENGTHS, {"num_buckets": 2**40}), (text(b"x"), {"num_buckets": 5})],
    "StringToHashBucketStrong": (LENGTHS, {"num_buckets": 2**40, "key": [7, 2**62 + 1]}),
    "StringToHashBucket": (LENGTHS, {"num_buckets": 2**40}),
    # string_splitting.py
    "StringSplit": [(WORDS, text(b" ")), (WORDS, text(b" "), {"skip_empty": False}),
                    (WORDS, text(b"b ")), (WORDS, text(b""))],
    "StringSplitV2": [(WORDS, text(b"")), (WORDS, text(b"  ")), (WORDS, text(b""), {"maxsplit": 1}),
                      (WORDS, text(b" "), {"maxsplit": 1})],
    "UnsortedSegmentJoin": [
        (text(b"a", b"b", b"c"), np.array([1, 0, 1]), np.int32(3), {"separator": ":"}),
        (text(b"a", b"b", b"c", b"d", b"e", b"f").reshape(3, 2), np.array([1, 0, 1]), np.int32(2)),
    ],
    # string_formatting.py
    "StringFormat": [
        ([np.arange(8, dtype=np.int32), NUMBERS, text(b'a"\n', b"\xff")],
         {"template": "{} of {}: {}", "placeholder": "{}"}),
        ([np.arange(24, dtype=np.int64).reshape(2, 4, 3)], {"summarize": 1, "template": "<%s>"}),
        ([NUMBERS.astype(np.float64)], {"summarize": -1}),
    ],
    # string_ngrams.py
    "StringNGrams": [(*ROWS, {"ngram_widths": [2, 1], **HOW}),
                     (ROWS[0], np.array([0, 3, 4]), {"ngram_widths": [2, 3], **PADDED}),
                     (*ROWS, {"ngram_widths": [4], **HOW, "preserve_short_sequences": True})],
    # string_unicode.py
    "UnicodeDecode": [(text(b"h\xc3\xa9", b"", b"a\xff\xe4\xb8"), {"input_encoding": "UTF-8"}),
                      (text(b"\xe9\x01"), {"input_encoding": "ISO-8859-1", "errors": "ignore",
                                           "replace_control_characters": True})],
    "UnicodeDecodeWithOffsets": [
        (text(b"h\xc3\xa9b", b"", b"a\xff\xe4\xb8c"), {"input_encoding": "UTF-8"}),
        (text(b"a\xff\xc3\xa9c"), {"input_encoding": "UTF-8", "errors": "ignore"}),
    ],
    "UnicodeEncode": [
        (np.array([104, 233, 0x4E2D, 0x1F600, -1], np.int32), np.array([0, 2, 2, 5]),
         {"output_encoding": encoding, "errors": errors})
        for encoding, errors in (("UTF-8", "replace"), ("UTF-16-BE", "ignore"))
    ],
    "UnicodeTranscode": [
        (text(b"h\xc3\xa9\t", b"a\xffb"), {"input_encoding": "UTF-8", "output_encoding": encoding})
        for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE")
    ],
}  # fmt: skip
