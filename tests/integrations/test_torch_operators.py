"""Each translation of an ATen operator, against PyTorch: fixed sizes, and sizes that change."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from camshaft.torch._decompose import decompositions, whole_resizes  # noqa: E402
from camshaft.torch._partition import PREFIX  # noqa: E402
from camshaft.torch._program import Program  # noqa: E402
from camshaft.config import TorchConfig  # noqa: E402

QUICK = TorchConfig(cache=False, optimization_level=0)


def x(*shape, low=-2.0, high=2.0):
    return torch.empty(*shape).uniform_(low, high)


def ints(*shape, low=0, high=5, dtype=torch.int64):
    return torch.randint(low, high, shape, dtype=dtype)


UNARY = "abs ceil cos erf exp floor neg relu round sigmoid sign sin sinh tan tanh atan asinh exp2 expm1" \
    " trunc square".split()
CASES = {name: (getattr(torch, name), lambda: [x(3, 5)]) for name in UNARY}
CASES |= {name: (getattr(torch, name), lambda: [x(3, 5, low=0.1)])
          for name in "log log2 log10 log1p sqrt rsqrt reciprocal".split()}
CASES |= {name: (getattr(torch, name), lambda: [x(4, 3, low=-0.9, high=0.9)])
          for name in "acos asin atanh".split()}
CASES |= {f"F.{name}": (getattr(F, name), lambda: [x(3, 8)]) for name in
          "elu celu selu gelu silu mish softplus hardswish hardsigmoid hardtanh leaky_relu relu6 logsigmoid"
          " glu softsign tanhshrink".split()}
CASES |= {
    "gelu_tanh": (lambda a: F.gelu(a, approximate="tanh"), lambda: [x(3, 5)]),
    "prelu": (F.prelu, lambda: [x(2, 3, 4), x(3)]),
    "threshold": (lambda a: F.threshold(a, 0.1, 20.0), lambda: [x(3, 5)]),
    "softplus_beta": (lambda a: F.softplus(a, 2.0, 3.0), lambda: [x(3, 5)]),
    "add": (lambda a, b: torch.add(a, b, alpha=2), lambda: [x(3, 5), x(5)]),
    "add_int_float": (lambda a, b: a + b, lambda: [ints(3, 5), x(5)]),
    "sub_number": (lambda a: 3 - a, lambda: [x(3, 5)]),
    "div_ints": (lambda a, b: a / b, lambda: [ints(3, 5), ints(5, low=1)]),
    "div_floor": (lambda a, b: torch.div(a, b, rounding_mode="floor"),
                  lambda: [ints(3, 5, low=-9, high=9), ints(5, low=1)]),
    "floor_divide_negative": (lambda a: a // -3, lambda: [ints(3, 5, low=-9, high=9)]),
    "div_trunc": (lambda a, b: torch.div(a, b, rounding_mode="trunc"), lambda: [x(3, 5), x(5)]),
    "remainder": (torch.remainder, lambda: [x(3, 5), x(5, low=0.5)]),
    "remainder_int": (lambda a: a % 3, lambda: [ints(3, 5, low=-9, high=9)]),
    "fmod": (torch.fmod, lambda: [x(3, 5), x(5, low=0.5)]),
    "pow": (torch.pow, lambda: [x(3, 5, low=0.1), x(5)]),
    "pow_2": (lambda a: a ** 2, lambda: [x(3, 5)]),
    "pow_3": (lambda a: a ** 3, lambda: [x(3, 5)]),
    "maximum": (torch.maximum, lambda: [x(3, 5), x(5)]),
    "clamp": (lambda a: a.clamp(-1, 0.5), lambda: [x(3, 5)]),
    "clamp_min": (lambda a: a.clamp(min=0.1), lambda: [x(3, 5)]),
    "clamp_max": (lambda a: a.clamp(max=0.1), lambda: [x(3, 5)]),
    "comparisons": (lambda a, b: ((a > b) & (a != 1)) | ~(b <= 0), lambda: [x(3, 5), x(5)]),
    "compare_types": (lambda a, b: a == b, lambda: [ints(3, 5), x(3, 5).round()]),
    "bools": (lambda a, b: (a > 0) * (b > 0), lambda: [x(3, 5), x(5)]),
    "bits": (lambda a, b: (a & b) ^ (a | 3), lambda: [ints(3, 5), ints(5)]),
    "where": (lambda a, b: torch.where(a > 0, a, b), lambda: [x(3, 5), x(5)]),
    "masked_fill": (lambda a: a.masked_fill(a > 0, -1.0), lambda: [x(3, 5)]),
    "isnan": (lambda a: torch.isnan(a / a), lambda: [torch.tensor([0.0, 1.0, 2.0])]),
    "to_half": (lambda a: a.half() + 1, lambda: [x(3, 5)]),
    "to_int": (lambda a: a.to(torch.int32) * 2, lambda: [x(3, 5)]),
    "to_bool": (lambda a: ~a.bool(), lambda: [ints(3, 5, high=2)]),
    # reductions
    "sum": (lambda a: a.sum(), lambda: [x(3, 5)]),
    "sum_bool": (lambda a: (a > 0).sum(1), lambda: [x(3, 5)]),
    "mean": (lambda a: a.mean((1, -1), keepdim=True), lambda: [x(3, 4, 5)]),
    "var": (lambda a: a.var(1), lambda: [x(3, 5)]),
    "std_0": (lambda a: a.std(1, correction=0, keepdim=True), lambda: [x(3, 5)]),
    "var_mean": (lambda a: torch.var_mean(a, 1), lambda: [x(3, 5)]),
    "amax": (lambda a: a.amax((0, 2)), lambda: [x(3, 4, 5)]),
    "max_dim": (lambda a: a.max(1), lambda: [x(3, 5)]),
    "min_all": (lambda a: a.min(), lambda: [x(3, 5)]),
    "argmax": (lambda a: (a.argmax(1), a.argmax(), a.argmin(0, keepdim=True)), lambda: [x(3, 5)]),
    "any_all": (lambda a: ((a > 0).any(1), (a > 0).all()), lambda: [x(3, 5)]),
    "prod": (lambda a: a.prod(1), lambda: [x(3, 5)]),
    "norm": (lambda a: (a.norm(dim=1), a.norm(p=1), F.normalize(a)), lambda: [x(3, 5)]),
    "logsumexp": (lambda a: a.logsumexp(1), lambda: [x(3, 5)]),
    "cumsum": (lambda a: a.cumsum(-1), lambda: [x(3, 5)]),
    "topk": (lambda a: a.topk(2, -1), lambda: [x(3, 5)]),
    "sort": (lambda a: a.sort(1, descending=True), lambda: [x(3, 5)]),
    # moving
    "views": (lambda a: a.transpose(0, 1).reshape(2, -1).unsqueeze(1).squeeze(1).flatten() + 0,
              lambda: [x(3, 4)]),
    "expand": (lambda a: a.expand(4, 3, 5) * 2, lambda: [x(3, 1)]),
    "slices": (lambda a: a[1:, ::2] * a[-1, 0], lambda: [x(3, 6)]),
    "cat_stack": (lambda a, b: torch.cat([torch.stack([a, b], 1).flatten(0, 1), a], 0),
                  lambda: [x(3, 5), x(3, 5)]),
    "cat_types": (lambda a, b: torch.cat([a, b]), lambda: [x(3), ints(2)]),
    "split": (lambda a: [part * 2 for part in a.split([2, 4], 1)], lambda: [x(3, 6)]),
    "chunk": (lambda a: [part * 2 for part in a.chunk(2, 1)], lambda: [x(3, 5)]),
    "unbind": (lambda a: [part * 2 for part in a.unbind(1)], lambda: [x(3, 2)]),
    "pad": (lambda a: F.pad(a, (1, 2, 0, -1), value=3.0), lambda: [x(2, 3, 4)]),
    "pad_reflect": (lambda a: F.pad(a, (1, 2), mode="reflect"), lambda: [x(2, 3, 4)]),
    "pad_replicate": (lambda a: F.pad(a, (1, 2, 2, 1), mode="replicate"), lambda: [x(1, 2, 3, 4)]),
    "repeat": (lambda a: a.repeat(2, 1, 3), lambda: [x(3, 4)]),
    "flip_roll": (lambda a: a.flip(0, 2).roll((1, -2), (0, 1)), lambda: [x(3, 4, 5)]),
    "pixel_shuffle": (lambda a: F.pixel_unshuffle(F.pixel_shuffle(a, 2) * 2, 2), lambda: [x(1, 8, 3, 4)]),
    "tril": (lambda a: a.tril(1) + a.triu(-1), lambda: [x(4, 5)]),
    "diagonal": (lambda a: a.diagonal(1, 0, 2) * 2, lambda: [x(3, 4, 5)]),
    "unfold": (lambda a: a.unfold(1, 3, 2) * 2, lambda: [x(2, 9)]),
    "as_strided": (lambda a: torch.as_strided(a * 2, (2, 3), (1, 4), 1), lambda: [x(3, 4)]),
    "slice_assignment": (lambda a, b: torch.slice_scatter(a, b, 1, 1, 4), lambda: [x(3, 6), x(3, 3)]),
    # products
    "mm": (torch.mm, lambda: [x(3, 4), x(4, 5)]),
    "bmm": (torch.bmm, lambda: [x(2, 3, 4), x(2, 4, 5)]),
    "addmm": (lambda a, b, c: torch.addmm(a, b, c, beta=0.5, alpha=2),
              lambda: [x(5), x(3, 4), x(4, 5)]),
    "linear": (F.linear, lambda: [x(2, 3, 4), x(5, 4), x(5)]),
    "einsum": (lambda a, b: torch.einsum("bij,bkj->bik", a, b), lambda: [x(2, 3, 4), x(2, 5, 4)]),
    "matvec": (torch.mv, lambda: [x(3, 4), x(4)]),
    "conv2d": (lambda a, w, b: F.conv2d(a, w, b, stride=2, padding=1, dilation=1, groups=2),
               lambda: [x(2, 4, 9, 8), x(6, 2, 3, 3), x(6)]),
    "conv1d": (lambda a, w: F.conv1d(a, w, padding="same"), lambda: [x(2, 4, 9), x(6, 4, 3)]),
    "conv3d": (F.conv3d, lambda: [x(1, 2, 4, 5, 6), x(3, 2, 2, 2, 2)]),
    "conv_transpose": (lambda a, w, b: F.conv_transpose2d(a, w, b, stride=2, padding=1, output_padding=1),
                       lambda: [x(1, 4, 5, 6), x(4, 3, 3, 3), x(3)]),
    # pooling and resizing
    "max_pool": (lambda a: F.max_pool2d(a, 3, 2, 1), lambda: [x(1, 2, 9, 8)]),
    "max_pool_ceil": (lambda a: F.max_pool2d(a, 2, ceil_mode=True), lambda: [x(1, 2, 9, 7)]),
    "avg_pool": (lambda a: F.avg_pool2d(a, 3, 2, 1, count_include_pad=False), lambda: [x(1, 2, 9, 8)]),
    "adaptive_1": (lambda a: F.adaptive_avg_pool2d(a, 1), lambda: [x(1, 2, 9, 8)]),
    "adaptive_even": (lambda a: F.adaptive_avg_pool2d(a, (3, 4)), lambda: [x(1, 2, 9, 8)]),
    "adaptive_uneven": (lambda a: F.adaptive_avg_pool2d(a, (4, 3)), lambda: [x(1, 2, 9, 8)]),
    "adaptive_max": (lambda a: F.adaptive_max_pool2d(a, (3, 4)), lambda: [x(1, 2, 9, 8)]),
    "nearest": (lambda a: F.interpolate(a, scale_factor=2), lambda: [x(1, 2, 3, 4)]),
    "nearest_size": (lambda a: F.interpolate(a, size=(7, 5)), lambda: [x(1, 2, 3, 4)]),
    "bilinear": (lambda a: F.interpolate(a, size=(7, 5), mode="bilinear"), lambda: [x(1, 2, 3, 4)]),
    "bilinear_corners": (lambda a: F.interpolate(a, size=(7, 5), mode="bilinear", align_corners=True),
                         lambda: [x(1, 2, 3, 4)]),
    "bilinear_scale": (lambda a: F.interpolate(a, scale_factor=1.7, mode="bilinear"),
                       lambda: [x(1, 2, 5, 4)]),
    "bicubic": (lambda a: F.interpolate(a, size=(7, 5), mode="bicubic"), lambda: [x(1, 2, 3, 4)]),
    "grid_sample": (lambda a, g: F.grid_sample(a, g, align_corners=False),
                    lambda: [x(1, 2, 5, 4), x(1, 3, 3, 2, low=-1, high=1)]),
    # norms and attention
    "layer_norm": (lambda a, w, b: F.layer_norm(a, (5,), w, b), lambda: [x(3, 5), x(5), x(5)]),
    "layer_norm_plain": (lambda a: F.layer_norm(a, (5,)), lambda: [x(3, 5)]),
    "group_norm": (lambda a, w, b: F.group_norm(a, 2, w, b), lambda: [x(2, 4, 3, 3), x(4), x(4)]),
    "instance_norm": (F.instance_norm, lambda: [x(2, 4, 3, 3)]),
    "batch_norm": (F.batch_norm, lambda: [x(2, 4, 3), x(4), x(4, low=0.1), x(4), x(4)]),
    "softmax": (lambda a: F.softmax(a, 1) + F.log_softmax(a, 0), lambda: [x(3, 5)]),
    "attention": (F.scaled_dot_product_attention,
                  lambda: [x(2, 3, 4, 8), x(2, 3, 6, 8), x(2, 3, 6, 8)]),
    "attention_causal": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
                         lambda: [x(2, 3, 4, 8), x(2, 3, 4, 8), x(2, 3, 4, 8)]),
    "attention_mask": (F.scaled_dot_product_attention,
                       lambda: [x(2, 3, 4, 8), x(2, 3, 6, 8), x(2, 3, 6, 8), x(4, 6) > -1.5]),
    # indices
    "embedding": (lambda w, i: F.embedding(i, w), lambda: [x(7, 4), ints(2, 3)]),
    "gather": (lambda a, i: a.gather(1, i), lambda: [x(3, 5), ints(3, 2)]),
    "index_one": (lambda a, i: a[:, i], lambda: [x(3, 5, 2), ints(2, 4)]),
    "index_two": (lambda a, i, j: a[:, i, j], lambda: [x(3, 5, 6), ints(4), ints(4, low=-5)]),
    "index_apart": (lambda a, i, j: a[i, :, j], lambda: [x(5, 3, 6), ints(4), ints(4)]),
    "index_put": (lambda a, i, v: a.index_put((i,), v), lambda: [x(5, 3), torch.tensor([0, 3]), x(2, 3)]),
    "index_add": (lambda a, i, v: a.index_put((i,), v, accumulate=True),
                  lambda: [x(5, 3), torch.tensor([3, 3]), x(2, 3)]),
    "scatter": (lambda a, i, v: a.scatter(1, i, v), lambda: [x(3, 5), torch.tensor([[0, 2]] * 3), x(3, 2)]),
    "scatter_add": (lambda a, i, v: a.scatter_add(0, i, v), lambda: [x(3, 5), ints(4, 5, high=3), x(4, 5)]),
    "one_hot": (lambda i: F.one_hot(i, 5) * 2, lambda: [ints(3)]),
    "masked_assignment": (lambda a: torch.where(a > 0, a, 0) + a.clone().masked_fill(a > 1, 0),
                          lambda: [x(3, 5)]),
    # making
    "full": (lambda a: a + torch.full((3, 1), 2.5), lambda: [x(3, 5)]),
    "arange": (lambda a: a + torch.arange(5) + torch.arange(0, 1, 0.2), lambda: [x(3, 5)]),
    "eye_ones": (lambda a: a @ torch.eye(5) + torch.ones_like(a), lambda: [x(3, 5)]),
    "linspace": (lambda a: a + torch.linspace(0, 1, 5), lambda: [x(3, 5)]),
}


def flat(value):
    return [value] if isinstance(value, torch.Tensor) else list(value)


def assemble(function, inputs, mode):
    with whole_resizes(), torch.no_grad():
        functional = torch.func.functionalize(lambda *tensors: function(*tensors))
        graph = make_fx(functional, decomposition_table=decompositions(), tracing_mode=mode)(*inputs)
        graph.graph.eliminate_dead_code()
    assembled = Program(graph, [], QUICK).assemble(inputs)
    left = [str(node.target) for node in assembled.graph.nodes if node.op == "call_function"
            and "getitem" not in str(node.target) and "sym_size" not in str(node.target)]
    assert any(node.op == "call_module" and node.target.startswith(PREFIX)
               for node in assembled.graph.nodes), f"PyTorch does all of {left}"
    return assembled, left


def compare(got, want):
    for ours, theirs in zip(flat(got), flat(want), strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        if theirs.dtype.is_floating_point:
            tolerance = 1e-2 if theirs.dtype == torch.half else 2e-5
            torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)
        else:
            assert torch.equal(ours, theirs)


@pytest.mark.parametrize("name", CASES)
def test_operator(name):
    torch.manual_seed(0)
    function, make = CASES[name]
    inputs = make()
    assembled, left = assemble(function, inputs, "fake")
    assert left == []
    compare(assembled(*inputs), function(*inputs))


SIZES = {
    "views": lambda a: a.transpose(1, 2).reshape(a.shape[0], -1).view(-1, 2, a.shape[2]) * 2,
    "attention": lambda a: F.scaled_dot_product_attention(a[:, None], a[:, None], a[:, None]),
    "half": lambda a: a[:, : a.shape[1] // 2] + a.mean(1, keepdim=True),
    "arange": lambda a: a + torch.arange(a.shape[2]) * a.shape[1],
    "pad_cat": lambda a: torch.cat([F.pad(a, (0, 1)), F.pad(a, (1, 0))], 2) * 3,
    "mask": lambda a: a.masked_fill(torch.ones(a.shape[1], a.shape[2]).tril() == 0, 0.0),
    "expand": lambda a: a + a.new_zeros(1).expand(a.shape[0], a.shape[1], 1),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_that_change(name):
    function = SIZES[name]
    traced, others = x(4, 6, 8), [x(4, 6, 8), x(2, 12, 6), x(6, 4, 10)]
    assembled, left = assemble(function, [traced], "symbolic")
    assert left == []
    for tensor in others:
        compare(assembled(tensor), function(tensor))
