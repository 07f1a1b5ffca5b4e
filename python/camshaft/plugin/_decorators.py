"""The decorators, and the plugin that they make of functions."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

import numpy as np

from .._camshaft import (
    DataType, DimsExprs, DynamicPluginTensorDesc, IExprBuilder, ITensor, PluginFieldType, PluginTensorDesc,
    TensorFormat, TensorRTPhase, get_plugin_registry)
from .._plugins import (
    IPluginCreatorV3Quick, IPluginV3, IPluginV3QuickBuild, IPluginV3QuickCore, IPluginV3QuickRuntime, PluginField,
    PluginFieldCollection, QuickPluginCreationRequest)
from ._autotune import AutoTuneCombination
from ._expressions import ShapeExpr, ShapeExprs
from ._tensors import Shape, Tensor, TensorDesc

_VERSION = "1"
_SCALARS = {int: (np.int64, PluginFieldType.INT64), float: (np.float64, PluginFieldType.FLOAT64),
            bool: (np.int8, PluginFieldType.INT8)}
_ARRAYS = {np.dtype(np.int8): PluginFieldType.INT8, np.dtype(np.int16): PluginFieldType.INT16,
           np.dtype(np.int32): PluginFieldType.INT32, np.dtype(np.int64): PluginFieldType.INT64,
           np.dtype(np.float32): PluginFieldType.FLOAT32, np.dtype(np.float64): PluginFieldType.FLOAT64}
_Function = typing.TypeVar("_Function", bound=Callable[..., Any])


def _field(name: str, value: Any) -> PluginField:
    """An attribute as engines keep it."""
    if isinstance(value, str):
        return PluginField(name, value.encode(), PluginFieldType.CHAR)
    if isinstance(value, bytes):
        return PluginField(name, value, PluginFieldType.UNKNOWN)
    if type(value) in _SCALARS:
        dtype, kind = _SCALARS[type(value)]
        return PluginField(name, np.array([value], dtype), kind)
    array = np.asarray(value)
    if array.dtype in _ARRAYS:
        return PluginField(name, array, _ARRAYS[array.dtype])
    return PluginField(name, array.tobytes(), PluginFieldType.UNKNOWN)  # float16, bool


def _value(field: PluginField, annotation: Any) -> Any:
    """An attribute as functions get it."""
    data = np.asarray(field.data)
    if annotation is str:
        return data.tobytes().decode()
    if annotation is bytes:
        return data.tobytes()
    if annotation in _SCALARS:
        return annotation(data.reshape(-1)[0])
    dtype = np.dtype(typing.get_args(typing.get_args(annotation)[1])[0])
    return np.frombuffer(data.tobytes(), dtype) if dtype not in _ARRAYS else data.astype(dtype)


class _Definition:
    """A plugin as its functions define it; calling it gives what network.add_plugin takes.

    Clients find what they need of one under these names.
    """

    def __init__(self, plugin_id: str, describe: Callable[..., Any]) -> None:
        self.plugin_id = plugin_id
        self.namespace, self.name = plugin_id.split("::")
        self.register_func = describe
        self.impl_func: Callable[..., Any] | None = None
        self.autotune_func: Callable[..., Any] | None = None
        self.aot_impl_func: Callable[..., Any] | None = None  # stays so: none is used, whatever was decorated
        hints = typing.get_type_hints(describe)
        parameters = list(inspect.signature(describe).parameters)
        if missing := [name for name in [*parameters, "return"] if name not in hints]:
            raise ValueError(f"'{plugin_id}': {missing[0]} has no annotation")
        self.input_tensor_names = [name for name in parameters if hints[name] is TensorDesc]
        self.input_attrs = {name: hints[name] for name in parameters if hints[name] is not TensorDesc}
        if parameters != [*self.input_tensor_names, *self.input_attrs]:
            raise ValueError(f"'{plugin_id}': tensors come before attributes")
        returned = hints["return"]
        self.num_outputs = 1 if returned is TensorDesc else len(typing.get_args(returned))

    def __call__(self, *tensors: ITensor, **attributes: Any) -> tuple[list[ITensor], list[ITensor], Any]:
        if len(tensors) != len(self.input_tensor_names):
            raise ValueError(f"'{self.plugin_id}' takes {len(self.input_tensor_names)} tensors, not {len(tensors)}")
        if set(attributes) != set(self.input_attrs):
            raise ValueError(f"'{self.plugin_id}' takes the attributes {', '.join(self.input_attrs) or 'none'}, not"
                             f" {', '.join(attributes) or 'none'}")
        for name, value in attributes.items():
            wanted = self.input_attrs[name]
            if wanted in (int, float, bool, str, bytes) and type(value) is not wanted:
                raise ValueError(f"'{self.plugin_id}': {name} must be of {wanted.__name__}, not {type(value).__name__}")
        _add_creator(self)
        return list(tensors), [], _Plugin(self, attributes, [len(tensor.shape) for tensor in tensors])

    def outputs(self, inputs: list[TensorDesc], attributes: dict[str, Any]) -> tuple[TensorDesc, ...]:
        described = self.register_func(*inputs, **attributes)
        described = described if isinstance(described, tuple) else (described,)
        for i, desc in enumerate(described):
            if desc.is_size_tensor:
                desc.index = i
        return described


def _arguments(function: Callable[..., Any], attributes: dict[str, Any]) -> list[Any]:
    """The attributes that the function names, in its order."""
    return [attributes[name] for name in inspect.signature(function).parameters if name in attributes]


_Places = tuple[tuple[DataType, TensorFormat], ...]  # type and layout of each input, then each output


@dataclasses.dataclass
class _Known:
    """What was found out about a plugin, which all its clones share: the library asks now one, now another."""

    input_types: list[DataType] = dataclasses.field(default_factory=list)
    output_types: list[DataType] = dataclasses.field(default_factory=list)
    aliases: list[int] = dataclasses.field(default_factory=list)
    combinations: dict[_Places, list[int]] | None = None  # the tactics of each


class _Plugin(IPluginV3, IPluginV3QuickCore, IPluginV3QuickBuild, IPluginV3QuickRuntime):
    def __init__(self, definition: _Definition, attributes: dict[str, Any], ranks: list[int] | None = None) -> None:
        self.definition, self.attributes, self.ranks = definition, attributes, ranks
        self.plugin_name, self.plugin_namespace, self.plugin_version = definition.name, definition.namespace, _VERSION
        self.num_outputs = definition.num_outputs
        self.known = _Known()
        self.configured: _Places = ()
        self.tactic = 0

    def clone(self) -> _Plugin:
        return copy.copy(self)

    def _describe(self, inputs: list[TensorDesc]) -> tuple[TensorDesc, ...]:
        outputs = self.definition.outputs(inputs, self.attributes)
        by_id = {id(desc): i for i, desc in enumerate(inputs)}
        self.known.aliases = [by_id.get(id(desc.get_aliased()), -1) for desc in outputs]
        return outputs

    def get_output_data_types(self, input_types: list[DataType]) -> list[DataType]:
        self.known.input_types = input_types
        ranks: list[int] | list[None] = self.ranks or [None] * len(input_types)
        outputs = self._describe([TensorDesc(ShapeExprs(rank), dtype) for rank, dtype in zip(ranks, input_types)])
        self.known.output_types = [typing.cast(DataType, desc.dtype) for desc in outputs]
        return self.known.output_types

    def get_output_shapes(self, inputs: list[DimsExprs], shape_inputs: list[DimsExprs],
                          expr_builder: IExprBuilder) -> list[DimsExprs]:
        descs = []
        for i, sizes in enumerate(inputs):
            dtype = self.known.input_types[i] if i < len(self.known.input_types) else None
            exprs = [ShapeExpr(sizes[j], expr_builder) for j in range(len(sizes))]
            descs.append(TensorDesc(ShapeExprs.from_tuple(exprs), dtype))
        return [DimsExprs([size._expr(expr_builder) for size in desc._sizes()]) for desc in self._describe(descs)]

    def get_aliased_input(self, output_index: int) -> int:
        return self.known.aliases[output_index] if self.known.aliases else -1

    def _tuned(self, in_out: list[DynamicPluginTensorDesc], num_inputs: int) -> dict[_Places, list[int]]:
        """The tactics of every way to choose types and layouts."""
        tune = self.definition.autotune_func
        if tune is None:
            given = [*self.known.input_types, *self.known.output_types]
            return {tuple((dtype, TensorFormat.LINEAR) for dtype in given): []}
        descs = []
        for i, tensor in enumerate(in_out):
            desc = TensorDesc(None, tensor.desc.type if i < num_inputs else self.known.output_types[i - num_inputs])
            desc.shape, desc.format, desc.scale = Shape(tensor), tensor.desc.format, tensor.desc.scale
            descs.append(desc)
        combinations: dict[_Places, list[int]] = {}
        chosen: list[AutoTuneCombination] = tune(*descs[:num_inputs], *_arguments(tune, self.attributes),
                                                 tuple(descs[num_inputs:]))
        for combination in chosen:
            for places, tactics in combination._combinations():
                combinations.setdefault(places, []).extend(tactics)
        return combinations

    def supports_format_combination(self, pos: int, in_out: list[DynamicPluginTensorDesc], num_inputs: int) -> bool:
        if self.known.combinations is None:
            self.known.combinations = self._tuned(in_out, num_inputs)
        asked = tuple((tensor.desc.type, tensor.desc.format) for tensor in in_out[:pos + 1])
        return any(places[:pos + 1] == asked for places in self.known.combinations)

    def configure_plugin(self, in_: list[DynamicPluginTensorDesc], out: list[DynamicPluginTensorDesc]) -> None:
        self.configured = tuple((tensor.desc.type, tensor.desc.format) for tensor in [*in_, *out])

    def get_valid_tactics(self) -> list[int]:
        return sorted(set((self.known.combinations or {}).get(self.configured, [])))

    def set_tactic(self, tactic: int) -> None:
        self.tactic = tactic

    def get_fields_to_serialize(self) -> PluginFieldCollection:
        return PluginFieldCollection(_field(name, value) for name, value in self.attributes.items())

    def enqueue(self, input_desc: list[PluginTensorDesc], output_desc: list[PluginTensorDesc], inputs: list[int],
                outputs: list[int], workspace: int, stream: int) -> None:
        compute = self.definition.impl_func
        if compute is None:
            raise ValueError(f"'{self.definition.plugin_id}' has no function of plugin.impl that computes it")
        self._find_aliases(input_desc)
        given = [Tensor(desc, address, stream, i not in self.known.aliases)
                 for i, (desc, address) in enumerate(zip(input_desc, inputs))]
        results = [Tensor(desc, address, stream, False) for desc, address in zip(output_desc, outputs)]
        for result, source in zip(results, self.known.aliases):
            if source >= 0:
                result._aliased, given[source]._aliased = given[source], result
        arguments = [*given, *_arguments(compute, self.attributes), tuple(results), stream]
        if "tactic" in inspect.signature(compute).parameters:
            arguments.append(self.tactic)
        compute(*arguments)

    def _find_aliases(self, input_desc: list[PluginTensorDesc]) -> None:
        if not self.known.aliases:  # an engine that was loaded
            self._describe([TensorDesc(ShapeExprs(len(desc.dims)), desc.type) for desc in input_desc])


class _Creator(IPluginCreatorV3Quick):
    def __init__(self, definition: _Definition) -> None:
        self.definition = definition
        self.name, self.plugin_namespace, self.plugin_version = definition.name, definition.namespace, _VERSION
        self.field_names = PluginFieldCollection(PluginField(name) for name in definition.input_attrs)

    def create_plugin(self, name: str, namespace: str,  # type: ignore[override]
                      field_collection: PluginFieldCollection, phase: TensorRTPhase,
                      quickPluginType: QuickPluginCreationRequest = QuickPluginCreationRequest.UNKNOWN) -> _Plugin:
        annotations = self.definition.input_attrs
        attributes = {field.name: _value(field, annotations[field.name]) for field in field_collection
                      if field.name in annotations}
        if missing := [name for name in annotations if name not in attributes]:
            raise ValueError(f"'{self.definition.plugin_id}' was given no attribute {missing[0]}")
        return _Plugin(self.definition, attributes)


class _Namespace(types.SimpleNamespace):
    """The plugins of a namespace, by name."""


class _Operators(types.SimpleNamespace):
    """Registered plugins: ``op.namespace.name``."""


op = _Operators()
definitions: dict[str, _Definition] = {}
_creators: dict[str, _Creator] = {}


def _add_creator(definition: _Definition) -> None:
    if definition.plugin_id not in _creators:
        _creators[definition.plugin_id] = _Creator(definition)
        get_plugin_registry().register_creator(_creators[definition.plugin_id], definition.namespace)


def _definition(plugin_id: str) -> _Definition:
    if plugin_id not in definitions:
        raise ValueError(f"no function was registered as '{plugin_id}' with plugin.register")
    return definitions[plugin_id]


def register(plugin_id: str, lazy_register: bool = False) -> Callable[[_Function], _Function]:
    """Describes a plugin's outputs, from descriptions of its inputs and its attributes."""

    def decorate(function: _Function) -> _Function:
        if plugin_id.count("::") != 1:
            raise ValueError(f"'{plugin_id}' is not of the form namespace::name")
        if plugin_id in definitions:
            raise ValueError(f"'{plugin_id}' is registered already")
        definition = _Definition(plugin_id, function)
        definitions[plugin_id] = definition
        if not hasattr(op, definition.namespace):
            setattr(op, definition.namespace, _Namespace())
        setattr(getattr(op, definition.namespace), definition.name, definition)
        if not lazy_register:
            _add_creator(definition)
        return function

    return decorate


def impl(plugin_id: str) -> Callable[[_Function], _Function]:
    """Computes a plugin: from its inputs, the attributes it names, its outputs and the stream."""

    def decorate(function: _Function) -> _Function:
        _definition(plugin_id).impl_func = function
        return function

    return decorate


def autotune(plugin_id: str) -> Callable[[_Function], _Function]:
    """Lists the types, layouts and tactics of a plugin, as AutoTuneCombinations."""

    def decorate(function: _Function) -> _Function:
        _definition(plugin_id).autotune_func = function
        return function

    return decorate


def aot_impl(plugin_id: str) -> Callable[[_Function], _Function]:
    """A kernel compiled ahead of time. It is not used: a plugin also needs an ``impl``, which is."""

    def decorate(function: _Function) -> _Function:
        _definition(plugin_id)
        return function

    return decorate
