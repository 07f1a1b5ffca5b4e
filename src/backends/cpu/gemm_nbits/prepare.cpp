#include <cmath>

#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm/prepare_epilogue.h"
#include "backends/cpu/gemm_nbits/blocks.h"
#include "backends/cpu/gemm_nbits/params.h"
#include "backends/cpu/gemm_nbits/rows.h"
#include "backends/cpu/prepare_common.h"
#include "ops/gemm_nbits.h"

namespace camshaft::cpu::gemm_nbits {

namespace {

Verdict supports(const Node& node, const BuildContext&) {
  const auto& attrs = node.as<MatMulNBitsAttrs>();
  if (node.inputs[0]->dataType() != DataType::kF32) return Verdict::no("only f32");
  if (attrs.isGated() || attrs.rms) return Verdict::no("has no gates and norms");
  const int64_t numbers = 32 / attrs.bits;
  if (attrs.blockSize % numbers != 0)
    return Verdict::no(str("needs blocks of whole words, ", numbers, " weights"));
  for (int i = 1; i < node.ownInputs(); ++i)
    if (node.inputs[i] && !node.inputs[i]->isConstant())
      return Verdict::no("needs constant weights, to pack them when building");
  if (!node.inputs[0]->shape().back().isConstant()) return Verdict::no("needs a known depth");
  return Verdict{fuseEpilogue(node).refusal};
}

template <class T>
StepInput inputOf(DataType type, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return StepInput::fromBytes({type, {static_cast<int64_t>(values.size())}},
                              std::vector<std::byte>(bytes.begin(), bytes.end()));
}

// Rows [n][depth] of a few bits as panels of words.
std::vector<uint32_t> packWords(const uint8_t* rows, const BlockWeights& weights) {
  std::vector<uint32_t> words(weights.wordCount());
  const int64_t bits = weights.bits;
  const int64_t depth = weights.depth(), perPanel = depth / weights.wordNumbers() * kPanelColumns;
  for (int64_t column = 0; column < weights.n; ++column) {
    uint32_t* to = words.data() + column / kPanelColumns * perPanel + column % kPanelColumns;
    const uint8_t* from = rows + column * depth * bits / 8;
    for (int64_t k = 0; k < depth; ++k) {
      const uint32_t number = from[k * bits / 8] >> (k * bits % 8) & ((1u << bits) - 1);
      // Less the middle, modulo the range, is another top bit.
      const uint32_t shifted = number ^ 1u << (bits - 1);
      to[k / weights.wordNumbers() * kPanelColumns] |= shifted
                                                       << (k % weights.wordNumbers() * bits);
    }
  }
  return words;
}

// value(column, block) for every column, [n / 16][blocks][16].
template <class F>
std::vector<float> perBlock(const BlockWeights& weights, F value) {
  std::vector<float> result(weights.scaleCount());
  for (int64_t column = 0; column < weights.n; ++column)
    for (int64_t block = 0; block < weights.blocks; ++block)
      result[(column / kPanelColumns * weights.blocks + block) * kPanelColumns +
             column % kPanelColumns] = value(column * weights.blocks + block);
  return result;
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  Prepared prepared;
  const Shape& result = node.output()->shape();
  const int64_t rows = context.max(numElements(Shape(result.begin(), result.end() - 1)));
  if (rows == DimRange::kUnbounded)
    return Prepared::no(
        "copies its first operand into workspace, which needs an upper bound on its rows");
  const ConstTensorView packed = node.inputs[1]->view();
  BlockParams params{.k = node.inputs[0]->shape().back().value(),
                     .n = packed.dims[0],
                     .blockSize = node.as<MatMulNBitsAttrs>().blockSize,
                     .bits = node.as<MatMulNBitsAttrs>().bits,
                     .hasZeros = node.hasInput(3)};
  const BlockWeights weights{params.bits, params.n, params.blocks(), params.blockSize};
  const ConstTensorView scales = node.inputs[2]->view();
  prepared.inputs = {
      StepInput::fromNode(0), inputOf(DataType::kU32, packWords(packed.as<uint8_t>(), weights)),
      inputOf(DataType::kF32,
              perBlock(weights, [&](int64_t at) { return scales.as<float>()[at]; }))};
  if (params.hasZeros) {
    const ConstTensorView zeros = node.inputs[3]->view();
    const double middle = std::ldexp(1, static_cast<int>(params.bits) - 1);
    prepared.inputs.push_back(inputOf(DataType::kF32, perBlock(weights, [&](int64_t at) {
                                        const double zero =
                                            readElement(zeros.type, zeros.data, at) - middle;
                                        return static_cast<float>(zero * scales.as<float>()[at]);
                                      })));
  }
  prepared.workspaceBytes = rowsWorkspaceBytes(rows, params);
  ByteWriter writer;
  writer.write(params);
  writeEpilogue(fuseEpilogue(node), prepared, writer);
  prepared.params = writer.take();
  return prepared;
}

bool inPlace(const Node& node, int input) { return overwritesResidual(node, input); }

constexpr Kernel kKernels[] = {
    {.name = kBlocks, .supports = supports, .prepare = prepare, .inPlace = inPlace},
};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cpu::gemm_nbits
