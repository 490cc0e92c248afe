"""One partition of a step per task: `partition` prunes and copies reads, `cutter` cuts."""
