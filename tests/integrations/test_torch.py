"""torch.compile(backend="camshaft"): what users' models do, beside PyTorch itself."""

import collections
import os
import pathlib
import re
import subprocess
import sys
import threading
import warnings

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from camshaft._session import load_for_inspection  # noqa: E402
from camshaft.cli.engine_info import engine_info  # noqa: E402
import camshaft.torch  # noqa: E402
from camshaft.torch import _backend, _engine, _part, _partition  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("CAMSHAFT_CACHE", str(tmp_path))
    torch._dynamo.reset()
    torch.manual_seed(0)
    _partition._told.clear()
    _backend._warned.clear()
    with torch.no_grad():
        yield


@pytest.fixture
def runs(monkeypatch):
    """One entry for each run of an engine."""
    calls = []
    run = _engine.Engine.__call__

    def counted(self, *tensors):
        calls.append([tuple(tensor.shape) for tensor in tensors])
        return run(self, *tensors)

    monkeypatch.setattr(_engine.Engine, "__call__", counted)
    return calls


@pytest.fixture
def builds(monkeypatch):
    """One entry for each engine that is built, not found."""
    calls = []
    build = _engine.build

    def counted(*arguments):
        calls.append(arguments)
        return build(*arguments)

    monkeypatch.setattr(_engine, "build", counted)
    return calls


def compiled(function, **keywords):
    keywords.setdefault("options", {"optimization_level": 0})
    return torch.compile(function, backend="camshaft", **keywords)


def close(got, want):
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def perceptron():
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.GELU(), torch.nn.Linear(8, 3)).eval()


def test_the_backend_is_listed():
    assert "camshaft" in torch._dynamo.list_backends()


ENTRY_POINT = """
import sys, torch
with torch.no_grad():
    model = torch.nn.Linear(3, 4).eval()
    y = torch.compile(model, backend="camshaft", options={"cache": False})(torch.ones(2, 3))
    assert y.shape == (2, 4) and "camshaft.torch" in sys.modules
    import camshaft.torch
    torch.compile(torch.nn.Linear(3, 4).eval(), backend="camshaft")(torch.ones(2, 3))
"""


def test_an_installed_package_needs_no_import(tmp_path):
    """Its metadata as pip writes them, of what pyproject.toml says."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    entry = re.search(r"^\[project.entry-points.torch_dynamo_backends]\ncamshaft = \"(.*)\"$", text, re.MULTILINE)[1]
    metadata = tmp_path / "camshaft-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: camshaft\nVersion: 0\n")
    (metadata / "entry_points.txt").write_text(f"[torch_dynamo_backends]\ncamshaft = {entry}\n")
    package = pathlib.Path(camshaft.__file__).resolve().parents[1]
    environment = dict(os.environ, PYTHONPATH=f"{tmp_path}:{package}")
    subprocess.run([sys.executable, "-c", ENTRY_POINT], check=True, env=environment, timeout=120)


def test_a_module(runs):
    model, x = perceptron(), torch.randn(4, 6)
    close(compiled(model)(x), model(x))
    assert len(runs) == 1


def test_a_norm_that_pytorch_takes_apart_in_place(caplog):
    model, x = torch.nn.RMSNorm(6, eps=1e-6).eval(), torch.randn(4, 6)
    close(compiled(model)(x), model(x))
    assert not any("stays with PyTorch" in line for line in caplog.messages)


@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
@pytest.mark.parametrize("first", [False, True], ids=["norm_last", "norm_first"])
def test_encoder_layers_are_taken_whole(mask, first, runs, caplog):
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=first, activation="gelu").eval()
    padding = torch.zeros(2, 6, dtype=torch.bool)
    padding[1, 4:] = True
    masks = {"none": {}, "causal": {"src_mask": torch.triu(torch.ones(6, 6, dtype=torch.bool), 1)},
             "padding": {"src_key_padding_mask": padding}}[mask]
    x = torch.randn(2, 6, 32)
    torch.testing.assert_close(torch.compile(layer, backend="camshaft")(x, **masks), layer(x, **masks),
                               rtol=1e-4, atol=1e-5)
    assert len(runs) == 1 and "stays with PyTorch" not in caplog.text


def spelled_attention(query, key, value, mask):
    scores = query * 0.25 @ key.transpose(-2, -1) + mask
    return scores.softmax(-1) @ value


@pytest.mark.parametrize("dynamic", [False, True])
def test_attention_that_is_spelled_out_is_one_layer(dynamic, tmp_path):
    sizes = [(2, 3), (5, 3)] if dynamic else [(2, 3)]
    options = {"verbosity": "detailed", "engine_cache": str(tmp_path)}
    function = compiled(spelled_attention, dynamic=dynamic, options=options)
    for lead in sizes:
        query, key, value = (torch.randn(*lead, length, 16) for length in (7, 9, 9))
        mask = torch.randn(1, 3, 7, 9)
        close(function(query, key, value, mask), spelled_attention(query, key, value, mask))
    for file in tmp_path.glob("*.engine"):
        layers = engine_info(load_for_inspection(file, camshaft.Logger()))["layers"]
        assert [layer["operator"] for layer in layers if layer["operator"] != "Pointwise"] == ["Attention"]


@pytest.mark.parametrize("shapes", [((2, 3, 4, 5), (2, 3, 5, 6)), ((2, 1, 4, 5), (3, 5, 6)), ((4, 5), (2, 3, 5, 6)),
                                    ((2, 3, 4, 5), (5, 6)), ((2, 1, 3, 4, 5), (4, 1, 5, 6)), ((5,), (2, 3, 5, 6)),
                                    ((2, 3, 4, 5), (5,)), ((0, 3, 4, 5), (0, 3, 5, 6))], ids=str)
def test_products_of_stacks(shapes):
    a, b = (torch.randn(shape) for shape in shapes)
    close(compiled(torch.matmul)(a, b), a @ b)
    close(compiled(lambda a, b: (a @ b).flatten())(a, b), (a @ b).flatten())
    close(compiled(lambda a, b: (a * 2 @ b).flatten(), dynamic=True)(a, b), (a * 2 @ b).flatten())


def test_unknown_options_are_named():
    for options, sentence in (({"precison": "fp16"}, "precison is no setting; did you mean 'precision'"),
                              ({"device": "cuda"}, "device should be 'auto', 'cpu' or 'gpu', not 'cuda'"),
                              ({"shapes": {"x": 1}}, "shapes cannot be set here: sizes follow from the tensors")):
        with pytest.raises(Exception, match=sentence):
            torch.compile(perceptron(), backend="camshaft", options=options)(torch.randn(4, 6))


Pair = collections.namedtuple("Pair", "first second")


@pytest.mark.parametrize("function", [
    lambda x: (x + 1, None, [x * 2, {"a": x.sum()}], 7),
    lambda x: {"x": x, "view": x.t(), "same": x},
    lambda x: Pair(x * 2, x.shape[0]),
    lambda x: (x[0], x[:, 1:], (x * 2)[0]),
    lambda x: (x.mean().item() > 10, x * 2),
    lambda x: x.to(torch.int64) // 2,
    lambda x: ((x > 0), (x > 0).sum(), x.argmax(1)),
    lambda x: torch.cat([x, x.new_empty(0)]) if x.dim() == 1 else torch.cat([x, x[:0]]) * 2,
])
def test_structures_of_results(function):
    x = torch.randn(4, 5)
    got, want = compiled(function)(x), function(x)
    assert type(got) is type(want)
    close(torch.utils._pytree.tree_leaves(got), torch.utils._pytree.tree_leaves(want))


def test_results_that_are_inputs_alias_them():
    x = torch.randn(3, 4)
    same, view = compiled(lambda x: (x, x[1]))(x)
    assert same.data_ptr() == x.data_ptr()
    view.zero_()
    assert torch.equal(x[1], torch.zeros(4))


def test_inputs_and_buffers_are_changed_in_place():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("steps", torch.zeros(3))

        def forward(self, x):
            self.steps += 1
            x.mul_(2)
            x[0] = self.steps
            return x.exp() * self.steps

    ours, theirs = Counter().eval(), Counter().eval()
    run = compiled(ours)
    for _ in range(3):
        a = torch.randn(2, 3)
        b = a.clone()
        close(run(a), theirs(b))
        close(a, b)
    close(ours.steps, theirs.steps)


@pytest.mark.parametrize("make", [
    lambda: torch.randn(6, 4).t(),
    lambda: torch.randn(8, 12)[::2, ::2],
    lambda: torch.randn(1, 6).expand(4, 6),
    lambda: torch.randn(25)[1:].view(4, 6),
])
def test_inputs_that_are_not_contiguous(make):
    x = make()
    close(compiled(lambda x: (x * 2).softmax(1))(x), (x * 2).softmax(1))


def test_channels_last_pictures():
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU()).eval()
    x = torch.randn(2, 3, 9, 9).to(memory_format=torch.channels_last)
    close(compiled(model)(x), model(x))


def test_inputs_without_elements(runs):
    function = compiled(lambda x: torch.cat([x * 2, x]).sum(1))
    for size in (0, 1, 3):
        x = torch.randn(size, 4)
        close(function(x), torch.cat([x * 2, x]).sum(1))
    assert runs


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.int32, torch.uint8, torch.float64,
                                   torch.float16, torch.bfloat16])
def test_types_of_inputs(dtype):
    x = torch.randint(0, 2, (3, 4)).to(dtype)

    def function(x):
        return torch.where(x.bool(), x.float() * 2, 0.5), x

    close(compiled(function)(x), function(x))


def test_numbers_as_arguments():
    function = compiled(lambda x, n, flag: x * n if flag else x + n)
    x = torch.randn(3)
    for n, flag in ((2, True), (3, True), (4, True), (0.5, False)):
        close(function(x, n, flag), x * n if flag else x + n)


def test_gradients_fall_back_with_one_warning(runs):
    model, x = perceptron(), torch.randn(4, 6)
    run = compiled(model)
    with torch.enable_grad():
        with pytest.warns(UserWarning, match="inference only"):
            run(x).sum().backward()
        assert model[0].weight.grad is not None
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run(torch.randn(4, 6)).sum().backward()
    assert not runs
    close(run(x), model(x))
    assert len(runs) == 1


def test_training_mode_is_pytorchs():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5))
    before = model[1].running_mean.clone()
    compiled(model.train())(torch.randn(8, 4))
    assert not torch.equal(model[1].running_mean, before)
    x = torch.randn(8, 4)
    close(compiled(model.eval())(x), model(x))


def test_what_cannot_be_taken_stays_with_pytorch(runs, caplog):
    def function(x):
        y = (x @ x).relu()
        return torch.linalg.inv(y + 4 * torch.eye(4)) @ x + 1

    x = torch.rand(4, 4)
    close(compiled(function)(x), function(x))
    assert len(runs) == 2
    assert any("linalg_inv" in line and "no translation" in line for line in caplog.messages)


def test_a_build_that_fails_leaves_the_part_to_pytorch(monkeypatch, caplog):
    def fails(*_):
        raise camshaft.Error("no kernel today")

    monkeypatch.setattr(_part, "build_or_find", fails)
    model, x = perceptron(), torch.randn(4, 6)
    run = compiled(model, dynamic=True)
    close(run(x), model(x))
    close(run(torch.ones(5, 6)), model(torch.ones(5, 6)))
    assert sum("no kernel today" in line for line in caplog.messages) == 1


def test_nodes_that_the_importer_refuses_stay_with_pytorch(monkeypatch, runs):
    check = _part.check

    def refuses(model, weights):
        if b"tanh" in model:
            raise _engine.ParseError({"tanh": "not on Mondays"})
        check(model, weights)

    monkeypatch.setattr(_part, "check", refuses)

    def function(x):
        return (x @ x).tanh() @ x

    x = torch.randn(4, 4)
    close(compiled(function)(x), function(x))
    assert len(runs) == 2


def test_weights_that_change_are_followed():
    model, x = perceptron(), torch.randn(4, 6)
    run = compiled(model)
    close(run(x), model(x))
    model[0].weight.mul_(2)
    close(run(x), model(x))
    model.load_state_dict(perceptron().state_dict())
    close(run(x), model(x))


def test_modules_of_one_class_have_engines_of_their_own(runs):
    layers = [perceptron() for _ in range(3)]
    run = [compiled(layer) for layer in layers]
    x = torch.randn(4, 6)
    for _ in range(2):
        for ours, layer in zip(run, layers):
            close(ours(x), layer(x))
    assert len(runs) == 6


def test_sizes_that_change(builds):
    model = perceptron()
    run = compiled(model, dynamic=True)
    for rows in (4, 7, 2, 16, 5):
        x = torch.randn(rows, 6)
        close(run(x), model(x))
    assert len(builds) == 1
    x = torch.randn(100, 6)  # beyond four times the first
    close(run(x), model(x))
    assert len(builds) == 2


def test_sizes_as_results_and_arguments():
    def function(x, y):
        n = x.shape[0] * 2
        return torch.cat([x, y]).view(-1)[:n] * n, n, y.shape[0] + 1

    run = compiled(function, dynamic=True)
    for rows in (4, 6, 9):
        x, y = torch.randn(rows, 5), torch.randn(rows + 1, 5)
        got, want = run(x, y), function(x, y)
        close(got[0], want[0])
        assert got[1:] == want[1:]


def test_engines_are_found_again(builds, tmp_path):
    model, x = perceptron(), torch.randn(4, 6)
    want = compiled(model)(x)
    torch._dynamo.reset()
    assert torch.equal(compiled(model)(x), want)
    assert len(builds) == 1
    model[0].bias.add_(1)
    torch._dynamo.reset()
    compiled(model)(x)
    assert len(builds) == 2
    torch._dynamo.reset()
    compiled(model, options={"optimization_level": 0, "precision": "bf16"})(x)
    assert len(builds) == 3
    assert len(list(tmp_path.glob("torch/*.engine"))) == 3


def test_a_broken_file_in_the_cache_is_built_again(builds, tmp_path):
    model, x = perceptron(), torch.randn(4, 6)
    compiled(model)(x)
    next(tmp_path.glob("torch/*.engine")).write_bytes(b"nothing")
    torch._dynamo.reset()
    close(compiled(model)(x), model(x))
    assert len(builds) == 2


def test_the_cache_has_a_bound(tmp_path):
    x = torch.randn(4, 6)
    for _ in range(3):
        torch._dynamo.reset()
        compiled(perceptron(), options={"cache_bytes": 1, "optimization_level": 0})(x)
    assert len(list(tmp_path.glob("torch/*.engine"))) == 1


def test_threads():
    model = perceptron()
    run = compiled(model, dynamic=True)
    run(torch.randn(8, 6))
    wrong = []

    def work(seed):
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for _ in range(30):
                x = torch.randn(int(torch.randint(2, 16, (), generator=generator)), 6, generator=generator)
                if not torch.allclose(run(x), model(x), rtol=1e-4, atol=1e-5):
                    wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_inference_mode():
    with torch.inference_mode():
        model, x = perceptron(), torch.randn(4, 6)
        close(compiled(model)(x), model(x))


def test_graph_breaks(runs):
    def function(x):
        y = x * 2
        torch._dynamo.graph_break()
        return y.softmax(1)

    x = torch.randn(3, 4)
    close(compiled(function)(x), function(x))
    assert len(runs) == 2


def test_output_of_transformers():
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    config = transformers.BertConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                                     intermediate_size=64, vocab_size=100)
    model, ids = transformers.BertModel(config).eval(), torch.randint(0, 100, (2, 7))
    got, want = compiled(model)(ids, attention_mask=torch.ones_like(ids)), model(ids)
    assert type(got) is type(want)
    close(got.last_hidden_state, want.last_hidden_state)
    close(got.pooler_output, want.pooler_output)
