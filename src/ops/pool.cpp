#include "ops/pool.h"

#include <cmath>

#include "ir/dispatch.h"
#include "ops/rules.h"
#include "ops/window.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferPool(const Node& node) {
  const auto& attrs = node.as<PoolAttrs>();
  const TensorType& x = node.inputs[0]->type;
  const ImageLayout layout{attrs.channelsLast, x.rank()};
  requireWindows(node, layout.spatialRank(), {&attrs.kernel, &attrs.strides, &attrs.dilations},
                 {&attrs.padsBegin, &attrs.padsEnd});
  if (attrs.kind != PoolKind::kMax) requireFloat(node, 0);
  if (node.outputs.size() > 1 && attrs.kind != PoolKind::kMax)
    fail(ErrorKind::kInvalidModel, describe(node),
         " has an output of indices, which only max pooling gives");

  const std::vector<Window> windows = windowsOf(attrs, attrs.kernel);
  Shape spatial;
  for (int64_t i = 0; i < layout.spatialRank(); ++i)
    spatial.push_back(
        windowCount(node, windows[i], x.shape[layout.spatialAxis(i)], attrs.ceilMode));
  const Shape shape = layout.assemble(x.shape[0], x.shape[layout.channelAxis()], spatial);
  std::vector<TensorType> types{{x.type, shape}};
  if (node.outputs.size() > 1) types.push_back({DataType::kI64, shape});
  return types;
}

// Position of an element of channel (n, c) in the input as [N, C, spatial...].
struct IndexNumbering {
  const ImageView& image;
  bool columnMajor;

  int64_t operator()(int64_t n, int64_t c, int64_t offset) const {
    const size_t rank = image.spatial.size();
    int64_t position = 0, step = 1;
    for (size_t i = 0; i < rank; ++i) {
      const size_t axis = columnMajor ? i : rank - 1 - i;
      position += offset / image.spatialStrides[axis] % image.spatial[axis] * step;
      step *= image.spatial[axis];
    }
    return (n * image.channels + c) * step + position;
  }
};

// NaNs lose to numbers, and the first of equal maxima wins.
template <class T>
void maxPool(const Evaluation& evaluation, const PoolAttrs& attrs) {
  const ImageView x(evaluation.inputs[0].dims, attrs.channelsLast);
  const ImageView y(evaluation.outputs[0].dims, attrs.channelsLast);
  const T* input = evaluation.inputs[0].as<T>();
  T* output = evaluation.outputs[0].as<T>();
  int64_t* indices = evaluation.outputs.size() > 1 ? evaluation.outputs[1].as<int64_t>() : nullptr;
  const IndexNumbering indexOf{x, attrs.columnMajorIndices};
  forEachWindow(windowsOf(attrs, attrs.kernel), x, y.spatial, [&](const WindowTaps& window) {
    for (int64_t n = 0; n < x.batch; ++n) {
      for (int64_t c = 0; c < x.channels; ++c) {
        const T* image = input + n * x.batchStride + c * x.channelStride;
        auto valueAt = [&](int64_t offset) { return static_cast<Compute<T>>(image[offset]); };
        int64_t best = window.taps.empty() ? 0 : window.taps[0].offset;
        for (const Tap& tap : window.taps) {
          const bool bestIsNan = valueAt(best) != valueAt(best);
          if (valueAt(tap.offset) > valueAt(best) ||
              (bestIsNan && valueAt(tap.offset) == valueAt(tap.offset)))
            best = tap.offset;
        }
        const int64_t to =
            n * y.batchStride + c * y.channelStride + offsetOf(window.position, y.spatialStrides);
        output[to] = window.taps.empty() ? T(Compute<T>{}) : image[best];
        if (indices) indices[to] = indexOf(n, c, best);
      }
    }
  });
}

double pooled(const PoolAttrs& attrs, const WindowTaps& window, const double* image) {
  double sum = 0;
  if (attrs.kind == PoolKind::kAverage) {
    for (const Tap& tap : window.taps) sum += image[tap.offset];
    const int64_t count = attrs.countIncludePad ? window.tapsWithPadding : window.taps.size();
    return count == 0 ? 0 : sum / count;
  }
  for (const Tap& tap : window.taps) sum += std::pow(std::fabs(image[tap.offset]), attrs.p);
  return std::pow(sum, 1.0 / attrs.p);
}

void evaluatePool(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<PoolAttrs>();
  if (attrs.kind == PoolKind::kMax) {
    dispatch(evaluation.inputs[0].type,
             [&](auto tag) { maxPool<decltype(tag)>(evaluation, attrs); });
    return;
  }
  const ImageView x(evaluation.inputs[0].dims, attrs.channelsLast);
  const ImageView y(evaluation.outputs[0].dims, attrs.channelsLast);
  const std::vector<double> input = readReals(evaluation.inputs[0]);
  std::vector<double> output(evaluation.outputs[0].count());
  forEachWindow(windowsOf(attrs, attrs.kernel), x, y.spatial, [&](const WindowTaps& window) {
    for (int64_t n = 0; n < x.batch; ++n)
      for (int64_t c = 0; c < x.channels; ++c)
        output[n * y.batchStride + c * y.channelStride +
               offsetOf(window.position, y.spatialStrides)] =
            pooled(attrs, window, &input[n * x.batchStride + c * x.channelStride]);
  });
  writeReals(evaluation.outputs[0], output);
}

}  // namespace

const OpInfo ops::Pool = {"Pool", 1, 1, -1, makeAttrsOf<PoolAttrs>, inferPool, evaluatePool};

}  // namespace camshaft
