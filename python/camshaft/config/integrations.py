"""The settings of builds where something else leads: what decides there is refused, and what it needs is added."""

from __future__ import annotations

import pathlib
from typing import Annotated, ClassVar, Literal, Mapping, Optional

import pydantic

from .._caches import default_folder
from .build import BuildConfig, Precisions
from .values import File, Size



def _refused(who: str, **others: str) -> Mapping[str, str]:
    """What one of these has no use for."""
    tensors = f"{who} says what its tensors are like"
    engines = f"engines are for {who} to run, with the weights that they are built with"
    unseen = f"{who} shows none"
    return {"compute_capability": f"engines are for the machine that {who} runs on",
            "tensor_types": tensors, "tensor_formats": tensors, "refit": engines, "strip_weights": engines,
            "serialized_plugins": engines, "debug_tensors": unseen, "debug_unfused_tensors": unseen,
            "calibration": "calibrate with `camshaft build`, or put Q/DQ nodes into the model with `camshaft quantize`",
            **others}


_Nodes = Annotated[int, pydantic.Field(ge=1)]


class _LedConfig(BuildConfig):
    """What these have in common."""

    verbosity: Literal["none", "layer_names_only", "detailed"] = "layer_names_only"
    """as in a build, which asks for more: detailed times every layer"""


class TritonConfig(_LedConfig):
    """How Triton's backend builds a model."""

    REFUSED: ClassVar[Mapping[str, str]] = _refused("Triton")

    engine_cache: Optional[File] = None
    """a folder of engines by content, relative to the model's folder; one of the user's where it is left out"""


class ProviderConfig(_LedConfig):
    """How the execution provider for ONNX Runtime builds engines of the parts of a model that it takes."""

    REFUSED: ClassVar[Mapping[str, str]] = _refused(
        "ONNX Runtime", profiles="engines have one profile, which is in `shapes`")

    engine_cache: Optional[File] = None
    """a folder in which engines are kept, by the content of the part and its weights, settings and the machine"""
    min_nodes: _Nodes = 5
    """smaller parts stay with ONNX Runtime unless they are the whole model or have an operator such as Conv or MatMul"""
    dump_subgraphs: Optional[File] = None
    """a folder for the parts that were taken, as ONNX models"""


class TorchConfig(_LedConfig):
    """Options of `torch.compile(backend="camshaft", options={...})` and of `camshaft.torch.compile`."""

    REFUSED: ClassVar[Mapping[str, str]] = _refused(
        "PyTorch", shapes="sizes follow from the tensors, `dynamic` and `max_size`",
        profiles="sizes follow from the tensors, `dynamic` and `max_size`")

    precision: Precisions = ("fp32",)
    """as in a build; fp32, as PyTorch computes, unless others are allowed"""
    threads: Annotated[int, pydantic.Field(ge=0)] = 0
    """on the CPU; 0 for as many as PyTorch has, `torch.get_num_threads()`"""
    device: Literal["auto", "cpu", "gpu"] = "auto"
    """cpu or gpu refuses tensors that are elsewhere; auto runs where they are"""
    min_nodes: _Nodes = 1
    """operators that a part must have to become an engine"""
    max_size: Optional[Annotated[int, pydantic.Field(ge=1)]] = None
    """the largest value of a size that changes; grows as needed where it is left out"""
    cache: bool = True
    """keep engines on disk"""
    engine_cache: Optional[File] = None
    """the folder for them; `torch` in $CAMSHAFT_CACHE, or in `camshaft` of the user's caches, where it is left out"""
    cache_bytes: Size = 20 << 30
    """the oldest engines go when there are more"""

    @property
    def folder(self) -> pathlib.Path:
        """Where engines are kept."""
        return pathlib.Path(self.engine_cache) if self.engine_cache else default_folder() / "torch"
