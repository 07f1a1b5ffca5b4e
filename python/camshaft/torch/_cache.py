"""Engine files on disk, found by what they were made of."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import pathlib
import platform

import torch

from .. import _camshaft, camshaft_version
from .._build import CannotWrite

_log = logging.getLogger("camshaft.torch")


def _library():
    """Tells builds of the library apart that have the same version."""
    here = pathlib.Path(_camshaft.__file__)
    names = [here, here.parent / "libcamshaft.so", here.parents[2] / "lib" / "libcamshaft.so"]
    return [(path.stat().st_size, path.stat().st_mtime_ns) for path in names if path.exists()]


def _machine(device):
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        return [properties.name, properties.major, properties.minor, torch.version.cuda]
    features = ""
    with contextlib.suppress(OSError):
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        features = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return [platform.machine(), features, os.cpu_count()]


def bytes_of(tensor):
    """The memory of a contiguous tensor on the host, as numpy sees it."""
    return tensor.detach().reshape(-1).view(torch.uint8).numpy()


def digest(model, weights, device, settings):
    """One text for everything that an engine follows from."""
    key = hashlib.sha256(repr((camshaft_version, _library(), _machine(device), settings)).encode())
    key.update(model)
    for name, tensor in weights.items():
        key.update(name.encode())
        if tensor.numel():
            key.update(hashlib.sha256(bytes_of(tensor)).digest())
    return key.hexdigest()


class Cache:
    """A folder of engines, the oldest of which go when they are too many bytes."""

    def __init__(self, folder, limit):
        self.folder, self.limit = folder, limit

    def find(self, key):
        """The file, which counts as new again, or None."""
        path = self._path(key)
        try:
            os.utime(path)
        except OSError:
            return None
        return path

    def add(self, key, write):
        """Calls `write` with a path and gives it back; None where the folder cannot be written."""
        path = self._path(key)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write(path)
        except (OSError, CannotWrite) as error:
            _log.warning("the engine is not kept in %s: %s", self.folder, error)
            return None
        self._make_room(path)
        return path

    def remove(self, key):
        with contextlib.suppress(OSError):
            self._path(key).unlink()

    def _path(self, key):
        return self.folder / f"{key}.engine"

    def _make_room(self, newest):
        files = []
        for path in self.folder.glob("*.engine"):
            with contextlib.suppress(OSError):
                files.append((path.stat().st_mtime_ns, path.stat().st_size, path))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= self.limit or path == newest:
                continue
            with contextlib.suppress(OSError):
                path.unlink()
                total -= size
