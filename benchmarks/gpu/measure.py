"""One step of a comparison in this process alone; compare.py starts it and reads its JSON.

    python3 benchmarks/gpu/measure.py export|quantise|build|rebuild|time SETTINGS

SETTINGS is JSON: model, batch, peer, folder, seconds and what else compare.py was told.
"""

import fcntl
import json
import logging
import pathlib
import statistics
import sys
import time
import warnings

# Runs between two waits: enough that the GPU never waits for the host.
QUEUED_SECONDS, MOST_QUEUED = 0.02, 64
LEAST_WARM_UPS = 5  # an engine replays a recorded graph from the third run on
QUANTISED = {"ours-int8": "int8", "ours-fp8": "fp8"}  # peers, and the formats of their models


def format_of(peer):
    """What its model is quantised to, or ""; the pass that it leaves out does not matter."""
    return QUANTISED.get(peer.partition(":-")[0], "")


def model_path(settings, kind=""):
    name = f"{settings['model']}-b{settings['batch']}{kind and '-' + kind}.onnx"
    return pathlib.Path(settings["folder"]) / name


def engine_path(settings):
    name = f"{settings['model']}-b{settings['batch']}-{settings['peer']}.engine"
    return pathlib.Path(settings["folder"]) / name


def export(settings):
    import models
    import torch

    torch.set_num_threads(2)  # several exports run at once
    path = model_path(settings, "f16" if settings["peer"] == "onnxruntime" else "")
    start = time.perf_counter()
    if not path.exists():
        models.export(settings["model"], settings["batch"], path, settings["peer"] == "onnxruntime")
    return {"export_s": time.perf_counter() - start}


def quantise(settings):
    """As `camshaft quantize` does it, by another input than the one that is timed."""
    import camshaft
    import models

    feeds = models.inputs(settings["model"], settings["batch"], seed=settings["batch"] + 1000)
    quantised = format_of(settings["peer"])
    path = model_path(settings, quantised)
    start = time.perf_counter()
    if not path.exists():
        camshaft.quantize(str(model_path(settings)),
                          [{name: value.numpy() for name, value in feeds.items()}],
                          str(path), format=quantised)
    return {"quantise_s": time.perf_counter() - start}


def build(settings):
    """Without timings of an earlier build; leaves the engine and its timings."""
    engine_path(settings).with_suffix(".timings").unlink(missing_ok=True)
    return {"build_s": build_engine(settings)}


def rebuild(settings):
    return {"rebuild_s": build_engine(settings)}


def build_engine(settings):
    import camshaft as trt

    path = engine_path(settings)
    cache = path.with_suffix(".timings")
    start = time.perf_counter()
    logger = trt.Logger(trt.Logger.INFO)
    builder = trt.Builder(logger)
    builder.max_threads = settings["build_threads"]
    network = builder.create_network()
    parser = trt.OnnxParser(network, logger)
    quantised = format_of(settings["peer"])
    if not parser.parse_from_file(str(model_path(settings, quantised))):
        raise RuntimeError("; ".join(parser.get_error(i).desc()
                                     for i in range(parser.num_errors)))
    config = builder.create_builder_config()
    config.builder_optimization_level = settings["level"]
    config.profiling_verbosity = trt.ProfilingVerbosity.LAYER_NAMES_ONLY
    kind, _, left_out = settings["peer"].partition(":-")
    if kind == "ours-fp32":
        config.clear_flag(trt.BuilderFlag.TF32)
    else:
        config.set_flag(trt.BuilderFlag.BF16 if kind == "ours-bf16" else trt.BuilderFlag.FP16)
    if quantised:
        config.set_flag(getattr(trt.BuilderFlag, quantised.upper()))
    if left_out:
        config.set_pass_enabled(left_out, False)
    if settings["io"] == "fp16" and kind == "ours":
        for i in range(network.num_inputs):
            if network.get_input(i).dtype == trt.DataType.FLOAT:
                network.get_input(i).dtype = trt.DataType.HALF
        network.get_output(0).dtype = trt.DataType.HALF
    timings = config.create_timing_cache(cache.read_bytes() if cache.exists() else b"")
    config.set_timing_cache(timings, False)
    plan = builder.build_serialized_network(network, config)
    seconds = time.perf_counter() - start
    path.write_bytes(plan)
    cache.write_bytes(timings.serialize())
    return seconds


def peer_of(settings):
    import peers

    kind = settings["peer"]
    if kind.startswith("ours"):
        return peers.Ours(engine_path(settings), settings["profile"])
    if kind == "onnxruntime":
        return peers.OnnxRuntime(model_path(settings, "f16"))
    return peers.Torch(*kind.split(":"))


def time_peer(settings):
    import models
    import torch

    torch.set_num_threads(2)
    peer = peer_of(settings)
    peer.prepare(settings["model"])
    reference = models.module(settings["model"]) if settings["errors"] else None
    take_gpu(settings)
    with torch.inference_mode():
        return timed_on_device(settings, peer, reference)


def take_gpu(settings):
    """Alone until this process ends: what it has allocated is free only then."""
    take_gpu.lock = open(pathlib.Path(settings["folder"]) / ".gpu.lock", "w")
    fcntl.flock(take_gpu.lock, fcntl.LOCK_EX)


def free_memory():
    """Bytes free on the GPU, once the process that was timed before has left it."""
    import torch

    free, since = torch.cuda.mem_get_info()[0], time.monotonic()
    while time.monotonic() - since < 0.5:  # it may take a while to leave
        time.sleep(0.05)
        now = torch.cuda.mem_get_info()[0]
        if now != free:
            free, since = now, time.monotonic()
    return free


def timed_on_device(settings, peer, reference):
    import models
    import torch

    on_gpu = torch.cuda.is_available()
    if on_gpu:
        torch.cuda.init()
        free_before = free_memory()
        torch.cuda.set_stream(torch.cuda.Stream())  # default streams cannot be captured
    run, output = peer.open(settings["model"], settings["batch"])
    result = run_for(run, settings["seconds"], on_gpu)
    if on_gpu:
        result["memory"] = free_before - torch.cuda.mem_get_info()[0]
    result |= peer.figures()
    if reference is not None:
        result["error"] = error_of(run, output, reference,
                                   models.inputs(settings["model"], settings["batch"]), on_gpu)
    return result


def run_for(run, seconds, on_gpu):
    """Medians in ms: of runs queued back to back, and of runs that the host waits for."""
    import torch

    waited = []
    end = time.perf_counter() + seconds / 3
    while time.perf_counter() < end or len(waited) < LEAST_WARM_UPS:
        start = time.perf_counter()
        run()
        if on_gpu:
            torch.cuda.synchronize()
        waited.append(time.perf_counter() - start)
    waited_ms = statistics.median(waited[len(waited) // 2:]) * 1e3
    if not on_gpu:
        return {"ms": waited_ms, "waited_ms": waited_ms, "runs": len(waited)}
    depth = max(1, min(MOST_QUEUED, int(QUEUED_SECONDS / (waited_ms / 1e3))))
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 10:
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(depth + 1)]
        run()  # the GPU is busy with it while the host queues the timed ones
        marks[0].record()
        for mark in marks[1:]:
            run()
            mark.record()
        torch.cuda.synchronize()
        times += [a.elapsed_time(b) for a, b in zip(marks, marks[1:])]
    times.sort()
    return {"ms": statistics.median(times), "p99_ms": times[int(len(times) * 0.99)],
            "waited_ms": waited_ms, "runs": len(times)}


def error_of(run, output, reference, feeds, on_gpu):
    """Relative L2 distance of the output, written over NaNs, to the f32 module's."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = False
    device = "cuda" if on_gpu else "cpu"
    output().fill_(float("nan"))
    run()
    if on_gpu:
        torch.cuda.synchronize()
    ours = output().float()
    wanted = reference.to(device)(*(value.to(device) for value in feeds.values()))
    norm = torch.linalg.vector_norm
    return float(norm(ours - wanted, dtype=torch.float64) / norm(wanted, dtype=torch.float64))


def main():
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    steps = {"export": export, "quantise": quantise, "build": build, "rebuild": rebuild, "time": time_peer}
    print(json.dumps(steps[sys.argv[1]](json.loads(sys.argv[2]))), flush=True)


if __name__ == "__main__":
    main()
