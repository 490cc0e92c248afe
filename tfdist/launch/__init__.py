"""Floor 7: where servers come from: this process, processes of their own, or somebody else.

`start.start_cluster` starts all tasks of a cluster on this host, in this process
(`local_cluster`) or each in its own (`process_cluster`, `server_process`), forked from one that has
all imported (`fork_server`, `forked_process`), and
`attached_cluster.attach` uses one that another process started and wrote a `connection_file` for.
Servers of TensorFlow itself (`engines`, `tensorflow_server`) live in a `private_network`, behind a
`gate`. `clusters` remembers all of them by name, so that a cell or a script that runs twice finds
its cluster again. On other hosts cluster managers start the tasks (`managers`), which tell each
other their addresses first (`exchange`); `srun` and `mpirun` start all at once (`ranks`). `serve`
is what a server's own process does. However a process ends, the servers that it started end too.
May import everything below training, datasets and launch; knows nothing of notebooks.
"""
