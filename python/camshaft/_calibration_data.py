"""Calibration data: from folders and iterables to arrays as a model's inputs want them."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
import os
import pathlib
from typing import Any

import numpy as np

from ._types import nptype

PICTURES = {".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"}
ARRAYS = {".npy", ".npz"}


@dataclasses.dataclass
class Preprocessing:
    """What becomes of pictures: (pixel / 255 - mean) / std, in the size that the model's input has."""

    size: tuple[int, int] | None = None  # height and width, where the model leaves them open
    mean: Any = 0.0  # one number, or one for each channel
    std: Any = 1.0
    colors: str = "rgb"  # or "bgr"
    limit: int | None = None  # as many samples at most, evenly from all


def samples_from(data, inputs, preprocessing=None):
    """Lists of contiguous arrays, one for each of ``inputs`` (name, type, shape), from what a user gives."""
    preprocessing = preprocessing or Preprocessing()
    if isinstance(data, (str, os.PathLike)):
        samples = _from_path(pathlib.Path(data), inputs, preprocessing)
    elif isinstance(data, (Mapping, np.ndarray)):
        samples = [("the sample", data)]
    else:
        samples = [(f"sample {i}", sample) for i, sample in enumerate(data)]
    if not samples:
        raise ValueError("there is no calibration data: the iterable gave nothing")
    samples = _limited(samples, preprocessing.limit)
    return [_arrays_of(where, sample() if callable(sample) else sample, inputs) for where, sample in samples]


def _limited(samples, limit):
    if not limit or len(samples) <= limit:
        return samples
    return [samples[i * len(samples) // limit] for i in range(limit)]


def _from_path(path, inputs, preprocessing):
    """Pairs of what a file is called and a function that reads it."""
    if not path.exists():
        raise ValueError(f"there is no calibration data at '{path}'")
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    files = [file for file in files if file.suffix.lower() in PICTURES | ARRAYS]
    if not files:
        raise ValueError(f"'{path}' holds neither pictures ({', '.join(sorted(PICTURES))}) nor arrays in .npy or "
                         ".npz files")
    target = _picture_input(inputs, preprocessing) if any(f.suffix.lower() in PICTURES for f in files) else None
    return [(f"'{file}'", lambda file=file: _read(file, target, preprocessing)) for file in files]


def _read(file, target, preprocessing):
    suffix = file.suffix.lower()
    if suffix in PICTURES:
        return _picture(file, target, preprocessing)
    try:
        loaded = np.load(file)
        return {name: loaded[name] for name in loaded.files} if suffix == ".npz" else loaded
    except (OSError, ValueError) as error:
        raise ValueError(f"'{file}' cannot be read as numpy arrays: {error}") from None


@dataclasses.dataclass
class _PictureInput:
    name: str
    data_type: Any
    channels_last: bool
    channels: int
    size: tuple[int, int]


def _picture_input(inputs, preprocessing):
    if len(inputs) != 1:
        names = ", ".join(f"'{name}'" for name, _, _ in inputs)
        raise ValueError(f"pictures are data for models with one input, and this one has {names}: "
                         "give .npz files with an array for each")
    name, data_type, shape = inputs[0]
    if shape is None or len(shape) != 4:
        raise ValueError(f"input '{name}' is no batch of pictures: it has shape {shape}, and not 4 dimensions; "
                         "give .npy files")
    channels_last = shape[1] not in (1, 3) and shape[3] in (1, 3)
    channels = shape[3] if channels_last else shape[1]
    if channels not in (1, 3, -1):
        raise ValueError(f"input '{name}' has {channels} channels, and pictures have 1 or 3: give .npy files")
    height, width = shape[1:3] if channels_last else shape[2:4]
    size = preprocessing.size or (height, width)
    if min(size) < 1:
        raise ValueError(f"input '{name}' has no fixed height and width: say which size pictures are to have")
    return _PictureInput(name, data_type, channels_last, 3 if channels == -1 else channels, tuple(size))


def _picture(file, target, preprocessing):
    try:
        from PIL import Image
    except ImportError:
        raise ValueError("pictures are read with Pillow, which is not installed: pip install pillow, or give .npy "
                         "files") from None
    try:
        with Image.open(file) as opened:
            picture = opened.convert("RGB" if target.channels == 3 else "L")
    except OSError as error:
        raise ValueError(f"'{file}' cannot be read as a picture: {error}") from None
    height, width = target.size
    pixels = np.asarray(picture.resize((width, height), Image.Resampling.BILINEAR)).reshape(height, width, -1)
    if preprocessing.colors == "bgr":
        pixels = pixels[:, :, ::-1]
    if np.dtype(nptype(target.data_type)).kind == "f":
        mean, std = np.asarray(preprocessing.mean, np.float32), np.asarray(preprocessing.std, np.float32)
        pixels = (pixels.astype(np.float32) / 255 - mean) / std
    return (pixels if target.channels_last else pixels.transpose(2, 0, 1))[None]


def _arrays_of(where, sample, inputs):
    if not isinstance(sample, Mapping):
        if len(inputs) != 1:
            names = ", ".join(f"'{name}'" for name, _, _ in inputs)
            raise ValueError(f"{where} is one array, and the model has inputs {names}: give a dict of arrays")
        sample = {inputs[0][0]: sample}
    known = [name for name, _, _ in inputs]
    for name in sample:
        if name not in known:
            raise ValueError(f"{where} has an array for '{name}', and the model's inputs are "
                             + ", ".join(f"'{each}'" for each in known))
    arrays = []
    for name, data_type, shape in inputs:
        if name not in sample:
            raise ValueError(f"{where} has no array for input '{name}'")
        arrays.append(_converted(where, name, np.asarray(sample[name]), data_type, shape))
    return arrays


def _converted(where, name, array, data_type, shape):
    if shape is not None:
        fits = array.ndim == len(shape) and all(want in (-1, have) for want, have in zip(shape, array.shape))
        if not fits:
            wanted = "x".join("?" if size < 0 else str(size) for size in shape) or "a scalar"
            given = "x".join(map(str, array.shape)) or "a scalar"
            raise ValueError(f"input '{name}' wants shape {wanted}, and {where} gives {given}")
    wanted = np.dtype(nptype(data_type))
    wanted = np.dtype(np.float32) if wanted.kind in "fV" else wanted
    if wanted.kind != "f" and array.dtype != wanted and array.dtype.kind not in "iub":
        raise ValueError(f"input '{name}' wants {wanted.name}, and {where} gives {array.dtype.name}")
    return np.ascontiguousarray(array, wanted).reshape(array.shape)
