// LSTM, GRU and RNN.
#include "onnx/ops/rnn.h"

namespace camshaft::onnx::importer {

void addRecurrent(NodeImport& node, RecurrentKind kind, std::vector<Value*> inputs) {
  RecurrentAttrs attrs;
  attrs.kind = kind;
  attrs.direction = static_cast<RecurrentDirection>(
      node.choice("direction", "forward", {"forward", "reverse", "bidirectional"}));
  // The size of the state is laid down in kernels and weights. The attribute tells it too.
  const Dim& hidden = inputs[2]->shape()[2];
  if (!hidden.isConstant() && !node.has("hidden_size"))
    node.unsupported("its recurrence weights ('", inputs[2]->name,
                     "') have a size known at run time only: give it the attribute hidden_size");
  attrs.hidden = hidden.isConstant() ? node.integer("hidden_size", hidden.value())
                                     : node.integer("hidden_size");
  attrs.activations = join(node.texts("activations"), ",");
  attrs.activationAlpha = node.numbers("activation_alpha");
  attrs.activationBeta = node.numbers("activation_beta");
  attrs.clip = node.number("clip", 0);
  attrs.linearBeforeReset = node.flag("linear_before_reset");
  attrs.inputForget = node.flag("input_forget");
  attrs.batchFirst = node.integer("layout", 0) == 1;
  const int outputs = kind == RecurrentKind::kLstm ? 3 : 2;
  const Node* layer = node.addNode(&ops::Recurrent, std::move(inputs), std::move(attrs), outputs);
  for (int i = 0; i < outputs; ++i) node.setOutput(i, layer->output(i));
}

namespace {

void importRecurrent(NodeImport& node, RecurrentKind kind) {
  std::vector<Value*> inputs{node.input(0), node.input(1), node.input(2, 3)};
  for (int i = 3; i < node.inputCount(); ++i) inputs.push_back(node.optionalInput(i));
  addRecurrent(node, kind, std::move(inputs));
}

}  // namespace

void importLSTM(NodeImport& node) { importRecurrent(node, RecurrentKind::kLstm); }
void importGRU(NodeImport& node) { importRecurrent(node, RecurrentKind::kGru); }
void importRNN(NodeImport& node) { importRecurrent(node, RecurrentKind::kRnn); }

}  // namespace camshaft::onnx::importer
