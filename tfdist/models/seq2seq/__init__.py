"""`tf.contrib.seq2seq` and `legacy_seq2seq`: decoders, helpers, attention, beam search."""
