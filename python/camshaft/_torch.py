"""Running a context on PyTorch tensors, without copies where they lie on the engine's device."""

import torch

from ._camshaft import DataType, IOutputAllocator, TensorLocation
from ._inputs import Borrowed, set_shape

TYPES = {
    DataType.FLOAT: torch.float32,
    DataType.HALF: torch.float16,
    DataType.BF16: torch.bfloat16,
    DataType.DOUBLE: torch.float64,
    DataType.INT8: torch.int8,
    DataType.UINT8: torch.uint8,
    DataType.INT16: torch.int16,
    DataType.INT32: torch.int32,
    DataType.INT64: torch.int64,
    DataType.BOOL: torch.bool,
    DataType.FP8: torch.float8_e4m3fn,
    DataType.FP8E5M2: torch.float8_e5m2,
    DataType.FP8E4M3FNUZ: torch.float8_e4m3fnuz,
    DataType.FP8E5M2FNUZ: torch.float8_e5m2fnuz,
}


class _Output(IOutputAllocator):
    """A tensor for an output; its memory grows where only the run decides its size."""

    def __init__(self, dtype, device):
        IOutputAllocator.__init__(self)
        self.dtype, self.device, self.shape = dtype, device, ()
        self.bytes = torch.empty(0, dtype=torch.uint8, device=device)

    def reallocate_output(self, tensor_name, memory, size, alignment):
        if self.bytes.numel() < size:
            self.bytes = torch.empty(max(size, 1), dtype=torch.uint8, device=self.device)
        return self.bytes.data_ptr()

    def notify_shape(self, tensor_name, shape):
        self.shape = tuple(shape)

    def tensor(self):
        """What the run wrote."""
        size = torch.Size(self.shape).numel() * self.dtype.itemsize
        return self.bytes[:size].view(self.dtype).reshape(self.shape)


def infer(context, names, inputs):
    engine = context.engine
    given = next(value for value in inputs.values() if isinstance(value, torch.Tensor))
    main = given.device if engine.device is not None else torch.device("cpu")
    if engine.device is not None and main.type != "cuda":
        main = torch.device("cuda", torch.cuda.current_device())

    def place(name):
        return main if engine.get_tensor_location(name) == TensorLocation.DEVICE else "cpu"

    with Borrowed(context, names) as borrowed:
        kept = []  # what the run reads
        for name in names[0]:
            tensor = torch.as_tensor(inputs[name])
            dtype = _type_of(engine, name)
            if tensor.dtype != dtype:
                raise TypeError(f"input '{name}' takes {dtype}, not {tensor.dtype}: convert the tensor")
            kept.append(tensor := tensor.to(place(name)).contiguous())
            set_shape(context, name, tensor.shape)
            context.set_tensor_address(name, tensor.data_ptr())
        outputs = {name: _prepare_output(context, name, place(name), borrowed) for name in names[1]}
        if engine.device is None:
            context.execute_async_v3(0)
        else:
            stream = torch.cuda.current_stream(main)
            context.execute_async_v3(stream.cuda_stream)
            for tensor in kept:  # PyTorch may reuse their memory only once the run has passed
                if tensor.is_cuda:
                    tensor.record_stream(stream)
        return {name: output.tensor() if isinstance(output, _Output) else output
                for name, output in outputs.items()}


def _prepare_output(context, name, device, borrowed):
    """A tensor, or the allocator of one whose size the run decides."""
    dtype = _type_of(context.engine, name)
    shape = tuple(context.get_tensor_shape(name))
    if -1 in shape:
        output = _Output(dtype, device)
        borrowed.set_allocator(name, output)
        return output
    output = torch.empty(shape, dtype=dtype, device=device)
    context.set_tensor_address(name, output.data_ptr())
    return output


def _type_of(engine, name):
    data_type = engine.get_tensor_dtype(name)
    if data_type not in TYPES:
        raise TypeError(f"PyTorch has no type for {data_type!r}, the type of '{name}'")
    return TYPES[data_type]
