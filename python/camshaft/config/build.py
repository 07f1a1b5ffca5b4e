"""The settings of a build."""

from __future__ import annotations

from typing import Annotated, Any, Dict, List, Literal, Optional, Tuple, Union

import pydantic

from .base import Settings
from .values import File, Formats, Interval, Numbers, Range, Size, Type, Types, Words, parse_words

Precision = Literal["fp32", "tf32", "fp16", "bf16", "int8", "fp8", "fp4", "int4"]
Precisions = Annotated[Tuple[Precision, ...], pydantic.BeforeValidator(
    parse_words, json_schema_input_type=Union[List[Precision], str])]
TacticSource = Literal["cublas", "cublas_lt", "cudnn", "edge_mask_convolutions", "jit_convolutions"]


class Profile(Settings):
    """Shapes that an engine is built for, one of several."""

    shapes: Dict[str, Range] = {}
    """shapes of inputs, by name"""
    values: Dict[str, Range] = {}
    """values of inputs that decide sizes, by name"""


class Calibration(Settings):
    """Where the ranges of INT8 come from. Pictures become (pixel / 255 - mean) / std."""

    data: Optional[File] = None
    """a folder of pictures or of .npy or .npz files, or one such file"""
    cache: Optional[File] = None
    """a calibration cache to read; it is written where there is none yet and there is data"""
    method: Literal["entropy", "minmax"] = "entropy"
    """where tensors are clipped"""
    samples: Optional[Annotated[int, pydantic.Field(ge=1)]] = None
    """use so many of the data at most"""
    size: Optional[Tuple[int, int]] = None
    """height and width of pictures, where the model leaves them open"""
    mean: Numbers = (0.0,)
    """of pixels between 0 and 1: one number, or one for each channel"""
    std: Numbers = (1.0,)
    """likewise"""
    colors: Literal["rgb", "bgr"] = "rgb"
    """the order of a picture's channels"""

    @pydantic.field_validator("size", mode="before")
    @classmethod
    def _height_and_width(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = [int(part) if part.isdigit() else part for part in value.split("x")]
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        return [value, value] if isinstance(value, int) else value


class BuildConfig(Settings):
    """How an engine is built."""

    # What it is for.
    device: Literal["auto", "cpu", "gpu"] = "auto"
    """what the engine runs on; auto takes a GPU where there is one"""
    compute_capability: Annotated[int, pydantic.Field(ge=0, le=999)] = 0
    """build for a GPU of this compute capability, 90 for sm_90, which need not be here; 0 for the one at hand"""
    threads: Annotated[int, pydantic.Field(ge=0)] = 0
    """threads to build and time kernels with; 0 for all cores that this process may use"""
    shapes: Dict[str, Range] = {}
    """shapes of inputs that the model leaves open, by name: 1x3x224x224, or min..opt..max"""
    profiles: List[Profile] = []
    """several ranges of shapes in one engine, in place of `shapes`"""

    # Types.
    precision: Precisions = ("tf32",)
    """types that layers may compute in where that is faster; fp32 keeps f32 products at full precision"""
    strongly_typed: bool = False
    """compute in the types that the model has, and no others"""
    fixed_caches: bool = False
    """give caches that the model grows a fixed room, to be updated in place; adds the input `past_length`"""
    precision_constraints: Literal["none", "prefer", "obey"] = "none"
    """what becomes of `layer_precisions` and `layer_output_types`"""
    layer_precisions: Dict[str, Type] = {}
    """types that layers compute in, by name or a pattern with *"""
    layer_output_types: Dict[str, Types] = {}
    """types that layers store their outputs in, likewise; the last one for all that follow"""
    tensor_types: Dict[str, Type] = {}
    """types of inputs and outputs, by name, where they are to be others than the model's"""
    tensor_formats: Dict[str, Formats] = {}
    """layouts that inputs and outputs may have, by name; linear must be among them"""
    calibration: Calibration = Calibration()
    """the ranges of INT8"""
    dynamic_ranges: Dict[str, Interval] = {}
    """lowest and highest value of tensors, by name, for INT8: -1.5,1.5"""

    # How long it looks for the fastest kernels, and what it may use.
    optimization_level: Annotated[int, pydantic.Field(ge=0, le=5)] = 3
    """0 builds fastest, 5 runs fastest"""
    timing_cache: Optional[File] = None
    """a file of kernel timings to read and to add to, which makes the next build quick"""
    timing_cache_required: bool = False
    """fail where the timing cache lacks a timing, and measure nothing"""
    timing_iterations: Annotated[int, pydantic.Field(ge=1, le=1000)] = 1
    """runs that are averaged when a kernel is timed"""
    max_tactics: Annotated[int, pydantic.Field(ge=-1)] = -1
    """most kernels to time for a layer; -1 as the optimisation level says"""
    max_aux_streams: Optional[Annotated[int, pydantic.Field(ge=0)]] = None
    """streams of a GPU beside the main one; 0 runs layers one after the other"""
    tiling_level: Annotated[int, pydantic.Field(ge=0, le=3)] = 0
    """how long to look for tilings of several layers"""
    l2_limit_for_tiling: Optional[Size] = None
    """L2 cache that tilings may use"""
    tactic_sources: Dict[TacticSource, bool] = {}
    """libraries to take kernels from, or not"""
    workspace: Optional[Size] = None
    """most scratch memory of a layer: 512M, 1G; all there is where it is left out"""
    tactic_shared_memory: Optional[Size] = None
    """most shared memory of a GPU's kernel"""
    tactic_dram: Optional[Size] = None
    """most memory of the device that trying a kernel may take"""

    # What the engine is.
    refit: Literal["none", "all", "individual", "identical"] = "none"
    """weights that can be changed afterwards: all, those that the network names, or the same ones again"""
    strip_weights: bool = False
    """leave weights out of the engine, to be given back by a refit"""
    weight_streaming: bool = False
    """let weights stay on the host until a GPU needs them"""
    version_compatible: bool = False
    """let later versions load the engine"""
    hardware_compatibility: Literal["none", "ampere_plus", "same_compute_capability"] = "none"
    """GPUs that the engine runs on besides those like the one here"""
    verbosity: Literal["none", "layer_names_only", "detailed"] = "detailed"
    """what the engine remembers of its layers; detailed has kernels, times and reasons for `camshaft inspect`"""
    debug_tensors: Words = ()
    """tensors of the model that a run can show"""
    debug_unfused_tensors: bool = False
    """all tensors that the build keeps, likewise"""

    # Plugins, and what one looks for mistakes with.
    plugins: Words = ()
    """libraries of plugins to load"""
    static_plugins: Words = ()
    """libraries that register their plugins themselves when they are loaded"""
    serialized_plugins: Words = ()
    """libraries of plugins to put into the engine"""
    plugin_override: bool = False
    """let a plugin take the place of an operator of the same name"""
    disabled_passes: Words = ()
    """passes of the optimiser to leave out"""
    graph_folder: Optional[File] = None
    """write the graph as text into this folder, before and after the passes that change it"""

    @pydantic.model_validator(mode="after")
    def _check(self) -> BuildConfig:
        if self.shapes and self.profiles:
            raise ValueError("shapes and profiles are both given: shapes is for one profile, and several are all in "
                             "profiles")
        return self

    @property
    def all_profiles(self) -> List[Profile]:
        """The profiles, whichever way they were given."""
        return [Profile(shapes=self.shapes)] if self.shapes else self.profiles

    def apply(self, builder: Any, network: Any, config: Any) -> None:
        """Sets all of it on an `IBuilder`, the parsed network and an `IBuilderConfig`: the one way in which
        settings reach a build. `strongly_typed`, `fixed_caches`, `plugins` and `plugin_override` are for whoever makes
        the network."""
        from .apply import apply

        apply(self, builder, network, config)
