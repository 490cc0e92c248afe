"""Costs from traced steps, made by hand."""

import pytest

from tfdist.simulation.step_costs import BY_REFERENCE, Links, learn_costs, learn_ways
from tfdist.tracing.steps.node_row import COMPUTE, TRANSFER, NodeRow

PS, WORKER = (f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("ps", "worker"))


def node(name, start, took, op="MatMul", size=0):
    return NodeRow(PS, name, op, COMPUTE, start, took, bytes=size)


def came(name, start, took, size, *, sending=0.0, taken=0.0):
    return NodeRow(
        WORKER, name, "RecvTensor", TRANSFER, start, took, bytes=size, source=PS,
        send_us=sending, delay_us=taken,
    )  # fmt: skip


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
    links = learn_costs([[came("a", 0, 200, 4), came("b", 5_000, 1_200, 1_000_000)]]).links
    assert links.message_us == 200
    assert links.way_byte_us == pytest.approx(0.001)


def test_sending_the_way_and_taking_are_told_apart():
    links = learn_costs([[came("a", 0, 280, 4, sending=30, taken=50)]]).links
    assert (links.send_us, links.message_us, links.take_us) == (30, 200, 50)


def test_a_receiver_that_was_busy_took_tensors_late_and_the_link_is_as_quick():
    late = [came(f"a{i}", 0, 480, 4, sending=30, taken=250) for i in range(3)]
    links = learn_costs([[*late, came("b", 1_000, 280, 4, sending=30, taken=50)]]).links
    assert (links.message_us, links.take_us) == (200, 200)  # the low quantile of 50 and 250


def test_a_slow_link_is_known_by_its_tasks():
    slow, rest = came("a", 0, 30_000, 4), came("b", 40_000, 31_000, 1_000_000)
    found = learn_ways([[slow, rest]])
    [(link, way)] = found.items()
    assert link == ("/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0")
    assert (way.message_us, way.byte_us) == (30_000, pytest.approx(0.001))
    costs = learn_costs([[slow, rest]], in_one_process=True)
    assert costs.links == BY_REFERENCE
    assert costs.ways == found


def test_a_link_that_was_only_probed_is_known_and_probes_tell_nothing_of_nodes():
    probe = [came("a", 0, 500, 4), node("b", 600, 7)]
    costs = learn_costs([[node("b", 0, 70)]], probes=[probe])
    assert costs.of("b", "MatMul") == 70
    assert [way.message_us for way in costs.ways.values()] == [500]


def test_within_a_process_tensors_cross_by_reference():
    assert learn_costs([[came("a", 0, 280, 4)]], in_one_process=True).links == BY_REFERENCE


def test_no_trace_tells_nothing():
    costs = learn_costs([])
    assert (costs.of("a", "MatMul"), costs.links) == (1, Links())
