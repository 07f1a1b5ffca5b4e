#include "backends/cuda/attention/flash.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "backends/cuda/attention/flash_text.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/strides.h"
#include "ops/attention.h"
#include "support/text.h"

namespace camshaft::cuda::attention {
namespace {

constexpr int kMask = 3;

std::optional<DataType> biasTypeOf(const Node& node) {
  if (!node.hasInput(kMask)) return std::nullopt;
  return node.inputs[kMask]->dataType();
}

bool isNarrow(DataType type) { return type == DataType::kF16 || type == DataType::kBF16; }
bool isComputed(DataType type) {
  return isNarrow(type) || type == DataType::kF32 || type == DataType::kF64;
}

bool readsBytes(const Node& node) {
  const DataType keys = node.inputs[1]->dataType();
  return keys == DataType::kI8 || keys == DataType::kF8E4M3;
}

Verdict supportsAny(const Node& node) {
  const AttentionGeometry sizes = attentionGeometry(node);
  if (node.epilogue && static_cast<int>(node.inputs.size()) > node.ownInputs())
    return Verdict::no("takes no operands of an epilogue");
  if (node.epilogue)
    if (std::string why = whyNotPrinted(node.epilogue->expr); !why.empty()) return Verdict::no(why);
  if (!sizes.q.size.isConstant() || !sizes.v.size.isConstant())
    return Verdict::no("needs head sizes known while building");
  if (!readsBytes(node) && node.inputs[1]->dataType() != node.inputs[0]->dataType())
    return Verdict::no(
        str("attends to keys of the type of its queries, of i8 or of f8e4m3, not to ",
            node.inputs[1]->dataType()));
  const DataType bias = biasTypeOf(node).value_or(DataType::kBool);
  if (bias != DataType::kBool && !isComputed(bias))
    return Verdict::no(str("has no ", bias, " masks"));
  return Verdict::yes();
}

// Eight elements are copied at a time.
bool isWordAligned(const HeadsView& view) {
  return view.featureStride.isConstant(1) && isMultiple(view.offset, 8) &&
         isMultiple(view.batchStride, 8) && isMultiple(view.headStride, 8) &&
         isMultiple(view.tokenStride, 8);
}

Verdict supportsFlash(const Node& node, const BuildContext& context) {
  constexpr int kAmpere = 80;  // the first with these products and copies
  if (context.target.computeCapability < kAmpere)
    return Verdict::no("needs a GPU of compute capability 8.0");
  if (Verdict verdict = supportsAny(node); !verdict) return verdict;
  const DataType type = node.inputs[0]->dataType();
  if (!isNarrow(type)) return Verdict::no(str("multiplies f16 and bf16, not ", type));
  const auto [q, k, v, out] = attentionGeometry(node);
  const int64_t head = q.size.value(), value = v.size.value();
  if (head % 8 != 0 || value % 8 != 0 || head > 256 || value > 256 || head < 1 || value < 1)
    return Verdict::no(
        str("needs head sizes that are multiples of 8 up to 256, not ", head, " and ", value));
  if (!isWordAligned(q) || !isWordAligned(k) || !isWordAligned(v) || !isWordAligned(out))
    return Verdict::no("needs the features of a head side by side, from multiples of 8 on");
  return Verdict::yes();
}

Verdict supportsPlain(const Node& node, const BuildContext&) {
  if (Verdict verdict = supportsAny(node); !verdict) return verdict;
  const DataType type = node.inputs[0]->dataType();
  if (!isComputed(type)) return Verdict::no(str("has no ", type, " arithmetic"));
  if (attentionGeometry(node).v.size.value() > 2048)
    return Verdict::no("keeps results in registers");
  return Verdict::yes();
}

// What a kernel takes for rows, heads and keys.
struct FlashRows {
  AttentionGeometry sizes;
  bool causal = false;
  int64_t together = 1;  // heads of the node that are rows of one head here
};

// Of one query, the heads that share keys are the rows of one tile: keys and values are read once
// for all of them, and the last query sees whatever is there.
FlashRows flashRows(const Node& node) {
  const auto& attrs = node.as<AttentionAttrs>();
  FlashRows rows{attentionGeometry(node), attrs.causal};
  auto& [q, k, v, out] = rows.sizes;
  if (!q.length.isConstant(1) || (attrs.causal && !attrs.alignEnd) || !attrs.windows.empty())
    return rows;
  rows.causal = false;
  if (!q.heads.isConstant() || !k.heads.isConstant()) return rows;
  rows.together = q.heads.value() / k.heads.value();
  for (HeadsView* view : {&q, &out}) {
    view->heads = k.heads;
    view->length = rows.together;
    view->tokenStride = view->headStride;
    view->headStride = view->headStride * Dim(rows.together);
  }
  return rows;
}

std::vector<FlashTile> tilesOf(const Node& node, const BuildContext& context) {
  const AttentionGeometry sizes = flashRows(node).sizes;
  const auto& opt = context.opt;
  return flashTiles({.target = context.target,
                     .heads = opt(sizes.q.batch) * opt(sizes.q.heads),
                     .queries = opt(sizes.q.length),
                     .keys = opt(sizes.k.length),
                     .mostKeys = context.max(sizes.k.length),
                     .headSize = static_cast<int>(sizes.q.size.value()),
                     .valueSize = static_cast<int>(sizes.v.size.value()),
                     .hasBias = node.hasInput(kMask),
                     .readsBytes = readsBytes(node)});
}

std::vector<int64_t> configurations(const Node& node, const BuildContext& context) {
  std::vector<int64_t> packed;
  for (const FlashTile& tile : tilesOf(node, context)) packed.push_back(pack(tile));
  return packed;
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
  const AttentionGeometry sizes = attentionGeometry(node);
  const Dim& keys = sizes.k.length;
  const Value& mask = *node.inputs[kMask];
  const int64_t batches = node.as<AttentionAttrs>().maskBatches;
  const Shape scores{batches > 0 ? Dim(batches) : sizes.q.batch, sizes.q.heads, sizes.q.length,
                     keys};
  Shape shape = mask.shape();
  const bool isPadded = mask.isConstant() && keys.isConstant() && !shape.empty() &&
                        shape.back() == keys && keys.value() % 2 != 0 && keys.value() > 1;
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
  bias.inPairs = bias.strides[3].isConstant(1) && (isPadded || isEven(keys)) &&
                 std::all_of(bias.strides.begin(), bias.strides.end() - 1, isEven);
  return bias;
}

// The same for heads that are rows.
Bias ofRows(Bias bias, const FlashRows& rows) {
  if (rows.together == 1) return bias;
  bias.strides[2] = bias.strides[1];
  bias.strides[1] = bias.strides[1] * Dim(rows.together);
  return bias;
}

StridesText stridesText(KernelText& kernel, const HeadsView& view) {
  return {.batch = kernel.size(view.batchStride),
          .head = kernel.size(view.headStride),
          .token = kernel.size(view.tokenStride)};
}

std::optional<DataType> epilogueTypeOf(const Node& node) {
  return node.epilogue ? std::optional(node.output()->dataType()) : std::nullopt;
}

// Prints storeFinished() of problem.cuh; returns the numbers that it takes from the problem.
std::vector<std::string> printEpilogue(KernelText& kernel, const Node& node) {
  if (!node.epilogue) return {};
  constexpr size_t kMostNumbers = 8;  // Problem::numbers
  std::vector<std::string> numbers;
  std::string statements;
  const std::vector<std::string> results = {"toCompute(results.v[i])"};
  const PrintedElement element =
      printElement(node.epilogue->expr, results, "t", statements, [&](float number) {
        if (numbers.size() == kMostNumbers) return literal(number, DataType::kF32);
        numbers.push_back(kernel.asArguments()(number));
        return str("p.numbers[", numbers.size() - 1, "]");
      });
  kernel.functions +=
      str("namespace attention {\ntemplate <int N>\n__device__ __forceinline__ void "
          "storeFinished(Output* to, const Vector<Element, N>& results, const Problem& p) {\n  ",
          element.type, " finished[N];\n#pragma unroll\n  for (int i = 0; i < N; ++i) {\n",
          statements, "    finished[i] = ", element.result, ";\n  }\n  writeElements<N>(to, ",
          element.pack, "<Output>(finished));\n}\n}  // namespace attention\n");
  return numbers;
}

std::string problemText(KernelText& kernel, const Node& node, const AttentionGeometry& sizes,
                        const Bias& bias, std::vector<std::string> numbers) {
  const auto& [q, k, v, out] = sizes;
  AttentionText text;
  text.batches = kernel.size(q.batch);
  text.queries = kernel.size(q.length);
  text.keys = kernel.size(k.length);
  text.group = str(kernel.size(q.heads), " / ", kernel.size(k.heads));
  if (node.as<AttentionAttrs>().alignEnd) text.causalOffset = str(text.keys, " - ", text.queries);
  text.q = stridesText(kernel, q);
  text.k = stridesText(kernel, k);
  text.v = stridesText(kernel, v);
  text.out = stridesText(kernel, out);
  text.qOffset = kernel.size(q.offset);
  text.kOffset = kernel.size(k.offset);
  text.vOffset = kernel.size(v.offset);
  text.kFeature = kernel.size(k.featureStride);
  text.hasBias = node.hasInput(kMask);
  text.biasBatch = kernel.size(bias.strides[0]);
  text.biasHead = kernel.size(bias.strides[1]);
  text.biasRow = kernel.size(bias.strides[2]);
  text.biasKey = kernel.size(bias.strides[3]);
  const int64_t batches = node.as<AttentionAttrs>().maskBatches;
  text.biasModulo = batches > 0 ? str(batches) : text.batches;
  text.numbers = std::move(numbers);
  return text.text();
}

// The kernel's operands and its call, once its constants and device code stand before it. With
// `fetches`, the cache has keys and values before the kernel waits for others.
Prepared finished(KernelText& kernel, const Node& node, const AttentionGeometry& sizes,
                  const Bias& bias, LaunchShape shape, int rows, int cluster, bool fetches) {
  const HeadsView& queries = sizes.q;
  std::vector<std::string> numbers = printEpilogue(kernel, node);
  kernel.output("y");
  kernel.early += "  extern __shared__ __align__(1024) char memory[];\n";
  kernel.early += problemText(kernel, node, sizes, bias, std::move(numbers));
  if (fetches) kernel.early += "  attention::fetchAhead(p);\n";
  kernel.body += "  attention::attend(p, memory);\n";
  shape.grid[0] = ceilDiv(queries.length, rows) * queries.batch * Dim(cluster);
  shape.grid[1] = queries.heads;
  shape.cluster = cluster;
  return kernel.prepared(shape);
}

// For the kernel's name.
std::string typesOf(const Node& node) {
  const DataType queries = node.inputs[0]->dataType();
  return readsBytes(node) ? str(queries, "_", node.inputs[1]->dataType()) : str(queries);
}

void addOperands(KernelText& kernel) {
  kernel.input("q", 0);
  kernel.input("k", 1);
  kernel.input("v", 2);
}

Prepared prepareFlash(const Node& node, const BuildContext& context, int64_t config) {
  const auto& attrs = node.as<AttentionAttrs>();
  const FlashRows rows = flashRows(node);
  const AttentionGeometry& sizes = rows.sizes;
  const FlashTile tile = unpackFlash(config);
  KernelText kernel(str("attention_", typesOf(node), "_", tile.rows(), "x", tile.tileKeys(),
                        tile.warpgroups ? "_wgmma" : "_mma"),
                    node, context);
  addOperands(kernel);
  const Bias bias = ofRows(addBias(kernel, node), rows);
  const FlashKernel flash{.element = node.inputs[0]->dataType(),
                          .stored = node.inputs[1]->dataType(),
                          .bias = biasTypeOf(node),
                          .output = epilogueTypeOf(node),
                          .headSize = static_cast<int>(sizes.q.size.value()),
                          .valueSize = static_cast<int>(sizes.v.size.value()),
                          .causal = rows.causal,
                          .biasPairs = bias.inPairs,
                          .singleTile = tile.holds(context.max(sizes.k.length)),
                          .scale = attrs.scale,
                          .softcap = attrs.softcap,
                          .windows = attrs.tokenWindows(),
                          .tile = tile};
  kernel.include("device/mma.cuh");
  kernel.functions += flash.constants();
  kernel.include("attention/problem.cuh");
  kernel.include("attention/flash_tiles.cuh");
  kernel.include("attention/flash_warp.cuh");
  kernel.include("attention/flash.cuh");
  // Of few rows each block reads keys that no other one does.
  const bool fetches = context.max(sizes.q.length) <= tile.rows();
  return finished(kernel, node, sizes, bias,
                  {.block = tile.threads(), .sharedBytes = flash.sharedBytes()}, tile.rows(),
                  tile.keyBlocks, fetches);
}

Prepared preparePlain(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<AttentionAttrs>();
  const AttentionGeometry sizes = attentionGeometry(node);
  const PlainKernel plain{.element = node.inputs[0]->dataType(),
                          .stored = node.inputs[1]->dataType(),
                          .bias = biasTypeOf(node),
                          .output = epilogueTypeOf(node),
                          .headSize = static_cast<int>(sizes.q.size.value()),
                          .valueSize = static_cast<int>(sizes.v.size.value()),
                          .causal = attrs.causal,
                          .transposedKeys = attrs.transposedKeys,
                          .scale = attrs.scale,
                          .softcap = attrs.softcap,
                          .windows = attrs.tokenWindows(),
                          .sharedBytesPerBlock = context.target.sharedBytesPerBlock};
  KernelText kernel(str("attention_", typesOf(node), "_plain"), node, context);
  addOperands(kernel);
  const Bias bias = addBias(kernel, node);
  kernel.functions += plain.constants();
  kernel.include("attention/problem.cuh");
  kernel.include("attention/plain.cuh");
  return finished(kernel, node, sizes, bias,
                  {.block = plain.threads(), .sharedBytes = plain.sharedBytes()}, plain.rows(), 1,
                  false);
}

}  // namespace

const Kernel& flashKernel() {
  static constexpr Kernel kKernel{.name = "cuda/attention_flash",
                                  .supports = supportsFlash,
                                  .prepare = prepareFlash,
                                  .configurations = configurations};
  return kKernel;
}

const Kernel& plainKernel() {
  static constexpr Kernel kKernel{
      .name = "cuda/attention_plain", .supports = supportsPlain, .prepare = preparePlain};
  return kKernel;
}

}  // namespace camshaft::cuda::attention
