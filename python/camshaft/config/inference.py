"""The settings of runs."""

from __future__ import annotations

from typing import Annotated, Any, Dict, Literal, Optional

import pydantic

from .base import Settings
from .values import File, Numbers, Shape, Words, parse_size

NotNegative = Annotated[float, pydantic.Field(ge=0)]


class InferenceConfig(Settings):
    """How an engine is loaded and run."""

    # Loading it.
    threads: Annotated[int, pydantic.Field(ge=0)] = 0
    """threads of an engine for the CPU; 0 for all cores that this process may use"""
    profile: Annotated[int, pydantic.Field(ge=0)] = 0
    """the optimisation profile to run with"""
    allocation: Literal["static", "profile"] = "static"
    """memory of a context: for all profiles, or for the one that runs"""
    weights: Optional[File] = None
    """an ONNX model whose weights the engine is given, where it was built for refits or without its weights"""
    weight_streaming_budget: str = "all"
    """weights that stay on the GPU: all, auto, a share such as 30%, or bytes such as 512M"""
    plugins: Words = ()
    """libraries of plugins to load"""
    static_plugins: Words = ()
    """libraries that register their plugins themselves when they are loaded"""
    host_code_allowed: bool = False
    """load the libraries of plugins that an engine brings along; only from who is trusted"""

    # Inputs that no file gives.
    shapes: Dict[str, Shape] = {}
    """shapes of random inputs, by name; the profile's opt where it is left out"""
    seed: int = 0
    """of random inputs"""

    # Measuring it.
    warm_up: NotNegative = 200
    """milliseconds to run before timing"""
    iterations: Annotated[int, pydantic.Field(ge=1)] = 10
    """run at least this often"""
    duration: NotNegative = 1
    """run at least this many seconds"""
    idle: NotNegative = 0
    """milliseconds to rest after every run"""
    streams: Annotated[int, pydantic.Field(ge=1, le=256)] = 1
    """contexts that run at the same time, each in a thread; they share the threads of the CPU"""
    percentiles: Numbers = (50, 90, 95, 99)
    """latencies to tell, in percent of the runs that are quicker"""

    # Comparing its outputs.
    atol: NotNegative = 1e-5
    """absolute difference from a reference that is allowed"""
    rtol: NotNegative = 1e-3
    """relative difference that is allowed beside it"""

    @pydantic.field_validator("weight_streaming_budget", mode="before")
    @classmethod
    def _budget(cls, value: Any) -> Any:
        text = str(value)
        if text not in ("all", "auto") and not text.endswith("%"):
            parse_size(text)
        elif text.endswith("%") and not text[:-1].replace(".", "", 1).isdigit():
            raise ValueError("should be all, auto, a share such as 30%, or bytes such as 512M")
        return text

    @pydantic.field_validator("percentiles")
    @classmethod
    def _percent(cls, value: Any) -> Any:
        if not all(0 < percent < 100 for percent in value):
            raise ValueError("should be between 0 and 100")
        return value

    def budget_of(self, engine: Any) -> Optional[int]:
        """Bytes of weights that stay on the GPU; none: all of them."""
        text = self.weight_streaming_budget
        if text == "all":
            return None
        if text == "auto":
            return int(engine.get_weight_streaming_automatic_budget())
        if text.endswith("%"):
            return int(engine.streamable_weights_size * float(text[:-1]) / 100)
        return int(parse_size(text))
