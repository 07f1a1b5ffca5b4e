#include "backends/cuda/conv/hopper_windows.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "backends/cuda/conv/convolution.h"
#include "backends/cuda/conv/product.h"
#include "backends/cuda/gemm/hopper/hopper.h"
#include "backends/cuda/gemm_int8/operands.h"
#include "ops/gemm_int8.h"
#include "ops/ops.h"

namespace camshaft::cuda {
namespace {

constexpr size_t kMostTimed = 8;
constexpr int kZeroPoint = 2;

// One-dimensional images have one row.
struct Windowed {
  Convolution conv;
  bool isOfBytes;
  ProductImages images;
  std::string refusal;

  explicit Windowed(const Node& node)
      : conv(node), isOfBytes(node.op == &ops::ConvInteger), refusal(whyNotConv(node)) {
    if (!refusal.empty()) return;
    const size_t last = conv.spatialRank() - 1;
    images.count = conv.from[0];
    images.breadth = conv.fromSize(last);
    if (last > 0) images.height = conv.fromSize(0);
    images.channels = conv.groupInputs;
    refusal = whyNotWindows();
    if (refusal.empty()) refusal = whyNotZeroPoint(node);
  }

  // Whether something outside of the images is read.
  bool isPadded() const {
    return std::any_of(conv.windows.begin(), conv.windows.end(),
                       [](const Window& w) { return w.padBegin > 0 || w.padEnd > 0; });
  }
  int64_t taps() const { return conv.taps(); }

 private:
  std::string whyNotConv(const Node& node) const {
    if (!conv.refusal.empty()) return conv.refusal;
    if (conv.isTransposed || !conv.layout.channelsLast || conv.groups != 1)
      return "needs channels last in one group";
    if (conv.spatialRank() < 1 || conv.spatialRank() > 2)
      return "takes one or two spatial dimensions";
    const bool isPixelwise = std::all_of(
        conv.windows.begin(), conv.windows.end(), [](const Window& w) {
          return w.kernel == 1 && w.stride == 1 && w.padBegin == 0 && w.padEnd == 0;
        });
    if (isPixelwise) return "leaves single pixels to the matrix product";
    if (!node.inputs[1]->isConstant()) return "needs constant weights";
    if (!isFloat(node.inputs[0]->dataType()) && !isOfBytes) return "multiplies floats, or bytes";
    return whyWiderCentred(node);
  }

  std::string whyNotWindows() {
    HopperWindow* const to[] = {&images.windows.x, &images.windows.y};
    const size_t rank = conv.spatialRank();
    for (size_t i = 0; i < rank; ++i) {
      const Window& from = conv.windows[rank - 1 - i];
      for (int64_t value : {from.kernel, from.stride, from.dilation, from.padBegin, from.padEnd})
        if (value > kMostOfWindow || value < -kMostOfWindow) return "has a window that is too large";
      *to[i] = {static_cast<int32_t>(from.kernel), static_cast<int32_t>(from.stride),
                static_cast<int32_t>(from.dilation), static_cast<int32_t>(from.padBegin),
                static_cast<int32_t>(from.padEnd)};
    }
    const char* why = whyNot(images.windows);
    return why ? why : "";
  }

  // Copies fill with zeros what is outside of the images.
  std::string whyNotZeroPoint(const Node& node) const {
    return isPadded() && hasZeroPoint(node) ? "needs a zero point of 0 where it pads" : "";
  }

 public:
  bool hasZeroPoint(const Node& node) const {
    if (!isOfBytes || !node.hasInput(kZeroPoint)) return false;
    const Value& zero = *node.inputs[kZeroPoint];
    if (!zero.isConstant() || zero.isOpaque()) return true;
    const ConstTensorView view = zero.view();
    const auto* bytes = static_cast<const uint8_t*>(view.data);
    return std::any_of(bytes, bytes + view.count(), [](uint8_t byte) { return byte != 0; });
  }

 private:
  static constexpr int64_t kMostOfWindow = 1 << 14;
};

// [outputs, depth], or [depth, outputs]: zeros but for
// ((tap * blocks + block) * elements of a block + channel of it).
template <class T>
std::vector<std::byte> packed(const void* data, const Windowed& w, int64_t depth,
                              const ChannelBlocks& blocks) {
  const int64_t outputs = w.conv.outputs(), inputs = w.conv.groupInputs, taps = w.taps();
  const int64_t perTap = blocks.number * blocks.elements;
  std::vector<std::byte> bytes(outputs * depth * sizeof(T));
  const T* from = static_cast<const T*>(data);
  T* const to = reinterpret_cast<T*>(bytes.data());
  for (int64_t m = 0; m < outputs; ++m)
    for (int64_t c = 0; c < inputs; ++c)
      for (int64_t tap = 0; tap < taps; ++tap, ++from) {
        const int64_t k = tap * perTap + c;
        to[w.isOfBytes ? k * outputs + m : m * depth + k] = *from;
      }
  return bytes;
}

// The weights as the product has them; zeros alone where only the product's kind is asked for.
ConvMatrix matrixOf(const Node& node, const Windowed& w, bool hasData) {
  const DataType typeA = node.inputs[0]->dataType();
  const ChannelBlocks blocks = blocksOf(w.images.windows, w.images.channels, typeA);
  const int64_t depth = depthOf(w.images.windows, w.images.channels, typeA);
  const HostTensor weights = centredWeights(node);
  const int bytes = bitsOf(weights.type) / 8;
  const auto data = [&] {
    const void* from = weights.bytes.data();
    if (!hasData) return std::vector<std::byte>(w.conv.outputs() * depth * bytes);
    return bytes == 4   ? packed<uint32_t>(from, w, depth, blocks)
           : bytes == 2 ? packed<uint16_t>(from, w, depth, blocks)
                        : packed<uint8_t>(from, w, depth, blocks);
  };
  return {weights.type, depth, ConstantData::own(data())};
}

// The product with windows for rows.
struct WindowProduct {
  ConvProduct product;
  HopperProduct hopper;

  WindowProduct(const Node& node, const Windowed& w, bool hasData)
      : product(node, matrixOf(node, w, hasData),
                w.hasZeroPoint(node) ? std::vector<int>{kZeroPoint} : std::vector<int>{}),
        hopper(hopperProductOf(*product.node)) {
    hopper.images = w.images;
  }
};

std::string whyNotChannels(const Node& node, const Windowed& w) {
  const int64_t bytes = w.images.channels * bitsOf(node.inputs[0]->dataType()) / 8;
  return bytes % 16 == 0 ? "" : "needs pixels that are a multiple of 16 bytes";
}

Verdict supports(const Node& node, const BuildContext& context) {
  const Windowed windowed(node);
  if (!windowed.refusal.empty()) return Verdict::no(windowed.refusal);
  if (std::string why = whyNotChannels(node, windowed); !why.empty())
    return Verdict::no(std::move(why));
  const WindowProduct product(node, windowed, false);
  return supportsHopper(*product.product.node, product.hopper, context);
}

// Of symbols the batch counts as `batch`, others as a typical side of an image.
int64_t typicalSize(const Dim& dim, const Dim& count, int64_t batch) {
  constexpr int64_t kTypicalSide = 28;
  std::set<std::string> ofBatch;
  evaluate(count, [&](const std::string& symbol) {
    ofBatch.insert(symbol);
    return int64_t{1};
  });
  return evaluate(
      dim, [&](const std::string& symbol) { return ofBatch.contains(symbol) ? batch : kTypicalSide; });
}

std::vector<int64_t> configurations(const Node& node, const BuildContext& context) {
  const Windowed windowed(node);
  const WindowProduct product(node, windowed, false);
  const Dim& count = windowed.images.count;
  const std::vector<int64_t> batches =
      count.isConstant() ? std::vector<int64_t>{1} : std::vector<int64_t>{1, 32};
  std::vector<int64_t> packed;
  for (int64_t batch : batches)
    for (int64_t config : hopperConfigurations(
             *product.product.node, product.hopper, context, kMostTimed / batches.size(),
             [&](const Dim& dim) { return typicalSize(dim, count, batch); }))
      if (std::ranges::count(packed, config) == 0) packed.push_back(config);
  return packed;
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const Windowed windowed(node);
  const WindowProduct product(node, windowed, true);
  return product.product.ofConv(
      prepareHopper(*product.product.node, product.hopper, context, config));
}

bool inPlace(const Node& node, int input) {
  const Windowed windowed(node);
  const WindowProduct product(node, windowed, false);
  const int place = product.product.placeOf(node, input);
  return place >= 0 && readsInPlace(*product.product.node, place);
}

}  // namespace

const Kernel& hopperConvKernel() {
  static constexpr Kernel kKernel{.name = "cuda/conv_hopper",
                                  .supports = supports,
                                  .prepare = prepare,
                                  .configurations = configurations,
                                  .inPlace = inPlace};
  return kKernel;
}

}  // namespace camshaft::cuda
