"""tf.contrib.image: images turned, moved and warped.

Source: TF 1.15 API documentation, tf.contrib.image.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.concat import stack
from tfdist.ops.image.projective_transforms import TRANSFORM_V2, matrices_of, transforms_of
from tfdist.ops.image.resampler import RESAMPLER
from tfdist.ops.math.elementwise import cos, sin

__all__ = [
    "angles_to_projective_transforms", "compose_transforms", "dense_image_warp",
    "flat_transforms_to_matrices", "matrices_to_flat_transforms", "rotate", "transform",
    "translate", "translations_to_projective_transforms",
]  # fmt: skip

_RANKS = {2: "a grayscale image [rows, columns]", 3: "an image [rows, columns, channels]",
          4: "images [batch, rows, columns, channels]"}  # fmt: skip


def _as_batch(images: Tensor) -> tuple[Any, Any]:
    """Return images as a batch, and a function that takes results back to their rank."""
    rank = images.shape.ndims
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank == 2:
        batch = raw.ExpandDims(raw.ExpandDims(images, 0), 3)
        return batch, lambda result: raw.Squeeze(result, squeeze_dims=[0, 3])
    if rank == 3:
        return raw.ExpandDims(images, 0), lambda result: raw.Squeeze(result, squeeze_dims=[0])
    if rank == 4:
        return images, lambda result: result
    raise TypeError(f"Images should have rank between 2 and 4; got {rank}")


def _sizes(images: Any) -> tuple[Any, Any]:
    """Return height and width of a batch, float scalars."""
    sizes = raw.Cast(raw.Shape(images), DstT="float32")
    return sizes[1], sizes[2]


def rotate(
    images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None
) -> Tensor:
    """Return images turned about their middle, counterclockwise; what was outside is 0.

    Args:
      images: [rows, columns], [rows, columns, channels] or [batch, rows, columns, channels].
      angles: radians: one, or one for each image.
      interpolation: "NEAREST" or "BILINEAR".
      name: prefix for the nodes.

    Raises:
      TypeError: the images are of another rank or type.

    Example:
      >>> Session().run(contrib.image.rotate([[1, 2], [3, 4]], 3.14159265 / 2))
      array([[2, 4],
             [1, 3]], dtype=int32)
    """
    with name_scope(name, "rotate"):
        batch, back = _as_batch(convert_to_tensor(images, name="images"))
        height, width = _sizes(batch)
        transforms = angles_to_projective_transforms(angles, height, width)
        return back(_run(batch, transforms, interpolation))  # type: ignore[no-any-return]


def translate(
    images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None
) -> Tensor:
    """Return images moved; what was outside is 0.

    Args:
      images: see `rotate`.
      translations: [dx, dy], or [batch, 2]: to the right and down.
      interpolation: see `rotate`.
      name: prefix for the nodes.

    Raises:
      TypeError: see `rotate`.

    Example:
      >>> Session().run(contrib.image.translate([[1, 2], [3, 4]], [1, 0]))
      array([[0, 1],
             [0, 3]], dtype=int32)
    """
    with name_scope(name, "translate"):
        batch, back = _as_batch(convert_to_tensor(images, name="images"))
        transforms = translations_to_projective_transforms(translations)
        return back(_run(batch, transforms, interpolation))  # type: ignore[no-any-return]


def transform(
    images: Any, transforms: Any, interpolation: str = "NEAREST", output_shape: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return images as projective transforms show them; what was outside is 0.

    Args:
      images: see `rotate`.
      transforms: [8] or [batch, 8]: (a0, a1, a2, b0, b1, b2, c0, c1) takes the place (x, y) of the
        result to the place ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) of the image, where k
        is c0 x + c1 y + 1.
      interpolation: see `rotate`.
      output_shape: [height, width] of the results; by default that of the images.
      name: prefix for the nodes.

    Raises:
      TypeError: see `rotate`; or the transforms are of another rank.

    Example:
      >>> Session().run(contrib.image.transform([[1, 2], [3, 4]], [1, 0, 1, 0, 1, 0, 0, 0]))
      array([[2, 0],
             [4, 0]], dtype=int32)
    """
    with name_scope(name, "transform"):
        batch, back = _as_batch(convert_to_tensor(images, name="images"))
        return back(_run(batch, transforms, interpolation, output_shape))  # type: ignore[no-any-return]


def _run(batch: Any, transforms: Any, interpolation: str, output_shape: Any = None) -> Tensor:
    flat = convert_to_tensor(transforms, "float32", name="transforms")
    if flat.shape.ndims == 1:
        flat = raw.ExpandDims(flat, 0)
    elif flat.shape.ndims != 2:
        raise TypeError(f"Transforms should have rank 1 or 2, but got rank {flat.shape.ndims}")
    known = batch.shape
    if output_shape is None:
        size: Any = raw.Shape(batch)[1:3]
        fixed = known[1:3].as_list()
    else:
        size = convert_to_tensor(output_shape, "int32", name="output_shape")
        fixed = [None, None] if hasattr(output_shape, "op") else [int(n) for n in output_shape]
    result: Tensor = TRANSFORM_V2(batch, flat, size, interpolation=interpolation.upper())
    result.set_shape(TensorShape([known[0], *fixed, known[3]]))
    return result


def angles_to_projective_transforms(
    angles: Any, image_height: Any, image_width: Any, name: str | None = None
) -> Tensor:
    """Return the transforms that turn images about their middle.

    Args:
      angles: radians, counterclockwise; one, or [batch].
      image_height: a float scalar.
      image_width: a float scalar.
      name: prefix for the nodes.

    Returns:
      [batch, 8].

    Example:
      >>> contrib.image.angles_to_projective_transforms(0.5, 2.0, 4.0).shape
      TensorShape([Dimension(1), Dimension(8)])
    """
    with name_scope(name, "angles_to_projective_transforms"):
        angle: Any = convert_to_tensor(angles, "float32", name="angles")
        if angle.shape.ndims == 0:
            angle = raw.ExpandDims(angle, 0)
        elif angle.shape.ndims != 1:
            raise TypeError("Angles should have a rank 0 or 1.")
        c: Any = cos(angle)
        s: Any = sin(angle)
        x, y = image_width - 1.0, image_height - 1.0
        off_x, off_y = (x - (c * x - s * y)) / 2.0, (y - (s * x + c * y)) / 2.0
        none = raw.ZerosLike(angle)
        return stack([c, -s, off_x, s, c, off_y, none, none], 1)


def translations_to_projective_transforms(translations: Any, name: str | None = None) -> Tensor:
    """Return the transforms that move images.

    Args:
      translations: [dx, dy], or [batch, 2].
      name: prefix for the nodes.

    Returns:
      [batch, 8].

    Example:
      >>> Session().run(contrib.image.translations_to_projective_transforms([1.0, 2.0]))
      array([[ 1.,  0., -1.,  0.,  1., -2.,  0.,  0.]], dtype=float32)
    """
    with name_scope(name, "translations_to_projective_transforms"):
        moves: Any = convert_to_tensor(translations, "float32", name="translations")
        if moves.shape.ndims == 1:
            moves = raw.ExpandDims(moves, 0)
        elif moves.shape.ndims != 2:
            raise TypeError("Translations should have rank 1 or 2.")
        none = raw.ZerosLike(moves[:, 0])
        one = raw.OnesLike(none)
        return stack([one, none, -moves[:, 0], none, one, -moves[:, 1], none, none], 1)


def compose_transforms(*transforms: Any) -> Tensor:
    """Return the transform that does what the given ones do one after the other.

    Args:
      *transforms: each [8] or [batch, 8].

    Raises:
      ValueError: there are none.

    Example:
      >>> moved = [1.0, 0, -1, 0, 1, 0, 0, 0]
      >>> Session().run(contrib.image.compose_transforms(moved, moved))[0, 2]
      np.float32(-2.0)
    """
    if not transforms:
        raise ValueError("compose_transforms needs one transform at least")
    with name_scope("compose_transforms"):
        composed: Any = flat_transforms_to_matrices(transforms[0])
        for each in transforms[1:]:
            matrices: Any = flat_transforms_to_matrices(each)
            composed = raw.BatchMatMulV2(composed, matrices)
        return matrices_to_flat_transforms(composed)


def flat_transforms_to_matrices(transforms: Any) -> Tensor:
    """Return transforms, [8] or [batch, 8], as matrices, [batch, 3, 3].

    Example:
      >>> contrib.image.flat_transforms_to_matrices([1.0, 0, 0, 0, 1, 0, 0, 0]).shape[1:]
      TensorShape([Dimension(3), Dimension(3)])
    """
    with name_scope("flat_transforms_to_matrices"):
        flat: Any = convert_to_tensor(transforms, "float32", name="transforms")
        if flat.shape.ndims not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        return matrices_of(raw.Reshape(flat, [-1, 8]))  # type: ignore[no-any-return]


def matrices_to_flat_transforms(transform_matrices: Any) -> Tensor:
    """Return matrices, [3, 3] or [batch, 3, 3], as transforms, [batch, 8].

    Example:
      >>> Session().run(contrib.image.matrices_to_flat_transforms(eye(3) * 2.0))[0, 0]
      np.float32(1.0)
    """
    with name_scope("matrices_to_flat_transforms"):
        matrices = convert_to_tensor(transform_matrices, "float32", name="matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {transform_matrices}")
        return transforms_of(matrices)  # type: ignore[no-any-return]


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> Tensor:
    """Return an image of which each pixel comes from elsewhere: (row, column) - flow.

    Args:
      image: float [batch, height, width, channels].
      flow: float [batch, height, width, 2]: how far, along rows and columns. Beyond the edges the
        pixels at the edge go on.
      name: prefix for the nodes.

    Example:
      >>> image = constant([[[[1.0], [3.0]], [[5.0], [7.0]]]])
      >>> Session().run(contrib.image.dense_image_warp(image, zeros([1, 2, 2, 2])))[0, :, :, 0]
      array([[1., 3.],
             [5., 7.]], dtype=float32)
    """
    with name_scope(name):
        image, flow = convert_to_tensor(image), convert_to_tensor(flow)
        sizes: Any = raw.Shape(image)
        ends = raw.Cast(sizes[1:3] - 1, DstT=flow.dtype.base_dtype)
        rows = raw.Cast(raw.Range(0, sizes[1], 1), DstT=flow.dtype.base_dtype)
        columns = raw.Cast(raw.Range(0, sizes[2], 1), DstT=flow.dtype.base_dtype)
        y = raw.ExpandDims(rows, 1) - flow[..., 0]
        x = columns - flow[..., 1]
        y = raw.Minimum(raw.Maximum(y, 0.0), ends[0])
        x = raw.Minimum(raw.Maximum(x, 0.0), ends[1])
        result: Tensor = RESAMPLER(image, stack([x, y], -1))
        result.set_shape(image.shape)
        return result
