"""From what one task executes to a program: functions of its segments, and when each runs.

`compile` makes a function of each segment: `interpret` walks records, `generate` writes Python
(code generation), `node_bindings` tells both where values come from, `value_liveness` which use
of a value is its last, `buffer_reuse` which results are computed in place, `elementwise_fusion`
which chains of nodes run as one loop over elements (`fused_loop`). What has loops or
branches that cannot be lowered runs as token-based dataflow (`tokens`).
"""
