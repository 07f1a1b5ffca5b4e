#include "backends/cuda/gemm/hopper/hopper.h"

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/strides.h"
#include "backends/cuda/gemm/hopper/choice.h"
#include "backends/cuda/gemm/hopper/params.h"
#include "backends/cuda/gemm/hopper/product.h"
#include "backends/cuda/gemm/hopper/text.h"
#include "ops/ops.h"
#include "support/byte_reader.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr size_t kMostTimed = 8;

// The node's sizes; `sizeOf` answers for symbols.
template <class SizeOf>
HopperProblem problemOf(const Node& node, const HopperProduct& product, SizeOf sizeOf) {
  return {.m = sizeOf(product.m),
          .n = sizeOf(product.n),
          .k = sizeOf(product.k),
          .batch = sizeOf(product.batch),
          .batchA = product.batchA,
          .batchB = product.batchB,
          .type = node.inputs[0]->dataType(),
          .transposedA = product.transposedA,
          .transposedB = product.transposedB};
}

Verdict supports(const Node& node, const BuildContext& context) {
  if (node.op != &ops::MatMul) return Verdict::no("multiplies matrices only");
  if (context.target.computeCapability / 10 != 9)
    return Verdict::no("needs a GPU of compute capability 9.0");
  const HopperProduct product = hopperProductOf(node);
  if (!product.refusal.empty()) return Verdict::no(product.refusal);
  const HopperEpilogue epilogue = hopperEpilogueOf(node, product);
  return Verdict{epilogue.refusal};
}

// Sizes not known before the profile count as a typical one here.
std::vector<int64_t> configurations(const Node& node, const BuildContext& context) {
  constexpr int64_t kTypical = 256;
  HopperProblem problem = problemOf(node, hopperProductOf(node), [](const Dim& dim) {
    return dim.isConstant() ? dim.value() : kTypical;
  });
  problem.epilogueWork = workOfEpilogue(node);
  std::vector<int64_t> packed;
  for (const HopperConfig& config :
       promisingConfigs(problem, context.target.multiprocessors, kMostTimed))
    packed.push_back(pack(config));
  return packed;
}

template <class T>
std::vector<std::byte> transposed(const T* from, int64_t rows, int64_t columns) {
  std::vector<std::byte> bytes(rows * columns * sizeof(T));
  T* to = reinterpret_cast<T*>(bytes.data());
  constexpr int64_t kBlock = 32;  // a block of both sides stays in cache
  for (int64_t i0 = 0; i0 < rows; i0 += kBlock)
    for (int64_t j0 = 0; j0 < columns; j0 += kBlock)
      for (int64_t i = i0; i < std::min(i0 + kBlock, rows); ++i)
        for (int64_t j = j0; j < std::min(j0 + kBlock, columns); ++j)
          to[j * rows + i] = from[i * columns + j];
  return bytes;
}

StepInput secondOperand(const Node& node, const HopperProduct& product) {
  if (!product.packsB) return StepInput::fromNode(1);
  const Value& b = *node.inputs[1];
  const int64_t k = product.k.value(), n = product.n.value();
  const void* data = b.view().data;
  return StepInput::fromBytes({b.dataType(), {n, k}},
                              b.dataType() == DataType::kF32
                                  ? transposed(static_cast<const uint32_t*>(data), k, n)
                                  : transposed(static_cast<const uint16_t*>(data), k, n));
}

std::string sourceOf(const Node& node, const HopperProduct& product, const HopperConfig& config) {
  const HopperEpilogue epilogue = hopperEpilogueOf(node, product);
  const HopperText text{.config = config,
                        .type = node.inputs[0]->dataType(),
                        .outputType = storageType(node.output()->dataType()),
                        .transposedA = product.transposedA,
                        .transposedB = product.transposedB,
                        .constantB = node.inputs[1]->isConstant(),
                        .wholeColumns = isMultiple(product.n, 8),
                        .columnEpilogue = epilogue.isByColumn,
                        .unrollEpilogue = config.blocksPerSm > 1 ? 2 : epilogue.unroll};
  return str(deviceSource("device/prelude.cuh"), deviceSource("scalar_math.h"), scalarFunctions(),
             deviceSource("device/fast_activations.cuh"), deviceSource("device/hopper.cuh"),
             hopperHead(text), deviceSource("gemm/hopper/tiles.cuh"),
             deviceSource("gemm/hopper/store.cuh"), deviceSource("gemm/hopper/gemm.cuh"),
             epilogue.text);
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t config) {
  const HopperProduct product = hopperProductOf(node);
  if (node.inputs[0]->dataType() == DataType::kF32 && !context.allowTf32)
    return Prepared::no("multiplies f32 as TF32, which the build does not allow");
  const HopperConfig tiles = unpackHopper(config);
  const HopperProblem problem = problemOf(node, product, context.opt);
  if (const char* why = whyNot(tiles, problem)) return Prepared::no(why);
  Prepared prepared;
  prepared.runtimeKernel = kHopperGemmKernel;
  prepared.inputs = {StepInput::fromNode(0), secondOperand(node, product)};
  for (int i = node.ownInputs(); i < static_cast<int>(node.inputs.size()); ++i)
    prepared.inputs.push_back(StepInput::fromNode(i));
  prepared.dimArgs = {product.m, product.n, product.k, product.batch};
  prepared.source = sourceOf(node, product, tiles);
  ByteWriter writer;
  writer.write(HopperParams{.config = config,
                            .type = problem.type,
                            .transposedA = product.transposedA,
                            .transposedB = product.transposedB,
                            .batchA = product.batchA,
                            .batchB = product.batchB});
  prepared.params = writer.take();
  return prepared;
}

}  // namespace

const Kernel& hopperGemmKernel() {
  static constexpr Kernel kKernel{.name = kHopperGemmKernel,
                                  .supports = supports,
                                  .prepare = prepare,
                                  .configurations = configurations,
                                  .inPlace = readsInPlace};
  return kKernel;
}

}  // namespace camshaft::cuda
