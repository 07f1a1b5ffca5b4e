"""A module named ``tensorrt`` for programs that were written for it.

Importing this module puts it into ``sys.modules``, so that ``import tensorrt`` finds it afterwards.
A program can stay as it is: ``python -m camshaft.compat program.py arguments`` runs it so, and the
folder that ``python -m camshaft.compat --path`` prints does the same on ``PYTHONPATH``.

It is this package but for one thing. Where ``camshaft`` raises, objects made with a
``tensorrt.Logger`` or a ``tensorrt.ILogger`` do as TensorRT's: they log the reason and return
``None`` or ``False``.
"""

import importlib.util
import pathlib
import sys
import types
from typing import Any

import camshaft
from camshaft import _camshaft


_FOLDER = pathlib.Path(__file__).parent / "path" / "tensorrt"


def _module(name: str) -> types.ModuleType:
    """What camshaft has, with the loggers that make the difference."""
    spec = importlib.util.spec_from_file_location(name, _FOLDER / "__init__.py",
                                                  submodule_search_locations=[str(_FOLDER)])
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    surface = {**vars(camshaft), "Logger": _camshaft._ReturningLogger, "ILogger": _camshaft._ReturningILogger}
    module.__dict__.update({key: value for key, value in surface.items() if not key.startswith("__")})

    def find(attribute: str) -> Any:
        try:
            return camshaft.__getattr__(attribute)
        except AttributeError:
            raise AttributeError(f"module '{name}' has no attribute '{attribute}'") from None

    module.__dict__.update(__doc__=__doc__, __getattr__=find, __version__=camshaft.__version__)
    return module


def install() -> types.ModuleType:
    """The module, which is ``tensorrt`` from here on."""
    installed = sys.modules.get("tensorrt")
    if installed is not None and hasattr(installed, "camshaft_version"):
        return installed
    module, bindings = _module("tensorrt"), _module("tensorrt.tensorrt")
    module.__dict__.update(tensorrt=bindings, plugin=camshaft.plugin)
    sys.modules.update({"tensorrt": module, "tensorrt.tensorrt": bindings, "tensorrt.plugin": camshaft.plugin})
    return module


tensorrt = install()
