"""`tf.nn` apart from windows: activations, normalization, softmax, losses, embeddings, CTC."""
