"""What takes long: `-m "not slow"` leaves it out, and a worker of a whole run begins with it.

A plugin of pytest (see the root's `conftest.py`). A file that takes long and comes last keeps one
worker busy while the others have nothing to do; so the longest come first, and of the rest those
with the most tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

# Folder -> what in it takes more than a second or so on two quiet cores, and how many seconds: a
# file, or one test of it for all parameters. The seconds are for the order: about right will do.
# To measure: `pytest -n2 --durations=60`, or `--junitxml` where a file has many short tests.
# fmt: off
SECONDS = {
    "notebooks": {
        "03_jobs_tasks_and_servers.ipynb": 4, "06_parameters_in_pieces.ipynb": 2,
        "07_a_remote_worker.ipynb": 3, "08_a_loop_across_two_tasks.ipynb": 3,
        "11_why_is_it_waiting.ipynb": 3, "12_in_graph_and_between_graphs.ipynb": 4,
        "13_many_models_and_an_ensemble.ipynb": 7, "14_together_or_each_alone.ipynb": 5,
        "15_stragglers_and_stale_gradients.ipynb": 4, "16_a_parameter_server_that_dies.ipynb": 2,
        "17_a_mixed_cluster.ipynb": 2, "18_the_instruments.ipynb": 7,
        "19_how_far_does_it_scale.ipynb": 3, "20_where_should_it_run.ipynb": 8,
        "21_a_network_that_breaks_and_heals.ipynb": 13,
        "22_reading_a_critical_path.ipynb": 6, "23_stragglers_and_spare_replicas.ipynb": 15,
        "24_a_slow_cluster_to_repair.ipynb": 6, "25_a_cluster_on_kubernetes.ipynb": 12,
        "26_a_slurm_job_rehearsed.ipynb": 6, "27_from_one_kernel_to_a_cluster.ipynb": 15,
        "28_a_cluster_on_dask.ipynb": 15,
    },
    "tests": {
        "test_demo.py": 6, "test_doctests.py": 20, "test_lean.py": 3, "test_readme.py": 8,
        "test_signatures.py": 8,
        "test_docs.py::test_programs_run": 9, "test_docs.py::test_two_terminals_work": 3,
        "test_docs.py::test_a_cluster_in_a_notebook_works": 5,
        "test_docs.py::test_a_magic_can_be_added_as_told": 2,
        "test_docs.py::test_a_fault_can_be_added_as_told": 2,
    },
    "tests/benchmarks": {
        "test_interop.py": 6, "test_memory.py": 3,
        "test_rows.py::test_comparison_prints_a_table": 3,
        "test_rows.py::test_predictions_are_a_table": 8, "test_rows.py::test_row_runs": 13,
        "test_rows.py::test_trainings_simulated_and_measured_are_a_table": 3,
    },
    "tests/datasets": {
        "test_dask.py": 15, "test_memory.py": 2, "test_order.py": 3, "test_places.py": 2,
        "test_prefetch.py": 3, "test_waiting.py": 2,
    },
    "tests/estimators": {"test_differential.py": 8, "test_distributing.py": 12},
    "tests/faults": {"test_faults.py": 42, "test_kinds.py": 9},
    "tests/fuzz": {"test_messages.py": 14, "test_streams.py": 2},
    "tests/interop": {"test_programs.py": 3},
    "tests/jupyter": {
        "test_placement_optimize.py": 8,
        "test_browser.py": 21, "test_browser_panels.py": 7, "test_browser_player.py": 12,
        "test_browser_report.py": 8, "test_explorer.py": 6,
        "test_cluster_magic.py": 6, "test_completion.py": 2,
        "test_displays_of_objects.py": 2, "test_explain_magic.py": 12,
        "test_engine_option.py": 2, "test_errors_in_cells.py": 9, "test_extension.py": 2,
        "test_graph_magic.py": 4, "test_histograms_magic.py": 3, "test_kernel.py": 15,
        "test_panels.py": 13, "test_player.py": 3, "test_tfdist_magic.py": 10,
        "test_trace_magic.py": 23, "test_views.py": 9,
    },
    "tests/jupyter/exercises": {"test_capstone.py": 9, "test_made.py": 8},
    "tests/keras_impl/engine": {"test_training.py": 3},
    "tests/keras_impl/layers": {"test_layers.py": 4},
    "tests/launch": {
        "test_abandoned_sessions.py": 10, "test_crash.py": 3, "test_engines.py": 12,
        "test_fork_server.py": 9, "test_memory.py": 5, "test_process_cluster.py": 7,
        "test_process_sessions.py": 3, "test_serve.py": 6, "test_why.py": 5,
    },
    "tests/launch/managers": {
        "test_contract.py": 30, "test_encryption.py": 5, "test_slurm.py": 15, "test_ssh.py": 6,
    },
    "tests/launch/ranks": {"test_keeper.py": 5, "test_serve.py": 6},
    "tests/launch/managers/dask": {
        "test_manager.py": 25, "test_steps.py": 8, "test_two_hosts.py": 20,
    },
    "tests/launch/kubernetes": {"test_pods.py": 20, "test_tfjob.py": 2},
    "tests/models": {"test_programs.py": 3},
    "tests/models/contrib": {"test_contrib.py": 3, "test_crf.py": 3},
    "tests/models/contrib/slim": {"test_nets.py": 2},
    "tests/models/rnn": {"test_recurrent.py": 2},
    "tests/models/seq2seq": {"test_seq2seq.py": 4},
    "tests/ops": {"test_differential.py": 3, "test_every_op.py": 14},
    "tests/ops/autodiff": {"test_control_flow_gradients.py": 8},
    "tests/ops/autograph": {"test_autograph.py": 3},
    "tests/ops/convolution": {"test_onednn.py": 4},
    "tests/ops/functions": {"test_functions.py": 28, "test_py_func.py": 3},
    "tests/ops/tensor_list": {"test_tensor_list.py": 3},
    "tests/plan": {
        "test_foreign_loops.py::test_mutated_graphs_give_the_same_values_by_all_executors_or_errors": 2,  # noqa: E501
        "test_lower.py": 4,
    },
    "tests/plots/graph": {"test_graph.py": 3},
    "tests/plots/live": {"test_census.py": 2},
    "tests/plots/timeline": {"test_timeline.py": 3},
    "tests/programs": {
        "test_wrong_calls.py": 12,
        "test_flags.py": 12, "test_listed.py": 3, "test_logs.py": 6, "test_numpy1.py": 3,
        "test_script.py": 4, "test_stand_in.py": 2,
    },
    "tests/runtime": {"test_contract.py": 8, "test_control_flow.py": 36},
    "tests/runtime/devices": {"test_freed_memory.py": 6, "test_local_devices.py": 2},
    "tests/runtime/resources": {"test_queue_properties.py": 7},
    "tests/runtime/step": {"test_async_driver.py": 2, "test_interrupts.py": 5, "test_step.py": 3},
    "tests/session": {"test_partial_runs.py": 7, "test_privacy.py": 7},
    "tests/simulation": {"test_optimize.py": 4, "test_published.py": 5, "test_scaling.py": 2},
    "tests/training": {"test_differential.py": 2},
    "tests/training/events": {"test_file_writer.py": 6},
    "tests/training/optimizers": {"test_optimizer_differential.py": 2},
    "tests/training/replicas": {"test_sync_replicas.py": 5},
    "tests/training/strategies": {"test_strategies.py": 4},
    "tests/web": {
        "test_dashboard.py::test_a_browser_shows_it_till_its_end": 5,
        "test_dashboard.py::test_a_peer_that_dies_is_said_to_be_silent": 2,
    },
    "tests/wire": {
        "test_long_kernels.py": 2, "test_remote_sessions.py": 5, "test_remote_tensors.py": 5,
        "test_service_methods.py": 2, "test_traces.py": 2, "test_transports.py": 3,
    },
    "tests/wire/codec": {
        "test_codec.py::test_what_is_read_is_what_protobuf_reads": 2,
        "test_codec.py::test_a_message_with_any_byte_changed_is_read_or_refused": 1,
    },
    "tests/wire/common": {"test_connection_diagnosis.py": 2, "test_security.py": 2},
    "tests/wire/grpc": {"test_grpc.py": 3, "test_tls.py": 8},
    "tests/wire/frames": {"test_local_faults.py": 2, "test_tcp.py": 4},
    "tests/wire/peers": {"test_census.py": 2},
}
# fmt: on


def seconds_of(nodeid: str) -> float:
    """Return what the table says of a test, of its parameters or of its file; 0 if nothing."""
    file, _, name = nodeid.partition("::")
    folder, _, base = file.rpartition("/")
    rows = SECONDS.get(folder, {})
    return rows.get(base) or rows.get(f"{base}::{name.partition('[')[0]}", 0)


def is_wholly_slow(file: str) -> bool:
    """Return whether the table has a row for all tests of a file."""
    folder, _, base = file.rpartition("/")
    return base in SECONDS.get(folder, {})


def file_of(nodeid: str) -> str:
    """Return the path of a test's file."""
    return nodeid.partition("::")[0]


def longest_first(nodeids: Iterable[str]) -> dict[str, int]:
    """Return the rank of each file: the files with rows of the table, then those of many tests."""
    sizes, seconds = Counter[str](), dict[str, float]()
    for nodeid in nodeids:
        file = file_of(nodeid)
        sizes[file] += 1
        seconds[file] = max(seconds.get(file, 0), seconds_of(nodeid))
    order = sorted(sizes, key=lambda file: (-seconds[file], -sizes[file], file))
    return {file: rank for rank, file in enumerate(order)}


def pytest_ignore_collect(collection_path: Path, config: Any) -> bool | None:
    """Leave out, without importing them, files of which nothing would run: each worker would."""
    if config.getoption("markexpr") != "not slow":
        return None
    if not collection_path.is_relative_to(config.rootpath):
        return None
    path = collection_path.relative_to(config.rootpath).as_posix()
    return is_wholly_slow(path) or None  # None: others decide


@pytest.hookimpl(tryfirst=True)  # the choice by -m comes later
def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Mark what is slow and, in a worker, put the longest files first."""
    for item in items:
        if seconds_of(item.nodeid):
            item.add_marker(pytest.mark.slow)
    if hasattr(config, "workerinput"):
        ranks = longest_first(item.nodeid for item in items)
        items.sort(key=lambda item: ranks[file_of(item.nodeid)])
