"""Plugins from a few decorated functions.

``register`` describes the outputs, ``impl`` computes them, ``autotune`` lists the types, layouts and
tactics that may be tried::

    @plugin.register("example::add_one")
    def describe(x: plugin.TensorDesc, step: int) -> plugin.TensorDesc:
        return x.like()

    @plugin.impl("example::add_one")
    def compute(x: plugin.Tensor, step: int, outputs: tuple[plugin.Tensor], stream: int) -> None:
        np.copyto(np.asarray(outputs[0]), np.asarray(x) + step)

    layer = network.add_plugin(plugin.op.example.add_one(tensor, step=1))

Where the engine is for the CPU a ``Tensor`` is an array of numpy's by ``np.asarray``; on a GPU it has
``__cuda_array_interface__``.
"""

from ._autotune import (
    AutoTuneCombination as AutoTuneCombination,
)
from ._decorators import (
    aot_impl as aot_impl, autotune as autotune,
    impl as impl, op as op,
    register as register,
)
from ._expressions import (
    ShapeExpr as ShapeExpr, ShapeExprs as ShapeExprs,
    cdiv as cdiv, max as max,
    min as min,
)
from ._launches import (
    ISymExpr as ISymExpr, ISymExprs as ISymExprs,
    KernelLaunchParams as KernelLaunchParams, PluginArgDataType as PluginArgDataType,
    PluginArgType as PluginArgType, SymExprs as SymExprs,
    SymInt8 as SymInt8, SymInt16 as SymInt16,
    SymInt32 as SymInt32, SymIntExprs as SymIntExprs,
)
from ._tensors import (
    Shape as Shape, SizeTensorDesc as SizeTensorDesc,
    Tensor as Tensor, TensorDesc as TensorDesc,
    from_shape_expr as from_shape_expr, size_tensor as size_tensor,
)
