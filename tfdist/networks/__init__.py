"""Floor 8: tf.keras: layers and networks, their losses, metrics, optimizers and training."""
