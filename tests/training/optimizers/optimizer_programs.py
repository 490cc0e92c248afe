"""Programs with optimizers, written against whatever `tf` is: a line makes an optimizer.

`optimizer_differential.py` runs them on real TensorFlow and stores what it makes of them.
"""

from __future__ import annotations

OPTIMIZERS = [
    "GradientDescentOptimizer(0.1)",
    "MomentumOptimizer(0.1, 0.9)",
    "MomentumOptimizer(lambda: 0.1, 0.9, use_nesterov=True, use_locking=True)",
    "AdagradOptimizer(0.1)",
    "AdagradOptimizer(0.1, initial_accumulator_value=0.5, name='A')",
    "AdagradDAOptimizer(0.1, step, l1_regularization_strength=0.01, l2_regularization_strength=1.)",
    "AdadeltaOptimizer(0.5, rho=0.9, epsilon=1e-4)",
    "AdamOptimizer(0.1)",
    "AdamOptimizer(lambda: 0.1, beta1=0.8, beta2=0.9, epsilon=1e-3, use_locking=True)",
    "RMSPropOptimizer(0.1)",
    "RMSPropOptimizer(0.1, decay=0.8, momentum=0.5, epsilon=1e-5, use_locking=True)",
    "RMSPropOptimizer(0.1, momentum=0.5, centered=True)",
    "FtrlOptimizer(0.1)",
    "FtrlOptimizer(0.1, l1_regularization_strength=0.05, l2_regularization_strength=0.1)",
    "FtrlOptimizer(0.1, -0.3, 0.2, 0.01, 0.1, accum_name='a', linear_name='l')",
    "FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.1)",
    "ProximalGradientDescentOptimizer(0.1, 0.05, 0.1)",
    "ProximalAdagradOptimizer(0.1, 0.3, 0.05, 0.1)",
]


def program(tf, line, use_resource, dtype="float32"):
    """Return the training operation of a small model with a dense and a sparse gradient."""
    with tf.device("/cpu:0" if "name='A'" in line else None):
        with tf.variable_scope("net", use_resource=use_resource):
            w = tf.get_variable(
                "w", initializer=tf.constant([[0.5, -1.0, 2.0], [0.0, 3.0, -0.25]], dtype)
            )
            v = tf.get_variable(
                "v", initializer=tf.constant([[1.0, -2.0]] * 2 + [[0.5, 4.0]] * 3, dtype)
            )
        step = tf.train.get_or_create_global_step()
    optimizer = eval("tf.train." + line, {"tf": tf, "step": step})
    rows = tf.gather(v, [3, 1, 3])
    scale = tf.constant([[1.0, 2.0], [3.0, 1.0], [-2.0, 0.5]], dtype)
    loss = tf.reduce_sum(tf.square(w)) + tf.reduce_sum(tf.square(rows) * scale)
    return optimizer, optimizer.minimize(loss, step)


# Rates of each step: from `step`, an int64 variable, or a number.
SCHEDULES = [
    "exponential_decay(0.1, step, 3, 0.5)",
    "exponential_decay(0.1, step, 3, 0.5, staircase=True, name='rate')",
    "exponential_decay(tf.constant(0.1, tf.float64), 5, 3, 0.5)",
    "piecewise_constant(step, [2, 5], [1.0, 0.5, 0.25])",
    "piecewise_constant(step, [3], [1, 2], name='pieces')",
    "piecewise_constant_decay(tf.cast(step, tf.float32), [2.0, 5.0, 6.0], [4.0, 3.0, 2.0, 1.0])",
    "polynomial_decay(0.1, step, 4)",
    "polynomial_decay(0.1, step, 4, 0.01, 2.0)",
    "polynomial_decay(0.1, step, 3, 0.01, 0.5, cycle=True, name='poly')",
    "natural_exp_decay(0.1, step, 3, 0.5)",
    "natural_exp_decay(0.1, step, 3, 0.5, staircase=True)",
    "inverse_time_decay(0.1, step, 3, 0.5)",
    "inverse_time_decay(0.1, step, 3, 0.5, staircase=True)",
    "cosine_decay(0.1, step, 6)",
    "cosine_decay(0.1, step, 6, alpha=0.25, name='cos')",
    "cosine_decay_restarts(0.1, step, 3)",
    "cosine_decay_restarts(0.1, step, 2, t_mul=1.0, m_mul=0.5, alpha=0.1)",
    "linear_cosine_decay(0.1, step, 6)",
    "linear_cosine_decay(0.1, step, 6, num_periods=1.5, alpha=0.25, beta=0.01)",
    "noisy_linear_cosine_decay(0.1, step, 6)",
    "exponential_decay(0.1, None, 3, 0.5)",
    "piecewise_constant(step, [2.0, 5.0], [1.0, 0.5, 0.25])",
    "piecewise_constant(step, [2, 5], [1.0, 0.5])",
    "piecewise_constant(step, [2, 5], [1.0, 2, 3.0])",
    "polynomial_decay(0.1, None, 3)",
    "cosine_decay(0.1, None, 3)",
]


def averaged_variables(tf, averages, use_resource):
    w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=use_resource)
    with tf.variable_scope("net"):
        v = tf.get_variable("v", initializer=3.0, use_resource=use_resource)
    ema = tf.train.ExponentialMovingAverage(0.75)
    apply = ema.apply()
    names = [ema.average_name(x) for x in (w, v)]
    restored = {name: x.name for name, x in ema.variables_to_restore().items()}
    return apply, tf.group(w.assign_add([1.0, 1.0]), v.assign_add(2.0)), (names, restored)


def averaged_tensors(tf, averages, use_resource):
    w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=use_resource)
    t = tf.multiply(w, 2.0, name="t")
    ema = tf.train.ExponentialMovingAverage(0.75, name="ema")
    apply = ema.apply([t])
    return apply, w.assign_add([1.0, 1.0]), (ema.average(t).op.name, ema.average_name(t), ema.name)


def averaged_with_debias(tf, averages, use_resource):
    w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=use_resource)
    t = tf.multiply(w, 2.0, name="t")
    ema = tf.train.ExponentialMovingAverage(0.75, zero_debias=True)
    apply = ema.apply([w, t])
    return apply, w.assign_add([1.0, 1.0]), ema.average_name(w)


def averaged_with_updates(tf, averages, use_resource):
    w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=use_resource)
    step = tf.train.get_or_create_global_step()
    ema = tf.train.ExponentialMovingAverage(0.9, num_updates=step)
    apply = ema.apply([w])
    return apply, tf.group(w.assign_add([1.0, 1.0]), step.assign_add(1)), None


def averaged_in_scope(tf, averages, use_resource):
    with tf.variable_scope("outer"):
        w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=use_resource)
        with tf.name_scope("inner"):
            ema = tf.train.ExponentialMovingAverage(0.5)
            apply = ema.apply([w])
    collected = [x.name for x in tf.moving_average_variables()]
    trainable = [x.name for x in tf.trainable_variables()]
    return apply, w.assign_add([1.0, 1.0]), (collected, trainable, ema.average(w).name)


def assigned_average(tf, averages, use_resource):
    a = tf.get_variable("a", initializer=[0.0, 0.0], use_resource=use_resource, trainable=False)
    x = tf.get_variable("x", initializer=[1.0, 2.0], use_resource=use_resource)
    average = averages.assign_moving_average(a, x, 0.75, zero_debias=False)
    return average, x.assign_add([1.0, 1.0]), None


def assigned_average_with_debias(tf, averages, use_resource):
    a = tf.get_variable("a", initializer=[0.0, 0.0], use_resource=use_resource, trainable=False)
    x = tf.get_variable("x", initializer=[1.0, 2.0], use_resource=use_resource)
    average = averages.assign_moving_average(a, x * 1.0, 0.75, name="avg")
    return average, x.assign_add([1.0, 1.0]), None


AVERAGES = [
    averaged_variables, averaged_tensors, averaged_with_debias, averaged_with_updates,
    averaged_in_scope, assigned_average, assigned_average_with_debias,
]  # fmt: skip
