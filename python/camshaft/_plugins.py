"""Plugins written in Python: the classes that a plugin and its creator derive from.

They are plain classes, so that one plugin can derive from several; the bindings wrap their objects
for the library. Pointers are addresses: of host memory where the engine is for the CPU.
"""

from __future__ import annotations

import abc
import ctypes
import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from . import _camshaft
from ._camshaft import (
    DataType,
    DimsExprs,
    DynamicPluginTensorDesc,
    IExprBuilder,
    IPluginResourceContext,
    PluginCapabilityType,
    PluginFieldType,
    PluginTensorDesc,
    TensorFormat,
    TensorRTPhase,
)

if TYPE_CHECKING:
    import numpy as np

_FIELD_TYPES = {  # of numpy, by name
    PluginFieldType.FLOAT16: "float16",
    PluginFieldType.FLOAT32: "float32",
    PluginFieldType.FLOAT64: "float64",
    PluginFieldType.INT8: "int8",
    PluginFieldType.INT16: "int16",
    PluginFieldType.INT32: "int32",
    PluginFieldType.INT64: "int64",
    PluginFieldType.CHAR: "int8",
    PluginFieldType.UNKNOWN: "int8",
}


class PluginField:
    """A named attribute of a plugin: ``data`` is an array, or bytes."""

    name: str = ""
    data: Any = None
    type: PluginFieldType = PluginFieldType.UNKNOWN

    def __init__(self, name: str = "", data: Any = None, type: PluginFieldType = PluginFieldType.UNKNOWN) -> None:
        self.name, self.data, self.type = str(name), data, type

    @property
    def size(self) -> int:
        return int(_contents(self)[1])


class PluginFieldCollection(list[PluginField]):
    """Fields in order."""


PluginFieldCollection_ = PluginFieldCollection


def _contents(field: PluginField) -> tuple[np.ndarray, int]:
    """The elements of a field side by side, and how many there are."""
    import numpy as np

    data = field.data
    if data is None:
        return np.empty(0, np.int8), 0
    if isinstance(data, str):
        data = data.encode()
    if isinstance(data, (bytes, bytearray, memoryview)):
        array = np.frombuffer(data, np.int8)
    else:
        dtype = _FIELD_TYPES.get(field.type) if field.type is not PluginFieldType.UNKNOWN else None
        array = np.ascontiguousarray(np.asarray(data, dtype)).reshape(-1)
    width = np.dtype(_FIELD_TYPES.get(field.type, np.int8)).itemsize
    return array, array.nbytes // width


def _field_at(name: str, address: int, type: PluginFieldType, length: int) -> PluginField:
    """A field of the library's, with a copy of its elements."""
    import numpy as np

    dtype = np.dtype(_FIELD_TYPES.get(type, np.int8))
    data = np.empty(0, dtype)
    if address and length > 0:
        data = np.frombuffer(ctypes.string_at(address, length * dtype.itemsize), dtype)
    return PluginField(name, data, type)


def _to_define(self: object, method: str) -> NotImplementedError:
    return NotImplementedError(f"{type(self).__name__} must define {method}()")


class IPluginCapability(metaclass=abc.ABCMeta):
    """One of the roles that a plugin has."""


class IPluginV3(metaclass=abc.ABCMeta):
    """A plugin: an operator of the user's own."""

    def get_capability_interface(self, type: PluginCapabilityType) -> Any:
        return self

    def clone(self) -> Any:
        raise _to_define(self, "clone")

    def destroy(self) -> None:
        pass


class IPluginV3OneCore(IPluginCapability):
    plugin_name: str = ""
    plugin_version: str = ""
    plugin_namespace: str = ""


class IPluginV3OneBuild(IPluginCapability):
    DEFAULT_FORMAT_COMBINATION_LIMIT: ClassVar[int] = 100
    num_outputs: int = -1
    format_combination_limit: int = DEFAULT_FORMAT_COMBINATION_LIMIT
    metadata_string: str | None = None
    timing_cache_id: str | None = None

    def get_output_data_types(self, input_types: list[DataType]) -> list[DataType]:
        raise _to_define(self, "get_output_data_types")

    def get_output_shapes(self, inputs: list[DimsExprs], shape_inputs: list[DimsExprs],
                          expr_builder: IExprBuilder) -> list[DimsExprs]:
        raise _to_define(self, "get_output_shapes")

    def supports_format_combination(self, pos: int, in_out: list[DynamicPluginTensorDesc], num_inputs: int) -> bool:
        raise _to_define(self, "supports_format_combination")

    def configure_plugin(self, in_: list[DynamicPluginTensorDesc], out: list[DynamicPluginTensorDesc]) -> None:
        pass

    def get_workspace_size(self, in_: list[DynamicPluginTensorDesc], out: list[DynamicPluginTensorDesc]) -> int:
        return 0

    def get_valid_tactics(self) -> list[int]:
        return []


class IPluginV3OneBuildV2(IPluginV3OneBuild):
    def get_aliased_input(self, output_index: int) -> int:
        """The input whose memory an output has, or -1."""
        return -1


class IPluginV3OneRuntime(IPluginCapability):
    def set_tactic(self, tactic: int) -> None:
        pass

    def on_shape_change(self, in_: list[PluginTensorDesc], out: list[PluginTensorDesc]) -> None:
        pass

    def enqueue(self, input_desc: list[PluginTensorDesc], output_desc: list[PluginTensorDesc], inputs: list[int],
                outputs: list[int], workspace: int, stream: int) -> None:
        raise _to_define(self, "enqueue")

    def attach_to_context(self, resource_context: IPluginResourceContext) -> Any:
        return self.clone()  # type: ignore[attr-defined]

    def get_fields_to_serialize(self) -> Sequence[PluginField]:
        return PluginFieldCollection()


class IPluginV3QuickCore(IPluginV3OneCore):
    """The roles of plugins that the decorators of camshaft.plugin describe."""


class IPluginV3QuickBuild(IPluginV3OneBuildV2):
    pass


class IPluginV3QuickAOTBuild(IPluginV3QuickBuild):
    pass


class IPluginV3QuickRuntime(IPluginV3OneRuntime):
    pass


class QuickPluginCreationRequest(enum.Enum):
    """Which implementation of a plugin is wanted, where it has several."""

    UNKNOWN = 0
    PREFER_JIT = 1
    PREFER_AOT = 2
    STRICT_JIT = 3
    STRICT_AOT = 4


class IPluginV2(metaclass=abc.ABCMeta):
    """A plugin of version 2, of a class that only libraries have. New ones are IPluginV3."""

    num_outputs: int = -1
    plugin_type: str = ""
    plugin_version: str = ""
    plugin_namespace: str = ""

    @property
    def tensorrt_version(self) -> int:
        return 0

    @property
    def serialization_size(self) -> int:
        return self.get_serialization_size()

    def get_output_shape(self, index: int, input_shapes: list[Any]) -> Any:
        raise _to_define(self, "get_output_shape")

    def supports_format(self, dtype: DataType, format: TensorFormat) -> bool:
        raise _to_define(self, "supports_format")

    def configure_with_format(self, input_shapes: list[Any], output_shapes: list[Any], dtype: DataType,
                              format: TensorFormat, max_batch_size: int) -> None:
        raise _to_define(self, "configure_with_format")

    def initialize(self) -> None:
        pass

    def terminate(self) -> None:
        pass

    def get_workspace_size(self, max_batch_size: Any) -> int:
        return 0

    def execute_async(self, batch_size: int, inputs: list[int], outputs: list[int], workspace: int,
                      stream_handle: int) -> None:
        raise _to_define(self, "execute_async")

    def serialize(self) -> bytes:
        raise _to_define(self, "serialize")

    def get_serialization_size(self) -> int:
        return len(self.serialize())

    def destroy(self) -> None:
        pass

    def clone(self) -> Any:
        raise _to_define(self, "clone")


class IPluginV2Ext(IPluginV2):
    def get_output_data_type(self, index: int, input_types: list[DataType]) -> DataType:
        raise _to_define(self, "get_output_data_type")

    def configure_plugin(self, input_shapes: list[Any], output_shapes: list[Any], input_types: list[DataType],
                         output_types: list[DataType], input_is_broadcasted: list[bool],
                         output_is_broacasted: list[bool], format: TensorFormat, max_batch_size: int) -> None:
        raise _to_define(self, "configure_plugin")

    def attach_to_context(self, cudnn: Any, cublas: Any, allocator: Any) -> None:
        pass

    def detach_from_context(self) -> None:
        pass


class IPluginV2DynamicExtBase(IPluginV2):
    pass


class IPluginV2DynamicExt(IPluginV2DynamicExtBase):
    FORMAT_COMBINATION_LIMIT: ClassVar[int] = 100

    def get_output_datatype(self, index: int, input_types: list[DataType]) -> DataType:
        raise _to_define(self, "get_output_datatype")

    def get_output_dimensions(self, output_index: int, inputs: list[DimsExprs],
                              expr_builder: IExprBuilder) -> DimsExprs:
        raise _to_define(self, "get_output_dimensions")

    def supports_format_combination(self, pos: int, in_out: list[PluginTensorDesc], num_inputs: int) -> bool:
        raise _to_define(self, "supports_format_combination")

    def configure_plugin(self, in_: list[DynamicPluginTensorDesc], out: list[DynamicPluginTensorDesc]) -> None:
        pass

    def get_workspace_size(self, in_: list[PluginTensorDesc],  # type: ignore[override]
                           out: list[PluginTensorDesc]) -> int:
        return 0

    def enqueue(self, input_desc: list[PluginTensorDesc], output_desc: list[PluginTensorDesc], inputs: list[int],
                outputs: list[int], workspace: int, stream: int) -> None:
        raise _to_define(self, "enqueue")


class IPluginCreatorInterface(metaclass=abc.ABCMeta):
    name: str = ""
    plugin_version: str = ""
    plugin_namespace: str = ""
    field_names: Sequence[PluginField] = ()


class IPluginCreatorV3One(IPluginCreatorInterface):
    def create_plugin(self, name: str, field_collection: PluginFieldCollection, phase: TensorRTPhase) -> Any:
        raise _to_define(self, "create_plugin")

    def _create(self, name: str, fields: PluginFieldCollection, phase: TensorRTPhase) -> Any:
        """As the library asks for it."""
        return self.create_plugin(name, fields, phase)


class IPluginCreatorV3Quick(IPluginCreatorV3One):
    def create_plugin(self, name: str, namespace: str,  # type: ignore[override]
                      field_collection: PluginFieldCollection, phase: TensorRTPhase,
                      quickPluginType: QuickPluginCreationRequest = QuickPluginCreationRequest.UNKNOWN) -> Any:
        raise _to_define(self, "create_plugin")

    def _create(self, name: str, fields: PluginFieldCollection, phase: TensorRTPhase) -> Any:
        return self.create_plugin(self.name, self.plugin_namespace, fields, phase)


class IPluginCreator(IPluginCreatorInterface):
    def create_plugin(self, name: str, field_collection: PluginFieldCollection) -> Any:
        raise _to_define(self, "create_plugin")

    def deserialize_plugin(self, name: str, serialized_plugin: bytes) -> Any:
        raise _to_define(self, "deserialize_plugin")


class IPluginResource(metaclass=abc.ABCMeta):
    """What plugins share under a key."""

    def release(self) -> None:
        pass

    def clone(self) -> Any:
        raise _to_define(self, "clone")


# What libraries made, seen from Python.
IPluginV3.register(_camshaft._LibraryPluginV3)
IPluginV2.register(_camshaft._LibraryPluginV2)
IPluginCreatorInterface.register(_camshaft._LibraryCreator)
IPluginCreatorV3One.register(_camshaft._LibraryCreatorV3One)
IPluginCreator.register(_camshaft._LibraryCreatorV1)
