"""Makes the structure-only models of this folder out of those in zoo/ (`make zoo`).

    .venv/bin/python tests/models/strip.py [NAME...]      all of STRIPPED by default

regenerate.py describes the result.
"""

import base64
import lzma
import sys
import zlib

import inputs
import numpy
import onnx
import onnxruntime
import regenerate
from onnx import TensorProto

ZOO = regenerate.FOLDER.parents[1] / "zoo"
SMALLEST = 128  # elements; what is smaller stays as it is
FEW_VALUES = 16  # a float tensor with at most so many distinct values is a mask, not a weight

# Each architecture from both exporters, opsets 11 to 23, static and dynamic.
STRIPPED = (
    "resnet50-dynamo20-static", "resnet50-legacy12-static-batchnorm", "resnet50-legacy13-dynamic",
    "mobilenet_v3_large-dynamo18-dynamic", "mobilenet_v3_large-legacy11-static",
    "mobilenet_v3_large-legacy15-dynamic-batchnorm",
    "efficientnet_b0-dynamo23-dynamic", "efficientnet_b0-legacy12-static",
    "convnext_tiny-dynamo18-dynamic", "convnext_tiny-dynamo20-static",
    "convnext_tiny-legacy13-static", "convnext_tiny-legacy17-dynamic",
    "vit_b_16-dynamo20-static", "vit_b_16-dynamo23-static", "vit_b_16-dynamo18-dynamic",
    "vit_b_16-legacy14-static", "vit_b_16-legacy17-dynamic",
    "swin_t-dynamo20-static", "swin_t-dynamo23-dynamic", "swin_t-legacy12-static",
    "swin_t-legacy16-dynamic",
    "bert_base-dynamo18-static", "bert_base-dynamo20-dynamic", "bert_base-dynamo23-dynamic",
    "bert_base-legacy11-static", "bert_base-legacy14-dynamic", "bert_base-legacy17-dynamic",
    "gpt2-dynamo18-static", "gpt2-dynamo20-dynamic", "gpt2-dynamo23-dynamic",
    "gpt2-legacy11-static", "gpt2-legacy14-dynamic", "gpt2-legacy17-dynamic",
    "gpt2_past-dynamo20-dynamic", "gpt2_past-legacy14-dynamic",
    "t5_small_encoder-dynamo20-dynamic", "t5_small_encoder-legacy13-dynamic",
    "t5_small_encoder-legacy17-dynamic",
    "t5_small_decoder-dynamo20-dynamic", "t5_small_decoder-legacy14-dynamic",
    "t5_small_decoder_past-dynamo20-dynamic", "t5_small_decoder_past-legacy14-dynamic",
    "whisper_tiny_encoder-dynamo20-dynamic", "whisper_tiny_encoder-legacy14-dynamic",
    "whisper_tiny_decoder-dynamo20-dynamic", "whisper_tiny_decoder-legacy14-dynamic",
    "whisper_tiny_decoder_past-dynamo20-dynamic", "whisper_tiny_decoder_past-legacy14-dynamic",
    "clip_text-dynamo20-dynamic", "clip_text-legacy14-dynamic",
    "clip_vision-dynamo20-dynamic", "clip_vision-legacy14-dynamic",
    "deeplabv3_resnet50-dynamo20-dynamic", "deeplabv3_resnet50-legacy12-dynamic",
    "fasterrcnn_resnet50_fpn-legacy11-dynamic", "fasterrcnn_resnet50_fpn-legacy17-dynamic",
    "maskrcnn_resnet50_fpn-legacy12-dynamic", "maskrcnn_resnet50_fpn-legacy16-dynamic",
    "retinanet_resnet50_fpn-legacy13-dynamic", "retinanet_resnet50_fpn-legacy17-dynamic",
    "ssd300_vgg16-legacy11-dynamic", "ssd300_vgg16-legacy14-dynamic",
)


def strip(model):
    """Turns the data of large tensors into recipes and drops what is commentary, in place."""
    model.ClearField("metadata_props")
    model.graph.ClearField("value_info")
    drop_commentary(model.graph)
    for _, tensor in regenerate.tensors(model.graph):
        values = onnx.numpy_helper.to_array(tensor)
        if values.size < SMALLEST:
            continue
        is_weight = (values.dtype.kind == "f"
                     and numpy.unique(values.flat[:4096]).size > FEW_VALUES)
        recipe = weight_recipe(values) if is_weight else constant_recipe(values)
        for field in ("raw_data", "float_data", "int32_data", "int64_data"):
            tensor.ClearField(field)
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in recipe.items():
            tensor.external_data.add(key=key, value=value)


def drop_commentary(graph):
    graph.ClearField("doc_string")
    graph.ClearField("metadata_props")
    for item in [*graph.node, *graph.input, *graph.output, *graph.initializer]:
        item.ClearField("doc_string")
        item.ClearField("metadata_props")


def weight_recipe(values):
    if values.min() > 0:
        kind = "lognormal"
    elif values.ndim == 4 and values.shape[1] > 1:
        # After a ReLU all channels are positive; a filter with a mean would pass on their sum,
        # which is nearly the same for every picture, and bury the rest.
        kind = "filters"
    else:
        kind = "normal"
    values = values.astype(numpy.float64)
    return {"location": kind, "mean": f"{values.mean():.4g}", "std": f"{values.std():.4g}"}


def constant_recipe(values):
    packed = zlib.compress(values.tobytes(), 9)
    return {"location": "zlib", "data": base64.b64encode(packed).decode()}


# Layers whose results decide which boxes a detector finds, in the order of the computation, and the
# spread of each: with weights drawn anew there would be no boxes, or scores that are all alike.
HEADS = (("rpn.head.cls_logits", 1.5), ("rpn.head.bbox_pred", 0.3),
         ("box_predictor.cls_score", 1.0), ("box_predictor.bbox_pred", 1.0),
         ("mask_predictor.mask_fcn_logits", 2.0),
         ("classification_head.cls_logits", 0.5), ("regression_head.bbox_reg", 0.3))


CALM = 0.25  # by which the branches of a detector's residual blocks are weakened


def settle_heads(model, name):
    """Scales the recipes of detectors' heads, and stores biases that put each channel's mean on the
    bias that the layer was exported with.

    Branches that are as strong as what they are added to multiply rounding errors from block to
    block, until they decide which box comes first; so these are weakened before.
    """
    if not any(tensor.name.endswith(tuple(head + ".weight" for head, _ in HEADS)) for tensor in model.graph.initializer):
        return
    weights = {node.input[1] for node in model.graph.node if node.name.endswith("conv3/Conv")}
    for tensor in model.graph.initializer:
        if tensor.name in weights:
            scale_recipe(tensor, CALM)
    for head, spread in HEADS:
        weight = next((tensor for tensor in model.graph.initializer
                       if tensor.name.endswith(head + ".weight")), None)
        if weight is None:
            continue
        bias = next(tensor for tensor in model.graph.initializer
                    if tensor.name == weight.name.removesuffix("weight") + "bias")
        complete = regenerate.filled(model)
        level = onnx.numpy_helper.to_array(next(tensor for tensor in complete.graph.initializer
                                                if tensor.name == bias.name))
        results = results_of(complete, name, weight.name)
        means = results.mean(0)
        scale = spread / (results - means).std()
        scale_recipe(weight, scale)
        settled = (level - scale * (means - level)).astype(numpy.float32)
        bias.CopyFrom(onnx.numpy_helper.from_array(settled, bias.name))


def scale_recipe(tensor, factor):
    for entry in tensor.external_data:
        if entry.key in ("mean", "std"):
            entry.value = f"{float(entry.value) * factor:.4g}"


def results_of(model, name, weight):
    """What the first layer with this weight computes from an example, as [places, channels]."""
    node = next(node for node in model.graph.node if weight in node.input)
    model.graph.output.append(onnx.helper.make_tensor_value_info(
        node.output[0], TensorProto.FLOAT, None))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (results,) = session.run([node.output[0]], inputs.feeds(model, inputs.dims(name)[0]))
    return numpy.moveaxis(results, 1, -1).reshape(-1, results.shape[1])


def check(name):
    """Raises unless the regenerated model is valid and runs to finite, varied results."""
    model = regenerate.load(name)
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    spreads = []
    for dims in inputs.dims(name):
        results = session.run(None, inputs.feeds(model, dims))
        if not all(result.dtype.kind == "i" or numpy.isfinite(result).all() and result.std() > 1e-3
                   for result in results):
            raise RuntimeError(f"{name} at {dims}: results are not finite or all equal")
        spreads.append(results[0].std())
    return spreads


def main():
    for name in sys.argv[1:] or STRIPPED:
        model = onnx.load(ZOO / f"{name}.onnx")
        strip(model)
        settle_heads(model, name)
        path = regenerate.FOLDER / (name + regenerate.SUFFIX)
        path.write_bytes(lzma.compress(model.SerializeToString(), preset=9 | lzma.PRESET_EXTREME))
        spreads = check(name)
        print(f"{name}: {path.stat().st_size / 1e3:.0f} KB, {len(model.graph.node)} nodes, "
              f"first output's spread {', '.join(f'{s:.2g}' for s in spreads)}", flush=True)


if __name__ == "__main__":
    main()
