"""Running a context on numpy arrays or PyTorch tensors."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._camshaft import ICudaEngine, IExecutionContext, IOutputAllocator, TensorLocation, _infer_on_host
from ._inputs import Borrowed, checked_names, set_shape
from ._memory import DeviceMemory, HostMemory
from ._types import _bytes_of, _pack, _unpack, nptype


class _Output(IOutputAllocator):
    """Memory for an output, grown where only the run decides its size."""

    def __init__(self, dtype, allocate):
        IOutputAllocator.__init__(self)
        self.dtype, self.allocate, self.shape = dtype, allocate, ()
        self.memory: Any = None

    def reallocate_output(self, tensor_name, memory, size, alignment):
        if self.memory is None or self.memory.size < size:
            self.memory = self.allocate(size)
        return self.memory.address

    def notify_shape(self, tensor_name, shape):
        self.shape = tuple(shape)

    def array(self):
        """What the run wrote."""
        return _unpack(self.memory.read(_bytes_of(self.dtype, self.shape)), self.dtype, self.shape)


def infer(context: IExecutionContext | ICudaEngine, inputs: dict[str, Any]) -> dict[str, Any]:
    """Runs ``context`` on a dict of arrays by input name and returns a dict by output name.

    Numpy arrays are converted to the input's type only where numpy calls that safe; on a GPU they
    are copied there and back. PyTorch tensors on the engine's GPU are read in place, the run is
    queued on PyTorch's current stream, and the outputs are tensors there. An engine may stand for
    one of its contexts.
    """
    if isinstance(context, ICudaEngine):
        context = context.create_execution_context()
    elif (outputs := _infer_on_host(context, inputs)) is not None:
        return outputs  # as every run of the last one's shapes does
    names = checked_names(context.engine, inputs)
    torch = sys.modules.get("torch")
    if torch and any(isinstance(value, torch.Tensor) for value in inputs.values()):
        from ._torch import infer as infer_tensors

        return infer_tensors(context, names, inputs)
    return _infer_arrays(context, names, inputs)


def _on_device(engine, name):
    return engine.device is not None and engine.get_tensor_location(name) == TensorLocation.DEVICE


def _infer_arrays(context, names, inputs):
    with Borrowed(context, names) as borrowed:
        kept = [_set_input(context, name, inputs[name]) for name in names[0]]  # what the run reads
        outputs = {name: _prepare_output(context, name, borrowed) for name in names[1]}
        context.execute_async_v3(0)
        if context.engine.device is not None:
            context.engine.device.synchronize()
        del kept
        return {name: output.array() for name, output in outputs.items()}


def _set_input(context, name, value):
    """Sets shape and address, and returns what must live until the run is over."""
    engine = context.engine
    dtype = np.dtype(nptype(engine.get_tensor_dtype(name)))
    array = np.asarray(value)
    if not np.can_cast(array.dtype, dtype, "safe"):
        raise TypeError(f"input '{name}' takes {dtype}, not {array.dtype}: convert the array")
    array = np.require(array, dtype, ["C", "A"])
    set_shape(context, name, array.shape)
    array = _pack(array)
    if not _on_device(engine, name):
        context.set_tensor_address(name, array.ctypes.data)
        return array
    memory = DeviceMemory(engine.device, array.nbytes)
    memory.write(array)
    context.set_tensor_address(name, memory.address)
    return array, memory


def _prepare_output(context, name, borrowed):
    """Memory for an output. An allocator is set only where the run decides the size: with fixed
    addresses a GPU replays what it has recorded."""
    engine = context.engine

    def allocate(size):
        return DeviceMemory(engine.device, size) if _on_device(engine, name) else HostMemory(size)

    output = _Output(np.dtype(nptype(engine.get_tensor_dtype(name))), allocate)
    shape = context.get_tensor_shape(name)
    if -1 in shape:
        borrowed.set_allocator(name, output)
        return output
    output.shape = tuple(shape)
    output.memory = allocate(_bytes_of(output.dtype, shape))
    context.set_tensor_address(name, output.memory.address)
    return output
