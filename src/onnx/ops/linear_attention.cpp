#include "ops/attention.h"

#include "onnx/ops/attention.h"

namespace camshaft::onnx::importer {

void importLinearAttention(NodeImport& node) {
  if (node.integer("state_window", 0) != 0)  // of com.microsoft's form
    node.unsupported("a window of states is not supported: export it with state_window 0");
  LinearAttentionAttrs attrs;
  attrs.qHeads = node.integer("q_num_heads");
  attrs.kvHeads = node.integer("kv_num_heads");
  const int rule =
      node.choice("update_rule", "gated_delta", {"linear", "gated", "delta", "gated_delta"});
  const bool gated = rule == 1 || rule == 3, corrected = rule >= 2;
  if (node.hasInput(4) != gated || node.hasInput(5) != corrected)
    node.invalid("its update rule '", node.text("update_rule", "gated_delta"), "' needs ",
                 gated ? "a" : "no", " decay and ", corrected ? "a" : "no", " beta");
  Value* q = node.input(0, 3);
  if (attrs.qHeads < 1) node.invalid("its q_num_heads must be positive");
  attrs.scale = scoreScale(node, node.number("scale", 0), floorDiv(q->shape()[2], attrs.qHeads), q);
  std::vector<Value*> inputs{q, node.input(1), node.input(2)};
  for (int i = 3; i < node.inputCount(); ++i) inputs.push_back(node.optionalInput(i));
  const Node* attention = node.addNode(&ops::LinearAttention, std::move(inputs), std::move(attrs));
  node.setOutput(0, attention->output(0));
  node.setOutput(1, attention->output(1));
}

}  // namespace camshaft::onnx::importer
