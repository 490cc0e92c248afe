"""Estimators: a model as a function, and who trains, evaluates and serves it, on one task or many.

Above training, models and datasets, which it puts together. Its namespaces are `tf.estimator`,
`tf.feature_column`, and what `tf.contrib.learn` and `tf.contrib.layers` have of both. Columns,
canned models, exports and TPUs are tested beside TensorFlow by
`tests/estimators/test_differential.py`.
"""
