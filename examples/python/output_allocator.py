"""An output whose size the data decides: the engine asks for memory once it knows how much it needs."""

import numpy

import camshaft as trt


class Memory(trt.IOutputAllocator):
    """Memory for one output, as large as it turns out to be."""

    def __init__(self):
        trt.IOutputAllocator.__init__(self)
        self.shape, self.bytes, self.offset = (), numpy.empty(0, numpy.uint8), 0

    def reallocate_output(self, tensor_name, memory, size, alignment):
        self.bytes = numpy.empty(size + alignment, numpy.uint8)
        self.offset = -self.bytes.ctypes.data % alignment
        return self.bytes.ctypes.data + self.offset

    def notify_shape(self, tensor_name, shape):
        self.shape = tuple(shape)

    def array(self, dtype):
        count = int(numpy.prod(self.shape))
        return numpy.frombuffer(self.bytes, dtype, count, self.offset).reshape(self.shape)


def build():
    """Positions [2, count] of what is not zero in x [2, 3], for the CPU."""
    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (2, 3))
    positions = network.add_non_zero(x, trt.int64).get_output(0)
    positions.name = "positions"
    network.mark_output(positions)
    config = builder.create_builder_config()
    config.default_device_type = trt.DeviceType.CPU
    plan = builder.build_serialized_network(network, config)
    return trt.Runtime(logger).deserialize_cuda_engine(plan)


def main():
    context = build().create_execution_context()
    memory = Memory()
    context.set_output_allocator("positions", memory)
    for rows in ([[0, 5, 0], [0, 0, 1]], [[1, 1, 1], [1, 0, 1]]):
        x = numpy.array(rows, numpy.float32)
        context.set_tensor_address("x", x.ctypes.data)
        context.execute_async_v3(0)
        positions = memory.array(numpy.int64)
        print(positions.T.tolist())
        numpy.testing.assert_array_equal(positions, numpy.nonzero(x))


if __name__ == "__main__":
    main()
