// From an ONNX model to the one Graph. Opset versions, attribute spellings, model-local functions
// and shape tensors end here.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "onnx/wire/read_model.h"
#include "support/error.h"

namespace camshaft::onnx {

// One reason why a model can't be imported. Node, op and domain are empty and nodeIndex is -1
// when the problem is the model's or a tensor's rather than one node's.
struct ImportProblem {
  ErrorKind kind = ErrorKind::kInvalidModel;
  std::string message;  // one sentence that names the node or tensor
  std::string reason;   // the same where the node is named already
  std::string node;
  std::string op;
  std::string domain;
  int nodeIndex = -1;                  // position in the model's main graph
  std::vector<std::string> functions;  // the model-local ones the node lies in, outermost first
};

struct ImportTrace;  // trace.h
class PluginSource;  // plugins.h

// What is known of the standard; a newer model is read as far as its operators are known.
inline constexpr int64_t kNewestOpset = 28;  // of ai.onnx
inline constexpr int64_t kNewestIrVersion = 14;

// Graph inputs whose values are known now, say axes that a model takes as an input: they become
// constants, and are no inputs of the graph.
struct FixedInput {
  TensorType type;
  ConstantPtr data;
};
// Which values are the outputs of a main graph's node, by the node's name; null: not asked for.
using NodeOutputs = std::unordered_map<std::string, std::vector<Value*>>;
struct ImportOptions {
  std::unordered_map<std::string, FixedInput> fixedInputs;
  NodeOutputs* nodeOutputs = nullptr;  // filled when given
  // Filled when given: the nodes of the main graph that read what a node with a problem makes, and
  // were not tried for that reason.
  std::vector<int>* untried = nullptr;
  // Filled when given. Nodes without an importer whose outputs the model declares are then no
  // problem: their outputs become inputs of the graph.
  ImportTrace* trace = nullptr;
  // In a broadcast of two different run-time sizes either may be 1; they are taken as equal, unless
  // this says otherwise. With a trace only: what such a node gives becomes an input of the graph,
  // and the size a symbol of its own.
  bool openBroadcasts = false;
  // Nothing is taken for granted of the sizes of inputs, as it is where x[-1:] has size one and not
  // min(n, 1): what a body reads is often empty.
  bool emptyInputs = false;
  // Outputs of nodes that change nothing (Identity, Dropout, a Cast to the type there is) are
  // values of their own, behind Identity nodes, and not other names of their inputs: for users who
  // look at the graph, mark outputs in it and set types and formats. Constants stay what they are.
  bool keepCopies = false;
  // Caches of keys and values that the model grows by joining them with new rows have a fixed room
  // instead, and a further input, past_length, tells how much of it holds something: so that rows
  // are written in place (fixed_caches.h). Not with a trace.
  bool fixedCaches = false;
  const PluginSource* plugins = nullptr;  // for operators that are nobody else's; null: none
};

// Fills `graph` (which must be empty) and returns every problem found, in model order. A node that
// can't be imported hides the ones that need its outputs, so each problem is a cause of its own;
// where the model declares such an output as a tensor of real numbers, what reads it is tried too.
// The graph is usable only when nothing is returned. Constants share the model's bytes.
std::vector<ImportProblem> importModel(const LoadedModel& model, camshaft::Graph& graph,
                                       const ImportOptions& options = {});

// The same for callers that want an exception: throws Error with all messages, one per line.
camshaft::Graph importModel(const LoadedModel& model);

// Whether some version of the operator can be imported.
bool isKnownOperator(std::string_view domain, std::string_view name);

}  // namespace camshaft::onnx
