"""Clusters on Dask: each tfdist task is a long-running Dask task, its server a child of a worker.

`manager` is the client's side, `task` what Dask runs on a worker, `placement` which worker is asked
for, `software` whether workers fit this process.
"""
