"""Running a context on numpy arrays."""

import numpy as np

from ._camshaft import IOutputAllocator, TensorIOMode
from ._types import _bytes_of, _pack, _unpack, nptype


class _GrowingOutput(IOutputAllocator):
    """Memory for an output whose size only the run decides."""

    def __init__(self, dtype):
        IOutputAllocator.__init__(self)
        self.dtype, self.buffer, self.shape = dtype, np.empty(0, np.uint8), ()

    def reallocate_output(self, tensor_name, memory, size, alignment):
        if self.buffer.nbytes < size + alignment:
            self.buffer = np.empty(size + alignment, np.uint8)
        address = self.buffer.ctypes.data
        return address + -address % alignment

    def notify_shape(self, tensor_name, shape):
        self.shape = tuple(shape)

    def array(self):
        address = self.buffer.ctypes.data
        start = -address % 64
        written = self.buffer[start : start + _bytes_of(self.dtype, self.shape)].copy()
        return _unpack(written, self.dtype, self.shape)


class _FixedOutput:
    """Memory for an output whose shape is known beforehand."""

    def __init__(self, dtype, shape):
        self.dtype, self.shape = dtype, tuple(shape)
        self.buffer = np.empty(_bytes_of(dtype, shape), np.uint8)

    def array(self):
        return _unpack(self.buffer, self.dtype, self.shape)


def infer(context, inputs):
    """Runs ``context`` on a dict of arrays by input name and returns a dict by output name.

    Arrays are converted to the input's type only where numpy calls that safe.
    """
    engine = context.engine
    names = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
    wanted = [name for name in names if engine.get_tensor_mode(name) == TensorIOMode.INPUT]
    if missing := [name for name in wanted if name not in inputs]:
        raise ValueError(f"no array was given for input {', '.join(map(repr, missing))}")
    if unknown := [name for name in inputs if name not in wanted]:
        raise ValueError(f"{', '.join(map(repr, unknown))} is no input of the engine, which has"
                         f" {', '.join(wanted)}")

    kept = []  # arrays the run reads and writes
    for name in wanted:
        dtype = np.dtype(nptype(engine.get_tensor_dtype(name)))
        array = np.asarray(inputs[name])
        if not np.can_cast(array.dtype, dtype, "safe"):
            raise TypeError(f"input '{name}' takes {dtype}, not {array.dtype}: convert the array")
        array = np.require(array, dtype, ["C", "A"])
        if not context.set_input_shape(name, array.shape):
            profile = context.active_optimization_profile
            low, _, high = engine.get_tensor_profile_shape(name, profile)
            raise ValueError(f"input '{name}' has shape {array.shape}, outside the profile's"
                             f" {low} to {high}")
        kept.append(_pack(array))
        context.set_tensor_address(name, kept[-1].ctypes.data)

    results = {}
    for name in names[len(wanted) :]:
        dtype = np.dtype(nptype(engine.get_tensor_dtype(name)))
        shape = context.get_tensor_shape(name)
        if -1 in shape:
            results[name] = context.get_output_allocator(name)
            if not isinstance(results[name], _GrowingOutput):
                results[name] = _GrowingOutput(dtype)
                context.set_output_allocator(name, results[name])
        else:
            results[name] = _FixedOutput(dtype, shape)
            context.set_tensor_address(name, results[name].buffer.ctypes.data)
    context.execute_async_v3(0)
    return {name: result.array() for name, result in results.items()}
