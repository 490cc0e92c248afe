"""tf.keras.wrappers.scikit_learn: models with the methods of scikit-learn's estimators.

Source: TF 1.15 API documentation, tf.keras.wrappers.scikit_learn.
"""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np

from tfdist.keras_impl.engine.training.fit import Training
from tfdist.keras_impl.utils.utils import to_categorical

__all__ = ["KerasClassifier", "KerasRegressor"]


class _Wrapper:
    """A model that is made by a function, and trained by `fit(x, y)`."""

    def __init__(self, build_fn: Any = None, **sk_params: Any) -> None:
        self.build_fn, self.sk_params = build_fn, sk_params
        self.model: Any = None

    def get_params(self, **_: Any) -> dict[str, Any]:
        """Return the arguments of `build_fn` and of the model's methods."""
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> Any:
        """Set arguments of `build_fn` and of the model's methods, and return this.

        Args:
          **params: by name.
        """
        self.build_fn = params.pop("build_fn", self.build_fn)
        self.sk_params.update(params)
        return self

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Make the model, train it, and return its History.

        Args:
          x: array.
          y: what is wanted.
          **kwargs: arguments of `Model.fit`.
        """
        self.model = self.build_fn(**self._for(self.build_fn))
        if self.model.loss == "categorical_crossentropy" and np.ndim(y) != 2:
            y = to_categorical(y)
        return self.model.fit(x, y, **{**self._for(Training.fit), **kwargs})

    def _for(self, function: Any) -> dict[str, Any]:
        """Return the settings that a function takes."""
        known = inspect.signature(function).parameters
        return {key: value for key, value in self.sk_params.items() if key in known}

    def _evaluated(self, x: Any, y: Any, kwargs: Any) -> list[Any]:
        found = self.model.evaluate(x, y, **{**self._for(Training.evaluate), **kwargs})
        return found if isinstance(found, list) else [found]


class KerasClassifier(_Wrapper):
    """A classifier of scikit-learn that is a model of keras.

    Args:
      build_fn: function that returns a compiled model.
      **sk_params: arguments of it, and of `fit`, `predict` and `evaluate`.

    Example:
      >>> keras.wrappers.scikit_learn.KerasClassifier(None, epochs=3).get_params()["epochs"]
      3
    """

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Make the model, train it, and return its History.

        Args:
          x: array.
          y: classes [count], or rows with 1 for the class.
          **kwargs: arguments of `Model.fit`.
        """
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        else:
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        return super().fit(x, y, **kwargs)

    def predict_proba(self, x: Any, **kwargs: Any) -> Any:
        """Return the probabilities of classes [count, classes].

        Args:
          x: array.
          **kwargs: arguments of `Model.predict`.
        """
        found = self.model.predict(x, **{**self._for(Training.predict), **kwargs})
        return np.hstack([1 - found, found]) if found.shape[1] == 1 else found

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """Return the most probable classes.

        Args:
          x: array.
          **kwargs: arguments of `Model.predict`.
        """
        found = self.model.predict(x, **{**self._for(Training.predict), **kwargs})
        classes = found.argmax(-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")
        return self.classes_[classes]

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """Return the accuracy.

        Args:
          x: array.
          y: classes.
          **kwargs: arguments of `Model.evaluate`.

        Raises:
          ValueError: the model is not compiled with accuracy as metric.
        """
        y = np.searchsorted(self.classes_, y)
        if self.model.loss == "categorical_crossentropy" and np.ndim(y) != 2:
            y = to_categorical(y)
        named = dict(zip(self.model.metrics_names, self._evaluated(x, y, kwargs), strict=True))
        for name in ("acc", "accuracy"):
            if name in named:
                return float(named[name])
        raise ValueError(
            "The model is not configured to compute accuracy. You should pass "
            '`metrics=["accuracy"]` to the `model.compile()` method.'
        )


class KerasRegressor(_Wrapper):
    """A regressor of scikit-learn that is a model of keras.

    Args:
      build_fn: function that returns a compiled model.
      **sk_params: arguments of it, and of `fit`, `predict` and `evaluate`.

    Example:
      >>> keras.wrappers.scikit_learn.KerasRegressor(None, epochs=3).get_params()["epochs"]
      3
    """

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """Return what the model finds.

        Args:
          x: array.
          **kwargs: arguments of `Model.predict`.
        """
        return np.squeeze(self.model.predict(x, **{**self._for(Training.predict), **kwargs}), -1)

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """Return the loss, negative: more is better.

        Args:
          x: array.
          y: what is wanted.
          **kwargs: arguments of `Model.evaluate`.
        """
        return -float(self._evaluated(x, y, kwargs)[0])
