"""Engines: built from a model and weights that stay where they are, and run on tensors."""

from __future__ import annotations

import logging
import threading

import torch

from .. import _camshaft as trt
from .._build import build_file, load_plugins, network_flags, parser_of
from .._torch import TYPES
from ._cache import Cache, digest

_log = logging.getLogger("camshaft.torch")


class _Logger(trt.ILogger):
    """Hands the library's lines to Python's logging. Errors become exceptions or refusals, which
    are told of where they are known to matter."""

    LEVELS = {trt.ILogger.Severity.INTERNAL_ERROR: logging.ERROR,
              trt.ILogger.Severity.WARNING: logging.INFO}

    def __init__(self):
        trt.ILogger.__init__(self)

    def log(self, severity, message):
        logging.getLogger("camshaft").log(self.LEVELS.get(severity, logging.DEBUG), "%s", message)


_logger = _Logger()


class ParseError(Exception):
    """Nodes that the importer refuses: {label of the node: why}."""

    def __init__(self, reasons):
        super().__init__("; ".join(f"{label}: {reason}" for label, reason in reasons.items()))
        self.reasons = reasons


def host_copies(weights):
    """Contiguous tensors on the host; those that are that already are not copied."""
    return {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}


def parse(network, model, weights, settings=None):
    """Parses the model; weights are read where they lie, until the engine is built."""
    parser = parser_of(network, _logger, settings)
    is_parsed = parser.load_model_proto(model)
    for name, tensor in weights.items():
        if is_parsed and tensor.numel():
            is_parsed = parser.load_initializer(name, tensor.data_ptr(), tensor.nbytes)
    if is_parsed and parser.parse_model_proto():
        return
    errors = [parser.get_error(i) for i in range(parser.num_errors)]
    raise ParseError({error.node_name(): error.desc() for error in errors} or {"": "it is refused"})


def check(model, weights):
    """Raises ParseError unless the importer takes the model."""
    parse(trt.Builder(_logger).create_network(0), model, host_copies(weights))


def build(model, weights, profile, device, settings, path=None):
    """The engine, or its file at `path`. `profile` has (min, opt, max) of inputs whose sizes change."""
    load_plugins(settings)
    builder = trt.Builder(_logger)
    network = builder.create_network(network_flags(settings))
    parse(network, model, weights, settings)
    config = builder.create_builder_config()
    _placed(settings, device).apply(builder, network, config)
    if profile:
        shapes = builder.create_optimization_profile()
        for name, (low, likely, high) in profile.items():
            is_value = isinstance(likely, int)
            if is_value:
                shapes.set_shape_input(name, [low], [likely], [high])
            else:
                shapes.set_shape(name, low, likely, high)
        config.add_optimization_profile(shapes)
    engine = None
    if path is None:
        engine = builder.build_engine_with_config(network, config)
    else:
        build_file(builder, network, config, path)
    if settings.timing_cache:
        config.get_timing_cache().save(settings.timing_cache)
    return engine


def _placed(settings, device):
    """The settings for tensors of one device, with PyTorch's threads."""
    return settings.model_copy(update={"device": "gpu" if device.type == "cuda" else "cpu",
                                       "threads": settings.threads or torch.get_num_threads()})


# What says nothing of an engine itself.
_NOT_OF_THE_ENGINE = {"cache", "engine_cache", "cache_bytes", "min_nodes", "max_size", "timing_cache", "graph_folder"}


def build_or_find(model, weights, profile, device, settings):
    """A loaded engine, from the cache where it has been built before."""
    weights = host_copies(weights)
    if not settings.cache:
        return build(model, weights, profile, device, settings)
    cache = Cache(settings.folder, settings.cache_bytes)
    wanted = _placed(settings, device).model_dump_json(exclude=_NOT_OF_THE_ENGINE)
    key = digest(model, weights, device, (wanted, profile))
    if path := cache.find(key):
        try:
            return load(path, settings)
        except Exception as error:  # noqa: BLE001 - a file that cannot be read is made anew
            _log.warning("%s cannot be loaded and is built again: %s", path, error)
            cache.remove(key)
    path = cache.add(key, lambda path: build(model, weights, profile, device, settings, path))
    return load(path, settings) if path else build(model, weights, profile, device, settings)


def load(path, settings):
    """From a file, whose weights stay mapped."""
    runtime = trt.Runtime(_logger)
    runtime.max_threads = settings.threads or torch.get_num_threads()
    return runtime.deserialize_cuda_engine_from_file(path)


class _Context:
    """A context and what the last run's shapes led to."""

    def __init__(self, engine):
        self.context = engine.create_execution_context()
        self.shapes, self.output_shapes = None, None


class Engine:
    """An engine as a function of tensors. Any number of threads may call it: each run has a context
    of its own, and on a GPU a context stays with its stream."""

    def __init__(self, engine, inputs, outputs, device):
        self.engine, self.inputs, self.outputs, self.device = engine, inputs, outputs, device
        self._types = [TYPES[engine.get_tensor_dtype(name)] for name in outputs]
        self._on_host = [engine.get_tensor_location(name) == trt.TensorLocation.HOST
                         or device.type == "cpu" for name in inputs]
        self._free, self._lock = {}, threading.Lock()
        self._is_value = [engine.is_shape_inference_io(name) for name in inputs]
        self._bounds = [self._bounds_of(*item) for item in zip(inputs, self._is_value)]

    def _bounds_of(self, name, is_value):
        """(least, most) of the sizes, or of the value where that is a size."""
        if is_value:
            low, _, high = self.engine.get_tensor_profile_values(0, name)
        else:
            low, _, high = self.engine.get_tensor_profile_shape(name, 0)
        return tuple(low), tuple(high)

    def takes(self, tensors):
        """Whether the sizes are those of the engine's profile."""
        return not self.why_not(tensors)

    def why_not(self, tensors):
        """Empty where the sizes are those of the engine's profile."""
        for name, (low, high), is_value, tensor in zip(self.inputs, self._bounds, self._is_value,
                                                       tensors):
            sizes = tensor.tolist() if is_value else tensor.shape
            if not all(a <= size <= b for a, size, b in zip(low, sizes, high)):
                return (f"input '{name}' has sizes {tuple(sizes)}, and the engine takes {low} to {high}:"
                        " compile with wider ranges")
        return ""

    def __call__(self, *tensors):
        stream = torch.cuda.current_stream(self.device) if self.device.type == "cuda" else None
        handle = stream.cuda_stream if stream else 0
        with self._lock:
            free = self._free.setdefault(handle, [])
            context = free.pop() if free else None
        context = context or _Context(self.engine)
        try:
            return self._run(context, tensors, stream, handle)
        finally:
            free.append(context)

    def _run(self, held, tensors, stream, handle):
        context = held.context
        kept = [self._placed(tensor, on_host) for tensor, on_host in zip(tensors, self._on_host)]
        shapes = [tensor.shape for tensor in kept]
        for name, tensor in zip(self.inputs, kept):
            context.set_tensor_address(name, tensor.data_ptr())
        if shapes != held.shapes:
            held.shapes = None
            for name, shape in zip(self.inputs, shapes):
                if not context.set_input_shape(name, tuple(shape)):
                    raise ValueError(f"'{name}' has shape {tuple(shape)}, outside the engine's profile")
            held.output_shapes = [tuple(context.get_tensor_shape(name)) for name in self.outputs]
            held.shapes = None if any(self._is_value) else shapes  # values decide sizes, too
        outputs = []
        for name, shape, dtype in zip(self.outputs, held.output_shapes, self._types):
            output = torch.empty(shape, dtype=dtype, device=self.device)
            context.set_tensor_address(name, output.data_ptr())
            outputs.append(output)
        context.execute_async_v3(handle)
        if stream:
            for tensor in kept:  # PyTorch may reuse their memory only once the run has passed
                if tensor.is_cuda:
                    tensor.record_stream(stream)
        return outputs

    def _placed(self, tensor, on_host):
        return tensor.to("cpu" if on_host else self.device).contiguous()
