#include "backends/cuda/attention/flash.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/attention/flash_text.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/services.h"
#include "backends/cuda/strided/strided.h"
#include "ops/attention.h"
#include "support/text.h"

namespace camshaft::cuda::attention {
namespace {

constexpr int kMask = 3;
constexpr int kMostHeads = 65535;  // of a grid's y

// The sizes of a node, whichever way its keys lie.
struct Sizes {
  const Shape &q, &k, &v;
  Dim batches, heads, queries, keys, keyHeads, headSize, valueSize;
  explicit Sizes(const Node& node)
      : q(node.inputs[0]->shape()),
        k(node.inputs[1]->shape()),
        v(node.inputs[2]->shape()),
        batches(q[0]),
        heads(q[1]),
        queries(q[2]),
        keys(v[2]),
        keyHeads(v[1]),
        headSize(q[3]),
        valueSize(v[3]) {}
};

std::optional<DataType> biasTypeOf(const Node& node) {
  if (!node.hasInput(kMask)) return std::nullopt;
  return node.inputs[kMask]->dataType();
}

Verdict supportsAny(const Node& node) {
  const Sizes sizes(node);
  if (node.epilogue) return Verdict::no("takes no epilogue");
  if (!sizes.headSize.isConstant() || !sizes.valueSize.isConstant())
    return Verdict::no("needs head sizes known while building");
  if (!sizes.heads.isConstant() || !sizes.keyHeads.isConstant() || sizes.heads.value() > kMostHeads)
    return Verdict::no("needs a number of heads known while building");
  const DataType bias = biasTypeOf(node).value_or(DataType::kF32);
  if (bias != DataType::kF32 && bias != DataType::kF16 && bias != DataType::kBF16 &&
      bias != DataType::kBool && bias != node.inputs[0]->dataType())
    return Verdict::no(str("has no ", bias, " masks"));
  return Verdict::yes();
}

Verdict supportsFlash(const Node& node) {
  if (Verdict verdict = supportsAny(node); !verdict) return verdict;
  const DataType type = node.inputs[0]->dataType();
  if (type != DataType::kF16 && type != DataType::kBF16)
    return Verdict::no(str("multiplies f16 and bf16, not ", type));
  const Sizes sizes(node);
  const int64_t head = sizes.headSize.value(), value = sizes.valueSize.value();
  if (head % 8 != 0 || value % 8 != 0 || head > 256 || value > 256 || head < 1 || value < 1)
    return Verdict::no(
        str("needs head sizes that are multiples of 8 up to 256, not ", head, " and ", value));
  if (node.as<AttentionAttrs>().transposedKeys)
    return Verdict::no("needs the features of a key side by side");
  return Verdict::yes();
}

Verdict supportsPlain(const Node& node) {
  if (Verdict verdict = supportsAny(node); !verdict) return verdict;
  const DataType type = node.inputs[0]->dataType();
  if (type != DataType::kF32 && type != DataType::kF16 && type != DataType::kBF16 &&
      type != DataType::kF64)
    return Verdict::no(str("has no ", type, " arithmetic"));
  if (Sizes(node).valueSize.value() > 2048) return Verdict::no("keeps results in registers");
  return Verdict::yes();
}

std::vector<FlashTile> tilesOf(const Node& node, const std::function<int64_t(const Dim&)>& opt) {
  const Sizes sizes(node);
  const Target& target = services().target();
  const FlashSizes wanted{.sm = target.sm,
                          .queries = opt(sizes.queries),
                          .keys = opt(sizes.keys),
                          .headSize = static_cast<int>(sizes.headSize.value()),
                          .valueSize = static_cast<int>(sizes.valueSize.value()),
                          .hasBias = node.hasInput(kMask)};
  return flashTiles(wanted);
}

// For sizes known only later, as many as there can be; prepare() refuses what is too many.
std::vector<int64_t> configurations(const Node& node) {
  const auto size = [](const Dim& dim) { return dim.isConstant() ? dim.value() : int64_t{4096}; };
  std::vector<int64_t> all(tilesOf(node, size).size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  return all;
}

// A bias as the kernel reads it.
struct Bias {
  std::vector<Dim> strides{0, 0, 0, 0};  // batch, head, row, key
  bool inPairs = false;
};

bool isEven(const Dim& dim) { return isMultiple(dim, 2); }

// Rows of an odd length, padded by one element: two neighbours can then be read at once.
std::vector<std::byte> padRows(std::span<const std::byte> bytes, int64_t rowBytes,
                               int64_t elementBytes) {
  const int64_t rows = static_cast<int64_t>(bytes.size()) / rowBytes;
  std::vector<std::byte> padded(rows * (rowBytes + elementBytes));
  for (int64_t i = 0; i < rows; ++i)
    std::memcpy(padded.data() + i * (rowBytes + elementBytes), bytes.data() + i * rowBytes,
                rowBytes);
  return padded;
}

Bias addBias(KernelText& kernel, const Node& node) {
  if (!node.hasInput(kMask)) return {};
  const Sizes sizes(node);
  const Value& mask = *node.inputs[kMask];
  const Shape scores{sizes.batches, sizes.heads, sizes.queries, sizes.keys};
  Shape shape = mask.shape();
  const bool isPadded = mask.isConstant() && sizes.keys.isConstant() && !shape.empty() &&
                        shape.back() == sizes.keys && sizes.keys.value() % 2 != 0 &&
                        sizes.keys.value() > 1;
  Bias bias{.strides = broadcastStrides(shape, scores)};
  if (isPadded) {
    const int64_t element = bitsOf(mask.dataType()) / 8, row = shape.back().value() * element;
    shape.back() = shape.back() + 1;
    Shape wide = scores;
    wide.back() = shape.back();
    bias.strides = broadcastStrides(shape, wide);
    kernel.packedInput("bias", {mask.dataType(), shape},
                       padRows(mask.constant->bytes, row, element));
  } else {
    kernel.input("bias", kMask);
  }
  bias.inPairs = bias.strides[3].isConstant(1) && (isPadded || isEven(sizes.keys)) &&
                 std::all_of(bias.strides.begin(), bias.strides.end() - 1, isEven);
  return bias;
}

std::string problemText(KernelText& kernel, const Node& node, const Bias& bias) {
  const auto& attrs = node.as<AttentionAttrs>();
  const Sizes sizes(node);
  const auto stridesText = [&](const Shape& shape) -> StridesText {
    const std::vector<Dim> strides = contiguousStrides(shape);
    return {kernel.size(strides[0]), kernel.size(strides[1]), kernel.size(strides[2])};
  };
  AttentionText text;
  text.batches = kernel.size(sizes.batches);
  text.queries = kernel.size(sizes.queries);
  text.keys = kernel.size(sizes.keys);
  text.group = str(sizes.heads.value() / std::max<int64_t>(1, sizes.keyHeads.value()));
  if (attrs.alignEnd) text.causalOffset = str(text.keys, " - ", text.queries);
  text.q = stridesText(sizes.q);
  text.k = stridesText(sizes.k);
  if (attrs.transposedKeys) {
    text.kFeature = text.k.token;
    text.k.token = "1";
  }
  text.v = stridesText(sizes.v);
  text.out = stridesText(node.output()->shape());
  text.hasBias = node.hasInput(kMask);
  text.biasBatch = kernel.size(bias.strides[0]);
  text.biasHead = kernel.size(bias.strides[1]);
  text.biasRow = kernel.size(bias.strides[2]);
  text.biasKey = kernel.size(bias.strides[3]);
  text.biasModulo = text.batches;
  return text.text();
}

// The kernel's operands and its call, once its constants and device code stand before it.
Prepared finished(KernelText& kernel, const Node& node, const Bias& bias, LaunchShape shape,
                  int rows, int cluster) {
  const Sizes sizes(node);
  kernel.output("y");
  kernel.body += "  extern __shared__ __align__(1024) char memory[];\n";
  kernel.body += problemText(kernel, node, bias);
  kernel.body += "  attention::attend(p, memory);\n";
  shape.grid[0] = ceilDiv(sizes.queries, rows) * sizes.batches * Dim(cluster);
  shape.grid[1] = sizes.heads;
  shape.cluster = cluster;
  return kernel.prepared(shape);
}

void addOperands(KernelText& kernel) {
  kernel.input("q", 0);
  kernel.input("k", 1);
  kernel.input("v", 2);
}

Prepared prepareFlash(const Node& node, const PrepareOptions& options) {
  const auto& attrs = node.as<AttentionAttrs>();
  const Sizes sizes(node);
  const std::vector<FlashTile> tiles = tilesOf(node, options.opt);
  Prepared refused;
  if (options.config >= static_cast<int64_t>(tiles.size())) {
    refused.refusal = str("has ", tiles.size(), " tiles for these sizes");
    return refused;
  }
  const FlashTile& tile = tiles[options.config];
  KernelText kernel(str("attention_", node.inputs[0]->dataType(), "_", tile.rows(), "x",
                        tile.tileKeys(), tile.warpgroups ? "_wgmma" : "_mma"),
                    node, options);
  addOperands(kernel);
  const Bias bias = addBias(kernel, node);
  const FlashKernel flash{
      .element = node.inputs[0]->dataType(),
      .bias = biasTypeOf(node),
      .headSize = static_cast<int>(sizes.headSize.value()),
      .valueSize = static_cast<int>(sizes.valueSize.value()),
      .causal = attrs.causal,
      .biasPairs = bias.inPairs,
      .singleTile = options.max(sizes.keys) <= int64_t{tile.tileKeys()} * tile.keyBlocks,
      .scale = attrs.scale,
      .softcap = attrs.softcap,
      .tile = tile};
  if (flash.sharedBytes() > services().target().sharedBytesPerBlock) {
    refused.refusal = str("needs ", flash.sharedBytes(), " bytes of shared memory");
    return refused;
  }
  kernel.include("attention_primitives.cuh");
  kernel.functions += flash.constants();
  kernel.include("attention_problem.cuh");
  kernel.include("attention_mma.cuh");
  return finished(kernel, node, bias, {.block = tile.threads(), .sharedBytes = flash.sharedBytes()},
                  tile.rows(), tile.keyBlocks);
}

Prepared preparePlain(const Node& node, const PrepareOptions& options) {
  const auto& attrs = node.as<AttentionAttrs>();
  const Sizes sizes(node);
  const PlainKernel plain{.element = node.inputs[0]->dataType(),
                          .bias = biasTypeOf(node),
                          .headSize = static_cast<int>(sizes.headSize.value()),
                          .valueSize = static_cast<int>(sizes.valueSize.value()),
                          .causal = attrs.causal,
                          .transposedKeys = attrs.transposedKeys,
                          .scale = attrs.scale,
                          .softcap = attrs.softcap};
  KernelText kernel(str("attention_", plain.element, "_plain"), node, options);
  addOperands(kernel);
  const Bias bias = addBias(kernel, node);
  kernel.functions += plain.constants();
  kernel.include("attention_problem.cuh");
  kernel.include("attention_plain.cuh");
  return finished(kernel, node, bias,
                  {.block = plain.threads(), .sharedBytes = plain.sharedBytes()}, plain.rows(), 1);
}

constexpr Kernel kKernels[] = {
    {.name = "cuda/attention_flash",
     .supports = supportsFlash,
     .prepare = prepareFlash,
     .configurations = configurations},
    {.name = "cuda/attention_plain", .supports = supportsPlain, .prepare = preparePlain},
};

}  // namespace

KernelList flashKernels() { return kKernels; }

}  // namespace camshaft::cuda::attention
