#include "backends/cuda/conv/hopper_windows.h"

#include <algorithm>

#include "backends/cuda/conv/convolution.h"
#include "backends/cuda/conv/partial_windows.h"
#include "backends/cuda/conv/product.h"
#include "backends/cuda/gemm/hopper/hopper.h"
#include "backends/cuda/gemm_int8/operands.h"
#include "ops/ops.h"

namespace camshaft::cuda {
namespace {

constexpr int kZeroPoint = 2;

// One-dimensional images have one row.
struct Windowed {
  const Node& node;
  Convolution conv;
  bool isOfBytes;
  ProductImages images;
  std::string refusal;  // why it cannot be; empty: it can

  explicit Windowed(const Node& n) : node(n), conv(n), isOfBytes(n.op == &ops::ConvInteger) {
    refusal = whyNotConv();
    if (!refusal.empty()) return;
    const size_t last = conv.spatialRank() - 1;
    images.count = conv.from[0];
    images.breadth = conv.fromSize(last);
    if (last > 0) images.height = conv.fromSize(0);
    images.channels = conv.groupInputs;
    refusal = whyNotImages();
    if (refusal.empty()) refusal = whyNotZeroPoint();
  }

  DataType type() const { return node.inputs[0]->dataType(); }
  bool hasZeroPoint() const {
    if (!isOfBytes || !node.hasInput(kZeroPoint)) return false;
    const Value& zero = *node.inputs[kZeroPoint];
    return !zero.isConstant() || zero.isOpaque() ||
           *static_cast<const uint8_t*>(zero.view().data) != 0;
  }
  // Of the images, which are known.
  std::vector<int64_t> sizes() const {
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < conv.spatialRank(); ++i) sizes.push_back(conv.fromSize(i).value());
    return sizes;
  }
  // Whether something outside of the images is read that is not zero.
  bool hasPartialWindows() const {
    return hasZeroPoint() &&
           std::any_of(conv.windows.begin(), conv.windows.end(),
                       [](const Window& w) { return w.padBegin > 0 || w.padEnd > 0; });
  }

 private:
  std::string whyNotConv() const {
    if (!conv.refusal.empty()) return conv.refusal;
    if (conv.isTransposed || !conv.layout.channelsLast || conv.groups != 1)
      return "needs channels last in one group";
    if (conv.spatialRank() < 1 || conv.spatialRank() > 2)
      return "takes one or two spatial dimensions";
    if (std::all_of(conv.windows.begin(), conv.windows.end(), [](const Window& w) {
          return w.kernel == 1 && w.stride == 1 && w.padBegin == 0 && w.padEnd == 0;
        }))
      return "leaves single pixels to the matrix product";
    if (!node.inputs[1]->isConstant()) return "needs constant weights";
    if (!isFloat(type()) && !isOfBytes) return "multiplies floats, or bytes";
    return whyWiderCentred(node);
  }

  std::string whyNotImages() {
    static constexpr int64_t kMost = 1 << 14;  // whatever is larger is refused below
    HopperWindow* const to[] = {&images.windows.x, &images.windows.y};
    const auto narrow = [&](int64_t value) {
      return static_cast<int32_t>(std::clamp(value, -kMost, kMost));
    };
    for (size_t i = 0; i < conv.spatialRank(); ++i) {
      const Window& from = conv.windows[conv.spatialRank() - 1 - i];
      *to[i] = {narrow(from.kernel), narrow(from.stride), narrow(from.dilation),
                narrow(from.padBegin), narrow(from.padEnd)};
    }
    if (const char* why = whyNot(images.windows)) return why;
    if (images.channels * bitsOf(type()) / 8 % 16 != 0)
      return "needs pixels that are a multiple of 16 bytes";
    return {};
  }

  std::string whyNotZeroPoint() const {
    if (!hasPartialWindows()) return {};
    constexpr int64_t kMostSums = 1 << 20;
    if (!images.height.isConstant() || !images.breadth.isConstant())
      return "needs to know the images' sizes while building where padding is not zero";
    return countKinds(conv.windows, sizes()) > kMostSums / std::max<int64_t>(conv.outputs(), 1)
               ? "has too many kinds of windows where padding is not zero"
               : "";
  }
};

// [outputs, depth], or [depth, outputs]: zeros but for
// ((tap * blocks + block) * elements of a block + channel of it).
template <class T>
std::vector<std::byte> packed(const void* data, const Windowed& w, int64_t depth,
                              const ChannelBlocks& blocks) {
  const int64_t outputs = w.conv.outputs(), inputs = w.conv.groupInputs, taps = w.conv.taps();
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

std::vector<std::byte> packed(const Windowed& w, const HostTensor& weights, int64_t depth) {
  const ChannelBlocks blocks = blocksOf(w.images.windows, w.images.channels, w.type());
  const void* from = weights.bytes.data();
  const int bytes = bitsOf(weights.type) / 8;
  return bytes == 4   ? packed<uint32_t>(from, w, depth, blocks)
         : bytes == 2 ? packed<uint16_t>(from, w, depth, blocks)
                      : packed<uint8_t>(from, w, depth, blocks);
}

// For questions that the weights' values do not matter to, they are left out.
enum class Contents : uint8_t { kLeftOut, kPacked };

HostTensor weightsOf(const Windowed& w, Contents contents) {
  if (contents == Contents::kPacked || w.hasPartialWindows()) return centredWeights(w.node);
  HostTensor without;
  without.type = centredType(w.node);
  return without;
}

// The product with windows for rows.
struct WindowProduct {
  ConvProduct product;
  HopperProduct hopper;
  const Node& node() const { return *product.node; }

  WindowProduct(const Windowed& w, Contents contents)
      : WindowProduct(w, weightsOf(w, contents), contents) {}

 private:
  WindowProduct(const Windowed& w, const HostTensor& weights, Contents contents)
      : product(w.node, matrixOf(w, weights, contents),
                w.hasZeroPoint() ? std::vector<int>{kZeroPoint} : std::vector<int>{}),
        hopper(hopperProductOf(*product.node)) {
    hopper.images = w.images;
    if (!w.hasPartialWindows()) return;
    PartialWindows partial = partialWindows(w.conv.windows, w.sizes(), weights);
    hopper.zeroRow = std::move(partial.kindOf);
    hopper.zeroSums = std::move(partial.sums);
  }

  static ConvMatrix matrixOf(const Windowed& w, const HostTensor& weights, Contents contents) {
    const int64_t depth = depthOf(w.images.windows, w.images.channels, w.type());
    const int64_t bytes = w.conv.outputs() * depth * bitsOf(weights.type) / 8;
    return {weights.type, depth,
            ConstantData::own(contents == Contents::kPacked ? packed(w, weights, depth)
                                                            : std::vector<std::byte>(bytes))};
  }
};

Verdict supports(const Node& node, const BuildContext& context) {
  const Windowed windowed(node);
  if (!windowed.refusal.empty()) return Verdict::no(windowed.refusal);
  const WindowProduct product(windowed, Contents::kLeftOut);
  return supportsHopper(product.node(), product.hopper, context);
}

std::vector<int64_t> configurations(const Node& node, const BuildContext& context) {
  const Windowed windowed(node);
  const WindowProduct product(windowed, Contents::kLeftOut);
  return hopperConfigurations(product.node(), product.hopper, context);
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const Windowed windowed(node);
  const WindowProduct product(windowed,
                              windowed.isOfBytes ? Contents::kPacked : Contents::kLeftOut);
  Prepared prepared =
      product.product.ofConv(prepareHopper(product.node(), product.hopper, context, config));
  // The product takes floats as they lie in the node that it was asked about.
  if (prepared.verdict && !windowed.isOfBytes)
    prepared.inputs[1] = StepInput::fromPacking(product.node().inputs[1]->type, [&node] {
      const Windowed own(node);
      return packed(own, centredWeights(node),
                    depthOf(own.images.windows, own.images.channels, own.type()));
    });
  return prepared;
}

bool inPlace(const Node& node, int input) {
  const Windowed windowed(node);
  const WindowProduct product(windowed, Contents::kLeftOut);
  const int place = product.product.placeOf(node, input);
  return place >= 0 && readsInPlace(product.node(), place);
}

}  // namespace

const Kernel& hopperConvKernel() {
  static constexpr Kernel kKernel{.name = "cuda/conv_hopper",
                                  .supports = supports,
                                  .prepare = prepare,
                                  .configurations = configurations,
                                  .inPlace = inPlace,
                                  .usualConfigurations = kUsualHopperConfigs};
  return kKernel;
}

}  // namespace camshaft::cuda
