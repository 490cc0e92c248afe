"""Floor 2: from a graph to what each task executes: pure passes, one a file.

In order: `functions` puts bodies of functions in place of calls, `place` gives nodes their devices,
`prune` keeps what a step needs, `partitioning` cuts it by task and puts `_Send` and `_Recv` on the
cuts, `check` refuses what cannot run, `lower` makes branches and loops Python's `if` and `while`,
`segment` groups what runs without waiting, and `compiling` makes a program of the groups.

Imports graph, base, errors; finds ops in the registry by name; no clock, no thread, no randomness.
"""
