"""What holds for queues whatever happens: sessions that put, take, and give up at random."""

import gc
import random
import threading
import tracemalloc

import numpy as np
import pytest

import tfdist as tf
from tests.traced_memory import traced_bytes
from tfdist.runtime.resources.queue_rows import Rows
from tfdist.runtime.resources.queues import Queue

KINDS = ["FIFOQueue", "RandomShuffleQueue", "PriorityQueue", "PaddingFIFOQueue"]
PRODUCERS, CONSUMERS, ROUNDS = 3, 2, 40
FACTOR = 100_000  # an element is FACTOR * producer + number


class Place:
    """A queue, and the nodes that use it."""

    def __init__(self, kind):
        self.is_by_priority = kind == "PriorityQueue"
        options = {"capacity": 7, "shapes": [[]], "shared_name": "q"}
        if self.is_by_priority:
            queue = tf.PriorityQueue(types=[tf.int64], **options)
        elif kind == "RandomShuffleQueue":
            queue = tf.RandomShuffleQueue(min_after_dequeue=2, dtypes=[tf.int64], seed=1, **options)
        else:
            queue = getattr(tf, kind)(dtypes=[tf.int64], **options)
        self.fed = tf.placeholder(tf.int64, [None])
        self.count = tf.placeholder(tf.int32, [])
        both = [self.fed, self.fed] if self.is_by_priority else [self.fed]
        self.put_many = queue.enqueue_many(both)
        self.put = queue.enqueue([each[0] for each in both])
        self.take, self.take_many = (
            self.last(queue.dequeue()),
            self.last(queue.dequeue_many(self.count)),
        )
        self.rest = self.last(queue.dequeue_up_to(self.count))
        self.size, self.close = queue.size(), queue.close(cancel_pending_enqueues=True)

    def last(self, taken):
        return taken[1] if self.is_by_priority else taken


class Client:
    """Puts or takes at random, and gives up now and then; notes what it knows."""

    def __init__(self, place, session, number, seed):
        self.place, self.session, self.number = place, session, number
        self.dice = random.Random(f"{seed} {number}")
        self.sure, self.unsure, self.taken, self.batches = [], [], [], []
        self.thread = threading.Thread(target=self.produce if number < PRODUCERS else self.consume)

    def run(self, fetch, feeds):
        options = tf.RunOptions(timeout_in_ms=self.dice.choice([1, 5, 2000]))
        return self.session.run(fetch, feeds, options=options)

    def produce(self):
        first = FACTOR * self.number
        for _ in range(ROUNDS):
            count = self.dice.choice([1, 1, 2, 5, 9])
            elements = list(range(first, first + count))
            first += count
            try:
                op = self.place.put if count == 1 else self.place.put_many
                self.run(op, {self.place.fed: elements})
                self.sure += elements
            except tf.errors.DeadlineExceededError:
                self.unsure.append(elements)  # those that found room are in
            except tf.errors.CancelledError:
                self.unsure.append(elements)
                return

    def consume(self):
        while True:
            count = self.dice.choice([1, 1, 2, 4])
            try:
                fetch = self.place.take if count == 1 else self.place.take_many
                found = np.ravel(self.run(fetch, {self.place.count: count})).tolist()
            except tf.errors.DeadlineExceededError:
                continue
            except tf.errors.OutOfRangeError:
                return
            assert len(found) == count
            self.taken += found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_every_element_is_served_once_and_none_is_lost(kind, seed):
    place = Place(kind)
    with tf.train.Server.create_local_server() as server:
        sessions = [tf.Session(server.target) for _ in range(2)]
        clients = [
            Client(place, sessions[number % 2], number, seed)
            for number in range(PRODUCERS + CONSUMERS)
        ]
        for client in clients:
            client.thread.start()
        for client in clients[:PRODUCERS]:
            client.thread.join(60)
        sessions[0].run(place.close)
        for client in clients[PRODUCERS:]:
            client.thread.join(60)
        rest = left(place, sessions[0])
        for session in sessions:
            session.close()
    check(kind, clients, rest)


def left(place, session):
    """Return what is still inside."""
    size = session.run(place.size)
    return session.run(place.rest, {place.count: size}).tolist() if size else []


def check(kind, clients, rest):
    served = [each for client in clients for each in client.taken] + rest
    assert len(served) == len(set(served)), "an element was served twice"
    for producer in clients[:PRODUCERS]:
        mine = {each for each in served if each // FACTOR == producer.number}
        assert set(producer.sure) <= mine, "an element is lost"
        for elements in producer.unsure:
            came = [each in mine for each in elements]
            assert came == sorted(came, reverse=True), "of a batch the first ones come"
        untold = {each for elements in producer.unsure for each in elements}
        assert mine <= set(producer.sure) | untold, "an element comes from nowhere"
    if "FIFO" in kind:
        for client in clients[PRODUCERS:]:
            check_order(client.taken)
        check_order(rest)


def check_order(taken):
    """Check that each producer's elements came in its order."""
    for number in range(PRODUCERS):
        mine = [each for each in taken if each // FACTOR == number]
        assert mine == sorted(mine), "elements overtook each other"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(4,), None], ids=["shapes", "no shapes"])
def test_memory_stays_as_it_is(kind, shape):
    dtypes = [tf.int64, tf.float32] if kind == "PriorityQueue" else [tf.float32]
    shapes = [] if shape is None else [(), shape][-len(dtypes) :]
    queue = Queue("q", 1000, dtypes, shapes, kind, seeds=(1, 2))
    numbers = np.arange(500)
    components = [numbers, np.zeros((500, 4), np.float32)][-len(dtypes) :]

    def move(times):
        for _ in range(times):
            for wait in (
                queue.put(Rows.many(components)), queue.take(100), queue.take(1),
                queue.put(Rows.one([each[0] for each in components])), queue.take(400),
            ):  # fmt: skip
                wait.start(lambda outcome: None)

    move(10)
    tracemalloc.start()
    move(10)
    gc.collect()
    before = traced_bytes()
    move(200)
    gc.collect()
    after = traced_bytes()
    tracemalloc.stop()
    assert queue.size() == 0
    assert after - before < 20_000, "of 100,000 elements"
