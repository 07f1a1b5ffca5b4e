#include "ops/conv.h"
#include "ops/rules.h"
#include "ops/window.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferConvTranspose(const Node& node) {
  const auto& attrs = node.as<ConvTransposeAttrs>();
  const TensorType& x = node.inputs[0]->type;
  const ImageLayout layout{attrs.channelsLast, x.rank()};
  requireWindows(node, layout.spatialRank(), {&attrs.strides, &attrs.dilations},
                 {&attrs.padsBegin, &attrs.padsEnd, &attrs.outputPadding});
  requireRank(node, 1, "weights", x.rank());
  requireSameType(node, 1, 0);
  const Shape& weights = node.inputs[1]->shape();
  const Dim& channels = x.shape[layout.channelAxis()];
  requireEqual(node, channels, "input channels", weights[0], "its weights need");
  if (attrs.groups < 1 || !mayBeEqual(mod(channels, attrs.groups), 0))
    fail(ErrorKind::kInvalidModel, describe(node), " has ", channels,
         " input channels, which do not divide into ", attrs.groups, " groups");
  requireMultiple(node, channels, "input channels", attrs.groups);
  const Dim outputs = weights[1] * attrs.groups;
  if (node.hasInput(2)) requireShape(node, 2, "a bias", {outputs});

  Shape spatial;
  for (int64_t i = 0; i < layout.spatialRank(); ++i) {
    const Dim& in = x.shape[layout.spatialAxis(i)];
    spatial.push_back((in - 1) * attrs.strides[i] + attrs.outputPadding[i] +
                      (weights[i + 2] - 1) * attrs.dilations[i] + 1 - attrs.padsBegin[i] -
                      attrs.padsEnd[i]);
    if (spatial.back().isConstant() && spatial.back().value() < 1)
      fail(ErrorKind::kInvalidModel, describe(node), " pads away its whole output: dimension ", i,
           " of the image would have size ", spatial.back());
    requireAtLeast(node, spatial.back(), str("elements in dimension ", i, " of its output image"),
                   1);
  }
  return {{x.type, layout.assemble(x.shape[0], outputs, spatial)}};
}

// The transpose of a convolution from y to x: every element of x adds to the taps that its window
// covers in y.
void evaluateConvTranspose(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<ConvTransposeAttrs>();
  const ImageView x(evaluation.inputs[0].dims, attrs.channelsLast);
  const ImageView y(evaluation.outputs[0].dims, attrs.channelsLast);
  const std::vector<double> input = readReals(evaluation.inputs[0]);
  const std::vector<double> weights = readReals(evaluation.inputs[1]);
  std::vector<double> output(evaluation.outputs[0].count());

  const Dims& weightDims = evaluation.inputs[1].dims;
  const int64_t groupInputs = weightDims[0] / attrs.groups, groupOutputs = weightDims[1];
  const Dims kernel(weightDims.begin() + 2, weightDims.end());
  const int64_t kernelSize = countOf(kernel);
  forEachWindow(windowsOf(attrs, kernel), y, x.spatial, [&](const WindowTaps& window) {
    for (int64_t n = 0; n < x.batch; ++n) {
      for (int64_t c = 0; c < x.channels; ++c) {
        const double value = input[n * x.batchStride + c * x.channelStride +
                                   offsetOf(window.position, x.spatialStrides)];
        for (int64_t m = 0; m < groupOutputs; ++m) {
          const int64_t channel = c / groupInputs * groupOutputs + m;
          double* image = &output[n * y.batchStride + channel * y.channelStride];
          const double* taps = &weights[(c * groupOutputs + m) * kernelSize];
          for (const Tap& tap : window.taps) image[tap.offset] += value * taps[tap.kernel];
        }
      }
    }
  });
  if (evaluation.node.hasInput(2)) {
    const std::vector<double> bias = readReals(evaluation.inputs[2]);
    for (size_t i = 0; i < output.size(); ++i) output[i] += bias[i / y.channelStride % y.channels];
  }
  writeReals(evaluation.outputs[0], output);
}

}  // namespace

const OpInfo ops::ConvTranspose = {
    "ConvTranspose",      2, 3, 1, makeAttrsOf<ConvTransposeAttrs>, inferConvTranspose,
    evaluateConvTranspose};

}  // namespace camshaft
