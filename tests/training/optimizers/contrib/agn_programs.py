"""One worker that trains by AGNOptimizer: what its variables, sums and centre come to.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    cd tests/training/optimizers/contrib && PYTHON_OF_1.15 agn_programs.py > expected_agn_1_15.json

(Workers of a cluster are left out: there TensorFlow reads the count of steps from the server
without waiting for its update, so what comes of them differs by a step.)
"""

import json
import sys

# name -> (optimizer inside, period, whether variables are resources, loss of w)
PROGRAMS = {
    "descent": ("GradientDescentOptimizer(0.1)", 2, False, "w * w"),
    "each step": ("GradientDescentOptimizer(0.1)", 1, False, "w * w"),
    "resources": ("GradientDescentOptimizer(0.1)", 3, True, "w * w"),
    "momentum": ("MomentumOptimizer(0.1, 0.9)", 2, False, "w * w"),
    "Adam": ("AdamOptimizer(0.1)", 2, True, "w * w * w"),
    "rows": ("GradientDescentOptimizer(0.1)", 2, False, "tf.gather(w, [0, 1, 0])"),
}
STEPS = 5


def told(tf, name):
    """Return the variables' names, and their values after each step."""
    inside, period, use_resource, loss = PROGRAMS[name]
    with tf.Graph().as_default():
        getter = tf.contrib.opt.AGNCustomGetter("")
        with tf.variable_scope("net", custom_getter=getter, use_resource=use_resource):
            w = tf.get_variable("w", initializer=[1.0, 2.0, 3.0])
            tf.get_variable("kept", initializer=[1.0], trainable=False)
        step = tf.train.get_or_create_global_step()
        optimizer = tf.contrib.opt.AGNOptimizer(
            eval("tf.train." + inside, {"tf": tf}), 1, getter, communication_period=period
        )
        train = optimizer.minimize(tf.reduce_sum(eval(loss, {"tf": tf, "w": w})), step)
        hook = optimizer.make_session_run_hook(True, 0)
        hook.begin()
        kinds = tf.global_variables(), tf.local_variables()
        with tf.Session() as session:
            session.run([hook._local_init_op, hook._global_init_op])
            hook.after_create_session(session, None)
            values = []
            for _ in range(STEPS):
                session.run(train)
                values.append([session.run(each).tolist() for each in kinds[0] + kinds[1]])
    return {"names": [[each.name for each in kind] for kind in kinds], "values": values}


def main():
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.FATAL)
    rows = [json.dumps(name) + ": " + json.dumps(told(tf, name)) for name in PROGRAMS]
    sys.stdout.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
