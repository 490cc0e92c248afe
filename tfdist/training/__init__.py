"""Floor 7: what programs train with: optimizers, the placement of replicas, input pipelines."""
