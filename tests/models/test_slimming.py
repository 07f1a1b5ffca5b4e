"""Whole models, slimmed: fewer nodes, the same outputs in ONNX Runtime at several shapes."""

from models import slimming, wheels

import camshaft

TOLERANCE = 5e-4  # ONNX Runtime's own optimisations make 1e-4 of mobilenet_v3
DEFAULT = {
    "bert_base-legacy11-static", "bert_base-legacy14-dynamic", "efficientnet_b0-dynamo23-dynamic",
    "fasterrcnn_resnet50_fpn-legacy17-dynamic", "gpt2_past-legacy14-dynamic",
    "mobilenet_v3_large-legacy15-dynamic-batchnorm", "retinanet_resnet50_fpn-legacy13-dynamic",
    "ssd300_vgg16-legacy14-dynamic", "swin_t-legacy16-dynamic", "t5_small_encoder-dynamo20-dynamic",
    "whisper_tiny_encoder-legacy14-dynamic", *wheels.MODELS,
}
# Nodes that may be left: of broadcasts of open sizes, bodies, and slices of slices.
MOST = {
    "bert_base-legacy14-dynamic": 680, "fasterrcnn_resnet50_fpn-legacy17-dynamic": 850,
    "magika": 75, "piper_hebrew": 180, "silero_vad": 70, "silero_vad_sequence": 25, "slanet": 360,
}


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        everything = metafunc.config.getoption("--all")
        metafunc.parametrize("name", [name for name in slimming.names()
                                      if everything or name in DEFAULT])


def test_slim_model_computes_the_same(name):
    model, feeds = slimming.load(name)
    slimmed = camshaft.slim(model)
    assert slimming.count(slimmed) <= MOST.get(name, slimming.count(model))
    difference = slimming.largest_difference(model, slimmed, feeds)
    assert difference is not None, "ONNX Runtime runs none of the inputs"
    assert difference < TOLERANCE
