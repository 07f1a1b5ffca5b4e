#include "onnx/ops/attention_mask.h"

#include <limits>

#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/size.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

// A mask shorter than the keys hides the rest.
Value* padded(const NodeImport& node, Value* mask, const Dim& keys) {
  if (mask->rank() == 0) return mask;
  const Dim missing = keys - mask->shape().back();
  if (missing.isConstant(0) || mask->shape().back().isConstant(1)) return mask;
  PadAttrs attrs;
  attrs.begin.assign(static_cast<size_t>(mask->rank()), Dim(0));
  attrs.end = attrs.begin;
  attrs.end.back() = missing;
  return node.add(&ops::Pad,
                  {mask, node.scalar(mask->dataType(), isFloat(mask->dataType()) ? kHidden : 0)},
                  attrs);
}

}  // namespace

AttentionMask::AttentionMask(const NodeImport& node, const Dim& queries, const Dim& keys)
    : node_(node), queryCount_(queries), keyCount_(keys) {
  const int64_t left = node.integer("left_window_size", -1),
                right = node.integer("right_window_size", -1);
  if (left >= 0 || right >= 0 || node.hasInput(6)) placeQueries();
  if (left >= 0) compareKeys(ScalarOp::kGreaterEqual, positions_, -left);
  if (right >= 0) compareKeys(ScalarOp::kLessEqual, positions_, right);
}

void AttentionMask::hideFuture() {
  if (!positions_) placeQueries();
  compareKeys(ScalarOp::kLessEqual, positions_, 0);
}

// Queries come after the past, or end where the sample's valid keys do.
void AttentionMask::placeQueries() {
  keys_ = counting(node_, DataType::kI64, keyCount_);
  positions_ = node_.reshape(counting(node_, DataType::kI64, queryCount_), {queryCount_, 1});
  if (const Value* past = node_.optionalInput(4, 4)) {
    positions_ = node_.binary(ScalarOp::kAdd, positions_, sizeTensor(node_, past->shape()[2]));
  } else if (Value* lengths = node_.optionalInput(6, 1)) {
    lengths = node_.reshape(node_.cast(lengths, DataType::kI64), {lengths->shape()[0], 1, 1, 1});
    compareKeys(ScalarOp::kLess, lengths, 0);
    Value* offset = node_.binary(ScalarOp::kSub, lengths, sizeTensor(node_, queryCount_));
    positions_ = node_.binary(ScalarOp::kAdd, positions_, offset);
  }
}

void AttentionMask::compareKeys(ScalarOp op, Value* limit, int64_t distance) {
  if (distance != 0) limit = node_.binary(ScalarOp::kAdd, limit, static_cast<double>(distance));
  Value* condition = node_.binary(op, keys_, limit);
  allowed_ = allowed_ ? node_.binary(ScalarOp::kAnd, allowed_, condition) : condition;
}

Value* AttentionMask::combined() const {
  Value* given = node_.optionalInput(3);
  if (!given) return allowed_;
  given = padded(node_, given, keyCount_);
  if (!allowed_) return given;
  if (given->dataType() == DataType::kBool) return node_.binary(ScalarOp::kAnd, given, allowed_);
  Formula formula;
  const Term condition = formula.input(0, DataType::kBool);
  const Term result = where(condition, formula.input(1, given->dataType()), kHidden);
  return node_.pointwise({allowed_, given}, formula.take(result));
}

Value* additiveMask(const NodeImport& node, Value* mask, DataType type) {
  if (mask->dataType() != DataType::kBool) return mask;
  Formula formula;
  const Term condition = formula.input(0, DataType::kBool);
  return node.pointwise({mask}, formula.take(where(condition, formula.number(0, type), kHidden)));
}

}  // namespace camshaft::onnx::importer
