"""What session managers and scaffolds do, as programs that give plain values.

`session_differential.py` stores what real TensorFlow gives; Python 3.7 reads this file, too.
"""

from __future__ import annotations

import os

PROGRAMS = {}


def program(function):
    """Put a program into the table."""
    PROGRAMS[function.__name__] = function
    return function


def manager(tf, **options):
    return tf.train.SessionManager(**options)


@program
def prepared_by_an_init_op(tf, kit):
    v = tf.Variable(3.0, name="v")
    with kit.logged() as lines:
        with manager(tf).prepare_session("", init_op=tf.global_variables_initializer()) as session:
            found = [kit.plain(session.run(v)), type(session).__name__]
    return [found, lines]


@program
def prepared_by_nothing(tf, kit):
    tf.Variable(3.0, name="v")
    local = manager(tf, local_init_op=tf.no_op())
    return [kit.said(manager(tf).prepare_session, ""), type(local.prepare_session("")).__name__]


@program
def prepared_by_an_init_fn(tf, kit):
    v, story = tf.Variable(3.0, name="v"), []
    x = tf.placeholder(tf.float32, [])
    init = tf.assign(v, x)

    def fill(session):
        story.append(kit.plain(session.run(v)))
        session.run(init, {x: 9.0})

    session = manager(tf).prepare_session("", init_op=init, init_feed_dict={x: 5.0}, init_fn=fill)
    story.append(kit.plain(session.run(v)))
    session.close()
    return story


@program
def a_model_that_does_not_become_ready(tf, kit):
    v, w = tf.Variable(3.0, name="v"), tf.Variable(3.0, name="w")
    ready = tf.report_uninitialized_variables()
    first = tf.variables_initializer([v])
    found = []
    with kit.logged() as lines:
        found.append(kit.said(manager(tf, ready_op=ready).prepare_session, "", init_op=first))
        found.append(
            kit.said(manager(tf, ready_op=ready).prepare_session, "", init_fn=lambda _: None)
        )
        found.append(
            kit.said(
                manager(
                    tf, ready_op=ready, ready_for_local_init_op=ready, local_init_op=w.initializer
                ).prepare_session,
                "",
                init_op=first,
            )
        )
    return [found, lines]


@program
def a_ready_op_that_fails(tf, kit):
    v = tf.Variable(3.0, name="v")
    ready = tf.assert_variables_initialized([v])
    with kit.logged() as lines:
        found = [kit.said(manager(tf, ready_op=ready).prepare_session, "", init_op=tf.no_op())]
        wait = manager(tf, ready_op=ready).wait_for_session
        found.append(kit.said(wait, "", max_wait_secs=0))
        wrong = tf.Assert(tf.constant(False), ["no"])
        found.append(kit.said(manager(tf, ready_op=wrong).wait_for_session, "", max_wait_secs=0))
    return [[each.split("error:")[0].split(":")[0] for each in found], lines]


@program
def a_ready_op_that_gives_no_strings(tf, kit):
    tf.Variable(3.0, name="v")
    found = []
    for ready in (tf.constant(1), tf.constant([], tf.int32), tf.no_op(), tf.constant(0)):
        with kit.logged() as lines:
            got = kit.said(manager(tf, ready_op=ready).wait_for_session, "", max_wait_secs=0)
        found.append([got if isinstance(got, str) else type(got).__name__, lines])
    return found


@program
def local_variables_after_global_ones(tf, kit):
    v = tf.Variable(3.0, name="v")
    w = tf.Variable(4.0, name="w", collections=["local_variables"])
    m = manager(
        tf,
        local_init_op=w.initializer,
        ready_op=tf.report_uninitialized_variables(),
        ready_for_local_init_op=tf.report_uninitialized_variables(tf.global_variables()),
    )
    with kit.logged() as lines:
        session = m.prepare_session("", init_op=v.initializer)
        found = kit.plain(session.run([v, w]))
        session.close()
        session, is_ready = m.recover_session("")
        found.append(is_ready)
        session.close()
    return [found, lines]


@program
def a_local_init_op_only(tf, kit):
    w = tf.Variable(4.0, name="w", collections=["local_variables"])
    m = manager(tf, local_init_op=w.initializer, ready_op=tf.report_uninitialized_variables())
    with kit.logged() as lines:
        found = type(m.prepare_session("")).__name__
        session = m.wait_for_session("", max_wait_secs=1)
        found = [found, kit.plain(session.run(w))]
    return [found, lines]


@program
def a_wait_that_is_too_long(tf, kit):
    tf.Variable(3.0, name="v")
    tf.Variable(3.0, name="w")
    m = manager(tf, ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=0.1)
    with kit.logged() as lines:
        found = [kit.said(m.wait_for_session, "", max_wait_secs=0.25)]
    other = manager(tf, ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=100)
    found.append(kit.said(other.wait_for_session, "", max_wait_secs=0.2))
    found.append(kit.said(other.wait_for_session, "", max_wait_secs=0))
    return [found, sorted(set(lines))]


@program
def a_wait_without_a_ready_op(tf, kit):
    tf.Variable(3.0, name="v")
    session = manager(tf).wait_for_session("")
    return [type(session).__name__, manager(tf).recover_session("")[1]]


@program
def another_graph_of_a_manager(tf, kit):
    graph = tf.Graph()
    with graph.as_default():
        v = tf.Variable(1.0)
        init = tf.global_variables_initializer()
    session = manager(tf, graph=graph).prepare_session("", init_op=init)
    return [session.graph is graph, kit.plain(session.run(v))]


# checkpoints


def checkpoint(tf, path, value):
    """Write a checkpoint of one variable and return (variable, saver, init op) in a new graph."""
    v = tf.Variable(value, name="v")
    saver, init = tf.train.Saver(), tf.global_variables_initializer()
    if path:
        with tf.Session() as session:
            session.run(init)
            saver.save(session, os.path.join(path, "model.ckpt"), global_step=3)
    return v, saver, init


@program
def restored_from_a_checkpoint(tf, kit):
    found = []
    with kit.folder() as path:
        with tf.Graph().as_default():
            checkpoint(tf, path, 5.0)
        v, saver, init = checkpoint(tf, None, 1.0)
        m = manager(tf, ready_op=tf.report_uninitialized_variables())

        def fn(_):
            return found.append("init_fn")

        with kit.logged(path) as lines:
            with m.prepare_session("", init, saver, path, init_fn=fn) as session:
                found.append(kit.plain(session.run(v)))
            with m.prepare_session(
                "", init, saver, checkpoint_filename_with_path=os.path.join(path, "model.ckpt-3")
            ) as session:
                found.append(kit.plain(session.run(v)))
            session, is_ready = m.recover_session("", saver, path)
            found.append([kit.plain(session.run(v)), is_ready])
            session.close()
            found.append(kit.said(m.prepare_session, "", init, saver, path, "both"))
            with m.prepare_session("", init, None, path) as session:
                found.append(kit.plain(session.run(v)))
            session, is_ready = m.recover_session("", None, path)
            found.append(is_ready)
            session.close()
            session, is_ready = m.recover_session("", saver)
            found.append(is_ready)
            session.close()
    return [found, lines]


@program
def no_checkpoint_there(tf, kit):
    v, saver, init = checkpoint(tf, None, 1.0)
    m = manager(tf, ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=0.05)
    found = []
    with kit.folder() as path, kit.logged(path) as lines:
        with m.prepare_session("", init, saver, path) as session:
            found.append(kit.plain(session.run(v)))
        session, is_ready = m.recover_session("", saver, path)
        found.append(is_ready)
        session, is_ready = m.recover_session(
            "", saver, path, wait_for_checkpoint=True, max_wait_secs=0.12
        )
        found.append(is_ready)
        nowhere = os.path.join(path, "nowhere")
        found.append(type(m.prepare_session("", init, saver, nowhere)).__name__)
    return [found, sorted(set(lines))]


@program
def a_checkpoint_of_less(tf, kit):
    with kit.folder() as path:
        with tf.Graph().as_default():
            checkpoint(tf, path, 5.0)
        v = tf.Variable(1.0, name="v")
        tf.Variable(2.0, name="w")
        m = manager(tf, ready_op=tf.report_uninitialized_variables())
        saver = tf.train.Saver([v])
        with kit.logged(path) as lines:
            session, is_ready = m.recover_session("", saver, path)
            session.close()
            got = kit.said(m.prepare_session, "", tf.global_variables_initializer(), saver, path)
    return [is_ready, got, lines]


# scaffolds


@program
def a_finalized_scaffold(tf, kit):
    tf.Variable(1.0, name="v")
    tf.Variable(1, name="local", collections=["local_variables"])
    tf.train.get_or_create_global_step()
    tf.summary.scalar("s", 1.0)
    scaffold = tf.train.Scaffold()
    names = (
        "init_op",
        "ready_op",
        "ready_for_local_init_op",
        "local_init_op",
        "summary_op",
        "saver",
        "init_feed_dict",
        "init_fn",
    )
    before = [getattr(scaffold, name) for name in names]
    got = scaffold.finalize()
    after = [
        getattr(getattr(scaffold, name), "name", type(getattr(scaffold, name)).__name__)
        for name in names
    ]
    graph = tf.get_default_graph()
    return [
        before,
        got is scaffold,
        after,
        graph.finalized,
        kit.collections(graph, "savers"),
        len(graph.get_collection("savers")),
    ]


@program
def the_nodes_of_a_scaffold(tf, kit):
    tf.Variable(1.0, name="v")
    tf.Variable(1, name="local", collections=["local_variables"])
    tf.train.Scaffold().finalize()
    nodes = kit.nodes(tf, tf.get_default_graph())
    return [line for line in nodes if not line.startswith(("report_", "save/", "concat"))]


@program
def the_nodes_of_an_empty_scaffold(tf, kit):
    tf.train.Scaffold().finalize()
    return [kit.nodes(tf, tf.get_default_graph()), kit.collections(tf.get_default_graph())]


@program
def a_scaffold_of_two_in_a_graph(tf, kit):
    tf.Variable(1.0, name="v")
    one, two = tf.train.Scaffold(), tf.train.Scaffold()
    one.finalize()
    two.finalize()
    return [
        getattr(one, n) is getattr(two, n)
        for n in ("init_op", "ready_op", "ready_for_local_init_op", "local_init_op", "saver")
    ]


@program
def a_scaffold_of_given_parts(tf, kit):
    v = tf.Variable(1.0, name="v")
    x = tf.placeholder(tf.float32, [])
    story = []
    scaffold = tf.train.Scaffold(
        init_op=tf.assign(v, x, name="begin"),
        init_feed_dict={x: 4.0},
        init_fn=lambda s, session: story.append([s is scaffold, kit.plain(session.run(v))]),
        local_init_op=tf.no_op(name="mine"),
        ready_op=tf.constant([], tf.string, name="ready"),
    )
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold)) as session:
        story.append(kit.plain(session.run(v)))
    copied = tf.train.Scaffold(copy_from_scaffold=scaffold)
    other = tf.train.Scaffold(init_fn=len, copy_from_scaffold=scaffold)
    story.append(
        [
            copied.init_op is scaffold.init_op,
            copied.saver is scaffold.saver,
            copied.init_feed_dict is scaffold.init_feed_dict,
            other.init_fn is len,
        ]
    )
    story.append(kit.said(tf.train.Scaffold, copy_from_scaffold=7))
    story.append(sorted(kit.collections(tf.get_default_graph())))
    return story


@program
def get_or_default(tf, kit):
    get, found = tf.train.Scaffold.get_or_default, []
    found.append(get("init_op", "mine", lambda: "made"))
    found.append(get("init_op", "mine", lambda: "made again"))
    tf.add_to_collection("mine", "second")
    found.append(kit.said(get, "init_op", "mine", lambda: "made"))
    found.append(get("init_op", "none", lambda: None))
    found.append(tf.get_collection("none"))
    return found


@program
def the_default_local_init_op(tf, kit):
    tf.Variable(1, name="local", collections=["local_variables"])
    op = tf.train.Scaffold.default_local_init_op()
    return [op.name, kit.nodes(tf, tf.get_default_graph())]


@program
def parts_in_collections_are_taken(tf, kit):
    v = tf.Variable(1.0, name="v")
    op = tf.assign(v, 8.0, name="begin")
    tf.add_to_collection("init_op", op)
    scaffold = tf.train.Scaffold().finalize()
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold)) as session:
        return [scaffold.init_op is op, kit.plain(session.run(v))]


@program
def a_worker_that_waits_too_long(tf, kit):
    tf.Variable(1.0, name="v")
    creator = tf.train.WorkerSessionCreator(max_wait_secs=0)
    story = []
    hook = kit.recorder(tf, story)
    return [kit.said(tf.train.MonitoredSession, creator, [hook]), story]


@program
def a_worker_with_nothing_to_wait_for(tf, kit):
    one, local = tf.constant(1), tf.Variable(2, name="local", collections=["local_variables"])
    with kit.logged() as lines:
        with tf.train.MonitoredSession(tf.train.WorkerSessionCreator()) as session:
            found = kit.plain(session.run([one, local]))
    return [found, lines]
