"""`tf.linalg`: factorizations, solvers, norms, diagonals, and linear operators."""
