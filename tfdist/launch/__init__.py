"""Floor 7: where servers come from; for now, this process.

`local_cluster` starts all tasks of a cluster here and remembers them by name, so that a cell or a
script that runs twice finds its cluster again. May import everything below training, datasets and
launch; knows nothing of notebooks.
"""
