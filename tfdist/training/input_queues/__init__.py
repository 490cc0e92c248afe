"""Input pipelines of queues and their threads: `tf.train.batch` and its relatives."""
