"""tf.CriticalSection: one step at a time is inside, whatever happens there."""

import threading

import pytest

import tfdist as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        yield own


@pytest.fixture
def variable():
    return tf.get_variable("v", initializer=0.0, use_resource=True)


def test_what_runs_inside_is_not_mixed_with_other_steps(variable):
    def slowly():
        seen = tf.py_func(lambda x: x, [variable.read_value()], tf.float32)
        return variable.assign(tf.reshape(seen, []) + 1.0)

    section = tf.CriticalSection(shared_name="section")
    raised = section.execute(slowly)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        threads = [
            threading.Thread(target=lambda: [session.run(raised) for _ in range(10)])
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.run(variable) == 40


def test_a_step_that_fails_inside_lets_go(variable):
    section = tf.CriticalSection()
    broken = section.execute(lambda: tf.div(1, tf.cast(variable, tf.int32)))
    raised = section.execute(lambda: variable.assign_add(1.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run([broken])
            session.run(variable.initializer)
            assert session.run(raised) == 1
            session.run(variable.initializer)


def test_nodes_and_results_are_those_of_tensorflow(graph):
    made = tf.CriticalSection().execute(lambda: {"a": tf.constant(1), "b": tf.constant(2)})
    assert tf.Session().run(made) == {"a": 1, "b": 2}
    assert [f"{op.name} {op.type}" for op in graph.get_operations()] == [
        "CriticalSection MutexV2",
        "critical_section_execute/MutexLock MutexLock",
        "critical_section_execute/Const Const",
        "critical_section_execute/Const_1 Const",
        "critical_section_execute/Identity Identity",
        "critical_section_execute/Identity_1 Identity",
        "critical_section_execute/ConsumeMutexLock ConsumeMutexLock",
        "critical_section_execute/tuple/group_deps NoOp",
        "critical_section_execute/tuple/control_dependency Identity",
        "critical_section_execute/tuple/control_dependency_1 Identity",
        "critical_section_execute/Identity_2 Identity",
        "critical_section_execute/Identity_3 Identity",
    ]


def test_what_would_wait_for_itself_is_an_error(variable):
    section = tf.CriticalSection(name="one")
    with pytest.raises(ValueError, match="deadlocks"):
        section.execute(lambda: section.execute(tf.no_op))
    section.execute(lambda: variable.assign_add(1.0))
    with pytest.raises(ValueError, match="exclusive"):
        tf.CriticalSection(name="other").execute(lambda: variable.assign_add(1.0))
