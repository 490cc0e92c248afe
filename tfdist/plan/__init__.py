"""Floor 2: from a graph to what each task executes: pure functions, one pass a file.

In order: `place` gives nodes their devices, `prune` keeps what a step needs, `partition` cuts it by
task and puts `_Send` and `_Recv` on the cuts, `segment` groups what runs without waiting, `compile`
makes functions of the groups: `interpret` walks records, `generate` writes Python, `wiring` tells
both where values come from, `reuse` which results may be written over an input.

Imports graph, base, errors; finds ops in the registry by name; no clock, no thread, no randomness.
"""
