"""INT8 engines by the code of Polygraphy's command and of Ultralytics' exporter, both from their wheels.

    python -m camshaft.compat tests/python/clients/int8_exports.py MODEL PICTURES.npy FOLDER [LEAST]

PICTURES.npy holds batches between 0 and 1 for the model's one input; LEAST is how many dB outputs must be above their
error, by default 25. Modules around Ultralytics' exporter have stand-ins, so that its wheel needs no others. Where
there is no GPU, what both take for its memory is the host's, as engines of the CPU want it.
"""

import ctypes
import importlib.util
import json
import logging
import pathlib
import sys
import types

import numpy
import tensorrt as trt
from polygraphy import cuda
from polygraphy.exception import PolygraphyException
from polygraphy.tools._main import main as polygraphy

import camshaft

LOADER = """import numpy
def load_data():
    {refusal}
    for batch in numpy.load({path!r}):
        yield {{{name!r}: batch}}
"""


class HostMemory:
    """What polygraphy.cuda.wrapper() gives, with the host for a device."""

    def __init__(self):
        self.library = ctypes.CDLL(None)
        self.library.malloc.restype = ctypes.c_void_p

    def create_stream(self):
        return 0

    def stream_synchronize(self, ptr):
        pass

    def destroy_stream(self, ptr):
        pass

    def malloc(self, nbytes):
        return self.library.malloc(ctypes.c_size_t(max(nbytes, 1)))

    def free(self, ptr):
        self.library.free(ctypes.c_void_p(ptr))

    def memcpy(self, dst, src, nbytes, kind, stream_ptr=None):
        ctypes.memmove(dst, src, nbytes)


class HostPicture:
    """What Ultralytics' exporter asks of a tensor that is on the device."""

    device = types.SimpleNamespace(type="cuda")
    last = None  # the calibrator has only its address

    def __init__(self, array):
        self.array = array

    def __truediv__(self, number):
        HostPicture.last = HostPicture(numpy.ascontiguousarray(self.array / number, numpy.float32))
        return HostPicture.last

    def data_ptr(self):
        return self.array.ctypes.data


def has_gpu():
    try:
        cuda.wrapper().free(cuda.wrapper().malloc(1))
    except (OSError, PolygraphyException):
        cuda.cuda.G_CUDA = HostMemory()
        return False
    return True


def read_engine(content):
    return trt.Runtime(trt.Logger(trt.Logger.ERROR)).deserialize_cuda_engine(content)


def layers_on_bytes(engine):
    text = engine.create_engine_inspector().get_engine_information(trt.LayerInformationFormat.JSON)
    return sum(any(tensor.get("Datatype") in ("Int8", "UInt8") for tensor in layer["Inputs"])
               for layer in json.loads(text)["Layers"])


def run_polygraphy(*arguments):
    status = polygraphy([*map(str, arguments), "--silent"])
    if status:
        raise SystemExit(f"polygraphy {' '.join(map(str, arguments))}: ended with {status}")


def by_polygraphy(model, name, pictures, folder, least):
    """f32; --int8 with data; --int8 from the cache of that alone, which runs beside the first."""
    loader, outputs, cache = folder / "loader.py", folder / "f32.json", folder / "int8.cache"
    cache.unlink(missing_ok=True)

    def write_loader(refusal="pass"):
        loader.write_text(LOADER.format(path=str(pictures), name=name, refusal=refusal))

    shape = f"{name}:[{','.join(map(str, numpy.load(pictures, mmap_mode='r').shape[1:]))}]"
    build = ["--data-loader-script", loader]
    for which in ("min", "opt", "max"):
        build += [f"--trt-{which}-shapes", shape]
    write_loader()
    run_polygraphy("run", model, "--trt", *build, "--save-outputs", outputs)
    run_polygraphy("convert", model, "--int8", *build, "--calibration-cache", cache, "-o", folder / "int8.engine")
    header, *ranges = cache.read_text().splitlines()
    if header != "TRT-101600-EntropyCalibration2" or not ranges:
        raise SystemExit(f"{cache} is no calibration cache: {header}")
    write_loader("raise SystemExit('asked for data, though there is a cache')")
    run_polygraphy("convert", model, "--int8", *build, "--calibration-cache", cache, "-o", folder / "cached.engine")
    write_loader()
    run_polygraphy("run", folder / "cached.engine", "--trt", "--model-type", "engine", "--data-loader-script", loader,
                   "--load-outputs", outputs, "--compare", "snr", "--snr-threshold", least)
    engine = read_engine((folder / "cached.engine").read_bytes())
    report("polygraphy convert --int8", f"{header}, {len(ranges)} ranges, outputs over {least:g} dB", engine)


def ultralytics_exporter():
    """ultralytics.utils.export.engine, by itself."""
    def no(*arguments, **settings):
        return False

    folder = pathlib.Path(importlib.util.find_spec("ultralytics").submodule_search_locations[0])
    around = {"ultralytics.utils": {"ASSETS": folder / "assets", "IS_JETSON": False, "TORCH_VERSION": "2.11.0",
                                    "LOGGER": logging.getLogger("ultralytics"), "imread": no, "is_dgx": no,
                                    "is_jetson": no, "ThreadingLocked": lambda: lambda function: function},
              "ultralytics.utils.checks": {"check_requirements": no, "check_tensorrt": no, "check_version": no},
              "ultralytics.utils.torch_utils": {"TORCH_2_4": True}, "cv2": {}}
    if importlib.util.find_spec("torch") is None:
        around["torch"] = {"nn": types.SimpleNamespace(Module=object)}
    for name, members in around.items():
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(members)
    spec = importlib.util.spec_from_file_location("ultralytics_engine", folder / "utils/export/engine.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    for name in around:
        del sys.modules[name]
    return loaded


class Pictures:
    """As Ultralytics' loaders: dicts with pictures of bytes."""

    def __init__(self, batches, on_gpu):
        self.batches, self.batch_size, self.asked, self.on_gpu = batches, batches.shape[1], 0, on_gpu

    def __iter__(self):
        for batch in self.batches:
            self.asked += 1
            pixels = numpy.round(batch * 255).astype(numpy.uint8)
            if self.on_gpu:
                import torch

                yield {"img": torch.from_numpy(pixels)}
            else:
                yield {"img": HostPicture(pixels)}


def by_ultralytics(model, name, pictures, folder, least, on_gpu):
    batches = numpy.load(pictures)
    metadata, data = {"stride": 32, "names": {"0": "face"}}, Pictures(batches, on_gpu)
    settings = {"dynamic": True, "shape": batches.shape[1:], "dataset": data, "metadata": metadata}
    engines = []
    for bits in (None, 8):
        path = ultralytics_exporter().onnx2engine(str(model), folder / f"{bits}.engine", quantize=bits, **settings)
        content = pathlib.Path(path).read_bytes()
        begin = 4 + int.from_bytes(content[:4], "little")
        if json.loads(content[4:begin]) != metadata:
            raise SystemExit(f"{path} has other metadata")
        engines.append(read_engine(content[begin:]))
    if data.asked != len(batches):
        raise SystemExit(f"of {len(batches)} batches the calibrator asked for {data.asked}")
    contexts = [engine.create_execution_context() for engine in engines]
    signal = noise = 0.0
    for batch in batches:
        outputs = [camshaft.infer(context, {name: batch}).values() for context in contexts]
        expected, actual = (numpy.concatenate([output.ravel() for output in each]) for each in outputs)
        signal, noise = signal + numpy.sum(expected ** 2.0), noise + numpy.sum((actual - expected) ** 2.0)
    decibels = 10 * numpy.log10(signal / max(noise, 1e-30))
    if decibels < least:
        raise SystemExit(f"ultralytics: outputs are {decibels:.1f} dB above their error")
    report("ultralytics onnx2engine(quantize=8)", f"{data.asked} batches, outputs {decibels:.1f} dB", engines[1])


def report(what, found, engine):
    # As many as are faster so, which beside 16 bits may be none.
    print(f"{what}: {found} above their error, {layers_on_bytes(engine)} of {engine.num_layers} layers read bytes",
          flush=True)


def main(model, pictures, folder, least):
    logger = trt.Logger(trt.Logger.ERROR)
    network = trt.Builder(logger).create_network()
    if not trt.OnnxParser(network, logger).parse_from_file(str(model)):
        raise SystemExit(f"{model} is not read")
    name, on_gpu = network.get_input(0).name, has_gpu()
    by_polygraphy(model, name, pictures, folder, least)
    by_ultralytics(model, name, pictures, folder, least, on_gpu)
    print(f"INT8 exports of clients: done, {'GPU' if on_gpu else 'CPU'}")


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:4]), float(sys.argv[4]) if len(sys.argv) > 4 else 25)
