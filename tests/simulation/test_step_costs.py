"""Costs from traced steps, made by hand."""

import pytest

from tfdist.simulation.step_costs import BY_REFERENCE, Links, learn_costs
from tfdist.tracing.rows import COMPUTE, TRANSFER, NodeRow

PS, WORKER = (f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("ps", "worker"))


def node(name, start, took, op="MatMul", size=0):
    return NodeRow(PS, name, op, COMPUTE, start, took, bytes=size)


def came(name, start, took, size, waited=0.0):
    return NodeRow(
        WORKER, name, "RecvTensor", TRANSFER, start, took, bytes=size, source=PS, waited_us=waited
    )


def test_a_low_quantile_of_a_nodes_times_counts():
    costs = learn_costs([[node("a", 0, took)] for took in (10, 10, 10, 90)])
    assert costs.of("a", "MatMul") == 10


def test_iterations_of_a_step_are_added():
    assert learn_costs([[node("a", 0, 10), node("a", 20, 30)]]).of("a", "MatMul") == 40


def test_a_node_that_was_not_seen_costs_what_others_of_its_op_do():
    costs = learn_costs([[node("a", 0, 10), node("b", 20, 30), node("c", 60, 50)]])
    assert costs.of("new", "MatMul") == 30
    assert costs.of("new", "Relu") == 1


def test_sizes_are_kept():
    assert learn_costs([[node("a", 0, 10, size=400)]]).node_bytes == {"a": 400}


def test_a_small_transfer_tells_of_the_message_and_a_large_one_of_bytes():
    links = learn_costs([[came("a", 0, 280, 4), came("b", 5_000, 1_260, 1_000_000)]]).links
    assert links.message_us == 200  # 280 less what sender and receiver do
    assert links.way_byte_us == pytest.approx(0.001)


def test_transfers_whose_end_was_noted_late_do_not_count():
    busy = NodeRow(WORKER, "c", "MatMul", COMPUTE, 100, 400)
    assert learn_costs([[came("a", 0, 480, 4), busy]]).links == Links()


def test_within_a_process_tensors_cross_by_reference():
    assert learn_costs([[came("a", 0, 280, 4)]], in_one_process=True).links == BY_REFERENCE


def test_no_trace_tells_nothing():
    costs = learn_costs([])
    assert (costs.of("a", "MatMul"), costs.links) == (1, Links())
