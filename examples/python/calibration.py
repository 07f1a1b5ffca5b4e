"""An engine in 8-bit integers of a network in f32: a calibrator shows the build data, and a cache keeps what it found."""

import pathlib
import sys
import tempfile

import numpy

import camshaft as trt

random = numpy.random.default_rng(1)


class Pictures(trt.IInt8EntropyCalibrator2):
    """Batches on the host; engines for a GPU may get addresses of its memory instead."""

    def __init__(self, batches, cache):
        super().__init__()
        self.batches, self.cache = iter(batches), cache
        self.batch = None  # stays where it is until the next one is asked for

    def get_batch_size(self):
        return 1

    def get_batch(self, names):
        self.batch = next(self.batches, None)
        return None if self.batch is None else [self.batch.ctypes.data]

    def read_calibration_cache(self):
        return self.cache.read_bytes() if self.cache.exists() else None

    def write_calibration_cache(self, cache):
        self.cache.write_bytes(cache)


def build(weights, calibrator=None):
    """conv(relu(conv(x)))."""
    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (1, 3, 64, 64))
    first = network.add_convolution_nd(x, 32, (3, 3), weights[0])
    relu = network.add_activation(first.get_output(0), trt.ActivationType.RELU)
    second = network.add_convolution_nd(relu.get_output(0), 32, (3, 3), weights[1])
    second.get_output(0).name = "y"
    network.mark_output(second.get_output(0))

    config = builder.create_builder_config()
    config.default_device_type = trt.DeviceType.CPU
    if calibrator:
        config.set_flag(trt.BuilderFlag.INT8)
        config.int8_calibrator = calibrator
    return trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))


def main():
    weights = [random.standard_normal((32, channels, 3, 3)).astype(numpy.float32) / 3 for channels in (3, 32)]
    batches = random.standard_normal((8, 1, 3, 64, 64)).astype(numpy.float32)
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else folder) / "conv.cache"
        engine = build(weights, Pictures(batches, cache))
        print(*cache.read_text().splitlines()[:2], sep="\n")
    x = random.standard_normal((1, 3, 64, 64)).astype(numpy.float32)
    expected, actual = (trt.infer(engine, {"x": x})["y"] for engine in (build(weights), engine))
    error = numpy.linalg.norm(actual - expected) / numpy.linalg.norm(expected)
    print(f"relative error {error:.4f}")
    assert error < 0.05


if __name__ == "__main__":
    main()
