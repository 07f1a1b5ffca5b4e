"""Where engines are kept that nobody has named a place for."""

from __future__ import annotations

import os
import pathlib


def default_folder() -> pathlib.Path:
    """``$CAMSHAFT_CACHE``, or ``camshaft`` in the user's folder of caches."""
    if folder := os.environ.get("CAMSHAFT_CACHE"):
        return pathlib.Path(folder)
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "camshaft"
