#include <algorithm>
#include <cstring>
#include <optional>

#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/gemm_int8/depthwise.h"
#include "backends/cpu/gemm_int8/groups.h"
#include "backends/cpu/gemm_int8/launch_batched.h"
#include "backends/cpu/gemm_int8/launch_product.h"
#include "backends/cpu/gemm_int8/params.h"
#include "backends/cpu/gemm_int8/prepare_epilogue.h"
#include "backends/cpu/gemm_int8/taps.h"
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

// A number of the second operand or of its zero points.
int32_t byteAt(const ConstTensorView& view, int64_t at) {
  return view.type == DataType::kI8 ? view.as<int8_t>()[at] : view.as<uint8_t>()[at];
}

int32_t columnZero(const Node& node, int64_t column) {
  if (!node.hasInput(3)) return 0;
  const ConstTensorView view = node.inputs[3]->view();
  return byteAt(view, view.count() == 1 ? 0 : column);
}

// Zero points of the second operand made i8; empty when all are 0.
std::vector<int32_t> shiftedZeros(const Node& node, int64_t n) {
  std::vector<int32_t> zeros(columnElements(n), 0);
  const int32_t shift = node.inputs[1]->dataType() == DataType::kI8 ? 0 : 128;
  for (int64_t j = 0; j < n; ++j) zeros[j] = columnZero(node, j) - shift;
  const bool none = std::all_of(zeros.begin(), zeros.end(), [](int32_t z) { return z == 0; });
  return none ? std::vector<int32_t>() : zeros;
}

// The upper bound on rows of the result; none with the reason in `prepared`.
std::optional<int64_t> mostRows(const Node& node, const BuildContext& context, Prepared& prepared) {
  const Shape& result = node.output()->shape();
  const int64_t rows = context.max(numElements(Shape(result.begin(), result.end() - 1)));
  if (rows != DimRange::kUnbounded) return rows;
  prepared = Prepared::no(
      "packs its first operand into workspace, which needs an upper bound on its rows");
  return std::nullopt;
}

// Inputs and parameters, behind the packed second operand and the sums of its columns. Returns
// whether the product keeps floats.
int32_t prepareFinish(const Node& node, const std::vector<int32_t>& columnZeros,
                      ProductParams& params, ByteWriter& writer, Prepared& prepared) {
  const auto add = [&](StepInput input) {
    prepared.inputs.push_back(std::move(input));
    return static_cast<int32_t>(prepared.inputs.size()) - 1;
  };
  params.isSigned = node.inputs[0]->dataType() == DataType::kI8;
  if (node.hasInput(2)) params.zeroInput = add(StepInput::fromNode(2));
  if (!columnZeros.empty()) params.zerosInput = add(inputOf(DataType::kI32, columnZeros));
  const ScaledEpilogue scaled = scaledEpilogue(node);
  params.keepsFloats = scaled.givesBytes() && !scaled.bytes.isUsed && !scaled.fused.program.empty();
  writer.write(params);
  writeScaledEpilogue(scaled, prepared, writer);
  prepared.params = writer.take();
  return params.keepsFloats;
}

// What makes the second operand i8.
uint8_t secondFlip(const Node& node) {
  return node.inputs[1]->dataType() == DataType::kI8 ? 0 : kFlip;
}

// Packs B, lying as [k][n] or transposed, and writes parameters, inputs and workspace. Groups of
// columns are packed by themselves.
void prepareProduct(const Node& node, const BuildContext& context, const uint8_t* b,
                    bool transposed, ProductParams& params, int64_t groups, ByteWriter& writer,
                    Prepared& prepared) {
  const std::optional<int64_t> rows = mostRows(node, context, prepared);
  if (!rows) return;
  const Layout& layout = layoutInUse();
  params.layout = static_cast<int32_t>(layout.kind);
  const int64_t columns = params.n / groups;
  const int64_t groupBytes = packedColumnsBytes(layout, params.k, columns);
  std::vector<uint8_t> packed(groups * groupBytes);
  std::vector<int32_t> sums(columnElements(params.n), 0);
  for (int64_t group = 0; group < groups; ++group)
    packColumns(layout, params.k, columns, b + group * columns * params.k, transposed,
                secondFlip(node), packed.data() + group * groupBytes,
                sums.data() + group * columns);
  prepared.inputs = {StepInput::fromNode(0), inputOf(DataType::kU8, packed),
                     inputOf(DataType::kI32, sums)};
  prepareFinish(node, shiftedZeros(node, params.n), params, writer, prepared);
  prepared.workspaceBytes = productWorkspaceBytes(*rows, params, context.threads);
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
  ProductParams params{.k = b[b.size() - 2].value(), .n = b.back().value()};
  prepareProduct(node, context, node.inputs[1]->view().as<uint8_t>(), false, params, 1, writer,
                 prepared);
  return prepared;
}

Verdict supportsBatched(const Node& node, const BuildContext&) {
  if (node.op != &ops::MatMulInteger) return Verdict::no("only for MatMulInteger");
  if (node.inputs[1]->isConstant()) return Verdict::no("packs its second operand in every run");
  if (!areMatrixByMatrix(node.inputs[0]->shape(), node.inputs[1]->shape()))
    return Verdict::no("needs as many matrices in both operands, or one in either");
  if (node.hasInput(2) && !isOneNumber(*node.inputs[2]))
    return Verdict::no("needs one zero point for its first operand");
  if (node.hasInput(3) && (!node.inputs[3]->isConstant() || !isOneNumber(*node.inputs[3])))
    return Verdict::no("needs one constant zero point for its second operand");
  return Verdict{scaledEpilogue(node).refusal};
}

Prepared prepareBatched(const Node& node, const BuildContext& context, int64_t) {
  const Shape &a = node.inputs[0]->shape(), &b = node.inputs[1]->shape();
  Prepared prepared;
  const std::optional<int64_t> rows = mostRows(node, context, prepared);
  if (!rows) return prepared;
  const int64_t matrices = context.max(numElements(Shape(b.begin(), b.end() - 2)));
  const int64_t m = matrices == 1 ? *rows : context.max(a[a.size() - 2]);
  ProductParams most{.k = context.max(a.back()), .n = context.max(b.back())};
  for (int64_t size : {matrices, m, most.k, most.n})
    if (size == DimRange::kUnbounded)
      return Prepared::no("packs its second operand into workspace, which needs upper bounds");
  most.layout = static_cast<int32_t>(layoutInUse().kind);
  const int32_t flip = secondFlip(node);
  ByteWriter writer;
  writer.write(BatchedParams{flip, columnZero(node, 0) - flip});
  prepared.inputs = {StepInput::fromNode(0), StepInput::fromNode(1)};
  ProductParams params{.layout = most.layout};
  most.keepsFloats = prepareFinish(node, {}, params, writer, prepared);
  prepared.workspaceBytes = batchedWorkspaceBytes(matrices, m, most, context.threads);
  return prepared;
}

Verdict supportsImage(const Node& node) {
  if (node.op != &ops::ConvInteger) return Verdict::no("only for ConvInteger");
  const auto& attrs = node.as<ConvAttrs>();
  if (!attrs.channelsLast) return Verdict::no("needs channels last");
  if (attrs.strides.size() > 2) return Verdict::no("needs one or two spatial dimensions");
  return supportsProduct(node, 0);
}

Verdict supportsConv(const Node& node, const BuildContext&) {
  if (Verdict verdict = supportsImage(node); !verdict) return verdict;
  if (hasFilterPerChannel(node.inputs[1]->shape(), node.as<ConvAttrs>().groups))
    return Verdict::no("only where several channels are summed up");
  if (node.inputs[1]->shape()[1].isConstant(0)) return Verdict::no("needs channels to sum up");
  return Verdict::yes();
}

Verdict supportsDepthwise(const Node& node, const BuildContext&) {
  if (Verdict verdict = supportsImage(node); !verdict) return verdict;
  if (!hasFilterPerChannel(node.inputs[1]->shape(), node.as<ConvAttrs>().groups))
    return Verdict::no("needs a filter for each channel, of 128 taps and 4096 channels at most");
  return Verdict::yes();
}

// [M, C, taps] less the zero points.
std::vector<int32_t> filtersLessZeros(const Node& node) {
  const ConstTensorView weights = node.inputs[1]->view();
  const int64_t each = weights.count() / std::max<int64_t>(1, weights.dims[0]);
  std::vector<int32_t> filters(weights.count());
  for (int64_t i = 0; i < weights.count(); ++i)
    filters[i] = byteAt(weights, i) - columnZero(node, i / each);
  return filters;
}

bool areBytes(const std::vector<int32_t>& filters) {
  return std::all_of(filters.begin(), filters.end(),
                     [](int32_t value) { return value >= -128 && value <= 127; });
}

// The same as blocks of channels.
std::vector<uint8_t> depthwiseBlocks(const Layout& layout, const TapOrder& order,
                                     const std::vector<int32_t>& filters, int64_t channels) {
  const int64_t blockBytes = depthwiseBlockBytes(layout, order);
  std::vector<uint8_t> blocks(paddedColumns(channels) / kBlockColumns * blockBytes, 0);
  const int32_t* filter = filters.data();
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t ky = 0; ky < order.height; ++ky)
      for (int64_t kx = 0; kx < order.width; ++kx, ++filter) {
        const int64_t column = c % kBlockColumns, tap = order.at(ky, kx);
        uint8_t* block = blocks.data() + c / kBlockColumns * blockBytes;
        if (hasDepthwiseQuads(layout)) {
          block[tap / 4 * kBlockColumns * 4 + quadPlace(layout, column) + tap % 4] =
              static_cast<uint8_t>(*filter);
        } else {
          const auto wide = static_cast<int16_t>(*filter);
          std::memcpy(block + (tap * kBlockColumns + column) * sizeof wide, &wide, sizeof wide);
        }
      }
  return blocks;
}

// [M, C, height, width] as [M, height, line], bytes [width, C] of each line.
std::vector<uint8_t> filterRows(const ConstTensorView& weights, const ConvParams& params,
                                int64_t line, uint8_t fill) {
  const int64_t filters = weights.dims[0], channels = weights.dims[1];
  const int64_t height = params.kernel[0], width = params.kernel[1];
  const uint8_t* from = weights.as<uint8_t>();
  std::vector<uint8_t> rows(filters * height * line, fill);
  for (int64_t m = 0; m < filters; ++m)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x)
          rows[(m * height + y) * line + x * channels + c] = *from++;
  return rows;
}

// Whether filters get filled lines: for products that read windows where they lie, and no longer
// for others.
bool fillsLines(const Node& node, const ConvParams& params) {
  const Layout& layout = layoutInUse();
  const int64_t height = params.kernel[0];
  return layout.kind == Layout::Kind::kQuads && canFillLines(params) &&
         layout.steps(height * filledLineBytes(params)) ==
             layout.steps(height * lineBytes(params)) &&
         node.inputs[0]->dataType() == DataType::kU8 &&
         shiftedZeros(node, node.inputs[1]->view().dims[0]).empty();
}

ConvParams convParams(const Node& node, int64_t channels, int64_t groups) {
  const auto& attrs = node.as<ConvAttrs>();
  const ConstTensorView weights = node.inputs[1]->view();
  const size_t rank = attrs.strides.size(), first = 2 - rank;
  ConvParams params{.channels = channels, .groups = groups};
  for (size_t i = 0; i < rank; ++i) {
    params.kernel[first + i] = weights.dims[2 + i];
    params.strides[first + i] = attrs.strides[i];
    params.dilations[first + i] = attrs.dilations[i];
    params.padsBegin[first + i] = attrs.padsBegin[i];
  }
  return params;
}

// The largest image of a tensor, none without a bound.
std::optional<Picture> largestPicture(const Shape& shape, const BuildContext& context) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i + 1 < shape.size(); ++i) {
    sizes.push_back(context.max(shape[i]));
    if (sizes.back() == DimRange::kUnbounded) return std::nullopt;
  }
  return Picture(sizes[0], shape.size() == 4 ? sizes[1] : 1, sizes.back());
}

Prepared prepareConv(const Node& node, const BuildContext& context, int64_t) {
  const ConstTensorView weights = node.inputs[1]->view();
  const int64_t groups = node.as<ConvAttrs>().groups;
  const ConvParams params = convParams(node, weights.dims[1] * groups, groups);
  Prepared prepared;
  ByteWriter writer;
  writer.write(params);
  const int64_t line = fillsLines(node, params) ? filledLineBytes(params) : lineBytes(params);
  ProductParams product{.k = params.kernel[0] * line, .n = weights.dims[0]};
  const std::vector<uint8_t> rows = filterRows(weights, params, line, secondFlip(node));
  prepareProduct(node, context, rows.data(), true, product, groups, writer, prepared);
  const std::optional<Picture> in = largestPicture(node.inputs[0]->shape(), context);
  const std::optional<Picture> out = largestPicture(node.output()->shape(), context);
  if (prepared.verdict && in && out)
    prepared.workspaceBytes = std::max(
        productWorkspaceBytes(out->pixels(), product, context.threads),
        finishWorkspaceBytes(out->pixels(), product) + tapBytes(params, product, *in, *out));
  return prepared;
}

// Of filters of k each, packed as blocks of output channels.
Prepared preparedByTaps(const Node& node, const BuildContext& context, const ConvParams& params,
                        ProductParams& product, const std::vector<int32_t>& filters,
                        const std::vector<uint8_t>& blocks) {
  Prepared prepared;
  const std::optional<int64_t> rows = mostRows(node, context, prepared);
  if (!rows) return prepared;
  std::vector<int32_t> sums(columnElements(product.n), 0);
  for (size_t i = 0; i < filters.size(); ++i)
    sums[static_cast<int64_t>(i) / product.k] += filters[i];
  prepared.inputs = {StepInput::fromNode(0), inputOf(DataType::kU8, blocks),
                     inputOf(DataType::kI32, sums)};
  ByteWriter writer;
  writer.write(params);
  prepareFinish(node, {}, product, writer, prepared);
  prepared.workspaceBytes = finishWorkspaceBytes(*rows, product);
  return prepared;
}

Prepared prepareDepthwise(const Node& node, const BuildContext& context, int64_t) {
  const int64_t channels = node.inputs[1]->view().dims[0];
  const ConvParams params = convParams(node, channels, 1);
  ProductParams product{.k = params.kernel[0] * params.kernel[1], .n = channels};
  const std::vector<int32_t> filters = filtersLessZeros(node);
  const Layout& layout = areBytes(filters) ? depthwiseLayoutInUse() : kQuads;
  product.layout = static_cast<int32_t>(layout.kind);
  return preparedByTaps(node, context, params, product, filters,
                        depthwiseBlocks(layout, TapOrder(layout, params), filters, channels));
}

Verdict supportsGroups(const Node& node, const BuildContext&) {
  if (Verdict verdict = supportsImage(node); !verdict) return verdict;
  const ConstTensorView weights = node.inputs[1]->view();
  const int64_t groups = node.as<ConvAttrs>().groups;
  const ConvParams params = convParams(node, weights.dims[1] * groups, groups);
  if (!groupsSupported(depthwiseLayoutInUse(), params, weights.dims[0]))
    return Verdict::no(
        "needs AVX2 or dot products, and groups of 4, 8, 12, ... channels and filters, few enough "
        "for vectors that several share");
  if (params.channels > kMostTapChannels ||
      params.kernel[0] * params.kernel[1] > kMostDepthwiseTaps)
    return Verdict::no("needs 4096 channels and 128 taps at most");
  if (!areBytes(filtersLessZeros(node)))
    return Verdict::no("needs filters that are bytes less their zero points, too");
  return Verdict::yes();
}

// Asked again, since the layout is that of the instruction set in use, which tests change.
Prepared prepareGroups(const Node& node, const BuildContext& context, int64_t) {
  if (Verdict verdict = supportsGroups(node, context); !verdict)
    return Prepared::no(verdict.reason);
  const ConstTensorView weights = node.inputs[1]->view();
  const int64_t groups = node.as<ConvAttrs>().groups, channels = weights.dims[1];
  const ConvParams params = convParams(node, channels * groups, groups);
  const int64_t taps = params.kernel[0] * params.kernel[1];
  ProductParams product{.layout = static_cast<int32_t>(depthwiseLayoutInUse().kind)};
  product.k = taps * channels;
  product.n = weights.dims[0];
  const std::vector<int32_t> filters = filtersLessZeros(node);
  std::vector<uint8_t> blocks(paddedColumns(product.n) / kBlockColumns * groupBlockBytes(params));
  for (int64_t column = 0; column < product.n; ++column)
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t quad = tap * channels / 4 + channel / 4;
        blocks[column / kBlockColumns * groupBlockBytes(params) +
               (quad * kBlockColumns + column % kBlockColumns) * 4 + channel % 4] =
            static_cast<uint8_t>(filters[(column * channels + channel) * taps + tap]);
      }
  return preparedByTaps(node, context, params, product, filters, blocks);
}

Verdict supportsQuantize(const Node& node, const BuildContext&) {
  return acceptsPlain(node, &ops::DynamicQuantize);
}

constexpr Kernel kKernels[] = {
    {.name = kMatMul, .supports = supportsMatMul, .prepare = prepareMatMul},
    {.name = kBatched, .supports = supportsBatched, .prepare = prepareBatched},
    {.name = kGroups, .supports = supportsGroups, .prepare = prepareGroups},
    {.name = kConv, .supports = supportsConv, .prepare = prepareConv},
    {.name = kDepthwise, .supports = supportsDepthwise, .prepare = prepareDepthwise},
    {.name = kQuantize, .supports = supportsQuantize, .prepare = preparedWithout},
};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cpu::gemm_int8
