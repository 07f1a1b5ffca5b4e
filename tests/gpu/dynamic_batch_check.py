"""Networks of torchvision and transformers with a dynamic batch, in f16, beside PyTorch in f32.

    python3 tests/gpu/dynamic_batch_check.py [NAME...] [--jobs 6] [--seconds 300] [--json FILE]

Each is exported with random weights, built for batches of 1 to 32 with 7 as the usual one, and run at
four batches in a process of its own. An engine passes when its error is at most three times that of
PyTorch in f16, or 5e-3. Exit status 0 when all do.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import time

BATCHES = (1, 7, 32, 3)


def picture(side=224):
    return lambda torch, batch: torch.randn(batch, 3, side, side)


def tokens(length, vocabulary):
    return lambda torch, batch: torch.randint(0, vocabulary, (batch, length))


def vision(name, side=224, **settings):
    def make(torch):
        import torchvision

        return torchvision.models.get_model(name, weights=None, **settings)
    return make, picture(side)


def segmenter(name):
    def make(torch):
        import torchvision

        network = torchvision.models.get_model(name, weights=None, weights_backbone=None)
        return Chosen(torch, network, lambda result: result["out"])
    return make, picture(256)


def transformer(kind, config, example, choose, **settings):
    def make(torch):
        import transformers

        network = getattr(transformers, kind)(getattr(transformers, config)(**settings))
        return Chosen(torch, network, choose)
    return make, example


def Chosen(torch, network, choose):
    """The network with one tensor as its result."""
    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = network

        def forward(self, x):
            return choose(self.network(x))
    return Module()


def whisper_encoder():
    def make(torch):
        import transformers

        encoder = transformers.WhisperModel(transformers.WhisperConfig()).get_encoder()
        return Chosen(torch, encoder, lambda result: result[0])
    return make, lambda torch, batch: torch.randn(batch, 80, 3000)


NETWORKS = {
    "lraspp_mobilenet_v3_large": segmenter("lraspp_mobilenet_v3_large"),
    "whisper_encoder": whisper_encoder(),
    "deeplabv3_mobilenet_v3_large": segmenter("deeplabv3_mobilenet_v3_large"),
    "shufflenet_v2_x1_0": vision("shufflenet_v2_x1_0"),
    "squeezenet1_1": vision("squeezenet1_1"),
    "regnet_y_400mf": vision("regnet_y_400mf"),
    "densenet121": vision("densenet121"),
    "mnasnet1_0": vision("mnasnet1_0"),
    "convnext_tiny": vision("convnext_tiny"),
    "efficientnet_v2_s": vision("efficientnet_v2_s", 192),
    "maxvit_t": vision("maxvit_t"),
    "distilbert": transformer("DistilBertModel", "DistilBertConfig", tokens(96, 30522),
                              lambda result: result[0]),
    "electra": transformer("ElectraModel", "ElectraConfig", tokens(77, 30522),
                           lambda result: result[0]),
    "vit_tiny": transformer("ViTModel", "ViTConfig", picture(), lambda result: result[0],
                            hidden_size=190, num_attention_heads=5, num_hidden_layers=4,
                            intermediate_size=610),
}


def export(torch, network, example, path):
    batch = torch.export.Dim("batch", min=1, max=64)
    torch.onnx.export(network, (example(torch, 7),), str(path), dynamo=True, opset_version=20,
                      external_data=False, verbose=False, input_names=["x"], output_names=["y"],
                      dynamic_shapes=({0: batch},))


def build(path, shape):
    import camshaft as trt

    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    builder.max_threads = 2
    network = builder.create_network()
    parser = trt.OnnxParser(network, logger)
    if not parser.parse_from_file(str(path)):
        raise RuntimeError("; ".join(parser.get_error(i).desc() for i in range(parser.num_errors)))
    config = builder.create_builder_config()
    config.set_flag(trt.BuilderFlag.FP16)
    profile = builder.create_optimization_profile()
    profile.set_shape("x", *((batch, *shape[1:]) for batch in (1, 7, 32)))
    config.add_optimization_profile(profile)
    plan = builder.build_serialized_network(network, config)
    return trt.Runtime(logger).deserialize_cuda_engine(plan)


def error(found, expected):
    return float((found.float() - expected).norm() / expected.norm())


def check(name):
    """One network, in this process; its figures."""
    import torch

    import camshaft as trt

    torch.manual_seed(0)
    torch.set_num_threads(2)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    make, example = NETWORKS[name]
    network = make(torch).eval().requires_grad_(False)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        export(torch, network, example, path)
        start = time.perf_counter()
        engine = build(path, example(torch, 1).shape)
        seconds = time.perf_counter() - start
    context = engine.create_execution_context()
    network = network.cuda()
    figures = {"build_s": round(seconds, 1), "errors": {}, "pytorch_f16": {}}
    for batch in BATCHES:
        x = example(torch, batch).cuda()
        with torch.no_grad():
            expected = network(x)
            half = network.half()(x.half() if x.is_floating_point() else x)
            network.float()
        figures["errors"][batch] = error(trt.infer(context, {"x": x})["y"], expected)
        figures["pytorch_f16"][batch] = error(half, expected)
    figures["passed"] = all(figures["errors"][batch] <= max(5e-3, 3 * figures["pytorch_f16"][batch])
                            for batch in BATCHES)
    return figures


def in_process(name, seconds):
    try:
        done = subprocess.run([sys.executable, __file__, "--one", name], capture_output=True, text=True,
                              timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"passed": False, "failure": f"not done after {seconds} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == 0 and lines:
        return json.loads(lines[-1])
    return {"passed": False, "failure": (done.stderr.strip().splitlines() or ["no message"])[-1][:300]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(NETWORKS))
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--seconds", type=int, default=300, help="limit for each network")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--one", help="check this one here and print its figures")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(check(options.one)))
        return 0
    results = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = {pool.submit(in_process, name, options.seconds): name for name in options.names}
        for future in concurrent.futures.as_completed(futures):
            name, figures = futures[future], future.result()
            results[name] = figures
            worst = max(figures.get("errors", {}).values(), default=float("nan"))
            peer = max(figures.get("pytorch_f16", {}).values(), default=float("nan"))
            print(f"{name:30} {'passed' if figures['passed'] else 'FAILED':7} build "
                  f"{figures.get('build_s', '-')} s, error {worst:.1e} (PyTorch f16 {peer:.1e}) "
                  f"{figures.get('failure', '')}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    passed = sum(figures["passed"] for figures in results.values())
    print(f"SUMMARY {passed} of {len(results)} networks with a dynamic batch agree with PyTorch")
    return 0 if passed == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
