"""The fast path between tfdist processes: frames, over unix sockets with shared memory, or TCP."""
