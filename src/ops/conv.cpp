#include "ops/conv.h"

#include "ops/conv_rules.h"
#include "ops/rules.h"
#include "ops/window.h"

namespace camshaft {

namespace {

Dims kernelOf(const Node& node) {
  Dims kernel;
  for (size_t i = 2; i < node.inputs[1]->shape().size(); ++i) {
    const Dim& size = node.inputs[1]->shape()[i];
    if (!size.isConstant())
      fail(ErrorKind::kUnsupported, describe(node), " has weights of shape ",
           toString(node.inputs[1]->shape()), " whose kernel size must be known when building");
    kernel.push_back(size.value());
  }
  return kernel;
}

}  // namespace

Shape convShape(const Node& node) {
  const auto& attrs = node.as<ConvAttrs>();
  const TensorType& x = node.inputs[0]->type;
  const ImageLayout layout{attrs.channelsLast, x.rank()};
  requireWindows(node, layout.spatialRank(), {&attrs.strides, &attrs.dilations},
                 {&attrs.padsBegin, &attrs.padsEnd});
  requireRank(node, 1, "weights", x.rank());
  const Shape& weights = node.inputs[1]->shape();
  requireEqual(node, x.shape[layout.channelAxis()], "input channels", weights[1] * attrs.groups,
               "its weights and groups need");
  if (attrs.groups < 1 || !mayBeEqual(mod(weights[0], attrs.groups), 0))
    fail(ErrorKind::kInvalidModel, describe(node), " has ", weights[0],
         " output channels, which do not divide into ", attrs.groups, " groups");
  requireMultiple(node, weights[0], "output channels", attrs.groups);

  const std::vector<Window> windows = windowsOf(attrs, kernelOf(node));
  Shape spatial;
  for (int64_t i = 0; i < layout.spatialRank(); ++i)
    spatial.push_back(windowCount(node, windows[i], x.shape[layout.spatialAxis(i)]));
  return layout.assemble(x.shape[0], weights[0], spatial);
}

std::vector<double> convolveReals(const Evaluation& evaluation, const std::vector<double>& input,
                                  const std::vector<double>& weights,
                                  const std::vector<double>& bias) {
  const auto& attrs = evaluation.node.as<ConvAttrs>();
  const ImageView x(evaluation.inputs[0].dims, attrs.channelsLast);
  const ImageView y(evaluation.outputs[0].dims, attrs.channelsLast);
  std::vector<double> output(evaluation.outputs[0].count());

  const Dims& weightDims = evaluation.inputs[1].dims;
  const int64_t groupInputs = weightDims[1], groupOutputs = weightDims[0] / attrs.groups;
  const Dims kernel(weightDims.begin() + 2, weightDims.end());
  const int64_t kernelSize = countOf(kernel);
  forEachWindow(windowsOf(attrs, kernel), x, y.spatial, [&](const WindowTaps& window) {
    for (int64_t n = 0; n < x.batch; ++n) {
      for (int64_t m = 0; m < y.channels; ++m) {
        const int64_t firstChannel = m / groupOutputs * groupInputs;
        double sum = bias.empty() ? 0 : bias[m];
        for (int64_t c = 0; c < groupInputs; ++c) {
          const double* image = &input[n * x.batchStride + (firstChannel + c) * x.channelStride];
          const double* taps = &weights[(m * groupInputs + c) * kernelSize];
          for (const Tap& tap : window.taps) sum += image[tap.offset] * taps[tap.kernel];
        }
        output[n * y.batchStride + m * y.channelStride +
               offsetOf(window.position, y.spatialStrides)] = sum;
      }
    }
  });
  return output;
}

namespace {

std::vector<TensorType> inferConv(const Node& node) {
  const DataType type = productType(node);
  Shape shape = convShape(node);
  if (node.hasInput(2)) requireShape(node, 2, "a bias", {node.inputs[1]->shape()[0]});
  return {{type, std::move(shape)}};
}

void evaluateConv(const Evaluation& evaluation) {
  const auto reals = [&](int input) {
    return evaluation.node.hasInput(input) ? readReals(evaluation.inputs[input])
                                           : std::vector<double>();
  };
  writeReals(evaluation.outputs[0], convolveReals(evaluation, reals(0), reals(1), reals(2)));
}

}  // namespace

const OpInfo ops::Conv = {"Conv", 2, 3, 1, makeAttrsOf<ConvAttrs>, inferConv, evaluateConv};

}  // namespace camshaft
