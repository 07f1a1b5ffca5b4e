#include "onnx/write/originals.h"

#include <algorithm>
#include <cstring>

#include "ops/evaluate.h"
#include "ops/ops.h"
#include "ops/shape.h"
#include "support/text.h"

namespace camshaft::onnx::writer {

namespace {

bool sameBytes(const ConstantPtr& a, const ConstantPtr& b) {
  return a == b || (a->bytes.size() == b->bytes.size() &&
                    std::memcmp(a->bytes.data(), b->bytes.data(), a->bytes.size()) == 0);
}

bool contains(const std::vector<Value*>& values, const Value* value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

// Walks an ONNX node's parts and the graph's nodes side by side, from results to operands.
class Originals::Matcher {
 public:
  Matcher(Originals& originals, const TracedNode& traced) : originals_(originals) {
    match_.traced = &traced;
  }

  bool node(const Node& part, const Node& candidate) {
    const auto [it, isNew] = match_.parts.try_emplace(&part, &candidate);
    if (!isNew) return it->second == &candidate;
    if (part.op != candidate.op || candidate.epilogue || part.epilogue) return false;
    if (part.inputs.size() != candidate.inputs.size()) return false;
    if (part.outputs.size() != candidate.outputs.size()) return false;
    if (!equal(*part.attrs, *candidate.attrs)) return false;
    for (size_t i = 0; i < part.inputs.size(); ++i) {
      if (!part.inputs[i] != !candidate.inputs[i]) return false;
      if (part.inputs[i] && !value(part.inputs[i], candidate.inputs[i])) return false;
    }
    return true;
  }

  OriginalMatch& match() { return match_; }

 private:
  bool value(const Value* imported, const Value* now) {
    if (imported->dataType() != now->dataType()) return false;
    const auto [it, isNew] = match_.values.try_emplace(imported, now);
    if (!isNew) return it->second == now;
    const TracedNode& traced = *match_.traced;
    if (contains(traced.inputs, imported)) return originals_.hasShape(now, imported->shape());
    if (imported->isConstant())
      return now->isConstant() && isEqual(imported->constant, imported, now);
    const Node* producer = imported->producer;
    if (!producer ||
        std::find(traced.parts.begin(), traced.parts.end(), producer) == traced.parts.end())
      return false;
    if (now->isConstant()) return isEqual(originals_.valueOf(imported), imported, now);
    const OriginalMatch before = match_;
    if (now->producer && now->index == imported->index && node(*producer, *now->producer))
      return true;
    match_ = before;
    return changesNothing(*producer) && value(producer->input(0), now);
  }

  static bool isEqual(const ConstantPtr& data, const Value* imported, const Value* now) {
    return data && imported->shape() == now->shape() && sameBytes(data, now->constant);
  }

  // What remove_identities takes out of the middle of an ONNX node.
  static bool changesNothing(const Node& node) {
    const bool moves =
        node.op == &ops::Reshape || node.op == &ops::Expand || node.op == &ops::Identity;
    return moves && node.input(0)->type == node.output()->type;
  }

  Originals& originals_;
  OriginalMatch match_;
};

Originals::Originals(const ImportTrace& trace, const Graph& graph,
                     std::unordered_map<std::string, int64_t> opsets,
                     std::unordered_map<std::string, Dim> importedSizes)
    : trace_(trace),
      graph_(graph),
      opsets_(std::move(opsets)),
      importedSizes_(std::move(importedSizes)) {
  for (const TracedNode& traced : trace.nodes)
    for (const Value* output : traced.outputs)
      if (output && makers_.try_emplace(output, &traced).second) byName_[output->name] = output;
  for (const auto& node : graph.nodes())
    for (const ImportedPart& origin : node->origins.parts()) nodesOf_[origin].push_back(node.get());
}

Originals::~Originals() = default;

const ConstantPtr& Originals::valueOf(const Value* imported) {
  const auto [it, isNew] = constants_.try_emplace(imported);
  if (!isNew) return it->second;
  if (imported->isConstant()) return it->second = imported->constant;
  const Node* node = imported->producer;
  constexpr int64_t kMaxElements = 1 << 20;  // factors and tables; weights are never computed
  if (!node || node->inputs.empty() || !isStatic(imported->shape())) return it->second;
  if (numElements(imported->shape()).value() > kMaxElements) return it->second;
  std::vector<ConstTensorView> inputs;
  std::vector<ConstantPtr> owners;
  for (const Value* input : node->inputs) {
    if (!input) {
      inputs.emplace_back();
      continue;
    }
    owners.push_back(valueOf(input));
    if (!owners.back() || owners.back()->bytes.empty()) return constants_[imported];
    inputs.emplace_back(input->dataType(), staticDims(input->shape()), owners.back()->bytes.data());
  }
  struct Unknown {};
  try {
    auto results =
        evaluateNode(*node, inputs, [](const std::string&) -> int64_t { throw Unknown(); });
    return constants_[imported] =
               ConstantData::own(std::move(results[static_cast<size_t>(imported->index)].bytes));
  } catch (const Unknown&) {
    return constants_[imported];
  }
}

// Sizes an imported value is known by, those read from it at run time included.
static std::optional<std::vector<Dim>> dimsOf(const Value* imported) {
  if (imported->contents) return imported->contents;
  for (const Node* user : imported->users)
    if (user->op == &ops::BindDims) return user->as<BindDimsAttrs>().symbols;
  return std::nullopt;
}

// What the graph has of an imported value that was computed: passes that put another value in its
// place give that one its name.
static const Value* nowOf(const Graph& graph, const Value* imported) {
  const Value* now = imported->isConstant() ? nullptr : graph.find(imported->name);
  return now && now->type == imported->type ? now : nullptr;
}

bool Originals::isUsable(const TracedNode& traced) const {
  const auto opset = opsets_.find(std::string(importer::canonicalDomain(traced.node.domain)));
  const bool hasGraphs = std::any_of(traced.node.attributes.begin(), traced.node.attributes.end(),
                                     [](const auto& one) { return !one.graphs.empty(); });
  return opset != opsets_.end() && opset->second == traced.opset && !hasGraphs;
}

// An ONNX node may say by its input's shape what a node of the IR says by its own.
bool Originals::hasShape(const Value* now, const Shape& imported) const {
  const auto asImported = [&](const std::string& symbol) {
    const auto it = importedSizes_.find(symbol);
    return it == importedSizes_.end() ? Dim::symbol(symbol) : it->second;
  };
  return std::equal(
      now->shape().begin(), now->shape().end(), imported.begin(), imported.end(),
      [&](const Dim& a, const Dim& b) { return a == b || substitute(a, asImported) == b; });
}

bool Originals::canWriteAgain(const GraphWriter& writer, const Value* imported, int depth) {
  constexpr int kMaxDepth = 32;
  if (nowOf(graph_, imported) || valueOf(imported) || again_.contains(imported)) return true;
  const auto maker = makers_.find(imported);
  if (depth > kMaxDepth || maker == makers_.end() || !isUsable(*maker->second)) return false;
  const TracedNode& traced = *maker->second;
  for (size_t i = 0; i < traced.inputs.size(); ++i) {
    if (traced.node.inputs[i].empty()) continue;
    if (!traced.inputs[i] || !canWriteAgain(writer, traced.inputs[i], depth + 1)) return false;
  }
  return true;
}

Name Originals::writeAgain(GraphWriter& writer, const Value* imported) {
  if (const auto it = again_.find(imported); it != again_.end()) return it->second;
  if (const Value* now = nowOf(graph_, imported)) return again_[imported] = writer.use(now);
  if (const ConstantPtr& data = valueOf(imported))
    return again_[imported] = writer.constant(imported->name, imported->type, data);
  const TracedNode& traced = *makers_.at(imported);
  wire::Node node = traced.node;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (!node.inputs[i].empty()) node.inputs[i] = writeAgain(writer, traced.inputs[i]);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    node.outputs[i] = writer.newName(std::string(node.outputs[i]));
    if (traced.outputs[i]) again_[traced.outputs[i]] = node.outputs[i];
  }
  writer.addNode(std::move(node));
  return again_.at(imported);
}

bool Originals::writeByName(GraphWriter& writer, const Value* value) {
  const auto found = byName_.find(value->name);
  if (found == byName_.end() || found->second->type != value->type) return false;
  const TracedNode& traced = *makers_.at(found->second);
  if (!isUsable(traced)) return false;
  wire::Node node = traced.node;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i].empty()) continue;
    const Value* input = traced.inputs[i];
    if (!input || nowOf(graph_, input) == value || !canWriteAgain(writer, input)) return false;
  }
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (!node.inputs[i].empty()) node.inputs[i] = writeAgain(writer, traced.inputs[i]);
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (!node.outputs[i].empty())
      node.outputs[i] = traced.outputs[i] == found->second
                            ? writer.define(value)
                            : writer.newName(std::string(node.outputs[i]));
  writer.addNode(std::move(node));
  return true;
}

bool Originals::canWriteInputs(const GraphWriter& writer, OriginalMatch& match) {
  const TracedNode& traced = *match.traced;
  for (size_t i = 0; i < traced.node.inputs.size(); ++i) {
    if (traced.node.inputs[i].empty()) continue;
    const Value* input = traced.inputs[i];
    if (!input) return false;
    if (match.values.contains(input) || input->isConstant()) continue;
    const auto dims = dimsOf(input);
    match.needsSizes |= dims && !isStatic(*dims) && match.parts.size() == 1;
    if (dims && whyNoDims(writer, *dims).empty()) continue;
    if (!canWriteAgain(writer, input)) return false;
  }
  return true;
}

std::optional<OriginalMatch> Originals::find(const GraphWriter& writer, const Node& node) {
  for (const ImportedPart& origin : node.origins.parts()) {
    const TracedNode& traced = trace_.nodes[static_cast<size_t>(origin.node)];
    const Node* part = traced.parts[static_cast<size_t>(origin.part)];
    const bool givesOutput = std::any_of(part->outputs.begin(), part->outputs.end(),
                                         [&](Value* v) { return contains(traced.outputs, v); });
    if (!isUsable(traced) || !givesOutput) continue;
    Matcher matcher(*this, traced);
    if (!matcher.node(*part, node)) continue;
    OriginalMatch match = std::move(matcher.match());
    for (const Value* output : traced.outputs) {  // further outputs, where they are left
      const auto other = output
                             ? std::find(traced.parts.begin(), traced.parts.end(), output->producer)
                             : traced.parts.end();
      if (other == traced.parts.end() || match.parts.contains(*other)) continue;
      const ImportedPart wanted{origin.node, static_cast<int>(other - traced.parts.begin())};
      for (const Node* candidate : nodesOf_[wanted]) {
        Matcher further(*this, traced);
        further.match() = match;
        if (!further.node(**other, *candidate)) continue;
        match = std::move(further.match());
        break;
      }
    }
    if (canWriteInputs(writer, match)) return match;
  }
  return std::nullopt;
}

void Originals::write(GraphWriter& writer, const OriginalMatch& match, bool sizesAsImported) {
  const TracedNode& traced = *match.traced;
  wire::Node node = traced.node;
  node.name = traced.name;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i].empty()) continue;
    const Value* input = traced.inputs[i];
    const auto bound = match.values.find(input);
    const auto dims = input->isConstant() ? std::nullopt : dimsOf(input);
    if (bound != match.values.end())
      node.inputs[i] = writer.use(bound->second);
    else if (dims && whyNoDims(writer, *dims).empty() &&
             !(sizesAsImported && !isStatic(*dims) && canWriteAgain(writer, input)))
      node.inputs[i] = writeDims(writer, *dims, input->dataType(), input->rank() == 0).name;
    else
      node.inputs[i] = writeAgain(writer, input);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Value* output = i < traced.outputs.size() ? traced.outputs[i] : nullptr;
    if (!output) continue;
    const auto part = match.parts.find(output->producer);
    const Value* now = part == match.parts.end()
                           ? nullptr
                           : part->second->outputs[static_cast<size_t>(output->index)];
    node.outputs[i] = now && !writer.isWritten(now) ? writer.define(now)
                                                    : writer.newName(std::string(node.outputs[i]));
  }
  writer.addNode(std::move(node));
}

}  // namespace camshaft::onnx::writer
