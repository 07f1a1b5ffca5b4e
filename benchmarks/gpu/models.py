"""The networks that are compared: the same seeded weights and inputs in every process."""

import pathlib
import sys
import zlib

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts" / "zoo"))

VISION = ("resnet50", "mobilenet_v3_large", "efficientnet_b0", "vit_b_16", "swin_t",
          "convnext_tiny")
TEXT = {"bert128": ("bert", 128), "bert384": ("bert", 384), "gpt2_512": ("gpt2", 512)}
VOCABULARY = {"bert": 30522, "gpt2": 50257}


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        import transformers

        self.model = transformers.BertModel(transformers.BertConfig(attn_implementation="sdpa"))

    def forward(self, input_ids):
        return self.model(input_ids=input_ids)[0]


class Gpt2(nn.Module):
    def __init__(self):
        super().__init__()
        import transformers

        self.model = transformers.GPT2LMHeadModel(
            transformers.GPT2Config(attn_implementation="sdpa"))

    def forward(self, input_ids):
        return self.model(input_ids=input_ids, use_cache=False)[0]


def module(name):
    """The f32 module on the CPU. Random weights, spread as the zoo's are so that no error hides
    behind zeros and ones, and batch norms with the statistics of pictures."""
    torch.manual_seed(zlib.crc32(name.encode()))
    torch.backends.mha.set_fastpath_enabled(False)  # an operator that exporters do not know
    with torch.no_grad():
        if name in TEXT:
            network = Bert() if TEXT[name][0] == "bert" else Gpt2()
        else:
            import torchvision

            network = torchvision.models.get_model(name, weights=None)
        network.eval().requires_grad_(False)
        from architectures import CONVOLUTIONAL, calibrate, spread_constants

        spread_constants(network)
        if name in CONVOLUTIONAL:
            calibrate(network)
        weaken_branches(network)
    return network


def weaken_branches(network):
    """Halves what residual blocks add to their input, as training leaves it. At full strength a deep
    network of random weights multiplies rounding: ResNet-50 in f16 is then off by 3e-2 in PyTorch too,
    instead of 1e-3."""
    for block in network.modules():
        last = getattr(block, "bn3", None)
        if last is not None:
            last.weight.mul_(0.5)
            last.bias.mul_(0.5)


def inputs(name, batch, seed=None):
    """{input name: tensor} on the CPU: token ids in int64, pictures in f32."""
    generator = torch.Generator().manual_seed(batch if seed is None else seed)
    if name in TEXT:
        kind, length = TEXT[name]
        return {"input_ids": torch.randint(0, VOCABULARY[kind], (batch, length),
                                           generator=generator)}
    return {"image": torch.randn(batch, 3, 224, 224, generator=generator)}


def output_name(name):
    return "logits" if name in VISION or name.startswith("gpt2") else "hidden"


def export(name, batch, path, half=False):
    """Writes the ONNX model with these shapes."""
    network, feeds = module(name), inputs(name, batch)
    if half:
        network = network.half()
        feeds = {key: halved(value) for key, value in feeds.items()}
    partial = path.with_suffix(".partial")
    torch.onnx.export(network, tuple(feeds.values()), str(partial), dynamo=True, opset_version=20,
                      external_data=False, verbose=False, input_names=list(feeds),
                      output_names=[output_name(name)])
    partial.rename(path)


def halved(tensor):
    return tensor.half() if tensor.is_floating_point() else tensor
