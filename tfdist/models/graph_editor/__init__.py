"""`tf.contrib.graph_editor`: parts of graphs selected, copied and rerouted."""
