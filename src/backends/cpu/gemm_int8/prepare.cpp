#include <algorithm>

#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm_int8/launch_product.h"
#include "backends/cpu/gemm_int8/params.h"
#include "backends/cpu/gemm_int8/prepare_epilogue.h"
#include "backends/cpu/prepare_common.h"
#include "ops/gemm_int8.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

// Zero points of the second operand are constants, one or one per column of the product, which are
// slices of dimension `axis`.
bool isPerColumn(const Value& zeros, const Value& operand, size_t axis) {
  return zeros.isConstant() &&
         liesAlong(zeros, static_cast<int64_t>(axis), static_cast<int64_t>(operand.shape().size()));
}

Verdict supportsProduct(const Node& node, size_t columnAxis) {
  const Value& weights = *node.inputs[1];
  if (!weights.isConstant())
    return Verdict::no("needs a constant second operand, to pack it when building");
  if (node.hasInput(2) && !isOneNumber(*node.inputs[2]))
    return Verdict::no("needs one zero point for its first operand");
  if (node.hasInput(3) && !isPerColumn(*node.inputs[3], weights, columnAxis))
    return Verdict::no("needs constant zero points for its weights, one or one per column");
  return Verdict{scaledEpilogue(node).refusal};
}

template <class T>
StepInput inputOf(DataType type, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return StepInput::fromBytes({type, {static_cast<int64_t>(values.size())}},
                              std::vector<std::byte>(bytes.begin(), bytes.end()));
}

// Zero points of the second operand made i8; empty when all are 0.
std::vector<int32_t> shiftedZeros(const Node& node, int64_t n) {
  const bool isSigned = node.inputs[1]->dataType() == DataType::kI8;
  std::vector<int32_t> zeros(paddedColumns(n), 0);
  const int32_t shift = isSigned ? 0 : 128;
  const int64_t given = node.hasInput(3) ? node.inputs[3]->view().count() : 0;
  for (int64_t j = 0; j < n; ++j) {
    int32_t zero = 0;
    if (given > 0) {
      const ConstTensorView view = node.inputs[3]->view();
      const int64_t at = given == 1 ? 0 : j;
      zero = isSigned ? view.as<int8_t>()[at] : view.as<uint8_t>()[at];
    }
    zeros[j] = zero - shift;
  }
  const bool none = std::all_of(zeros.begin(), zeros.end(), [](int32_t z) { return z == 0; });
  return none ? std::vector<int32_t>() : zeros;
}

// Packs B, lying as [k][n] or transposed, and writes parameters, inputs and workspace.
void prepareProduct(const Node& node, const BuildContext& context, const uint8_t* b,
                    bool transposed, ProductParams params, ByteWriter& writer, Prepared& prepared) {
  const Shape& result = node.output()->shape();
  const int64_t rows = context.max(numElements(Shape(result.begin(), result.end() - 1)));
  if (rows == DimRange::kUnbounded) {
    prepared = Prepared::no(
        "packs its first operand into workspace, which needs an upper bound on its rows");
    return;
  }
  const Layout& layout = layoutInUse();
  params.layout = static_cast<int32_t>(layout.kind);
  std::vector<uint8_t> packed(packedColumnsBytes(layout, params.k, params.n));
  std::vector<int32_t> sums(paddedColumns(params.n));
  const uint8_t flip = node.inputs[1]->dataType() == DataType::kI8 ? 0 : kFlip;
  packColumns(layout, params.k, params.n, b, transposed, flip, packed.data(), sums.data());
  prepared.inputs = {StepInput::fromNode(0), inputOf(DataType::kU8, packed),
                     inputOf(DataType::kI32, sums)};
  const auto add = [&](StepInput input) {
    prepared.inputs.push_back(std::move(input));
    return static_cast<int32_t>(prepared.inputs.size()) - 1;
  };
  params.isSigned = node.inputs[0]->dataType() == DataType::kI8;
  if (node.hasInput(2)) params.zeroInput = add(StepInput::fromNode(2));
  const std::vector<int32_t> zeros = shiftedZeros(node, params.n);
  if (!zeros.empty()) params.zerosInput = add(inputOf(DataType::kI32, zeros));
  const ScaledEpilogue scaled = scaledEpilogue(node);
  params.keepsFloats = scaled.givesBytes() && !scaled.bytes.isUsed && !scaled.fused.program.empty();
  prepared.workspaceBytes = productWorkspaceBytes(rows, params, context.threads);
  writer.write(params);
  writeScaledEpilogue(scaled, prepared, writer);
  prepared.params = writer.take();
}

Verdict supportsMatMul(const Node& node, const BuildContext&) {
  if (node.op != &ops::MatMulInteger) return Verdict::no("only for MatMulInteger");
  const Shape& b = node.inputs[1]->shape();
  if (!std::all_of(b.begin(), b.end() - 2, [](const Dim& dim) { return dim.isConstant(1); }))
    return Verdict::no("needs one matrix as second operand, not a batch of them");
  return supportsProduct(node, b.size() - 1);
}

Prepared prepareMatMul(const Node& node, const BuildContext& context, int64_t) {
  const Shape& b = node.inputs[1]->shape();
  Prepared prepared;
  ByteWriter writer;
  prepareProduct(node, context, node.inputs[1]->view().as<uint8_t>(), false,
                 {.k = b[b.size() - 2].value(), .n = b.back().value()}, writer, prepared);
  return prepared;
}

Verdict supportsConv(const Node& node, const BuildContext&) {
  if (node.op != &ops::ConvInteger) return Verdict::no("only for ConvInteger");
  const auto& attrs = node.as<ConvAttrs>();
  if (!attrs.channelsLast) return Verdict::no("needs channels last");
  if (attrs.groups != 1) return Verdict::no("needs one group");
  if (attrs.strides.size() > 2) return Verdict::no("needs one or two spatial dimensions");
  return supportsProduct(node, 0);
}

// [M, C, taps] as [M, taps, C].
std::vector<uint8_t> filterRows(const ConstTensorView& weights) {
  const int64_t filters = weights.dims[0], channels = weights.dims[1];
  const int64_t taps = countOf(std::span(weights.dims).subspan(2));
  const uint8_t* from = weights.as<uint8_t>();
  std::vector<uint8_t> rows(filters * channels * taps);
  for (int64_t m = 0; m < filters; ++m)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t t = 0; t < taps; ++t)
        rows[(m * taps + t) * channels + c] = from[(m * channels + c) * taps + t];
  return rows;
}

Prepared prepareConv(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<ConvAttrs>();
  const ConstTensorView weights = node.inputs[1]->view();
  const size_t rank = attrs.strides.size(), first = 2 - rank;
  ConvParams params{.channels = weights.dims[1]};
  for (size_t i = 0; i < rank; ++i) {
    params.kernel[first + i] = weights.dims[2 + i];
    params.strides[first + i] = attrs.strides[i];
    params.dilations[first + i] = attrs.dilations[i];
    params.padsBegin[first + i] = attrs.padsBegin[i];
  }
  Prepared prepared;
  ByteWriter writer;
  writer.write(params);
  prepareProduct(node, context, filterRows(weights).data(), true,
                 {.k = params.channels * params.kernel[0] * params.kernel[1], .n = weights.dims[0]},
                 writer, prepared);
  return prepared;
}

Verdict supportsQuantize(const Node& node, const BuildContext&) {
  return acceptsPlain(node, &ops::DynamicQuantize);
}

constexpr Kernel kKernels[] = {
    {.name = kMatMul, .supports = supportsMatMul, .prepare = prepareMatMul},
    {.name = kConv, .supports = supportsConv, .prepare = prepareConv},
    {.name = kQuantize, .supports = supportsQuantize, .prepare = preparedWithout},
};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cpu::gemm_int8
