// Operators that read at computed positions.
#include "onnx/node_import.h"
#include "ops/index.h"

namespace camshaft::onnx::importer {

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

void importGatherND(NodeImport& node) {
  GatherNDAttrs attrs;
  attrs.batchDims = node.integer("batch_dims", 0);
  node.setOutput(node.add(&ops::GatherND, {node.input(0), node.input(1)}, attrs));
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
