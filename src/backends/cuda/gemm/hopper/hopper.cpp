#include "backends/cuda/gemm/hopper/hopper.h"

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/strides.h"
#include "backends/cuda/gemm/hopper/choice.h"
#include "backends/cuda/gemm/hopper/operands.h"
#include "backends/cuda/gemm/hopper/params.h"
#include "backends/cuda/gemm/hopper/product.h"
#include "backends/cuda/gemm/hopper/text.h"
#include "ops/gemm.h"
#include "ops/ops.h"
#include "support/byte_reader.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

// The product's sizes.
HopperProblem problemOf(const HopperProduct& product,
                        const std::function<int64_t(const Dim&)>& sizeOf) {
  HopperImages images;
  if (product.images)
    images = {.count = sizeOf(product.images->count),
              .height = sizeOf(product.images->height),
              .breadth = sizeOf(product.images->breadth),
              .channels = product.images->channels,
              .windows = product.images->windows};
  return {.m = sizeOf(product.m),
          .n = sizeOf(product.n),
          .k = sizeOf(product.k),
          .batch = sizeOf(product.batch),
          .batchA = product.batchA,
          .batchB = product.batchB,
          .typeA = product.typeA,
          .typeB = product.typeB,
          .transposedA = product.transposedA,
          .transposedB = product.transposedB,
          .images = images,
          .normalises = product.normalises,
          .keepsMoments = product.keepsMoments};
}

Verdict supports(const Node& node, const BuildContext& context) {
  if (node.op != &ops::MatMul && node.op != &ops::MomentMatMul && node.op != &ops::NormMatMul &&
      node.op != &ops::MatMulInteger)
    return Verdict::no("multiplies matrices only");
  return supportsHopper(node, hopperProductOf(node), context);
}

std::vector<int64_t> configurations(const Node& node, const BuildContext& context) {
  return hopperConfigurations(node, hopperProductOf(node), context);
}

HopperEpilogue epilogueFor(const Node& node, const HopperProduct& product,
                           const HopperConfig& config) {
  return hopperEpilogueOf(node, product,
                          config.residualTiles > 0 ? Residual::kFetched : Residual::kRead);
}

std::string sourceOf(const Node& node, const HopperProduct& product, const HopperConfig& config,
                     const HopperEpilogue& epilogue) {
  HopperText text{
      .config = config,
      .typeA = product.typeA,
      .typeB = product.typeB,
      .outputType = storageType(node.output()->dataType()),
      .transposedA = product.transposedA,
      .transposedB = product.transposedB,
      .constantB = node.inputs[1]->isConstant(),
      .wholeColumns = hasWholeColumns(node, product),
      .wholeTiles = isMultiple(product.n, config.tileN * config.shareA),
      .columnEpilogue = epilogue.isByColumn,
      .quads = hasQuads(node, product),
      .keepsMoments = product.keepsMoments,
      .unrollEpilogue = config.blocksPerSm > 1 ? 2 : epilogue.unroll,
      .entry = product.images ? entryOf(config, product.images->windows) : kHopperGemmEntry,
      .windows = product.images ? std::optional(product.images->windows) : std::nullopt,
      .channels = product.images ? product.images->channels : 0};
  if (product.normalises) {
    const auto& norm = node.as<NormMatMulAttrs>();
    text.rowLength = product.k.value();
    text.centres = !norm.rms;
    text.epsilon = norm.epsilon;
  }
  return str(deviceSource("device/prelude.cuh"), deviceSource("scalar_math.h"), scalarFunctions(),
             deviceSource("device/scalar_instructions.cuh"), deviceSource("device/bytes.cuh"),
             deviceSource("device/fast_activations.cuh"), deviceSource("device/barriers.cuh"),
             deviceSource("device/hopper.cuh"), hopperHead(text),
             deviceSource("gemm/hopper/tiles.cuh"), deviceSource("gemm/hopper/moments.cuh"),
             deviceSource("gemm/hopper/store.cuh"), deviceSource("gemm/hopper/gemm.cuh"),
             epilogue.text);
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  return prepareHopper(node, hopperProductOf(node), context, config);
}

}  // namespace

Verdict supportsHopper(const Node& node, const HopperProduct& product,
                       const BuildContext& context) {
  if (context.target.computeCapability / 10 != 9)
    return Verdict::no("needs a GPU of compute capability 9.0");
  if (!product.refusal.empty()) return Verdict::no(product.refusal);
  return Verdict{hopperEpilogueOf(node, product).refusal};
}

std::vector<int64_t> hopperConfigurations(const Node& node, const HopperProduct& product,
                                          const BuildContext& context) {
  constexpr size_t kMostTimed = 8;
  HopperProblem problem = problemOf(product, context.opt);
  problem.epilogueWork = workOfEpilogue(node);
  if (hopperEpilogueOf(node, product).residual > 0)
    problem.residualBytes = bitsOf(node.output()->dataType()) / 8;
  std::vector<int64_t> packed;
  for (const HopperConfig& config :
       promisingConfigs(problem, context.target.multiprocessors, kMostTimed))
    packed.push_back(pack(config));
  return packed;
}

Prepared prepareHopper(const Node& node, const HopperProduct& product, const BuildContext& context,
                       int64_t config) {
  if (product.typeA == DataType::kF32 && !context.allowTf32)
    return Prepared::no("multiplies f32 as TF32, which the build does not allow");
  const HopperConfig tiles = unpackHopper(config);
  const HopperProblem problem = problemOf(product, context.opt);
  if (const char* why = whyNot(tiles, problem)) return Prepared::no(why);
  if (tiles.normalises != product.normalises)
    return Prepared::no("normalises rows where none are to be, or the other way round");
  const HopperEpilogue epilogue = epilogueFor(node, product, tiles);
  if (tiles.residualTiles > 0 &&
      (epilogue.residual == 0 || tiles.residualBytes * 8 != bitsOf(node.output()->dataType())))
    return Prepared::no("has no residual of which tiles could be fetched");
  Prepared prepared;
  prepared.runtimeKernel = kHopperGemmKernel;
  prepared.inputs = hopperInputs(node, product);
  prepared.dimArgs = {product.m, product.n, product.k, product.batch};
  if (const auto& images = product.images)
    prepared.dimArgs.insert(prepared.dimArgs.end(),
                            {images->count, images->height, images->breadth, images->channels});
  prepared.source = sourceOf(node, product, tiles, epilogue);
  ByteWriter writer;
  writer.write(HopperParams{
      .config = config,
      .typeA = product.typeA,
      .typeB = product.typeB,
      .transposedA = product.transposedA,
      .transposedB = product.transposedB,
      .batchA = product.batchA,
      .batchB = product.batchB,
      .keepsMoments = product.keepsMoments,
      // Of the inputs, behind A and B.
      .residual = static_cast<uint8_t>(tiles.residualTiles > 0 ? epilogue.residual + 1 : 0),
      .numbers = static_cast<uint8_t>(epilogue.numbers.size())});
  for (const float number : epilogue.numbers) writer.write(number);
  if (product.images) writer.write(product.images->windows);
  prepared.params = writer.take();
  return prepared;
}

const Kernel& hopperGemmKernel() {
  static constexpr Kernel kKernel{.name = kHopperGemmKernel,
                                  .supports = supports,
                                  .prepare = prepare,
                                  .configurations = configurations,
                                  .inPlace = readsInPlace,
                                  .usualConfigurations = kUsualHopperConfigs};
  return kKernel;
}

}  // namespace camshaft::cuda
