"""How each ATen operator is written in ONNX, one function per operator or family of them."""

from . import attention, index, make, move, norm, pointwise, products, reduce, scalar, windows

__all__ = ["attention", "index", "make", "move", "norm", "pointwise", "products", "reduce", "scalar",
           "windows"]
