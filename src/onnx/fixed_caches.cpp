#include "onnx/fixed_caches.h"

#include "ir/rewrite.h"
#include "onnx/ops/tensor_scatter.h"
#include "onnx/scope.h"
#include "onnx/size.h"
#include "ops/move.h"
#include "ops/shape.h"

namespace camshaft::onnx::importer {

void FixedCaches::add(Graph& graph, const std::map<std::string_view, int64_t>& inputs,
                      Scope& scope) {
  if (inputs.empty()) return;
  Value* length = graph.addInput(graph.uniqueName("past_length"), {DataType::kI64, {}});
  length_ = contentsOf(graph, length, "the length of caches").at(0);
  for (const auto& [name, axis] : inputs) {
    Value* memory = scope.find(name);
    if (!memory) continue;  // a problem that is reported
    SliceAttrs held;
    held.axes = {axis};
    held.starts = {0};
    held.steps = {1};
    held.sizes = {length_};
    Value* past = graph.add(&ops::Slice, str(name, "_held"), {memory}, std::move(held))->output();
    pasts_[past] = {memory, axis};
    scope.values[name] = past;
  }
}

Value* FixedCaches::append(const NodeImport& node, Value* past, Value* rows, int64_t axis) {
  while (const Node* copy = producerOf(past, &ops::Identity)) past = copy->input(0);
  const auto found = pasts_.find(past);
  if (found == pasts_.end() || found->second.axis != axis || rows->rank() != past->rank())
    return nullptr;
  Value* memory = found->second.memory;
  const Dim total = length_ + rows->shape()[axis];
  node.graph().require({SizeRelation::kAtLeast, memory->shape()[axis], total,
                        str("the cache '", memory->name, "' has room for "), " rows where ",
                        " are to be held: give it more, or begin anew,"});
  Value* first = node.expand(node.reshape(sizeTensor(node, length_), {1}), {rows->shape()[0]});
  Value* written =
      writeRows(node, memory, rows, {.axis = axis, .first = first, .skipsOutside = true});
  Value* held = node.slice(written, axis, 0, total);
  written_[held] = written;
  return held;
}

Value* FixedCaches::whole(Graph& graph, Value* value) const {
  const auto found = written_.find(value);
  if (found == written_.end()) return value;
  const std::string name = value->name;
  graph.rename(value, graph.uniqueName(name + "_held"));
  graph.rename(found->second, name);
  return found->second;
}

}  // namespace camshaft::onnx::importer
