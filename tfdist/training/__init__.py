"""Floor 7: what programs train with: optimizers, placement of replicas, input, event files."""
