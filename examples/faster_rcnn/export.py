"""Writes torchvision's Faster R-CNN as an ONNX model, for detect.py. Needs torch and torchvision.

    python examples/faster_rcnn/export.py faster_rcnn.onnx [--untrained]

The trained weights are downloaded by torchvision; --untrained leaves them out.
"""

import argparse

import torch
import torchvision

SIZES = {"image": {1: "height", 2: "width"}, "boxes": {0: "detections"}, "labels": {0: "detections"},
         "scores": {0: "detections"}}


class OneImage(torch.nn.Module):
    """An image to boxes, labels and scores; the detector itself takes and gives lists."""

    def __init__(self, detector):
        super().__init__()
        self.detector = detector

    def forward(self, image):
        (found,) = self.detector([image])
        return found["boxes"], found["labels"], found["scores"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("model", help="the file to write")
    arguments.add_argument("--untrained", action="store_true", help="no download; what it finds is arbitrary")
    options = arguments.parse_args()
    weights = None if options.untrained else "DEFAULT"
    detector = torchvision.models.detection.fasterrcnn_resnet50_fpn(weights=weights, weights_backbone=None)
    torch.onnx.export(OneImage(detector).eval(), (torch.rand(3, 480, 640),), options.model, input_names=["image"],
                      output_names=["boxes", "labels", "scores"], dynamic_axes=SIZES, opset_version=17, dynamo=False)
    print(f"wrote {options.model}")


if __name__ == "__main__":
    main()
