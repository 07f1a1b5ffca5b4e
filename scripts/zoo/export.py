"""Exports the zoo: torchvision and transformers models as PyTorch's two exporters write them.

    export.py [--out zoo] [--force] [PATTERN...]

Writes `<architecture>-<exporter><opset>-<static|dynamic>[-batchnorm].onnx`. Weights are random but
seeded, so nothing is downloaded and every export of an architecture holds the same ones. What
exists already is kept unless --force is given; patterns (as in fnmatch) choose some of the files.
"""

import argparse
import fnmatch
import logging
import pathlib
import sys
import time
import traceback
import warnings

import architectures
import numpy
import onnx
import onnxruntime
import torch
from torch.onnx import TrainingMode

# (exporter, opset, axes) per architecture: both exporters everywhere, opsets 11 to 23 spread so
# that each operator's old and new spellings occur (Hardswish 14, LayerNormalization 17, Gelu 20,
# Attention 23). The legacy exporter knows scaled_dot_product_attention from opset 14 on.
EXPORTS = {
    "resnet50": ["dynamo20-static", "dynamo18-dynamic", "legacy11-static", "legacy13-dynamic",
                 "legacy12-static-batchnorm"],
    "mobilenet_v3_large": ["dynamo20-static", "dynamo18-dynamic", "legacy11-static",
                           "legacy14-dynamic", "legacy15-dynamic-batchnorm"],
    "efficientnet_b0": ["dynamo20-static", "dynamo23-dynamic", "legacy12-static",
                        "legacy15-dynamic"],
    "convnext_tiny": ["dynamo20-static", "dynamo18-dynamic", "legacy13-static",
                      "legacy17-dynamic"],
    "vit_b_16": ["dynamo20-static", "dynamo23-static", "dynamo18-dynamic", "legacy14-static",
                 "legacy17-dynamic"],
    "swin_t": ["dynamo20-static", "dynamo23-dynamic", "legacy12-static", "legacy16-dynamic"],
    "bert_base": ["dynamo18-static", "dynamo20-static", "dynamo20-dynamic", "dynamo23-dynamic",
                  "legacy11-static", "legacy14-static", "legacy14-dynamic", "legacy17-dynamic"],
    "gpt2": ["dynamo18-static", "dynamo20-static", "dynamo20-dynamic", "dynamo23-dynamic",
             "legacy11-static", "legacy14-static", "legacy14-dynamic", "legacy17-dynamic"],
    "gpt2_past": ["dynamo20-dynamic", "legacy14-dynamic"],
    "t5_small_encoder": ["dynamo20-dynamic", "legacy13-dynamic", "legacy17-dynamic"],
    "t5_small_decoder": ["dynamo20-dynamic", "legacy14-dynamic"],
    "t5_small_decoder_past": ["dynamo20-dynamic", "legacy14-dynamic"],
    "whisper_tiny_encoder": ["dynamo20-dynamic", "legacy14-dynamic"],
    "whisper_tiny_decoder": ["dynamo20-dynamic", "legacy14-dynamic"],
    "whisper_tiny_decoder_past": ["dynamo20-dynamic", "legacy14-dynamic"],
    "clip_text": ["dynamo20-dynamic", "legacy14-dynamic"],
    "clip_vision": ["dynamo20-dynamic", "legacy14-dynamic"],
    "deeplabv3_resnet50": ["dynamo20-dynamic", "legacy12-dynamic"],
    # Only the legacy exporter can write these: torch.export refuses the branch on the number of
    # boxes that torchvision chooses its suppression by.
    "fasterrcnn_resnet50_fpn": ["legacy11-dynamic", "legacy17-dynamic"],
    "maskrcnn_resnet50_fpn": ["legacy12-dynamic", "legacy16-dynamic"],
    "retinanet_resnet50_fpn": ["legacy13-dynamic", "legacy17-dynamic"],
    "ssd300_vgg16": ["legacy11-dynamic", "legacy14-dynamic"],
}


def export(architecture, variant, path):
    """Exports one variant, such as "legacy14-dynamic", to `path` and checks it against PyTorch."""
    exporter, axes, *extra = variant.split("-")
    opset = int(exporter[-2:])
    dynamic = axes == "dynamic"
    case = architectures.build(architecture, opset)
    # torch.export takes a dimension of one for a constant, so dynamic exports see a batch of two.
    inputs = case.inputs(2) if dynamic else case.inputs(1)
    names = {"input_names": case.input_names, "output_names": case.output_names}
    if exporter.startswith("dynamo"):
        shapes = case.dynamo_shapes() if dynamic else None
        torch.onnx.export(case.module, inputs, str(path), opset_version=opset, dynamo=True,
                          external_data=False, verbose=False, dynamic_shapes=shapes, **names)
    else:
        # In its evaluation mode the exporter folds batch norms into convolutions by itself.
        mode = TrainingMode.PRESERVE if "batchnorm" in extra else TrainingMode.EVAL
        torch.onnx.export(case.module, inputs, str(path), opset_version=opset, dynamo=False,
                          dynamic_axes=case.legacy_axes() if dynamic else None, training=mode,
                          do_constant_folding=not extra, **names)
    check(case, inputs, path, opset)
    if dynamic:
        check(case, case.inputs(3, larger=True), path, opset)


def check(case, inputs, path, opset):
    """Raises unless ONNX Runtime computes from `path` what PyTorch computes from the module."""
    imports = onnx.load(path, load_external_data=False).opset_import
    if (written := next(i.version for i in imports if i.domain in ("", "ai.onnx"))) != opset:
        raise RuntimeError(f"asked for opset {opset}, the exporter wrote {written}")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    kept = {value.name for value in session.get_inputs()}  # the legacy exporter drops unused ones
    feeds = {name: tensor.numpy() for name, tensor in zip(case.input_names, inputs, strict=True)
             if name in kept}
    with torch.no_grad():
        expected = case.module(*inputs)
    expected = [expected] if isinstance(expected, torch.Tensor) else expected
    for name, want, got in zip(case.output_names, expected, session.run(None, feeds), strict=True):
        want = want.numpy()
        error = numpy.linalg.norm(got - want) / numpy.linalg.norm(want)
        if not error < 2e-4 or (want.dtype.kind == "f" and want.std() < 1e-3):
            raise RuntimeError(f"{name}: relative error {error}, spread {want.std()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("patterns", nargs="*", default=["*"])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("zoo"))
    parser.add_argument("--force", action="store_true")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    args.out.mkdir(parents=True, exist_ok=True)

    failed = []
    for architecture, variants in EXPORTS.items():
        for variant in variants:
            name = f"{architecture}-{variant}"
            path = args.out / f"{name}.onnx"
            chosen = any(fnmatch.fnmatch(name, pattern) for pattern in args.patterns)
            if not chosen or (path.exists() and not args.force):
                continue
            start = time.time()
            partial = path.with_suffix(".partial")
            try:
                export(architecture, variant, partial)
                partial.rename(path)
                print(f"{name}: {path.stat().st_size / 1e6:.0f} MB in {time.time() - start:.0f} s",
                      flush=True)
            except Exception:
                partial.unlink(missing_ok=True)
                failed.append(name)
                print(f"{name}: failed\n{traceback.format_exc(limit=-3)}", flush=True)
    if failed:
        sys.exit(f"not exported: {' '.join(failed)}")


if __name__ == "__main__":
    main()
