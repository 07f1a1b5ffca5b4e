"""torchvision's detectors and segmentation, their random heads set so that some boxes survive."""

import functools

import torch
import torchvision
from cases import Case
from torch import nn

# Pictures are resized so that the shorter side has 160 pixels, a fraction of the default's work,
# and few boxes are kept of many, so that no two scores are so close that rounding could swap them.
SMALL = {"min_size": 160, "max_size": 256}
DETECTORS = {
    "fasterrcnn_resnet50_fpn": SMALL | {"box_detections_per_img": 20},
    "maskrcnn_resnet50_fpn": SMALL | {"box_detections_per_img": 20},
    "retinanet_resnet50_fpn": SMALL | {"detections_per_img": 20},
    "ssd300_vgg16": {"detections_per_img": 20},
}
# By the end of a layer's name: the spread of its results, and the level they get. A level is a
# bias on all classes but the first, the background, unless it is for all.
HEADS = {
    "rpn.head.cls_logits": (1.5, 0),
    "rpn.head.bbox_pred": (0.3, 0),
    "box_predictor.cls_score": (1.0, 0),
    "box_predictor.bbox_pred": (1.0, 0),
    "mask_predictor.mask_fcn_logits": (2.0, 0),
    "classification_head.cls_logits": (0.5, -4.6),
    "regression_head.bbox_reg": (0.3, 0),
}
BACKGROUND = {"fasterrcnn_resnet50_fpn": 4, "maskrcnn_resnet50_fpn": 4, "ssd300_vgg16": 6.5}
CLASSES = 91


class Detector(nn.Module):
    """A detector of one picture [3, height, width], which gives its results as a tuple."""

    def __init__(self, name):
        super().__init__()
        make = getattr(torchvision.models.detection, name)
        self.model = make(weights=None, weights_backbone=None, **DETECTORS[name])

    def forward(self, image):
        return tuple(self.model([image])[0].values())


class Segmentation(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = torchvision.models.segmentation.deeplabv3_resnet50(
            weights=None, weights_backbone=None)

    def forward(self, image):
        return self.model(image)["out"]


def detector(name):
    module = Detector(name).eval().requires_grad_(False)
    calibrate(module, picture(200, 150))
    set_background(module, name)

    def inputs(batch, larger=False):
        return (picture(190, 250) if larger else picture(150, 200),)

    outputs = ["boxes", "labels", "scores"]
    if "rcnn" not in name:
        outputs = ["boxes", "scores", "labels"]
    axes = {name: {0: "detections"} for name in outputs}
    if name.startswith("maskrcnn"):
        axes["masks"] = {0: "detections", 2: "height", 3: "width"}
    return Case(module, inputs, {"image": {1: "height", 2: "width"}}, axes)


def picture(height, width):
    """Blobs of colour and some noise: parts of it differ as parts of a photograph do."""
    coarse = torch.rand(1, 3, height // 24 + 2, width // 24 + 2)
    smooth = nn.functional.interpolate(coarse, (height, width), mode="bicubic")[0]
    return (smooth + 0.1 * torch.randn(3, height, width)).clamp(0, 1)


def calibrate(module, image):
    """Scales the heads by what `image` makes of them, in the order of the computation."""
    for name, layer in module.named_modules():
        head = next((HEADS[end] for end in HEADS if name.endswith(end)), None)
        if name.startswith("model.head.") and ".module_list." in name:  # SSD, a list of layers each
            head = (0.6, 0) if "classification" in name else (0.5, 0)
        if head and isinstance(layer, (nn.Linear, nn.Conv2d)):
            layer.register_forward_pre_hook(functools.partial(scale, *head))
    module(image)
    for layer in module.modules():
        layer._forward_pre_hooks.clear()


def scale(spread, level, layer, arguments):
    """Gives the results of `layer` this spread around `level`; once, at its first pyramid level."""
    if hasattr(layer, "is_scaled"):
        return
    layer.is_scaled = True
    layer.weight.sub_(layer.weight.mean(tuple(range(1, layer.weight.dim())), keepdim=True))
    layer.bias.zero_()
    layer.weight.mul_(spread / layer.forward(*arguments).std())
    layer.bias.fill_(level)


def set_background(module, name):
    """Makes the first class, the background, the usual answer."""
    for layer_name, layer in module.named_modules():
        is_score = "cls_score" in layer_name or (
            "classification_head.module_list." in layer_name)
        if is_score and name in BACKGROUND:
            layer.bias.view(-1, CLASSES)[:, 0] = BACKGROUND[name]
