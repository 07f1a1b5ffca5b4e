#!/usr/bin/env python3
"""PyTorch on a GPU: what only a GPU shows of camshaft.torch, then benchmarks/torch_compile.py's table.

    PYTHONPATH=build/python python scripts/gpu_torch.py [MODEL...] [--precision fp32|tf32|fp16|bf16]

Needs scripts/requirements-integrations.txt and a GPU. Exits with 1 where a check or a model fails.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import threading

import torch

import camshaft.torch

ROOT = pathlib.Path(__file__).resolve().parents[1]


def perceptron():
    layers = torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 32)
    return torch.nn.Sequential(*layers).eval().cuda()


def close(got, want):
    torch.testing.assert_close(got, want, rtol=2e-3, atol=2e-3)


def results_are_on_the_gpu():
    model, x = perceptron(), torch.randn(8, 64, device="cuda")
    y = torch.compile(model, backend="camshaft")(x)
    assert y.device == x.device
    close(y, model(x))


def the_current_stream_is_used():
    """A long product on a stream of its own, and an engine that reads it right behind."""
    model, stream = perceptron(), torch.cuda.Stream()
    run = torch.compile(model, backend="camshaft")
    run(torch.randn(8, 64, device="cuda"))
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        large = torch.randn(8192, 8192, device="cuda") @ torch.randn(8192, 8192, device="cuda")
        x = large[:8, :64] / 90
        y = run(x)
    stream.synchronize()
    close(y, model(x))


def numbers_on_the_host_are_taken():
    def function(x, factor):
        return (x * factor).relu()

    x, factor = torch.randn(8, 64, device="cuda"), torch.tensor(2.0)
    close(torch.compile(function, backend="camshaft")(x, factor), function(x, factor))


def threads_have_streams():
    model = perceptron()
    run = torch.compile(model, backend="camshaft", dynamic=True)
    run(torch.randn(8, 64, device="cuda"))
    wrong = []

    def work(seed):
        with torch.inference_mode(), torch.cuda.stream(torch.cuda.Stream()):
            for rows in range(2, 20):
                x = torch.randn(rows, 64, device="cuda")
                if not torch.allclose(run(x), model(x), rtol=2e-3, atol=2e-3):
                    wrong.append((seed, rows))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong


def saved_modules_run_there():
    model, x = perceptron(), torch.randn(8, 64, device="cuda")
    with tempfile.TemporaryDirectory() as folder:
        camshaft.torch.compile(model, x).save(folder)
        close(camshaft.torch.load(folder)(x), model(x))


CHECKS = (results_are_on_the_gpu, the_current_stream_is_used, numbers_on_the_host_are_taken,
          threads_have_streams, saved_modules_run_there)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*")
    parser.add_argument("--precision", default="fp32")
    options = parser.parse_args()
    failed = 0
    for check in CHECKS:
        torch._dynamo.reset()
        try:
            with torch.no_grad():
                check()
            print(f"{check.__name__}: ok", flush=True)
        except Exception as error:  # noqa: BLE001 - the others are to be seen, too
            failed = 1
            print(f"{check.__name__}: {type(error).__name__}: {error}", flush=True)
    bench = [sys.executable, ROOT / "benchmarks/torch_compile.py", *options.models, "--device", "cuda",
             "--precision", options.precision]
    return subprocess.run(bench, check=False).returncode or failed


if __name__ == "__main__":
    sys.exit(main())
