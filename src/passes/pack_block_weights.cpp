// Products with constants that are dequantised in blocks keep them packed, as quantisers of
// language models mean it: DequantizeLinear with a block size before MatMul or Gemm. Reshapes,
// transposes and casts may stand between.
//
//   %s2 = Reshape(Expand(Reshape(%s)))                // s [K/block, N], every row `block` times
//   %b = Pointwise(%w, %s2) {mul(cast(x0:i4), x1)}    // w [K, N]
//   %y = MatMul(%a, %b)
//   →
//   %y = MatMulNBits(%a, %packed, %scales) {bits = 4, block_size}
#include <cmath>
#include <optional>
#include <ranges>

#include "ir/rewrite.h"
#include "ops/gemm.h"
#include "ops/gemm_nbits.h"
#include "ops/pointwise.h"
#include "passes/edit.h"
#include "passes/element_places.h"
#include "passes/passes.h"
#include "passes/quantisation.h"
#include "support/packed.h"

namespace camshaft {

namespace {

// Integers less than a zero point, times a scale.
struct Terms {
  const Value *integers = nullptr, *scale = nullptr, *zero = nullptr;  // zero: null for none
};

// The input that is cast at this place, or stands there.
const Value* inputBehind(const Node& node, int at) {
  const Expr& expr = node.as<PointwiseAttrs>().expr;
  const ScalarInstruction* in = &expr.code()[at];
  if (in->op == ScalarOp::kCast) in = &expr.code()[in->a];
  return in->op == ScalarOp::kInput ? node.inputs[in->a] : nullptr;
}

bool isSmallInteger(const Value* value) {
  return isInteger(value->dataType()) && bitsOf(value->dataType()) <= 8;
}

// Takes cast((integers - zero) * scale) apart.
std::optional<Terms> termsOf(const Node& node) {
  const std::vector<ScalarInstruction>& code = node.as<PointwiseAttrs>().expr.code();
  const ScalarInstruction* product = &code.back();
  if (product->op == ScalarOp::kCast) product = &code[product->a];
  if (product->op != ScalarOp::kMul || product->type != DataType::kF32) return std::nullopt;
  const ScalarInstruction& difference = code[product->a];
  const bool hasZero = difference.op == ScalarOp::kSub;
  Terms terms;
  terms.scale = inputBehind(node, product->b);
  terms.integers = inputBehind(node, hasZero ? difference.a : product->a);
  if (hasZero) terms.zero = inputBehind(node, difference.b);
  if (!terms.scale || !isFloat(terms.scale->dataType()) || !terms.integers ||
      !isSmallInteger(terms.integers))
    return std::nullopt;
  if (hasZero && (!terms.zero || terms.zero->dataType() != terms.integers->dataType()))
    return std::nullopt;
  return terms;
}

bool isFloatCast(const Node* node) {
  return node && node->op == &ops::Pointwise && !node->epilogue &&
         node->as<PointwiseAttrs>().expr.isSingle(ScalarOp::kCast) &&
         isFloat(node->input(0)->dataType());
}

// What a product's second operand is made of, each seen as [K, N].
struct Weights {
  ElementPlaces integers, scale;
  std::optional<ElementPlaces> zero;
};

std::optional<Weights> weightsOf(const Node& product) {
  std::vector<const Node*> moves;  // behind the dequantisation, the last one first
  const Value* value = product.input(1);
  for (; isMove(value->producer) || isFloatCast(value->producer); value = value->producer->input(0))
    if (isMove(value->producer)) moves.push_back(value->producer);
  const Node* dequantisation = producerOf(value, &ops::Pointwise);
  const auto terms = dequantisation ? termsOf(*dequantisation) : std::nullopt;
  if (!terms || product.input(1)->rank() != 2) return std::nullopt;
  const auto operand = [&](const Value* part) -> std::optional<ElementPlaces> {
    std::optional<ElementPlaces> places = placesOf(part);
    if (!places || !spread(*places, value->shape())) return std::nullopt;
    for (const Node* node : moves | std::views::reverse)
      if (!applyMove(*places, *node)) return std::nullopt;
    if (product.as<MatMulAttrs>().transposeB) std::swap(places->axes[0], places->axes[1]);
    return places;
  };
  const auto integers = operand(terms->integers), scale = operand(terms->scale);
  const auto zero = terms->zero ? operand(terms->zero) : std::nullopt;
  if (!integers || !scale || (terms->zero && !zero)) return std::nullopt;
  return Weights{*integers, *scale, zero};
}

// Steps along K for which the scale and the zero point stay the same; 0 where they change unevenly.
int64_t blockSizeOf(const Weights& weights) {
  std::vector<const std::vector<int64_t>*> rows{&weights.scale.axes[0]};
  if (weights.zero) rows.push_back(&weights.zero->axes[0]);
  size_t size = rows.front()->size();
  for (const auto* row : rows)
    size = std::min<size_t>(
        size, std::ranges::find_if(*row, [](int64_t at) { return at != 0; }) - row->begin());
  for (const auto* row : rows)
    for (size_t k = 0; k < row->size(); ++k)
      if ((*row)[k] != (*row)[k / size * size]) return 0;
  return static_cast<int64_t>(size);
}

// Half precision keeps few digits of small numbers.
bool fitsInto(const Value& scale, DataType type) {
  if (type != DataType::kF16 || scale.dataType() == type) return true;
  if (scale.isOpaque()) return false;
  constexpr double kLeast = 0x1p-14, kMost = 65504;
  const ConstTensorView view = scale.view();
  for (int64_t i = 0; i < view.count(); ++i) {
    const double number = std::abs(readElement(view.type, view.data, i));
    if (number != 0 && !(number >= kLeast && number <= kMost)) return false;
  }
  return true;
}

// The constants of a MatMulNBits node.
class Packing {
 public:
  Packing(Graph& graph, const Weights& weights, int64_t blockSize)
      : graph_(graph),
        weights_(weights),
        type_(weights.integers.source->dataType()),
        bits_(bitsOf(type_)),
        depth_(static_cast<int64_t>(weights.integers.axes[0].size())),
        columns_(static_cast<int64_t>(weights.integers.axes[1].size())),
        blockSize_(blockSize),
        blocks_((depth_ + blockSize - 1) / blockSize) {}

  Value* numbers() const {
    const ElementPlaces& from = weights_.integers;
    const int64_t row = blocks_ * blockSize_;
    std::vector<std::byte> packed(columns_ * row * bits_ / 8);
    for (int64_t n = 0; n < columns_; ++n)
      for (int64_t k = 0; k < depth_; ++k)
        setPacked(packed.data(), n * row + k, bits_,
                  numberAt(from, from.first + from.axes[0][k] + from.axes[1][n]));
    return graph_.addConstant(from.source->name,
                              {DataType::kU8, {columns_, blocks_, blockSize_ * bits_ / 8}},
                              ConstantData::own(std::move(packed), from.source->isOpaque()));
  }
  Value* scales(DataType type) const {
    const ConstTensorView view = weights_.scale.source->view();
    return perBlock(weights_.scale, type,
                    [&](int64_t at) { return readElement(view.type, view.data, at); });
  }
  // Null where they are the middle of the range.
  Value* zeros() const {
    if (weights_.zero)
      return perBlock(*weights_.zero, DataType::kU8,
                      [&](int64_t at) { return numberAt(*weights_.zero, at); });
    if (isSigned(type_)) return nullptr;
    return graph_.addConstant(weights_.integers.source->name, {DataType::kU8, {columns_, blocks_}},
                              ConstantData::own(std::vector<std::byte>(columns_ * blocks_)));
  }

 private:
  // Counted from the least, so that signed integers have their zero in the middle.
  uint8_t numberAt(const ElementPlaces& from, int64_t at) const {
    const int sign = isSigned(type_) ? 1 << (bits_ - 1) : 0;
    return static_cast<uint8_t>(getPacked(from.source->view().data, at, bits_) ^ sign);
  }

  template <class F>
  Value* perBlock(const ElementPlaces& from, DataType type, F f) const {
    std::vector<std::byte> bytes(bytesOf(type, columns_ * blocks_));
    for (int64_t n = 0; n < columns_; ++n)
      for (int64_t block = 0; block < blocks_; ++block)
        writeElement(type, bytes.data(), n * blocks_ + block,
                     f(from.first + from.axes[0][block * blockSize_] + from.axes[1][n]));
    return graph_.addConstant(from.source->name, {type, {columns_, blocks_}},
                              ConstantData::own(std::move(bytes), from.source->isOpaque()));
  }

  Graph& graph_;
  const Weights& weights_;
  DataType type_;
  int bits_;
  int64_t depth_, columns_, blockSize_, blocks_;
};

bool packWeights(Graph& graph, Node* node) {
  const DataType type = node->input(0)->dataType();
  if (node->as<MatMulAttrs>().transposeA) return false;
  const auto weights = weightsOf(*node);
  if (!weights || !fitsInto(*weights->scale.source, type)) return false;
  MatMulNBitsAttrs attrs;
  attrs.bits = bitsOf(weights->integers.source->dataType());
  attrs.blockSize = blockSizeOf(*weights);
  if (attrs.blockSize == static_cast<int64_t>(weights->integers.axes[0].size())) {
    constexpr int64_t kWhole = 128;     // kernels keep a scale for so many numbers at least
    if (attrs.bits == 8) return false;  // bytes with one scale for each column have kernels
    attrs.blockSize = (attrs.blockSize + kWhole - 1) / kWhole * kWhole;
  }
  if (!hasPackedProduct(attrs.bits, attrs.blockSize, type)) return false;
  const Packing packing(graph, *weights, attrs.blockSize);
  const Node* product =
      graph.add(&ops::MatMulNBits, node->name,
                {node->input(0), packing.numbers(), packing.scales(type), packing.zeros()},
                std::move(attrs), node);
  replaceValue(graph, node->output(), product->output());
  return true;
}

}  // namespace

bool packBlockWeights(Graph& graph, const PassOptions& options) {
  if (!options.fusion.packedWeights) return false;
  bool changed = false;
  for (Node* node : graph.nodeList())
    if (node->op == &ops::MatMul && !node->epilogue) changed |= packWeights(graph, node);
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
