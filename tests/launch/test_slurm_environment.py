"""What SLURM says in the environment is read as SLURM means it.

The lists of hosts are what `scontrol show hostnames` of SLURM 22.05 printed.
"""

import pytest

from tfdist.launch.slurm_environment import (
    expand_counts,
    expand_hostlist,
    is_step,
    number,
    read_nodes,
    read_step,
    task_hosts,
)

TASK = {
    "SLURM_PROCID": "1", "SLURM_LOCALID": "1", "SLURM_STEP_NODELIST": "n[1-2]",
    "SLURM_STEP_TASKS_PER_NODE": "2,1", "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "3",
    "SLURM_DISTRIBUTION": "block", "SLURM_NODEID": "0", "SLURM_GTIDS": "0,1",
    "SLURM_GPUS_ON_NODE": "4", "SLURM_LAUNCH_NODE_IPADDR": "10.0.0.1",
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("n1", "n1"),
        ("n[1-2]", "n1 n2"),
        ("n[01-2]", "n01 n02"),
        ("n[099-101]", "n099 n100 n101"),
        ("n[9-011]", "n9 n10 n11"),
        ("n[1,3-4],m5", "n1 n3 n4 m5"),
        (" n1 , n2,", "n1 n2"),
        ("a-b[1-2]", "a-b1 a-b2"),
        ("r[1-2]c[3-4]", "r1c3 r1c4 r2c3 r2c4"),
        ("n[1-2][3-4]", "n13 n14 n23 n24"),
        ("a[1-3]b[1-2]c[5-6]", "a1b1c5 a1b1c6 a2b1c5 a2b1c6 a3b1c5 a3b1c6 "
                               "a1b2c5 a1b2c6 a2b2c5 a2b2c6 a3b2c5 a3b2c6"),
        ("n[1-2]-ib.site", "n1-ib.site n2-ib.site"),  # SLURM has no such list, sites do
    ],
)  # fmt: skip
def test_a_list_of_hosts_is_expanded_in_slurms_order(text, hosts):
    assert expand_hostlist(text) == tuple(hosts.split())


@pytest.mark.parametrize(
    ("expand", "text", "reason"),
    [
        (expand_hostlist, "n[1", "no partner"),
        (expand_hostlist, "n1]", "no partner"),
        (expand_hostlist, "n[[1]]", "no partner"),
        (expand_hostlist, "n[2-1]", "'2-1' is neither a number nor a range"),
        (expand_hostlist, "n[a-b]", "'a-b' is neither"),
        (expand_hostlist, "n[]", "'' is neither"),
        (expand_hostlist, "", "names no host"),
        (expand_hostlist, ",", "names no host"),
        (expand_hostlist, "n[1-999999999999]", "more than 65536"),
        (expand_hostlist, "n[1-9999][1-9999]", "more than 65536"),
        (expand_counts, "", "list format \"\": '' is neither"),
        (expand_counts, "2(x", "is neither a number nor one such as"),
        (expand_counts, "2,x", "'x' is neither"),
        (expand_counts, "1(x999999999)", "more than 65536"),
    ],
)
def test_nonsense_is_refused_with_the_reason(expand, text, reason):
    with pytest.raises(ValueError, match=r"^(Invalid|the list)") as caught:
        expand(text)
    assert reason in str(caught.value)


def test_numbers_of_tasks_are_expanded():
    assert expand_counts("2(x2),1, 3") == (2, 2, 1, 3)


def test_a_task_reads_its_step():
    step = read_step(TASK)
    assert (step.rank, step.local, step.size, step.name) == (1, 1, 3, "slurm-7.3")
    assert (step.hosts, step.counts, step.launcher) == (("n1", "n1", "n2"), (2, 1), "10.0.0.1")
    assert read_nodes(TASK) == ("n1", "n2")


def test_a_number_may_have_a_type_before_it():
    told = {**TASK, "SLURM_GPUS_PER_TASK": "gpu:a100:2"}
    assert number(TASK, "SLURM_GPUS_PER_TASK") is None
    assert number(TASK, "SLURM_GPUS_ON_NODE") == 4
    assert number(told, "SLURM_GPUS_PER_TASK") == 2


@pytest.mark.parametrize(
    ("counts", "told", "hosts"),
    [
        ((2, 1), {}, "a a b"),
        ((2, 1), {"SLURM_DISTRIBUTION": "block:cyclic"}, "a a b"),
        ((2, 1), {"SLURM_DISTRIBUTION": "*:block"}, "a a b"),
        ((2, 1), {"SLURM_DISTRIBUTION": "cyclic"}, "a b a"),
        ((1, 3), {"SLURM_DISTRIBUTION": "cyclic:cyclic,NoPack"}, "a b b b"),
        ((3, 3), {"SLURM_DISTRIBUTION": "plane=2"}, "a a b b a b"),
        ((3, 3), {"SLURM_DISTRIBUTION": "plane", "SLURM_DIST_PLANESIZE": "2"}, "a a b b a b"),
        ((3, 3), {"SLURM_DISTRIBUTION": "plane"}, ""),
        ((2, 1), {"SLURM_DISTRIBUTION": "arbitrary"}, ""),
        ((2, 1), {"SLURM_NODEID": "0", "SLURM_GTIDS": "0,1"}, "a a b"),
        ((2, 1), {"SLURM_NODEID": "0", "SLURM_GTIDS": "0,2"}, ""),  # it cannot be block
    ],
)
def test_ranks_go_to_nodes_as_the_distribution_says(counts, told, hosts):
    assert task_hosts(("a", "b"), counts, told) == tuple(hosts.split())


@pytest.mark.parametrize(
    "name", ["SLURM_PROCID", "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE"]
)
def test_what_is_no_task_of_a_step_is_told_so(name):
    without = {each: value for each, value in TASK.items() if each != name}
    with pytest.raises(RuntimeError, match=f"^{name} not found in environment. Not running inside"):
        read_step(without)


def test_a_batch_script_is_no_task_of_a_step():
    assert is_step(TASK)
    assert not is_step({"SLURM_PROCID": "0", "SLURM_JOB_ID": "7"})


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"SLURM_PROCID": "x"}, "SLURM_PROCID must be a number, got 'x'"),
        ({"SLURM_STEP_TASKS_PER_NODE": "2"}, "2 nodes cannot have 1 numbers of tasks"),
        ({"SLURM_STEP_TASKS_PER_NODE": "60000(x2)"}, "at most 65536 tasks"),
    ],
)
def test_variables_without_sense_are_refused(told, reason):
    with pytest.raises(ValueError, match=reason):
        read_step({**TASK, **told})
