"""Camshaft as an execution provider of ONNX Runtime: the stock ``onnxruntime`` runs models on it.

    import camshaft.onnxruntime
    session = camshaft.onnxruntime.session("model.onnx", engine_cache="engines")
    session.run(None, inputs)

Programs that make their sessions themselves call register() once and add devices() to their options.
"""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

# The name of the provider in ONNX Runtime: in session.get_providers(), and of its devices.
PROVIDER = "CamshaftExecutionProvider"


def library_path() -> str:
    """The library for onnxruntime.register_execution_provider_library()."""
    package = pathlib.Path(__file__).resolve().parent
    # In an installed package, and in a folder that was built.
    for folder in (package / "lib", package.parent.parent / "lib"):
        path = folder / "libcamshaft_onnxruntime.so"
        if path.exists():
            return str(path)
    raise FileNotFoundError("this package of camshaft has no libcamshaft_onnxruntime.so; install one that does")


def devices(device: str | None = None) -> list[Any]:
    """Camshaft's devices for SessionOptions.add_provider_for_devices: the CPU ("cpu"), a GPU ("gpu"), or all."""
    import onnxruntime

    if device not in (None, "cpu", "gpu"):
        raise ValueError(f"device is 'cpu' or 'gpu', not {device!r}")
    return [one for one in onnxruntime.get_ep_devices()
            if one.ep_name == PROVIDER and device in (None, one.device.type.name.lower())]


def register(name: str = "camshaft") -> None:
    """Makes Camshaft known to ONNX Runtime, which calls the library ``name``. Once is enough; more do no harm."""
    import onnxruntime

    if not devices():
        onnxruntime.register_execution_provider_library(name, library_path())


def session(model: Any, sess_options: Any = None, device: str = "cpu", **options: Any) -> Any:
    """An onnxruntime.InferenceSession of ``model`` (a path or bytes) on Camshaft.

    ``options`` are settings of :class:`camshaft.config.ProviderConfig`, which the provider reads itself. Nodes that
    Camshaft does not take run on ONNX Runtime's own CPU provider.
    """
    import onnxruntime

    register()
    found = devices(device)
    if not found:
        raise RuntimeError(f"Camshaft has no device '{device}' that ONNX Runtime sees")
    if sess_options is None:
        sess_options = onnxruntime.SessionOptions()
    if "threads" not in options and sess_options.intra_op_num_threads > 0:
        options["threads"] = sess_options.intra_op_num_threads
    sess_options.add_provider_for_devices(found[:1], {name: _text(value) for name, value in options.items()})
    # A wrong option is an error, and not a reason to run elsewhere.
    return onnxruntime.InferenceSession(model, sess_options, enable_fallback=0)


def _text(value: Any) -> str:
    """As the provider reads it: a text, or JSON."""
    return os.fspath(value) if isinstance(value, (str, os.PathLike)) else json.dumps(value, default=int)
