"""Pieces of transformers, of as many rows and columns as kernels for matrices and their fusions want."""

from ..scope import APPROXIMATE, EXACT, LOOSE, ROUNDED
from ..values import CODES

TYPES, WIDTHS = ("float16", "float32"), (32, 64)


def rows_of(g):
    fitting = [t for t in g.visible() if t.dtype in TYPES and t.kind != "constant" and t.rank in (2, 3)
               and t.known(-1) in WIDTHS and t.full]
    if fitting and g.chance(0.85):
        unread = [t for t in fitting if not t.used]
        return g.one_of(unread if unread and g.chance(0.6) else fitting)
    length = tuple(g.between(33, 48) for _ in range(g.runs))
    return g.input(g.one_of(TYPES), [1] * g.between(0, 1) + [length, g.one_of(WIDTHS)], -3, 3)


def norm_of(g, x):
    """By its operator, in the rows' own type or, as models in f16 have it, in f32."""
    wide = x.dtype == "float16" and g.chance(0.4)
    rows = g.node("Cast", [x], kind=EXACT, to=CODES["float32"]) if wide else x
    scale = g.weight(rows.dtype, [x.shape[-1]], 0.3, 2)
    if g.chance(0.6):
        bias = [g.weight(rows.dtype, [x.shape[-1]])] if g.chance(0.7) else []
        rows = g.node("LayerNormalization", [rows, scale] + bias, kind=LOOSE, axis=-1, epsilon=1e-3)
    else:
        rows = g.node("SimplifiedLayerNormalization", [rows, scale], kind=APPROXIMATE, axis=-1, epsilon=1e-3)
    return g.node("Cast", [rows], kind=ROUNDED, to=CODES["float16"]) if wide else rows


def product_of(g, x, width):
    """With a bias and an activation, maybe; through a Gemm, where rows have no batch."""
    reach = 1.5 / x.shape[-1] ** 0.5
    if x.rank == 2 and g.chance(0.4):
        transposed = g.between(0, 1)
        shape = [width, x.shape[-1]] if transposed else [x.shape[-1], width]
        y = g.node("Gemm", [x, g.weight(x.dtype, shape, -reach, reach), g.weight(x.dtype, [width])], kind=APPROXIMATE,
                   transB=transposed)
    else:
        y = g.node("MatMul", [x, g.weight(x.dtype, [x.shape[-1], width], -reach, reach)], kind=APPROXIMATE)
        if g.chance(0.6):
            y = g.node("Add", [y, g.weight(x.dtype, [width])])
    activation = g.one_of((None, None, "Relu", "Tanh", "Sigmoid"))
    return g.node(activation, [y], kind=APPROXIMATE) if activation else y


def norm(g):
    norm_of(g, rows_of(g))


def product(g):
    product_of(g, rows_of(g), g.one_of((*WIDTHS, 40, 72)))


def residual(g):
    x = rows_of(g)
    alike = [t for t in g.visible() if t.dtype == x.dtype and t.dims == x.dims and t is not x]
    g.need(alike)
    g.node("Add", [x, g.one_of(alike)])


def feed_forward(g):
    """Norms before or after, and a residual of either."""
    x = rows_of(g)
    n = norm_of(g, x)
    y = product_of(g, product_of(g, n, g.one_of(WIDTHS)), x.shape[-1])
    y = g.node("Add", [y, g.one_of((x, n))])
    if g.chance(0.5):
        norm_of(g, y)


FAMILY = [("norm of rows", 2, norm), ("product of rows", 3, product), ("residual of rows", 2, residual),
          ("feed forward", 2, feed_forward)]
