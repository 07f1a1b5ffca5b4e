"""What the user of camshaft.torch can set."""

from __future__ import annotations

import dataclasses
import os
import pathlib

PRECISIONS = ("fp32", "tf32", "fp16", "bf16")


def default_folder():
    """``torch`` in ``$CAMSHAFT_CACHE``, or in ``camshaft`` of the user's cache folder."""
    if folder := os.environ.get("CAMSHAFT_CACHE"):
        return pathlib.Path(folder) / "torch"
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "camshaft" / "torch"


@dataclasses.dataclass(frozen=True)
class Settings:
    """Options of ``torch.compile(backend="camshaft", options={...})``, by the same names."""

    precision: str = "fp32"  # what engines may compute in: one of PRECISIONS
    device: str | None = None  # "cpu" or "cuda"; None: where the inputs are
    optimization_level: int | None = None  # of the build, 0 to 5; None: the builder's
    threads: int | None = None  # on the CPU; None: torch.get_num_threads()
    min_nodes: int = 1  # operators that a part must have to become an engine
    max_size: int | None = None  # the largest value of a size that changes; None: grows when needed
    cache: bool = True  # keep engines on disk
    cache_folder: str | os.PathLike | None = None  # None: default_folder()
    cache_bytes: int = 20 << 30  # the oldest engines go when there are more

    def __post_init__(self):
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision is {self.precision!r}; it can be {', '.join(PRECISIONS)}")
        if self.device not in (None, "cpu", "cuda"):
            raise ValueError(f"device is {self.device!r}; it can be 'cpu' or 'cuda'")

    @classmethod
    def of(cls, options):
        options = dict(options or {})
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(set(options) - known):
            raise ValueError(f"{unknown[0]!r} is no option of the backend camshaft, which has"
                             f" {', '.join(sorted(known))}")
        return cls(**options)

    @property
    def folder(self):
        return pathlib.Path(self.cache_folder or default_folder())
