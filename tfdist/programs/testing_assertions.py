"""What tf.test.TestCase asserts beside unittest's and absl's: numbers, shapes, messages, errors."""

# ruff: noqa: PT009  unittest's assertions tell more than a bare `assert` outside of pytest

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from absl.testing import absltest

from tfdist.base.devices import canonical
from tfdist.errors import OpError
from tfdist.graph.operation import Tensor
from tfdist.protos import pb


class Assertions(absltest.TestCase):
    """Assertions on what `evaluate` makes of tensors, and on plain numbers."""

    def evaluate(self, tensors: Any) -> Any:
        """Return the values of tensors."""
        raise NotImplementedError

    def _array(self, value: Any) -> Any:
        """Return a tensor's value, or any other, as an array."""
        if hasattr(value, "_as_tensor"):
            value = self.evaluate(value)
        return value if isinstance(value, np.ndarray | np.generic) else np.array(value)

    def _same_shape(self, one: Any, other: Any, msg: Any) -> None:
        text = f"Shape mismatch: expected {one.shape}, got {other.shape} with contents {other}."
        self.assertEqual(one.shape, other.shape, f"{text} {msg or ''}")

    # messages and errors

    def assertProtoEquals(
        self, expected_message_maybe_ascii: Any, message: Any, msg: str | None = None
    ) -> None:
        """Assert that a message has what another one, or a text, says."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str | bytes):
            expected = pb.from_text(type(message), expected)
        elif type(expected) is not type(message):
            kinds = f"{type(expected)} and {type(message)}"
            raise AssertionError(f"Can't compare protos of type {kinds}. {msg or ''}")
        if expected != message:
            wanted, found = (pb.to_text(each).splitlines() for each in (expected, message))
            self.fail("\n".join(["", *difflib.ndiff(wanted, found), msg or ""]))

    @contextmanager
    def assertRaisesWithPredicateMatch(  # type: ignore[override]
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """Assert that what is inside raises such an error.

        Args:
          exception_type: its class.
          expected_err_re_or_predicate: a regular expression, found in its text or in the name of
            its node; or a function of the error that returns whether it is right.
        """
        try:
            yield
        except Exception as error:
            if isinstance(error, exception_type) and _fits(error, expected_err_re_or_predicate):
                return
            raise AssertionError(f"Exception of type {type(error)}: {error}") from error
        self.fail(f"{exception_type.__name__} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """Assert that what is inside raises a `tf.errors.OpError`; see the one before."""
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    # equal

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Assert that two arrays or tensors have one shape, and the same elements; NaN too."""
        a, b = self._array(a), self._array(b)
        self._same_shape(a, b, msg)
        same = a == b
        if {a.dtype.kind, b.dtype.kind} & set("fc"):
            same = np.logical_or(same, np.logical_and(a != a, b != b))
        if not np.all(same):
            self._differ("not equal", a, b, np.logical_not(same), [], msg)

    def _differ(
        self, what: str, a: Any, b: Any, where: Any, lines: list[str], msg: str | None
    ) -> None:
        """Fail, telling where and how two arrays differ."""
        a, b = np.asarray(a), np.asarray(b)
        places = [f"{what} where = {np.where(where)}"] if a.ndim else []
        shown = [f"{what} lhs = {a[where] if a.ndim else a}"]
        shown += [f"{what} rhs = {b[where] if b.ndim else b}"]
        count = f"{np.count_nonzero(where)} of {a.size} elements, dtype = {a.dtype}"
        self.fail("\n".join([msg or "", *places, *shown, *lines, count]))

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Assert that two arrays or tensors do not have the same elements."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements {msg or ''}")

    # near

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Assert that |a - b| <= atol + rtol * |b|, element by element.

        Args:
          a: an array or tensor, or dictionaries and lists of such.
          b: the same.
          rtol: tolerance in parts of `b`.
          atol: tolerance.
          msg: stands in the error.
        """
        self._all_close(a, b, rtol, atol, msg, "")

    def _all_close(
        self, a: Any, b: Any, rtol: float, atol: float, msg: str | None, path: str
    ) -> None:
        if hasattr(a, "_asdict"):
            a, b = a._asdict(), b._asdict() if hasattr(b, "_asdict") else b
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            raise ValueError(f"Can't compare dict to non-dict, a{path} vs b{path}. {msg or ''}")
        if isinstance(a, Mapping):
            words = f"mismatched keys: a{path} has {a.keys()}, but b{path} has {b.keys()}. "
            self.assertCountEqual(a.keys(), b.keys(), words + (msg or ""))
            for key in a:
                self._all_close(a[key], b[key], rtol, atol, msg, f"{path}[{key}]")
        elif isinstance(a, list | tuple) and not _is_plain(a):
            self.assertEqual(len(a), len(b), f"a{path} and b{path} differ in length. {msg or ''}")
            for number, pair in enumerate(zip(a, b, strict=True)):
                self._all_close(*pair, rtol, atol, msg, f"{path}[{number}]")
        else:
            self._arrays_close(self._array(a), self._array(b), rtol, atol, msg, path)

    def _arrays_close(
        self, a: Any, b: Any, rtol: float, atol: float, msg: str | None, path: str
    ) -> None:
        self._same_shape(a, b, msg)
        close = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
        if not close.all():
            far = ~close
            difference, tolerance = np.abs(a - b), atol + rtol * np.abs(b)
            lines = [f"not close dif = {difference[far] if a.ndim else difference}"]
            lines += [f"not close tol = {tolerance[far] if a.ndim else tolerance}"]
            lines += [f"Not equal to tolerance rtol={rtol}, atol={atol}"]
            text = f"Mismatched value: a{path} is different from b{path}. {msg or ''}"
            self._differ("not close", a, b, far, lines, text)

    def assertAllCloseAccordingToType(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, float_rtol: float = 1e-6,
        float_atol: float = 1e-6, half_rtol: float = 1e-3, half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2, bfloat16_atol: float = 1e-2, msg: str | None = None,
    ) -> None:  # fmt: skip
        """Assert the same as `assertAllClose`, with the tolerances of the coarser type."""
        a, b = self._array(a), self._array(b)
        names = {a.dtype.name, b.dtype.name}
        coarser = {
            "float32": (float_rtol, float_atol), "complex64": (float_rtol, float_atol),
            "float16": (half_rtol, half_atol), "bfloat16": (bfloat16_rtol, bfloat16_atol),
        }  # fmt: skip
        for name in names & set(coarser):
            rtol, atol = max(rtol, coarser[name][0]), max(atol, coarser[name][1])
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:
        """Assert that `assertAllClose` of the same would fail."""
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Assert that two numbers differ by `err` at most."""
        text = f"{f1:f} != {f2:f} +/- {err:f}{f' ({msg})' if msg else ''}"
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, text)

    def assertArrayNear(
        self, farray1: Any, farray2: Any, err: float, msg: str | None = None
    ) -> None:
        """Assert that two sequences of numbers differ by `err` at most, one by one."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for one, other in zip(farray1, farray2, strict=True):
            self.assertNear(float(one), float(other), err, msg)

    def assertNDArrayNear(
        self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None
    ) -> None:
        """Assert that the norm of the difference of two arrays is below `err`."""
        distance = np.linalg.norm(np.ravel(ndarray1) - np.ravel(ndarray2))
        self.assertTrue(distance < err, msg or f"their distance is {distance}, not below {err}")

    # every element

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Assert that the least element is greater."""
        self.assertGreater(np.min(self._array(a)), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Assert that the largest element is less."""
        self.assertLess(np.max(self._array(a)), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Assert that the least element is greater, or the same."""
        self.assertGreaterEqual(np.min(self._array(a)), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Assert that the largest element is less, or the same."""
        self.assertLessEqual(np.max(self._array(a)), comparison_target)

    def assertAllInRange(
        self, target: Any, lower_bound: Any, upper_bound: Any, open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:  # fmt: skip
        """Assert that all elements lie between two bounds, which count unless they are open."""
        target = self._array(target)
        if target.dtype.kind not in "iufb":
            raise AssertionError(
                f"The value of {target} does not have an ordered numeric type, instead it has "
                f"type: {target.dtype}"
            )
        if np.isnan(target.astype(float)).any():
            raise AssertionError(f"{np.isnan(target).sum()} of the {target.size} elements are NaN")
        low = target <= lower_bound if open_lower_bound else target < lower_bound
        high = target >= upper_bound if open_upper_bound else target > upper_bound
        outside = low | high
        if outside.any():
            left, right = "(" if open_lower_bound else "[", ")" if open_upper_bound else "]"
            raise AssertionError(
                f"{outside.sum()} of the {target.size} element(s) are outside the range "
                f"{left}{lower_bound}, {upper_bound}{right}: {target[outside][:10]} at "
                f"{np.argwhere(outside)[:10].tolist()}"
            )

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Assert that each element is one of those."""
        others = np.setdiff1d(np.unique(self._array(target)), list(expected_set))
        if others.size:
            raise AssertionError(
                f"{others.size} unique element(s) are not in the set {expected_set}: {others[:10]}"
            )

    # shapes, types, devices

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: str | None = None) -> None:
        """Assert that an array has the static shape of a tensor."""
        if not isinstance(np_array, np.ndarray | np.generic):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertEqual(np_array.shape, tuple(tf_tensor.shape.as_list()), msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Assert that an array or a tensor's value has a type, NumPy's or ours."""
        expected = getattr(expected_dtype, "as_numpy_dtype", expected_dtype)
        self.assertEqual(self._array(target).dtype, np.dtype(expected))

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """Assert that two names mean the same device."""
        one, other = canonical(device1), canonical(device2)
        self.assertEqual(one, other, f"Devices {one} and {other} are not equal. {msg or ''}")


def _is_plain(value: Any) -> bool:
    """Return whether nested lists are numbers of one array."""
    try:
        return np.array(value).dtype.kind in "biufcSU"
    except (NotImplementedError, TypeError, ValueError):  # a tensor, or lengths that differ
        return False


def _fits(error: Exception, wanted: str | Callable[[Any], Any]) -> bool:
    if callable(wanted):
        return bool(wanted(error))
    text = error.message if isinstance(error, OpError) else str(error)
    op = getattr(error, "op", None)
    while op is not None:  # also those that this one was made for
        text += f"\nCaused by: {op.name}"
        op = getattr(op, "_original_op", None)
    return re.search(wanted, text) is not None
