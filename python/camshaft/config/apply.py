"""From a BuildConfig to IBuilder, INetworkDefinition and IBuilderConfig, in the order of its fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
import difflib
import os
import pathlib
import re
from typing import Any

from .. import _camshaft as api
from .base import ConfigError
from .build import BuildConfig, Calibration, Profile

TYPES = {"fp32": api.DataType.FLOAT, "fp16": api.DataType.HALF}  # the others have TensorRT's names


def data_type(word: str) -> Any:
    return TYPES.get(word) or getattr(api.DataType, word.upper())


def apply(settings: BuildConfig, builder: Any, network: Any, config: Any) -> None:
    if settings.threads:
        builder.max_threads = settings.threads
    _set_device(settings, config)
    _add_profiles(settings, builder, network, config)
    _set_flags(settings, config)
    _set_types(settings, network)
    _set_ranges(settings, builder, network, config)
    _set_search(settings, config)
    _set_pools(settings, config)
    config.profiling_verbosity = getattr(api.ProfilingVerbosity, settings.verbosity.upper())
    config.hardware_compatibility_level = getattr(api.HardwareCompatibilityLevel,
                                                  settings.hardware_compatibility.upper())
    _mark_debug_tensors(settings, network)
    if settings.serialized_plugins:
        config.plugins_to_serialize = list(settings.serialized_plugins)
    for name in settings.disabled_passes:
        config.set_pass_enabled(name, False)
    if settings.graph_folder:
        config.graph_folder = settings.graph_folder


def _set_device(settings: BuildConfig, config: Any) -> None:
    config.default_device_type = api.DeviceType.CPU if settings.device == "cpu" else api.DeviceType.GPU
    config.compute_capability = settings.compute_capability


# Shapes.

def _add_profiles(settings: BuildConfig, builder: Any, network: Any, config: Any) -> None:
    for profile in settings.all_profiles:
        config.add_optimization_profile(_made_profile(profile, builder, network))


def _made_profile(profile: Profile, builder: Any, network: Any) -> Any:
    made = builder.create_optimization_profile()
    inputs = {tensor.name: tensor for tensor in inputs_of(network)}
    for name, shapes in profile.shapes.items():
        tensor = inputs.get(name) or _unknown("shapes", name, "input of the model", inputs)
        _check_rank(tensor, shapes)
        made.set_shape(name, min=shapes.min, opt=shapes.opt, max=shapes.max)
    for name, values in profile.values.items():
        if name not in inputs:
            _unknown("values", name, "input of the model", inputs)
        made.set_shape_input(name, min=values.min, opt=values.opt, max=values.max)
    return made


def _check_rank(tensor: Any, shapes: Any) -> None:
    own = tuple(tensor.shape)
    fits = len(own) == len(shapes.opt) and all(
        size < 0 or low == size == high for size, low, high in zip(own, shapes.min, shapes.max))
    if not fits:
        wanted = "x".join("?" if size < 0 else str(size) for size in own) or "scalar"
        raise ConfigError(f"shapes.{tensor.name} is {shapes}, and the model's input has shape {wanted}")


# Types.

def _set_flags(settings: BuildConfig, config: Any) -> None:
    flag = api.BuilderFlag
    if "fp32" in settings.precision:
        config.clear_flag(flag.TF32)
    wanted = [getattr(flag, word.upper()) for word in settings.precision if word not in ("fp32", "tf32")]
    if settings.precision_constraints != "none":
        wanted.append(getattr(flag, f"{settings.precision_constraints.upper()}_PRECISION_CONSTRAINTS"))
    refit = "identical" if settings.strip_weights and settings.refit == "none" else settings.refit
    switches = {flag.REFIT: refit == "all", flag.REFIT_INDIVIDUAL: refit == "individual",
                flag.REFIT_IDENTICAL: refit == "identical", flag.STRIP_PLAN: settings.strip_weights,
                flag.WEIGHT_STREAMING: settings.weight_streaming,
                flag.VERSION_COMPATIBLE: settings.version_compatible,
                flag.ERROR_ON_TIMING_CACHE_MISS: settings.timing_cache_required}
    for each in [*wanted, *(each for each, is_on in switches.items() if is_on)]:
        config.set_flag(each)


def _set_types(settings: BuildConfig, network: Any) -> None:
    if settings.layer_precisions or settings.layer_output_types:
        for layer in layers_of(network):
            if word := _found(settings.layer_precisions, layer.name):
                layer.precision = data_type(word)
            if words := _found(settings.layer_output_types, layer.name):
                for i in range(layer.num_outputs):
                    layer.set_output_type(i, data_type(words[min(i, len(words) - 1)]))
    tensors = {tensor.name: tensor for tensor in [*inputs_of(network), *outputs_of(network)]}
    for name, word in settings.tensor_types.items():
        tensor = tensors.get(name) or _unknown("tensor_types", name, "input or output", tensors)
        tensor.dtype = data_type(word)
    for name, formats in settings.tensor_formats.items():
        tensor = tensors.get(name) or _unknown("tensor_formats", name, "input or output", tensors)
        tensor.allowed_formats = sum(1 << int(getattr(api.TensorFormat, word.upper())) for word in set(formats))


def _found(by_name: dict[str, Any], name: str) -> Any:
    """A name goes before a pattern, and a later pattern before an earlier one."""
    if name in by_name:
        return by_name[name]
    fitting = [value for pattern, value in by_name.items()
               if "*" in pattern and re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name)]
    return fitting[-1] if fitting else None


# Ranges of INT8.

def _set_ranges(settings: BuildConfig, builder: Any, network: Any, config: Any) -> None:
    if settings.dynamic_ranges:
        tensors = {tensor.name: tensor for tensor in tensors_of(network)}
        for name, (low, high) in settings.dynamic_ranges.items():
            tensor = tensors.get(name) or _unknown("dynamic_ranges", name, "tensor of the model", tensors)
            tensor.set_dynamic_range(low, high)
    calibration = settings.calibration
    if not calibration.data and not calibration.cache:
        return
    if "int8" not in settings.precision:
        raise ConfigError("calibration is for precision int8, which is not among the precisions")
    calibrator = _calibrator(calibration, network)
    if calibrator.samples:
        profile = builder.create_optimization_profile()
        for tensor, array in zip(inputs_of(network), calibrator.samples[0]):
            profile.set_shape(tensor.name, array.shape, array.shape, array.shape)
        config.set_calibration_profile(profile)
    config.int8_calibrator = calibrator


def _calibrator(calibration: Calibration, network: Any) -> Any:
    base: Any = {"entropy": api.IInt8EntropyCalibrator2, "minmax": api.IInt8MinMaxCalibrator}[calibration.method]

    class Samples(base):
        """Gives samples one by one, and keeps the cache."""

        def __init__(self, samples: list[Any]) -> None:
            base.__init__(self)
            self.samples = samples
            self.left = iter(samples)

        def get_batch_size(self) -> int:
            return 1

        def get_batch(self, names: list[str]) -> Any:
            self.batch = next(self.left, None)  # lives until the next
            return None if self.batch is None else [array.ctypes.data for array in self.batch]

        def read_calibration_cache(self) -> Any:
            cache = calibration.cache
            return pathlib.Path(cache).read_bytes() if cache and os.path.exists(cache) else None

        def write_calibration_cache(self, cache: Any) -> None:
            if calibration.cache:
                api.write_file(calibration.cache, bytes(cache))

    if calibration.data is None:
        if not os.path.exists(str(calibration.cache)):
            raise ConfigError(f"calibration.cache is '{calibration.cache}', which is not there, and there is no "
                              "calibration.data to make it from")
        return Samples([])
    return Samples(_samples(calibration, network))


def _samples(calibration: Calibration, network: Any) -> list[Any]:
    from .._calibration_data import Preprocessing, samples_from

    inputs = [(tensor.name, tensor.dtype, tuple(tensor.shape)) for tensor in inputs_of(network)]
    preprocessing = Preprocessing(calibration.size, list(calibration.mean), list(calibration.std),
                                  calibration.colors, calibration.samples)
    samples: list[Any] = samples_from(calibration.data, inputs, preprocessing)
    for i, sample in enumerate(samples):
        if [array.shape for array in sample] != [array.shape for array in samples[0]]:
            raise ConfigError(f"calibration.data has samples of different shapes, the first and sample {i}: "
                              "a build calibrates with one")
    return samples


# The search for kernels.

def _set_search(settings: BuildConfig, config: Any) -> None:
    config.builder_optimization_level = settings.optimization_level
    config.avg_timing_iterations = settings.timing_iterations
    config.max_num_tactics = settings.max_tactics
    if settings.max_aux_streams is not None:
        config.max_aux_streams = settings.max_aux_streams
    if settings.tiling_level:
        config.tiling_optimization_level = api.TilingOptimizationLevel(settings.tiling_level)
    if settings.l2_limit_for_tiling is not None:
        config.l2_limit_for_tiling = settings.l2_limit_for_tiling
    if settings.tactic_sources:
        sources = config.get_tactic_sources()
        for name, is_on in settings.tactic_sources.items():
            bit = 1 << int(getattr(api.TacticSource, name.upper()))
            sources = sources | bit if is_on else sources & ~bit
        config.set_tactic_sources(sources)
    if settings.timing_cache:
        path = pathlib.Path(settings.timing_cache)
        config.set_timing_cache(config.create_timing_cache(path.read_bytes() if path.exists() else b""), False)
    elif settings.timing_cache_required:
        raise ConfigError("timing_cache_required wants a timing_cache")


def _set_pools(settings: BuildConfig, config: Any) -> None:
    pools = {"WORKSPACE": settings.workspace, "TACTIC_SHARED_MEMORY": settings.tactic_shared_memory,
             "TACTIC_DRAM": settings.tactic_dram}
    for name, size in pools.items():
        if size is not None:
            config.set_memory_pool_limit(getattr(api.MemoryPoolType, name), size)


def _mark_debug_tensors(settings: BuildConfig, network: Any) -> None:
    if settings.debug_unfused_tensors:
        network.mark_unfused_tensors_as_debug_tensors()
    if settings.debug_tensors:
        tensors = {tensor.name: tensor for tensor in tensors_of(network)}
        for name in settings.debug_tensors:
            network.mark_debug(tensors.get(name) or _unknown("debug_tensors", name, "tensor of the model", tensors))


# Walking a network.

def inputs_of(network: Any) -> list[Any]:
    return [network.get_input(i) for i in range(network.num_inputs)]


def outputs_of(network: Any) -> list[Any]:
    return [network.get_output(i) for i in range(network.num_outputs)]


def layers_of(network: Any) -> Iterator[Any]:
    return (network.get_layer(i) for i in range(network.num_layers))


def tensors_of(network: Any) -> list[Any]:
    made = (layer.get_output(i) for layer in layers_of(network) for i in range(layer.num_outputs))
    return [*inputs_of(network), *(tensor for tensor in made if tensor)]


def _unknown(key: str, name: str, what: str, known: Iterable[str]) -> Any:
    known = list(known)
    near = difflib.get_close_matches(name, known, 1, 0.5)
    hint = f"did you mean '{near[0]}'?" if near else f"there is {', '.join(known[:10])}"
    raise ConfigError(f"{key} names '{name}', which is no {what}; {hint}")
