"""The zoo's architectures: modules with seeded random weights, example inputs and named axes."""

import zlib

import detection
import encoder_decoder
import torch
import torchvision
import transformers
from cases import TEXT, WEIGHT_SPREAD, Case, text
from torch import nn

# Networks of any picture size; the position tables of the other two fix theirs at 224.
CONVOLUTIONAL = ("resnet50", "mobilenet_v3_large", "efficientnet_b0", "convnext_tiny",
                 "deeplabv3_resnet50")


def build(name, opset):
    """The case called `name`, the same weights every time."""
    torch.manual_seed(zlib.crc32(name.encode()))
    # The legacy exporter knows fused attention from opset 14 on; before, the model spells it out.
    attention = "sdpa" if opset >= 14 else "eager"
    torch.backends.mha.set_fastpath_enabled(False)  # one fused operator that it never knows
    with torch.no_grad():
        if name in detection.DETECTORS:
            return detection.detector(name)
        case = TEXTS[name](attention) if name in TEXTS else vision(name)
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

    if name == "deeplabv3_resnet50":
        return Case(detection.Segmentation(), inputs, {"image": picture}, {"logits": picture})
    return Case(torchvision.models.get_model(name, weights=None), inputs,
                {"image": picture}, {"logits": {0: "batch"}})


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


TEXTS = {
    "bert_base": bert, "gpt2": gpt2, "gpt2_past": gpt2_past,
    "t5_small_encoder": encoder_decoder.t5_encoder,
    "t5_small_decoder": encoder_decoder.t5_decoder,
    "t5_small_decoder_past": encoder_decoder.t5_decoder_past,
    "whisper_tiny_encoder": encoder_decoder.whisper_encoder,
    "whisper_tiny_decoder": encoder_decoder.whisper_decoder,
    "whisper_tiny_decoder_past": encoder_decoder.whisper_decoder_past,
    "clip_text": encoder_decoder.clip_text, "clip_vision": encoder_decoder.clip_vision,
}
