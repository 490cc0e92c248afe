"""`tf.strings`: joined, split, formatted, hashed, matched, and as code points."""
