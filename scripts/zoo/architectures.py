"""The zoo's architectures: modules with seeded random weights, example inputs and named axes."""

import dataclasses
import zlib
from collections.abc import Callable

import torch
import torchvision
import transformers
from torch import nn

# Networks of any picture size; the position tables of the other two fix theirs at 224.
CONVOLUTIONAL = ("resnet50", "mobilenet_v3_large", "efficientnet_b0", "convnext_tiny")
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


def build(name, opset):
    """The case called `name`, the same weights every time."""
    torch.manual_seed(zlib.crc32(name.encode()))
    # The legacy exporter knows fused attention from opset 14 on; before, the model spells it out.
    attention = "sdpa" if opset >= 14 else "eager"
    torch.backends.mha.set_fastpath_enabled(False)  # one fused operator that it never knows
    with torch.no_grad():
        if name == "bert_base":
            case = bert(attention)
        elif name == "gpt2":
            case = gpt2(attention)
        elif name == "gpt2_past":
            case = gpt2_past(attention)
        else:
            case = vision(name)
        case.module.eval().requires_grad_(False)
        spread_constants(case.module)
        if name in CONVOLUTIONAL:
            calibrate(case.module)
    return case


def spread_constants(module):
    """Makes random what starts as all zeros or all ones, since errors there would go unseen."""
    for name, parameter in module.named_parameters():
        if "layer_scale" in name:  # starts at 1e-6, which would silence ConvNeXt's blocks
            parameter.uniform_(0.1, 0.3)
        elif parameter.std() == 0:
            parameter.add_(torch.randn_like(parameter) * (0.1 if parameter.flatten()[0] else 0.02))


def calibrate(module):
    """Gives batch norms the statistics of random pictures, which keeps activations in range."""
    norms = [m for m in module.modules() if isinstance(m, nn.BatchNorm2d)]
    for norm in norms:
        norm.train()
        norm.momentum = None
    module(torch.randn(8, 3, 160, 160))
    for norm in norms:
        norm.eval()
        norm.running_var.clamp_(min=1e-3)


def vision(name):
    picture = {0: "batch"}
    if name in CONVOLUTIONAL:
        picture |= {2: "height", 3: "width"}

    def inputs(batch, larger=False):
        height, width = (256, 192) if larger and name in CONVOLUTIONAL else (224, 224)
        return (torch.randn(batch, 3, height, width),)

    return Case(torchvision.models.get_model(name, weights=None), inputs,
                {"image": picture}, {"logits": {0: "batch"}})


TEXT = {0: "batch", 1: "sequence"}


def text(batch, length):
    """Token ids and a mask in which every row but the first ends in padding."""
    mask = torch.ones(batch, length, dtype=torch.int64)
    for row in range(1, batch):
        mask[row, length - 3 * row:] = 0
    return torch.randint(0, 30000, (batch, length)), mask


class Bert(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.model = transformers.BertModel(transformers.BertConfig(
            attn_implementation=attention, initializer_range=WEIGHT_SPREAD))

    def forward(self, input_ids, attention_mask, token_type_ids):
        output = self.model(input_ids=input_ids, attention_mask=attention_mask,
                            token_type_ids=token_type_ids)
        return output.last_hidden_state, output.pooler_output


def bert(attention):
    def inputs(batch, larger=False):
        ids, mask = text(batch, 160 if larger else 128)
        return ids, mask, torch.randint(0, 2, ids.shape)

    return Case(Bert(attention), inputs,
                {"input_ids": TEXT, "attention_mask": TEXT, "token_type_ids": TEXT},
                {"last_hidden_state": TEXT, "pooler_output": {0: "batch"}})


class Gpt2(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
            attn_implementation=attention, initializer_range=WEIGHT_SPREAD))

    def forward(self, input_ids, attention_mask):
        return self.model(input_ids=input_ids, attention_mask=attention_mask,
                          use_cache=False).logits


def gpt2(attention):
    return Case(Gpt2(attention), lambda batch, larger=False: text(batch, 80 if larger else 64),
                {"input_ids": TEXT, "attention_mask": TEXT}, {"logits": TEXT})


class Gpt2Past(Gpt2):
    """One decoding step: keys and values of the past come in, those with the new tokens go out."""

    named_arguments = 2

    def forward(self, input_ids, attention_mask, *past):
        cache = transformers.DynamicCache(list(zip(past[0::2], past[1::2])))
        output = self.model(input_ids=input_ids, attention_mask=attention_mask,
                            past_key_values=cache, use_cache=True)
        layers = output.past_key_values.layers
        return output.logits, *(t for layer in layers for t in (layer.keys, layer.values))


def gpt2_past(attention):
    names = [f"{i}.{part}" for i in range(12) for part in ("key", "value")]

    def inputs(batch, larger=False):
        new, old = (4, 24) if larger else (3, 16)
        ids, mask = text(batch, new)[0], torch.ones(batch, old + new, dtype=torch.int64)
        mask[1:, :5] = 0
        return ids, mask, *(torch.randn(batch, 12, old, 64) for _ in names)

    return Case(Gpt2Past(attention), inputs,
                {"input_ids": TEXT, "attention_mask": {0: "batch", 1: "total"}}
                | {f"past.{n}": {0: "batch", 2: "past"} for n in names},
                {"logits": TEXT} | {f"present.{n}": {0: "batch", 2: "total"} for n in names})
