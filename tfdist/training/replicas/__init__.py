"""Between-graph replication: `replica_device_setter` and `SyncReplicasOptimizer`."""
