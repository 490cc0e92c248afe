"""What one traced step, or several runs of it, took, and why.

`entries` reads what one entry of step statistics says, `rows` turns them into plain rows
(`node_row`), `makers` knows which row made what another took, `lanes` where rows are drawn and
`loop_iterations` in which iteration of a loop one ran. `aggregates` adds rows up, `loop_excerpt`
leaves out the middle of long loops, `device_activity` says what each device did when,
`critical_path` what made a step as long as it was and `replay` what would make it shorter;
`comparison` sets two steps side by side, `spread` and `path_spread` sum up many runs,
`significance` says whether two sets of runs differ. `chrome` makes events of the Chrome trace
format, and `timeline` has TensorFlow's class of that name.
"""
