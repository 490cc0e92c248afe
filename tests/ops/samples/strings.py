"""The samples of strings."""

from __future__ import annotations

import numpy as np

from .values import floats, ints, strings, text

F3 = floats(3)
S3 = strings("ab", "cde", "f")
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
I23 = ints([[7, 8, -9], [4, 5, 6]])

SAMPLES = {
    # strings/join_substr.py, strings/conversions.py
    "StringJoin": ([S3, strings("-"), strings("x", "y", "z")], {"separator": "."}),
    "ReduceJoin": [(strings(["a", "b", "c"], ["d", "e", "f"]), ints([1, 0]), {"separator": "."}),
                   (strings(["a", "b", "c"], ["d", "e", "f"]), ints(0), {"keep_dims": True})],
    "Substr": [(strings("hello", "world", "again"), ints([1, 2, -3]), ints([3, 1, 9])),
               (strings("h\u00e9llo"), ints(1), ints(2), {"unit": "UTF8_CHAR"})],
    "StringStrip": (strings("  a b\n", "c"),),
    "StringLower": (strings("aBC", "De"),),
    "StringUpper": (strings("aBc", "De"),),
    "EncodeBase64": [(strings("hello?>", "x"),), (strings("hello?>", "x"), {"pad": True})],
    "DecodeBase64": (strings("aGVsbG8_Pg", "eA=="),),
    "RegexReplace": (strings("a1b22", "c"), strings("([0-9])+"), strings(r"<\1\0>")),
    "StaticRegexReplace": (strings("a1b22", "c"), {"pattern": "[0-9]", "rewrite": "#",
                                                   "replace_global": False}),
    "RegexFullMatch": (strings("a1", "b"), strings("[a-z][0-9]")),
    "StaticRegexFullMatch": (strings("a1", "b"), {"pattern": "[a-z][0-9]"}),
    "StringLength": [(strings("abc", "\u00e9"),), (strings("\u00e9", "ab"), {"unit": "UTF8_CHAR"})],
    "AsString": [(F3,), (F3, {"precision": 2, "scientific": True}), (F3 * 1e6, {"shortest": True}),
                 (ints([1, -20, 3]), {"width": 5, "fill": "0"})],
    "StringToNumber": [(strings("1.5", " 2 ", "-1e3", "0x10", "inf"),),
                       (strings("15", " -2"), {"out_type": "int64"})],
    "DecodeRaw": [(strings("abcd", "efgh"), {"out_type": "int16", "little_endian": False}),
                  (strings("abcd"), {"out_type": "uint8"})],
    # strings/hash_buckets.py
    "StringToHashBucketFast": [(LENGTHS, {"num_buckets": 2**40}), (text(b"x"), {"num_buckets": 5})],
    "StringToHashBucketStrong": (LENGTHS, {"num_buckets": 2**40, "key": [7, 2**62 + 1]}),
    "StringToHashBucket": (LENGTHS, {"num_buckets": 2**40}),
    # strings/split.py
    "StringSplit": [(WORDS, text(b" ")), (WORDS, text(b" "), {"skip_empty": False}),
                    (WORDS, text(b"b ")), (WORDS, text(b""))],
    "StringSplitV2": [(WORDS, text(b"")), (WORDS, text(b"  ")), (WORDS, text(b""), {"maxsplit": 1}),
                      (WORDS, text(b" "), {"maxsplit": 1})],
    "UnsortedSegmentJoin": [
        (text(b"a", b"b", b"c"), np.array([1, 0, 1]), np.int32(3), {"separator": ":"}),
        (text(b"a", b"b", b"c", b"d", b"e", b"f").reshape(3, 2), np.array([1, 0, 1]), np.int32(2)),
    ],
    # strings/format.py
    "StringFormat": [
        ([np.arange(8, dtype=np.int32), NUMBERS, text(b'a"\n', b"\xff")],
         {"template": "{} of {}: {}", "placeholder": "{}"}),
        ([np.arange(24, dtype=np.int64).reshape(2, 4, 3)], {"summarize": 1, "template": "<%s>"}),
        ([NUMBERS.astype(np.float64)], {"summarize": -1}),
    ],
    # strings/ngrams.py
    "StringNGrams": [(*ROWS, {"ngram_widths": [2, 1], **HOW}),
                     (ROWS[0], np.array([0, 3, 4]), {"ngram_widths": [2, 3], **PADDED}),
                     (*ROWS, {"ngram_widths": [4], **HOW, "preserve_short_sequences": True})],
    # strings/unicode_script.py
    "UnicodeScript": [(np.array([[97, 0x44F, 0x4E00], [-1, 0x110000, 0x10FFFF]], np.int32),)],
    # strings/unicode.py
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
    # strings/fingerprint.py
    "Fingerprint": [(I23, np.array(b"farmhash64", object)),
                    (np.array([[b"a", b"b"], [b"c", b""], [b"d", b"d"]], object),
                     np.array(b"farmhash64", object))],
}  # fmt: skip
