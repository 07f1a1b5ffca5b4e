"""Camshaft: build an inference engine from an ONNX model and run it.

The names and keywords are those of the ``tensorrt`` module, so existing code ports by
``import camshaft as trt``. Two things are friendlier: calls that would return ``None`` raise
:class:`Error` with the reason, and :func:`infer` runs a context on numpy arrays.
"""

from __future__ import annotations as _annotations

from ._dims import Dims as Dims, Dims2 as Dims2, Dims3 as Dims3, Dims4 as Dims4, DimsHW as DimsHW
from ._dims import Permutation as Permutation


class Error(RuntimeError):
    """Why a call failed, in the library's own words."""


import signal as _signal  # noqa: E402

# A KeyboardInterrupt while the module makes its classes would end the process as a crash; Ctrl-C waits.
_waiting = _signal.pthread_sigmask(_signal.SIG_BLOCK, {_signal.SIGINT})
try:
    from ._camshaft import *  # noqa: F401,F403
    from ._camshaft import DataType, TENSORRT_VERSION
finally:
    _signal.pthread_sigmask(_signal.SIG_SETMASK, _waiting)

__version__: str = TENSORRT_VERSION  # clients branch on TensorRT's version
camshaft_version = "0.1.0"

float32, float16, bfloat16 = DataType.FLOAT, DataType.HALF, DataType.BF16
int8, int32, int64, uint8 = DataType.INT8, DataType.INT32, DataType.INT64, DataType.UINT8
bool = DataType.BOOL  # noqa: A001 - the name clients use
fp8, int4, fp4, e8m0 = DataType.FP8, DataType.INT4, DataType.FP4, DataType.E8M0

from ._plugins import (  # noqa: E402
    IPluginCapability as IPluginCapability, IPluginCreator as IPluginCreator,
    IPluginCreatorInterface as IPluginCreatorInterface, IPluginCreatorV3One as IPluginCreatorV3One,
    IPluginCreatorV3Quick as IPluginCreatorV3Quick, IPluginResource as IPluginResource,
    IPluginV2 as IPluginV2, IPluginV2DynamicExt as IPluginV2DynamicExt,
    IPluginV2DynamicExtBase as IPluginV2DynamicExtBase, IPluginV2Ext as IPluginV2Ext,
    IPluginV3 as IPluginV3, IPluginV3OneBuild as IPluginV3OneBuild,
    IPluginV3OneBuildV2 as IPluginV3OneBuildV2, IPluginV3OneCore as IPluginV3OneCore,
    IPluginV3OneRuntime as IPluginV3OneRuntime, IPluginV3QuickAOTBuild as IPluginV3QuickAOTBuild,
    IPluginV3QuickBuild as IPluginV3QuickBuild, IPluginV3QuickCore as IPluginV3QuickCore,
    IPluginV3QuickRuntime as IPluginV3QuickRuntime, PluginField as PluginField,
    PluginFieldCollection as PluginFieldCollection, PluginFieldCollection_ as PluginFieldCollection_,
    QuickPluginCreationRequest as QuickPluginCreationRequest,
)
from collections.abc import Iterable as _Iterable  # noqa: E402
import importlib as _importlib  # noqa: E402
from typing import Any as _Any, TYPE_CHECKING as _TYPE_CHECKING  # noqa: E402

if _TYPE_CHECKING:
    from ._build import build as build
    from ._explore import explore as explore
    from ._quantize import quantize as quantize
    from ._session import Session as Session, TensorInfo as TensorInfo, load as load
    from ._slim import slim as slim
    from ._types import nptype as nptype
    from .inference import infer as infer

# Where names are that are loaded when first asked for: numpy takes longer than all the rest, and few
# programs have plugins.
_LATER = {
    "build": "._build", "load": "._session", "Session": "._session", "TensorInfo": "._session",
    "explore": "._explore",
    "infer": ".inference", "nptype": "._types", "quantize": "._quantize", "slim": "._slim", "_array_at": "._types", "_data_type_of": "._types",
    "ISymExpr": ".plugin", "ISymExprs": ".plugin", "KernelLaunchParams": ".plugin", "PluginArgDataType": ".plugin",
    "PluginArgType": ".plugin",
}


def volume(iterable: _Iterable[int]) -> int:
    """The product of the sizes."""
    product = 1
    for size in iterable:
        product *= size
    return product


def __getattr__(name: str) -> _Any:
    if name in ("plugin", "config"):
        return _importlib.import_module(f".{name}", __name__)
    if name in _LATER:
        return getattr(_importlib.import_module(_LATER[name], __name__), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
