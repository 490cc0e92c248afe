"""`tf.math`: arithmetic, comparisons, reductions, segments, special functions, quantization."""
