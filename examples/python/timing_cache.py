"""Most of a build is measuring kernels; a timing cache remembers the measurements for the next one."""

import pathlib
import sys
import tempfile
import time

import numpy

import camshaft as trt


def build(path):
    """Builds a product with what the file knows, adds what was measured, and returns the seconds it took."""
    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (256, 64))
    w = network.add_constant((64, 64), numpy.ones((64, 64), numpy.float32)).get_output(0)
    product = network.add_matrix_multiply(x, trt.MatrixOperation.NONE, w, trt.MatrixOperation.NONE)
    network.mark_output(product.get_output(0))

    config = builder.create_builder_config()
    config.default_device_type = trt.DeviceType.CPU
    cache = config.create_timing_cache(path.read_bytes() if path.exists() else b"")
    config.set_timing_cache(cache, ignore_mismatch=False)
    begin = time.perf_counter()
    assert builder.build_serialized_network(network, config)
    seconds = time.perf_counter() - begin
    path.write_bytes(bytes(config.get_timing_cache().serialize()))
    return seconds


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else folder) / "timings.bin"
        first, second = build(path), build(path)
        print(f"first build {first * 1e3:.1f} ms, second build {second * 1e3:.1f} ms, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
