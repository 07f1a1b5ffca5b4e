#include "onnx/ops/einsum_product.h"

#include <algorithm>
#include <set>

#include "onnx/ops/reduce.h"
#include "ops/gemm.h"

namespace camshaft::onnx::importer {

namespace {

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

bool repeats(const std::string& labels) {
  return std::set<char>(labels.begin(), labels.end()).size() != labels.size();
}

const Dim& sizeOf(const Labelled& x, char label) { return x.value->shape()[x.labels.find(label)]; }

// Without the labels that nobody else has: their dimensions are summed up.
Labelled summed(const NodeImport& node, const Labelled& x, const std::string& others) {
  std::vector<int64_t> axes;
  std::string kept;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (has(others, x.labels[i]))
      kept += x.labels[i];
    else
      axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return x;
  return {reduce(node, ReduceKind::kSum, x.value, axes, false), kept};
}

Value* reordered(const NodeImport& node, const Labelled& x, const std::string& labels) {
  if (x.labels == labels) return x.value;
  std::vector<int64_t> order;
  for (const char label : labels) order.push_back(static_cast<int64_t>(x.labels.find(label)));
  return node.transpose(x.value, order);
}

// [batch..., rows, columns], the labels of rows and of columns joined.
Value* joined(const NodeImport& node, const Labelled& x, const std::string& batch,
              const std::string& rows, const std::string& columns) {
  Shape shape;
  for (const char label : batch) shape.push_back(sizeOf(x, label));
  for (const std::string* group : {&rows, &columns}) {
    Dim size = 1;
    for (const char label : *group) size *= sizeOf(x, label);
    shape.push_back(size);
  }
  return node.reshape(reordered(node, x, batch + rows + columns), shape);
}

}  // namespace

Value* einsumProduct(const NodeImport& node, Labelled a, Labelled b, const std::string& result) {
  const DataType type = a.value->dataType();
  if (!isFloat(type) || b.value->dataType() != type || repeats(a.labels) || repeats(b.labels) ||
      repeats(result) || static_cast<int64_t>(a.labels.size()) != a.value->rank() ||
      static_cast<int64_t>(b.labels.size()) != b.value->rank())
    return nullptr;
  // A product's batches broadcast, what it sums over does not.
  for (const char label : a.labels)
    if (has(b.labels, label) && !has(result, label) && sizeOf(a, label) != sizeOf(b, label))
      return nullptr;
  for (const char label : result)
    if (!has(a.labels, label) && !has(b.labels, label)) return nullptr;

  a = summed(node, a, b.labels + result);
  b = summed(node, b, a.labels + result);
  std::string batch, rows, columns, inner;
  for (const char label : result) {
    const bool inA = has(a.labels, label), inB = has(b.labels, label);
    (inA && inB ? batch : inA ? rows : columns) += label;
  }
  for (const char label : a.labels)
    if (!has(result, label)) inner += label;

  // Operands that lie the other way round are multiplied that way.
  MatMulAttrs attrs;
  attrs.transposeA = a.labels == batch + inner + rows && !rows.empty();
  attrs.transposeB = b.labels != batch + inner + columns;
  Value* left =
      attrs.transposeA ? joined(node, a, batch, inner, rows) : joined(node, a, batch, rows, inner);
  Value* right = attrs.transposeB ? joined(node, b, batch, columns, inner)
                                  : joined(node, b, batch, inner, columns);
  Value* product = node.add(&ops::MatMul, {left, right}, attrs);
  const std::string labels = batch + rows + columns;
  Shape shape;
  for (const char label : labels)
    shape.push_back(has(batch, label) ? broadcast(sizeOf(a, label), sizeOf(b, label))
                                      : sizeOf(has(a.labels, label) ? a : b, label));
  return reordered(node, {node.reshape(product, shape), labels}, result);
}

}  // namespace camshaft::onnx::importer
