"""The devices of a task: CPUs and GPUs, their memory, threads and number formats."""
