"""Floor 0: what can be observed, and how it is told.

`steps` has what was traced of a step; `calls` knows who called whom; `waits` says what waits for
what, `deadlocks` which of these waits will not end, and `why` tells it in sentences; `census` is
what tasks tell of themselves at one moment, `census_history` of a while, `intervals` what went on
meanwhile, and `zoom` shows traced steps in it; `disturbances` is what is wrong on purpose, `clocks`
compares the clocks of hosts. Messages are duck-typed. May import the standard library and numpy,
nothing else of this package.
"""
