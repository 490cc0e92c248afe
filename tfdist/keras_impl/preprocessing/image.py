"""tf.keras.preprocessing.image: batches of images, changed by chance.

Source: TF 1.15 API documentation, tf.keras.preprocessing.image.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tfdist.keras_impl.settings import floatx
from tfdist.keras_impl.utils.utils import Sequence

__all__ = ["ImageDataGenerator", "apply_affine_transform", "img_to_array"]


def img_to_array(img: Any, data_format: str | None = None, dtype: Any = None) -> Any:
    """Return an image as an array [rows, columns, channels] of floats.

    Args:
      img: image of Pillow, or an array.
      data_format: "channels_last" or "channels_first".
      dtype: of the array.

    Example:
      >>> keras.preprocessing.image.img_to_array(np.zeros([2, 3])).shape
      (2, 3, 1)
    """
    found = np.asarray(img, dtype or floatx())
    if found.ndim not in (2, 3):
        raise ValueError(f"Unsupported image shape: {found.shape}")
    found = found[:, :, None] if found.ndim == 2 else found
    return found.transpose(2, 0, 1) if data_format == "channels_first" else found


def apply_affine_transform(
    x: Any, theta: float = 0, tx: float = 0, ty: float = 0, shear: float = 0, zx: float = 1,
    zy: float = 1, row_axis: int = 0, col_axis: int = 1, channel_axis: int = 2,
    fill_mode: str = "nearest", cval: float = 0.0, order: int = 1,
) -> Any:  # fmt: skip
    """Return an image turned, moved, sheared and zoomed about its middle.

    Args:
      x: array of three axes.
      theta: degrees by which it is turned.
      tx: rows by which it is moved.
      ty: columns by which it is moved.
      shear: degrees.
      zx: zoom of rows.
      zy: zoom of columns.
      row_axis: that of rows.
      col_axis: that of columns.
      channel_axis: that of channels.
      fill_mode: "nearest" or "constant": what is outside.
      cval: what is outside, for "constant".
      order: 0 for the nearest pixel, 1 between pixels.

    Example:
      >>> keras.preprocessing.image.apply_affine_transform(np.eye(2)[..., None], tx=1)[..., 0]
      array([[0., 1.],
             [0., 1.]])
    """
    if fill_mode not in ("nearest", "constant"):
        raise NotImplementedError(f'fill_mode {fill_mode!r}; there are "nearest" and "constant"')
    image = np.moveaxis(np.asarray(x), (row_axis, col_axis, channel_axis), (0, 1, 2))
    matrix = _matrix(theta, tx, ty, shear, zx, zy)
    rows, columns = image.shape[:2]
    middle = np.array([rows / 2 - 0.5, columns / 2 - 0.5])
    grid = np.stack(np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij"), -1)
    places = (grid - middle) @ matrix[:2, :2].T + matrix[:2, 2] + middle
    moved = _sampled(image, places, order)
    if fill_mode == "constant":
        last = np.array([rows - 1, columns - 1])
        moved[((places < 0) | (places > last)).any(-1)] = cval
    return np.moveaxis(moved, (0, 1, 2), (row_axis, col_axis, channel_axis))


def _matrix(theta: float, tx: float, ty: float, shear: float, zx: float, zy: float) -> Any:
    angle, slant = np.deg2rad(theta), np.deg2rad(shear)
    turn = [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
    move = [[1, 0, tx], [0, 1, ty], [0, 0, 1]]
    slope = [[1, -np.sin(slant), 0], [0, np.cos(slant), 0], [0, 0, 1]]
    return np.array(turn) @ np.array(move) @ np.array(slope) @ np.diag([zx, zy, 1])


def _sampled(image: Any, places: Any, order: int) -> Any:
    """Return the image at places between its pixels; the nearest one is outside."""
    last = np.array(image.shape[:2]) - 1
    places = np.clip(places, 0, last)
    if order == 0:
        near = np.rint(places).astype(int)
        return image[near[..., 0], near[..., 1]]
    low = np.minimum(places.astype(int), np.maximum(last - 1, 0))
    high, part = np.minimum(low + 1, last), (places - low)[..., None]
    above = _between(image, low[..., 0], low[..., 1], high[..., 1], part[..., 1, :])
    below = _between(image, high[..., 0], low[..., 1], high[..., 1], part[..., 1, :])
    return (above * (1 - part[..., 0, :]) + below * part[..., 0, :]).astype(image.dtype)


def _between(image: Any, row: Any, left: Any, right: Any, part: Any) -> Any:
    return image[row, left] * (1 - part) + image[row, right] * part


class ImageDataGenerator:
    """Gives batches of images that are changed by chance.

    Args:
      featurewise_center: whether the mean of all images is taken off, after `fit`.
      samplewise_center: whether each image's own mean is.
      featurewise_std_normalization: whether images are divided by the deviation of all.
      samplewise_std_normalization: whether each is divided by its own.
      zca_whitening: must be False.
      zca_epsilon: is of no use then.
      rotation_range: degrees.
      width_shift_range: columns, or part of them.
      height_shift_range: rows, or part of them.
      brightness_range: lowest and highest factor.
      shear_range: degrees.
      zoom_range: part, or lowest and highest factor.
      channel_shift_range: what is added to channels at most.
      fill_mode: "nearest" or "constant": what is outside.
      cval: what is outside, for "constant".
      horizontal_flip: whether left and right may change places.
      vertical_flip: whether top and bottom may.
      rescale: factor of all numbers.
      preprocessing_function: function from an image to one of the same shape.
      data_format: must be "channels_last" or None.
      validation_split: part of the images that `subset="validation"` gives.
      dtype: of batches.

    Example:
      >>> generator = keras.preprocessing.image.ImageDataGenerator(rescale=0.5)
      >>> batches = generator.flow(np.ones([5, 2, 2, 1]), np.arange(5), 3, shuffle=False)
      >>> images, labels = batches[0]
      >>> images.shape, float(images.max()), labels.tolist(), len(batches)
      ((3, 2, 2, 1), 0.5, [0, 1, 2], 2)
    """

    def __init__(
        self, featurewise_center: bool = False, samplewise_center: bool = False,
        featurewise_std_normalization: bool = False, samplewise_std_normalization: bool = False,
        zca_whitening: bool = False, zca_epsilon: float = 1e-6, rotation_range: float = 0,
        width_shift_range: float = 0.0, height_shift_range: float = 0.0,
        brightness_range: Any = None, shear_range: float = 0.0, zoom_range: Any = 0.0,
        channel_shift_range: float = 0.0, fill_mode: str = "nearest", cval: float = 0.0,
        horizontal_flip: bool = False, vertical_flip: bool = False, rescale: Any = None,
        preprocessing_function: Callable[[Any], Any] | None = None,
        data_format: str | None = None, validation_split: float = 0.0, dtype: Any = None,
    ) -> None:  # fmt: skip
        if zca_whitening or data_format == "channels_first":
            raise NotImplementedError("ImageDataGenerator has neither ZCA nor channels_first here")
        self.featurewise_center, self.samplewise_center = featurewise_center, samplewise_center
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.rotation_range, self.shear_range = rotation_range, shear_range
        self.width_shift_range, self.height_shift_range = width_shift_range, height_shift_range
        self.brightness_range, self.channel_shift_range = brightness_range, channel_shift_range
        is_number = isinstance(zoom_range, int | float)
        self.zoom_range = [1 - zoom_range, 1 + zoom_range] if is_number else list(zoom_range)
        self.fill_mode, self.cval, self.rescale = fill_mode, cval, rescale
        self.horizontal_flip, self.vertical_flip = horizontal_flip, vertical_flip
        self.preprocessing_function, self.validation_split = (
            preprocessing_function,
            validation_split,
        )
        self.dtype = dtype or floatx()
        self.mean: Any = None
        self.std: Any = None

    def fit(self, x: Any, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        """Find mean and deviation of images.

        Args:
          x: images [count, rows, columns, channels].
          augment: accepted for TensorFlow's sake.
          rounds: accepted for TensorFlow's sake.
          seed: accepted for TensorFlow's sake.
        """
        x = np.asarray(x, self.dtype)
        if x.ndim != 4:
            raise ValueError(
                f"Input to `.fit()` should have rank 4. Got array with shape: {x.shape}"
            )
        self.mean = x.mean((0, 1, 2))
        self.std = (x - self.mean).std((0, 1, 2)) if self.featurewise_center else x.std((0, 1, 2))

    def flow(
        self, x: Any, y: Any = None, batch_size: int = 32, shuffle: bool = True,
        sample_weight: Any = None, seed: int | None = None, save_to_dir: Any = None,
        save_prefix: str = "", save_format: str = "png", subset: str | None = None,
    ) -> Any:  # fmt: skip
        """Return batches of changed images, without end; `fit` takes them.

        Args:
          x: images [count, rows, columns, channels].
          y: labels.
          batch_size: number of images in a batch.
          shuffle: whether images are shuffled.
          sample_weight: what each image counts.
          seed: of chance.
          save_to_dir: must be None.
          save_prefix: is of no use then.
          save_format: is of no use then.
          subset: "training" or "validation", where a part is held back.
        """
        if save_to_dir is not None:
            raise NotImplementedError("tfdist keeps no changed images: save them in your program")
        arrays = [None if each is None else np.asarray(each) for each in (x, y, sample_weight)]
        if subset is not None:
            count = int(len(x) * self.validation_split)
            part = slice(count) if subset == "validation" else slice(count, None)
            arrays = [None if each is None else each[part] for each in arrays]
        return _Flow(self, arrays, batch_size, shuffle, seed)

    def get_random_transform(self, img_shape: Any, seed: int | None = None) -> dict[str, Any]:
        """Return what chance does to an image, as arguments of `apply_transform`.

        Args:
          img_shape: of the image.
          seed: of chance.
        """
        if seed is not None:
            np.random.seed(seed)  # noqa: NPY002 as TensorFlow does

        def any_of(low: float, high: float) -> float:
            return np.random.uniform(low, high) if low != high else low  # noqa: NPY002

        def shift(bound: float, size: int) -> float:
            return any_of(-bound, bound) * (size if bound < 1 else 1)

        zooms = [any_of(*self.zoom_range) for _ in range(2)]
        return {
            "theta": any_of(-self.rotation_range, self.rotation_range),
            "tx": shift(self.height_shift_range, img_shape[0]),
            "ty": shift(self.width_shift_range, img_shape[1]),
            "shear": any_of(-self.shear_range, self.shear_range), "zx": zooms[0], "zy": zooms[1],
            "flip_horizontal": self.horizontal_flip and np.random.random() < 0.5,  # noqa: NPY002
            "flip_vertical": self.vertical_flip and np.random.random() < 0.5,  # noqa: NPY002
            "channel_shift_intensity": any_of(-self.channel_shift_range, self.channel_shift_range),
            "brightness": any_of(*self.brightness_range) if self.brightness_range else None,
        }  # fmt: skip

    def apply_transform(self, x: Any, transform_parameters: Mapping[str, Any]) -> Any:
        """Return an image, changed.

        Args:
          x: image [rows, columns, channels].
          transform_parameters: what `get_random_transform` gives.
        """
        told = {"theta": 0, "tx": 0, "ty": 0, "shear": 0, "zx": 1, "zy": 1}
        moves = {key: transform_parameters.get(key, none) for key, none in told.items()}
        if moves != told:
            x = apply_affine_transform(x, **moves, fill_mode=self.fill_mode, cval=self.cval)
        if transform_parameters.get("channel_shift_intensity"):
            x = np.clip(x + transform_parameters["channel_shift_intensity"], x.min(), x.max())
        x = x[:, ::-1] if transform_parameters.get("flip_horizontal") else x
        x = x[::-1] if transform_parameters.get("flip_vertical") else x
        brightness = transform_parameters.get("brightness")
        return x if brightness is None else np.clip(x * brightness, 0, 255)

    def random_transform(self, x: Any, seed: int | None = None) -> Any:
        """Return an image, changed by chance.

        Args:
          x: image [rows, columns, channels].
          seed: of chance.
        """
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def standardize(self, x: Any) -> Any:
        """Return an image with its numbers brought into range.

        Args:
          x: image [rows, columns, channels].
        """
        x = np.asarray(x, self.dtype)
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x = x * np.asarray(self.rescale, self.dtype)
        x = x - x.mean() if self.samplewise_center else x
        x = x / (x.std() + 1e-6) if self.samplewise_std_normalization else x
        if self.featurewise_center and self.mean is not None:
            x = x - self.mean
        if self.featurewise_std_normalization and self.std is not None:
            x = x / (self.std + 1e-6)
        return x


class _Flow(Sequence):
    """Batches of changed images, by number and without end."""

    def __init__(
        self, generator: Any, arrays: list[Any], batch_size: int, shuffle: bool, seed: int | None
    ) -> None:
        self.generator, self._arrays, self.batch_size = generator, arrays, batch_size
        self.n, self.shuffle = len(arrays[0]), shuffle
        self._chance = np.random.RandomState(seed)
        self._batches: Iterator[Any] | None = None
        self.on_epoch_end()

    def on_epoch_end(self) -> None:
        self._order = np.arange(self.n)
        if self.shuffle:
            self._chance.shuffle(self._order)

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def __getitem__(self, index: int) -> Any:
        rows = self._order[index * self.batch_size : (index + 1) * self.batch_size]
        images = np.stack([self._changed(self._arrays[0][row]) for row in rows])
        others = [each[rows] for each in self._arrays[1:] if each is not None]
        return (images, *others) if others else images

    def _changed(self, image: Any) -> Any:
        image = np.asarray(image, self.generator.dtype)
        return self.generator.standardize(self.generator.random_transform(image))

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self._batches is None:
            self._batches = self._endless()
        return next(self._batches)

    def _endless(self) -> Iterator[Any]:
        while True:
            for index in range(len(self)):
                yield self[index]
            self.on_epoch_end()
