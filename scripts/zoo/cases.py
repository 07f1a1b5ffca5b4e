"""What the architectures share: a module ready to export, its axes, and example texts."""

import dataclasses
from collections.abc import Callable

import torch
from torch import nn

# Twice the libraries' default, so that attention over random weights is far from uniform.
WEIGHT_SPREAD = 0.04


@dataclasses.dataclass
class Case:
    """A module ready to export. The axes name the dimensions that vary in a dynamic export."""

    module: nn.Module
    inputs: Callable  # (batch, larger=False) -> tuple of tensors
    input_axes: dict  # name -> {axis: name}
    output_axes: dict

    @property
    def input_names(self):
        return list(self.input_axes)

    @property
    def output_names(self):
        return list(self.output_axes)

    def legacy_axes(self):
        return self.input_axes | self.output_axes

    def dynamo_shapes(self):
        """The axes in the shape of forward's arguments: the named ones, then those of *past."""
        axes = list(self.input_axes.values())
        named = getattr(self.module, "named_arguments", len(axes))
        return (*axes[:named], tuple(axes[named:])) if axes[named:] else tuple(axes)


TEXT = {0: "batch", 1: "sequence"}


def text(batch, length):
    """Token ids and a mask in which every row but the first ends in padding."""
    mask = torch.ones(batch, length, dtype=torch.int64)
    for row in range(1, batch):
        mask[row, length - 3 * row:] = 0
    return torch.randint(0, 30000, (batch, length)), mask
