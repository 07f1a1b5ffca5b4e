// Operators that read at computed positions.
#include "onnx/ops/index_tuples.h"
#include "onnx/size_rules.h"
#include "ops/index.h"

namespace camshaft::onnx::importer {

Value* asTuples(const NodeImport& node, Value* indices, int64_t length) {
  if (indices->shape().back().isConstant()) return indices;
  requireSize(node, indices->shape().back(), "indices in a tuple", length);
  Shape shape = indices->shape();
  shape.back() = length;
  return node.reshape(indices, std::move(shape));
}

void importGather(NodeImport& node) {
  Value* x = node.input(0);
  GatherAttrs attrs;
  attrs.axis = node.axisAttribute("axis", 0, x->rank());
  node.setOutput(node.add(&ops::Gather, {x, node.input(1)}, attrs));
}

void importGatherElements(NodeImport& node) {
  Value* x = node.input(0);
  GatherElementsAttrs attrs;
  attrs.axis = node.axisAttribute("axis", 0, x->rank());
  node.setOutput(node.add(&ops::GatherElements, {x, node.input(1)}, attrs));
}

// How many dimensions an index tuple goes through is how many the result lacks.
void importGatherND(NodeImport& node) {
  Value *x = node.input(0), *indices = node.input(1, Ranks::from(1));
  GatherNDAttrs attrs;
  attrs.batchDims = node.integer("batch_dims", 0);
  const int64_t most = x->rank() - attrs.batchDims;
  const std::optional<int64_t> declared = node.declaredRank(0);
  if (!indices->shape().back().isConstant() && most != 1 && !declared)
    node.unsupported("its indices ('", indices->name,
                     "') are tuples of a length known at run time "
                     "only, which the rank of its output depends on: declare the output's shape");
  const int64_t length = most == 1 ? 1 : indices->rank() - 1 + most - declared.value_or(0);
  indices = asTuples(node, indices, length);
  node.setOutput(node.add(&ops::GatherND, {x, indices}, attrs));
}

void importOneHot(NodeImport& node) {
  Value* indices = node.input(0);
  if (indices->dataType() != DataType::kI32) indices = node.cast(indices, DataType::kI64);
  OneHotAttrs attrs;
  attrs.axis = node.axisAttribute("axis", -1, indices->rank() + 1);
  attrs.depth = node.dims(node.cast(node.reshape(node.input(1), {1}), DataType::kI64)).at(0);
  node.setOutput(node.add(&ops::OneHot, {indices, node.input(2)}, std::move(attrs)));
}

void importReverseSequence(NodeImport& node) {
  ReverseSequenceAttrs attrs;
  attrs.batchAxis = node.axisAttribute("batch_axis", 1, node.input(0)->rank());
  attrs.timeAxis = node.axisAttribute("time_axis", 0, node.input(0)->rank());
  node.setOutput(node.add(&ops::ReverseSequence, {node.input(0), node.input(1)}, attrs));
}

}  // namespace camshaft::onnx::importer
