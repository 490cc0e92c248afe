"""Floor 0: what can be observed of a step, and how it is told.

`entries` reads what one entry of step statistics says, `rows` turns them into plain rows and knows
who made what, `loop_iterations` says in which iteration of a loop that was, `aggregates` adds rows
up and `loop_excerpt` leaves out the middle of long loops; `calls` knows who called whom,
`critical_path` says what made a step as long as it was and `replay` what would make it shorter;
`comparison` sets two steps side by side, `spread` sums up many runs; `device_activity` says what
each device did when, `clocks` compares the clocks of hosts, `chrome` makes events of the Chrome
trace format, and `timeline` has TensorFlow's class of that name. Messages are duck-typed. May
import the standard library and numpy, nothing else of this package.
"""
