"""Which worker of a Dask cluster each task is asked to be on."""

import pytest

from tfdist.launch.managers.dask.placement import DaskWorker, place

A1, A2, B1 = DaskWorker("a1", "a"), DaskWorker("a2", "a"), DaskWorker("b1", "b", "big")
G1 = DaskWorker("g1", "b", resources={"GPU": 2})

CASES = {
    "each on a worker of its own, other hosts first": ([A1, A2, B1], [{}] * 3, [], "a1 b1 a2"),
    "more tasks than workers share them": ([A1, B1], [{}] * 3, [], "a1 b1 a1"),
    "what runs already counts": ([A1, A2, B1], [{}, {}], [("a1", {})], "b1 a2"),
    "a worker that is gone counts no more": ([A1], [{}], [("x", {}), ("x", {"GPU": 1})], "a1"),
    "resources are kept to": ([A1, G1], [{"GPU": 1}] * 3, [], "g1 g1 -"),
    "resources of what runs are taken": ([A1, G1], [{"GPU": 2}], [("g1", {"GPU": 1})], "-"),
    "without a worker there is no place": ([], [{}], [], "-"),
}


@pytest.mark.parametrize("case", CASES)
def test_place(case):
    workers, needs, taken, wanted = CASES[case]
    assert " ".join(each or "-" for each in place(workers, needs, taken)) == wanted


@pytest.mark.parametrize(("names", "wanted"), [
    ((), True), (("big",), True), (("b",), True), (("b1", "c"), True), (("a",), False),
])  # fmt: skip
def test_a_worker_is_meant_by_address_host_or_name(names, wanted):
    assert B1.is_one_of(names) is wanted
