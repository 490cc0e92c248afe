"""Floor 2: from a graph to what each task executes: pure passes, one a file.

In order: `place` gives nodes their devices, `prune` keeps what a step needs, `partition` cuts it by
task and puts `_Send` and `_Recv` on the cuts, `segment` groups what runs without waiting, `compile`
makes functions of the groups: `interpret` walks records, `generate` writes Python
(code generation), `node_bindings` tells both where values come from, `value_liveness` which use
of a value is its last, `buffer_reuse` which results are computed in place. Branches and loops are
lowered to Python's `if` and `while` (`lower`), or run as token-based dataflow (`tokens`).

Imports graph, base, errors; finds ops in the registry by name; no clock, no thread, no randomness.
"""
