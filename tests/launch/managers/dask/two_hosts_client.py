"""A program on one of two hosts: a cluster on Dask over both, until the other one is lost."""

import os
import signal
import sys

import dask.array
from distributed import Client

import tfdist as tf
from tests.launch.managers.total import total
from tests.launch.waiting import wait_until
from tfdist.launch.managers.dask.steps import run_on_dask
from tfdist.launch.start import start_cluster

JOBS = {"ps": 1, "worker": 2}
LATEST = 100.0  # seconds until Dask must have noticed that a host is lost


def elements(target, task):
    """Return the rows of a Dask array as a task fetches them."""
    with tf.Graph().as_default(), tf.device(task):
        rows = tf.data.Dataset.from_dask(dask.array.arange(6, chunks=2)).batch(6)
        with tf.Session(target) as session:
            return session.run(rows.make_one_shot_iterator().get_next()).tolist()


def hosts(cluster):
    """Return where tasks run, and in which state."""
    return sorted(f"{row.host} {row.state}" for row in cluster.status())


def main(scheduler, process, other):
    """Print what each part of the story comes to."""
    with Client(scheduler) as client, start_cluster(JOBS, on="dask").require() as cluster:
        print("hosts", *hosts(cluster))
        print("total", total(cluster.target(), "/job:worker/task:1"))
        away = next(row.task for row in cluster.status() if row.host == other)
        print("rows", *elements(cluster.target(), away))
        with tf.Graph().as_default():
            number = tf.placeholder(tf.float32)
            with tf.device(away), tf.Session(cluster.target()) as session:
                step = run_on_dask(session, number * 2.0, {number: client.submit(float, "21")})
                print("step", step.result())
        os.killpg(int(process), signal.SIGKILL)
        wait_until(lambda: any(row.state != "up" for row in cluster.status()), LATEST)
        print("lost", *{row.state.rpartition(" worker ")[0] for row in cluster.status()} - {""})
        print("again", start_cluster(JOBS, on="dask").note.count("which had ended"))
        print("hosts", *hosts(cluster))
        print("total", total(cluster.target(), "/job:worker/task:1"))


main(*sys.argv[1:])
