"""Whole models against ONNX Runtime: one engine per model, several shapes each.

By default one variant of each architecture and axes; `pytest --all` takes every one, and
CAMSHAFT_TEST_ENGINES=gpu runs them on the GPU.
"""

import pytest
from models import inputs, regenerate, wheels
from models.agreement import TOLERANCE, check, tf32_error

# Chosen so that both exporters, old and new opsets, and dynamic and static axes are all there.
DEFAULT = {
    "bert_base-dynamo20-dynamic", "bert_base-legacy11-static",
    "clip_text-legacy14-dynamic", "clip_vision-dynamo20-dynamic",
    "convnext_tiny-dynamo18-dynamic",
    "deeplabv3_resnet50-dynamo20-dynamic",
    "efficientnet_b0-dynamo23-dynamic",
    "fasterrcnn_resnet50_fpn-legacy17-dynamic",
    "gpt2-legacy14-dynamic", "gpt2_past-dynamo20-dynamic",
    "maskrcnn_resnet50_fpn-legacy12-dynamic",
    "mobilenet_v3_large-legacy15-dynamic-batchnorm",
    "resnet50-dynamo20-static", "resnet50-legacy13-dynamic",
    "retinanet_resnet50_fpn-legacy13-dynamic", "ssd300_vgg16-legacy14-dynamic",
    "swin_t-dynamo23-dynamic", "swin_t-legacy12-static",
    "t5_small_decoder_past-legacy14-dynamic", "t5_small_encoder-dynamo20-dynamic",
    "vit_b_16-dynamo23-static", "vit_b_16-legacy17-dynamic",
    "whisper_tiny_decoder_past-dynamo20-dynamic", "whisper_tiny_encoder-legacy14-dynamic",
}
# Where the faster products that TF32 allows are checked too: networks that don't multiply rounding
# a thousand times, as mobilenet with drawn weights does.
TF32 = ("bert_base-dynamo20-dynamic", "convnext_tiny-dynamo18-dynamic", "resnet50-dynamo20-static")


def pytest_generate_tests(metafunc):
    if "exported" in metafunc.fixturenames:
        everything = metafunc.config.getoption("--all")
        metafunc.parametrize("exported", [name for name in regenerate.names()
                                          if everything or name in DEFAULT])


def test_exported_model_agrees_with_onnxruntime(exported):
    model = regenerate.load(exported)
    feeds = [inputs.feeds(model, dims, seed) for seed, dims in enumerate(inputs.dims(exported))]
    check(model.SerializeToString(), feeds)


@pytest.mark.parametrize("exported_for_tf32", TF32)
def test_tf32_stays_close(exported_for_tf32):
    model = regenerate.load(exported_for_tf32)
    feeds = [inputs.feeds(model, dims) for dims in inputs.dims(exported_for_tf32)]
    allowed = 3 * max(tf32_error(model, feed) for feed in feeds)
    check(model.SerializeToString(), feeds, tf32=True, tolerance=allowed)


@pytest.mark.parametrize("wheel", wheels.MODELS.values(), ids=wheels.MODELS)
def test_wheel_model_agrees_with_onnxruntime(wheel):
    feeds = [wheel.feeds(case, seed) for seed, case in enumerate(wheel.cases)]
    check(wheel.path.read_bytes(), feeds)
