#include "slim/keep.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "onnx/wire/element_type.h"
#include "onnx/wire/tensor.h"
#include "ops/ops.h"
#include "ops/shape.h"

namespace camshaft {

namespace {

using onnx::TracedNode;

// Bytes that fewer nodes are worth: not many where all of a model's weights may be stored in fewer
// bits.
constexpr size_t kWorthANode = 4096;
constexpr size_t kWorthNodes = size_t{1} << 20;
constexpr size_t kShareWorthNodes = 10;  // or a tenth of the weights, say for tables of sines

size_t bytesOfAll(const std::vector<Value*>& values) {
  size_t sum = 0;
  for (const Value* value : values)
    if (value && isStatic(value->shape()))
      sum += bytesOf(value->dataType(), numElements(value->shape()).value());
  return sum;
}

size_t bytesOfWeights(const onnx::Model& model) {
  size_t sum = 0;
  for (const onnx::Tensor& tensor : model.graph.initializers)
    if (const auto type = onnx::findDataType(tensor.dataType))
      sum += bytesOf(*type, onnx::elementCount(tensor.dims, tensor.name));
  return sum;
}

// Values that follow from constants alone.
class Constants {
 public:
  bool contains(const Value* value) const {
    return !value || value->isConstant() || computed_.contains(value);
  }
  // Nodes come in the order of import.
  void note(const TracedNode& traced) {
    for (const Node* part : traced.parts) {
      const bool random = part->op == &ops::Random;
      if (!random && std::all_of(part->inputs.begin(), part->inputs.end(),
                                 [&](const Value* input) { return contains(input); }))
        computed_.insert(part->outputs.begin(), part->outputs.end());
    }
  }

 private:
  std::unordered_set<const Value*> computed_;
};

}  // namespace

bool canKeep(const TracedNode& traced, const onnx::Model& model) {
  if (traced.capturesItems) return false;
  for (size_t i = 0; i < traced.inputs.size(); ++i)
    if (!traced.inputs[i] && !traced.node.inputs[i].empty()) return false;
  for (size_t i = 0; i < traced.outputs.size(); ++i)
    if (!traced.outputs[i] && !traced.node.outputs[i].empty()) return false;
  const std::string_view domain = onnx::importer::canonicalDomain(traced.node.domain);
  return std::any_of(model.opsetImports.begin(), model.opsetImports.end(), [&](const auto& import) {
    return onnx::importer::canonicalDomain(import.domain) == domain &&
           import.version == traced.opset;
  });
}

std::set<size_t> growing(const onnx::ImportTrace& trace, const onnx::Model& model) {
  std::set<size_t> nodes;
  Constants constants;
  const size_t worthNodes = std::max(kWorthNodes, bytesOfWeights(model) / kShareWorthNodes);
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const TracedNode& traced = trace.nodes[i];
    constants.note(traced);
    const bool isConstant =
        !traced.parts.empty() &&
        std::all_of(traced.outputs.begin(), traced.outputs.end(),
                    [&](const Value* output) { return constants.contains(output); });
    if (!isConstant || !canKeep(traced, model)) continue;
    const size_t in = bytesOfAll(traced.inputs), out = bytesOfAll(traced.outputs);
    const size_t worth = traced.node.opType == "Cast" ? kWorthANode : worthNodes;
    // Readers look for the quantised form of biases too.
    if (traced.node.opType == "DequantizeLinear" || (out > in && out > worth)) nodes.insert(i);
  }
  return nodes;
}

std::optional<std::set<size_t>> squeezesOfChosenBranches(const Graph& imported,
                                                         const onnx::ImportTrace& trace,
                                                         const onnx::Model& model) {
  std::unordered_map<const Node*, int> positions;
  for (const auto& node : imported.nodes())
    positions.emplace(node.get(), static_cast<int>(positions.size()));
  std::set<size_t> squeezes;
  for (size_t i = 0; i < trace.nodes.size(); ++i)
    for (const Node* part : trace.nodes[i].parts) {
      if (!isAssertion(imported, *part)) continue;
      if (trace.nodes[i].node.opType != "If") {
        if (!canKeep(trace.nodes[i], model)) return std::nullopt;
        squeezes.insert(i);
        continue;
      }
      const size_t before = squeezes.size();
      // The branch was imported after the assertion, and its nodes come before the If's record.
      for (size_t inner = i; inner-- > 0;) {
        const TracedNode& traced = trace.nodes[inner];
        if (traced.parts.empty()) continue;
        if (positions.at(traced.parts.front()) < positions.at(part)) break;
        const bool saysAxes = traced.inputs.size() > 1 || !traced.node.attributes.empty();
        if (traced.node.opType == "Squeeze" && saysAxes) squeezes.insert(inner);
      }
      if (squeezes.size() == before) return std::nullopt;
    }
  return squeezes;
}

static bool isRunTimeSizes(const Value* value) {
  if (!value || value->isConstant()) return false;
  return (value->contents && !isStatic(*value->contents)) ||
         std::any_of(value->users.begin(), value->users.end(),
                     [](const Node* user) { return user->op == &ops::BindDims; });
}

const TracedNode* findUseOfOpenBroadcast(const onnx::ImportTrace& trace) {
  std::unordered_set<const Value*> open;  // what follows from such a broadcast
  const auto isOpen = [&](const Value* value) { return open.contains(value); };
  for (const TracedNode& traced : trace.nodes) {
    const bool reads = std::any_of(traced.inputs.begin(), traced.inputs.end(), isOpen);
    const std::string_view op = traced.node.opType;
    if (reads && (op == "Shape" || op == "Size" ||
                  std::any_of(traced.inputs.begin(), traced.inputs.end(), isRunTimeSizes)))
      return &traced;
    const bool isNew = onnx::isOpenBroadcast(traced);
    if (isNew && op == "Expand") return &traced;
    if (reads || isNew ||
        std::any_of(traced.captures.begin(), traced.captures.end(),
                    [&](const auto& capture) { return isOpen(capture.value); }))
      open.insert(traced.outputs.begin(), traced.outputs.end());
  }
  return nullptr;
}

}  // namespace camshaft
