"""camshaft.torch.compile, and modules that are saved and loaded without their source."""

import os
import pathlib
import subprocess
import sys

import numpy
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import camshaft  # noqa: E402
import camshaft.torch  # noqa: E402

QUICK = {"optimization_level": 0, "cache": False}


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)
    with torch.no_grad():
        yield


def close(got, want):
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = torch.nn.Linear(6, 4)

    def forward(self, x, *, scale=None, names=("a",)):
        y = self.dense(x).relu()
        y = y if scale is None else y * scale["by"]
        return {"y": y, "rest": (y.sum(1), None), "list": [x]}


def test_arguments_and_results_of_all_kinds(tmp_path):
    module = Head().eval()
    x, scale = torch.randn(3, 6), {"by": torch.tensor(2.0)}
    run = camshaft.torch.compile(module, {"x": x, "scale": scale}, **QUICK)
    want = module(x, scale=scale)
    close(run(x=x, scale=scale), want)
    run.save(tmp_path / "saved")
    loaded = camshaft.torch.load(tmp_path / "saved")
    got = loaded(x=x, scale=scale)
    close(got.y, want["y"])
    assert got["rest"][1] is None
    close(dict(got), want)
    with pytest.raises(TypeError, match="scale"):
        loaded(x=x)


def test_layers_of_many_operators_become_one_engine(tmp_path):
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(),
                                 torch.nn.Flatten(), torch.nn.Linear(144, 5)).eval()
    rows = torch.export.Dim("rows", min=1, max=8)
    run = camshaft.torch.compile(module, torch.randn(2, 3, 8, 8), dynamic=({0: rows},), **QUICK)
    run.save(tmp_path / "saved")
    x = torch.randn(3, 3, 8, 8)
    close(torch.from_numpy(camshaft.torch.load(tmp_path / "saved")(x.numpy())), module(x))


def test_the_weights_are_not_kept():
    module = Head().eval()
    run = camshaft.torch.compile(module, (torch.randn(3, 6),), **QUICK)
    want = run(x := torch.randn(3, 6))["y"]
    module.dense.weight.zero_()
    assert torch.equal(run(x)["y"], want)
    assert all(slot is None for slot in run._slots)


def test_ranges_of_torch_export(tmp_path):
    module = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Softmax(1)).eval()
    rows = torch.export.Dim("rows", min=1, max=8)
    run = camshaft.torch.compile(module, torch.randn(3, 6), dynamic=({0: rows},), **QUICK)
    run.save(tmp_path)
    for function in (run, camshaft.torch.load(tmp_path)):
        for number in (1, 8, 5):
            x = torch.randn(number, 6)
            close(function(x), module(x))
        with pytest.raises(ValueError, match="9, 6"):
            function(torch.randn(9, 6))


def test_dynamic_means_every_size():
    module = torch.nn.Conv2d(3, 4, 3, padding=1).eval()
    run = camshaft.torch.compile(module, torch.randn(2, 3, 8, 8), dynamic=True, max_size=16, **QUICK)
    for shape in ((2, 3, 8, 8), (5, 3, 16, 9)):
        x = torch.randn(*shape)
        close(run(x), module(x))


def test_parts_that_stay_with_pytorch_are_saved(tmp_path):
    class Inverse(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("base", 4 * torch.eye(4))

        def forward(self, x):
            y = torch.linalg.inv((x @ x).relu() + self.base)
            return y @ x + torch.linalg.det(self.base)

    module, x = Inverse().eval(), torch.rand(4, 4)
    run = camshaft.torch.compile(module, x, **QUICK)
    close(run(x), module(x))
    run.save(tmp_path)
    close(camshaft.torch.load(tmp_path)(x), module(x))


def test_inputs_are_changed_in_place():
    class Doubles(torch.nn.Module):
        def forward(self, x):
            x.mul_(2)
            return x + 1

    x = torch.ones(3)
    run = camshaft.torch.compile(Doubles().eval(), torch.ones(3), **QUICK)
    close(run(x), torch.full((3,), 3.0))
    close(x, torch.full((3,), 2.0))


def test_modules_that_train_or_count_are_refused():
    with pytest.raises(ValueError, match="eval()"):
        camshaft.torch.compile(Head(), torch.randn(3, 6))

    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("steps", torch.zeros(()))

        def forward(self, x):
            self.steps.add_(1)
            return x + self.steps

    with pytest.raises(ValueError, match="'steps'"):
        camshaft.torch.compile(Counter().eval(), torch.randn(3), **QUICK)


def test_numbers_are_part_of_what_is_compiled():
    class Scaled(torch.nn.Module):
        def forward(self, x, factor):
            return x * factor

    run = camshaft.torch.compile(Scaled().eval(), (torch.ones(3), 2), **QUICK)
    close(run(torch.ones(3), 2), torch.full((3,), 2.0))
    with pytest.raises(ValueError, match="compiled as 2"):
        run(torch.ones(3), 3)


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_precision(precision):
    module = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 8)).eval()
    x = torch.randn(4, 64)
    run = camshaft.torch.compile(module, x, precision=precision, **QUICK)
    torch.testing.assert_close(run(x), module(x), rtol=5e-2, atol=5e-2)


WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None  # as where it is not installed
import importlib.util, numpy
import camshaft.torch
loaded = camshaft.torch.load(sys.argv[1])
x = numpy.load(sys.argv[2])
numpy.save(sys.argv[3], loaded(x))
"""


def test_without_pytorch(tmp_path):
    module = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Tanh()).eval()
    x = torch.randn(3, 6)
    camshaft.torch.compile(module, x, **QUICK).save(tmp_path / "saved")
    numpy.save(tmp_path / "x.npy", x.numpy())
    environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(camshaft.__file__).resolve().parents[1]))
    subprocess.run([sys.executable, "-c", WITHOUT_TORCH, tmp_path / "saved", tmp_path / "x.npy",
                    tmp_path / "y.npy"], check=True, env=environment)
    close(torch.from_numpy(numpy.load(tmp_path / "y.npy")), module(x))
