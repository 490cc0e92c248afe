"""Tasks that `srun` or `mpirun` starts all at once: each finds out from its rank which one it is.

`rank` reads the environment. Two things can hold such a cluster together: a notebook that started
it (`keeper` is its side on the hosts), or nobody, and then rank 0 does (`serve`).
"""
