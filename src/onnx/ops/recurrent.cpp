// LSTM, GRU and RNN.
#include "onnx/node_import.h"
#include "ops/rnn.h"

namespace camshaft::onnx::importer {

namespace {

void importRecurrent(NodeImport& node, RecurrentKind kind) {
  RecurrentAttrs attrs;
  attrs.kind = kind;
  attrs.direction = static_cast<RecurrentDirection>(
      node.choice("direction", "forward", {"forward", "reverse", "bidirectional"}));
  Value* recurrence = node.input(2);
  if (recurrence->rank() != 3 || !recurrence->shape()[2].isConstant())
    node.invalid("its recurrence weights must be of rank 3 and known size");
  attrs.hidden = node.integer("hidden_size", recurrence->shape()[2].value());
  attrs.activations = join(node.texts("activations"), ",");
  attrs.activationAlpha = node.numbers("activation_alpha");
  attrs.activationBeta = node.numbers("activation_beta");
  attrs.clip = node.number("clip", 0);
  attrs.linearBeforeReset = node.flag("linear_before_reset");
  attrs.inputForget = node.flag("input_forget");
  attrs.batchFirst = node.integer("layout", 0) == 1;
  std::vector<Value*> inputs;
  for (int i = 0; i < node.inputCount(); ++i)
    inputs.push_back(i < 3 ? node.input(i) : node.optionalInput(i));
  const int outputs = kind == RecurrentKind::kLstm ? 3 : 2;
  const Node* layer = node.addNode(&ops::Recurrent, std::move(inputs), std::move(attrs), outputs);
  for (int i = 0; i < outputs; ++i) node.setOutput(i, layer->output(i));
}

}  // namespace

void importLSTM(NodeImport& node) { importRecurrent(node, RecurrentKind::kLstm); }
void importGRU(NodeImport& node) { importRecurrent(node, RecurrentKind::kGru); }
void importRNN(NodeImport& node) { importRecurrent(node, RecurrentKind::kRnn); }

}  // namespace camshaft::onnx::importer
