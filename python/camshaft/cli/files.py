"""Files that a command is given: what they are, and whether those it is to write can be, before the work."""

from __future__ import annotations

import os
import pathlib
from typing import Any

MAGIC = b"CAMSHAFT"  # that engine files begin with


def is_engine(path: Any) -> bool:
    """Whether it is an engine, and no model; what is neither by its length is refused."""
    with pathlib.Path(path).open("rb") as file:
        start = file.read(len(MAGIC))
    if not start:
        raise ValueError(f"'{path}' is empty, neither an engine nor an ONNX model")
    return start == MAGIC


def expect_model(path: Any) -> None:
    """An ONNX model's file, as far as can be told without reading it: its reader says the rest."""
    if pathlib.Path(path).is_file() and os.path.getsize(path) and is_engine(path):
        raise ValueError(f"'{path}' is an engine, built already: give the ONNX model it was made of")


def expect_engine(path: Any) -> None:
    if not is_engine(path):
        raise ValueError(f"'{path}' is no engine: camshaft build makes one of an ONNX model")


def expect_writable(*paths: Any) -> None:
    """Files that will be written when all is done, which may be in minutes; None stands for none."""
    for path in map(pathlib.Path, filter(None, paths)):
        if path.is_dir():
            raise ValueError(f"'{path}' cannot be written: it is a folder")
        if not path.parent.is_dir():
            raise ValueError(f"'{path}' cannot be written: there is no folder '{path.parent}'")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise ValueError(f"'{path}' cannot be written: permission denied")
