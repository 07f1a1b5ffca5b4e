#include "onnx/model_import.h"

#include <algorithm>
#include <new>
#include <set>
#include <stdexcept>

#include "onnx/node_import.h"
#include "onnx/node_order.h"
#include "onnx/plugin_import.h"
#include "onnx/strings.h"
#include "onnx/wire/element_type.h"
#include "ops/pointwise.h"
#include "ops/rules.h"
#include "support/onnx_layer.h"

namespace camshaft::onnx::importer {

namespace {

constexpr int kMaxDepth = 64;  // of functions and branches within each other
// Of functions, loops over sequences and bodies, beyond the model's own nodes: a few nested ones
// could ask for any number.
constexpr size_t kMaxExpanded = 100'000;

int32_t elementTypeOf(const wire::Tensor& tensor) { return tensor.dataType; }
int32_t elementTypeOf(const wire::SparseTensor& tensor) { return tensor.values.dataType; }

std::string describeNode(const wire::Node& node, const Scope& scope, int64_t opset) {
  const std::string_view domain = canonicalDomain(node.domain);
  std::string type = domain.empty() ? std::string(node.opType) : str(domain, ".", node.opType);
  if (opset > 0) type += str(", opset ", opset);
  return str("node '", scope.named(node), "' (", type, ")");
}

}  // namespace

ModelImport::ModelImport(const LoadedModel& model, Graph& graph, const ImportOptions& options)
    : loaded_(model), graph_(graph), options_(options), inputSizes_(graph) {
  for (const auto& function : model.model.functions)
    functions_.try_emplace({canonicalDomain(function.domain), function.name, function.overload},
                           &function);
}

void ModelImport::report(ErrorKind kind, const std::string& message) {
  problems_.push_back({.kind = kind, .message = message, .reason = message});
}

void ModelImport::reportNode(ErrorKind kind, const wire::Node& node, const Scope& scope,
                             std::string_view message) {
  ImportProblem problem;
  problem.kind = kind;
  problem.message = str(describeNode(node, scope, scope.opset(node.domain)), ": ", message);
  problem.reason = message;
  problem.node = scope.named(node);
  problem.op = node.opType;
  problem.domain = canonicalDomain(node.domain);
  problem.nodeIndex = mainNode_;
  problem.functions.assign(scope.functions.begin(), scope.functions.end());
  problems_.push_back(std::move(problem));
}

std::vector<ImportProblem> ModelImport::run() {
  const wire::Model& model = loaded_.model;
  graph_.name = model.graph.name.empty() ? "graph" : std::string(model.graph.name);
  Scope scope;
  scope.opsets = model.opsetImports;
  checkModel();
  importInitializers(model.graph, scope);
  importInputs(model.graph, scope);
  importNodes(model.graph.nodes, scope);
  importOutputs(model.graph, scope);
  return std::move(problems_);
}

void ModelImport::checkModel() {
  const wire::Model& model = loaded_.model;
  std::set<std::string_view> domains;
  for (const auto& import : model.opsetImports)
    if (!domains.insert(canonicalDomain(import.domain)).second)
      report(ErrorKind::kInvalidModel,
             str("the model imports the opset of domain '", import.domain, "' twice"));
  // Version 1 of the format had no opset imports: its models are opset 1 by definition.
  if (model.opsetImports.empty() && model.irVersion >= 3)
    report(ErrorKind::kInvalidModel,
           "the model imports no opset: add opset_import when exporting it");
}

void ModelImport::importInitializers(const wire::Graph& graph, Scope& scope) {
  const auto add = [&](std::string_view name, const auto& tensor) {
    if (scope.has(name))
      return report(ErrorKind::kInvalidModel, str("two initializers are named '", name, "'"));
    if (elementTypeOf(tensor) == kOnnxString) {
      scope.values[name] = Strings{};
      return;
    }
    try {
      scope.values[name] = addTensor(graph_, std::string(name), tensor, loaded_.files);
    } catch (const Error& error) {
      scope.poisoned.insert(name);
      report(error.kind(), error.message());
    }
  };
  for (const auto& tensor : graph.initializers) add(tensor.name, tensor);
  for (const auto& tensor : graph.sparseInitializers) add(tensor.values.name, tensor);
}

void ModelImport::importOutputs(const wire::Graph& graph, const Scope& scope) {
  if (graph.outputs.empty()) report(ErrorKind::kInvalidModel, "the model has no outputs");
  std::set<std::string_view> names;
  for (const auto& output : graph.outputs) {
    if (!names.insert(output.name).second)
      report(ErrorKind::kInvalidModel, str("two outputs are named '", output.name, "'"));
    if (scope.isPoisoned(output.name)) continue;
    if (Value* value = scope.find(output.name))
      graph_.addOutput(outputName(output.name), caches_.whole(graph_, value));
    else if (scope.isMade(output.name))
      importItemOutput(output.name, *scope.findItem(output.name));
    else
      report(ErrorKind::kInvalidModel, str("output '", output.name, "' is made by no node"));
  }
}

// Inputs and outputs of an engine are told apart by their names: what comes out of an input 'x' is
// 'x_output'.
std::string ModelImport::outputName(std::string_view name) {
  const auto isInput = [&](const std::string& one) {
    const Value* value = graph_.find(one);
    return value &&
           std::find(graph_.inputs.begin(), graph_.inputs.end(), value) != graph_.inputs.end();
  };
  std::string made(name);
  if (options_.trace || !isInput(made)) return made;
  made += "_output";
  if (isInput(made) || isOutput(made))
    report(ErrorKind::kUnsupported,
           str("output '", name, "' is also an input, and would be named '", made,
               "', which the model has already: rename one of them"));
  return made;
}

bool ModelImport::isOutput(std::string_view name) const {
  const auto& outputs = loaded_.model.graph.outputs;
  return std::any_of(outputs.begin(), outputs.end(),
                     [&](const auto& other) { return other.name == name; });
}

// The elements of 'y' are the outputs 'y_0', 'y_1' and so on. Where the run decides how many they
// are, 'y' is one tensor with the elements along dimension 0.
void ModelImport::importItemOutput(std::string_view name, const Item& item) {
  const Sequence* sequence = std::get_if<Sequence>(&item);
  if (const Strings* strings = std::get_if<Strings>(&item))
    return report(ErrorKind::kUnsupported,
                  str("output '", name, "' is ", describe(item), ", and ", adviceOn(*strings)));
  if (sequence && sequence->stacked) {
    requireAlike(graph_, *sequence);
    return graph_.addOutput(outputName(name), sequence->stacked);
  }
  if (!sequence || sequence->elements.empty())
    return report(ErrorKind::kUnsupported,
                  str("output '", name, "' is ", describe(item),
                      sequence && !sequence->isNothing ? " without elements" : "",
                      ": remove it from the model's outputs"));
  for (size_t i = 0; i < sequence->elements.size(); ++i) {
    const std::string element = str(name, "_", i);
    if (isOutput(element))
      return report(ErrorKind::kUnsupported,
                    str("element ", i, " of the sequence '", name,
                        "' would be a second output named '", element, "': rename one of them"));
    graph_.addOutput(element, sequence->elements[i]);
  }
}

void ModelImport::importNodes(const std::vector<wire::Node>& nodes, Scope& scope) {
  const bool main = scope.depth == 0;
  const NodeOrder order = orderNodes(nodes, [&](std::string_view name) { return scope.has(name); });
  for (const std::string_view name : order.duplicates)
    report(ErrorKind::kInvalidModel,
           str("tensor '", name, "' is made more than once: names must be unique"));
  std::vector<bool> ordered(nodes.size(), false);
  for (const int i : order.order) {
    if (main) mainNode_ = i;
    ordered[i] = true;
    importNode(nodes[i], scope);
  }
  for (size_t i = 0; i < nodes.size(); ++i)
    if (!ordered[i]) poison(nodes[i], scope);
  if (!order.inCycle.empty()) {
    if (main) mainNode_ = order.inCycle.front();
    reportNode(ErrorKind::kInvalidModel, nodes[order.inCycle.front()], scope,
               str("it is part of a cycle of ", order.inCycle.size(),
                   " nodes that need each other's outputs"));
  }
  if (main) mainNode_ = -1;
}

const wire::Function* ModelImport::findFunction(const wire::Node& node) const {
  if (outer_) return outer_->findFunction(node);
  const auto it = functions_.find({canonicalDomain(node.domain), node.opType, node.overload});
  return it == functions_.end() ? nullptr : it->second;
}

bool ModelImport::hasPoisonedInput(const wire::Node& node, const Scope& scope) const {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](std::string_view name) {
    return !name.empty() && scope.isPoisoned(name);
  });
}

void ModelImport::poison(const wire::Node& node, Scope& scope) {
  for (const std::string_view output : node.outputs)
    if (!output.empty()) {
      scope.values.erase(output);
      if (Value* value = scope.depth == 0 ? standIn(output) : nullptr)
        scope.values[output] = value;
      else
        scope.poisoned.insert(output);
    }
}

void ModelImport::recordOutputs(const wire::Node& node, const Scope& scope) {
  std::vector<Value*>& values = (*options_.nodeOutputs)[nodeName(node)];
  for (const std::string_view output : node.outputs)
    values.push_back(output.empty() ? nullptr : scope.find(output));
}

// Plugins come last, unless their user wants them first.
bool ModelImport::isPlugin(const wire::Node& node, int64_t opset) const {
  if (!plugins() || !plugins()->has(pluginRequest(node))) return false;
  return plugins()->overrides() ||
         (!findFunction(node) && !findOperator(canonicalDomain(node.domain), node.opType, opset));
}

std::string ModelImport::checkOperator(const wire::Node& node, const Scope& scope) const {
  const std::string_view domain = canonicalDomain(node.domain);
  int64_t opset = scope.opset(domain);
  if (findFunction(node) || isPlugin(node, opset)) return {};
  if (opset == 0 && scope.opsets.empty()) opset = 1;
  if (findOperator(domain, node.opType, opset)) return {};
  if (opset == 0 && findOperator(domain, node.opType, INT64_MAX))
    return str("the model does not import the opset of its domain '", node.domain, "'");
  return whyUnknown(domain, node.opType, opset);
}

void ModelImport::importNode(const wire::Node& node, Scope& scope) {
  if (const std::string reason = checkOperator(node, scope); !reason.empty()) {
    if (keepOpaque(node, scope)) return;
    reportNode(ErrorKind::kUnsupported, node, scope, reason);
    return poison(node, scope);
  }
  if (hasPoisonedInput(node, scope)) {
    if (options_.untried && scope.depth == 0) options_.untried->push_back(mainNode_);
    return poison(node, scope);
  }
  const size_t problemsBefore = problems_.size();
  try {
    for (const std::string_view input : node.inputs)
      if (!input.empty() && !scope.isMade(input))
        fail(ErrorKind::kInvalidModel, "its input '", input,
             "' is made by no node, input or initializer");
    if (++imported_ > loaded_.model.graph.nodes.size() + kMaxExpanded)
      fail(ErrorKind::kUnsupported, "functions and loops expand to more than ", kMaxExpanded,
           " nodes");
    const int64_t opset = std::max<int64_t>(1, scope.opset(node.domain));
    if (isPlugin(node, opset)) {
      importWith(importPlugin, node, scope, opset);
    } else if (const wire::Function* function = findFunction(node)) {
      importFunction(*function, node, scope);
    } else {
      const bool passes = passesStrings(node, scope);
      importWith(passes ? importStrings
                        : findOperator(canonicalDomain(node.domain), node.opType, opset)->import,
                 node, scope, opset);
    }
  } catch (const Error& error) {
    reportNode(error.kind(), node, scope, error.message());
  } catch (const BodyFailure&) {
  } catch (const std::logic_error&) {  // out of range, or longer than memory
    reportNode(ErrorKind::kInvalidModel, node, scope,
               "an input or attribute of it does not have the number of elements it needs");
  } catch (const std::bad_alloc&) {
    reportNode(ErrorKind::kOutOfMemory, node, scope, "out of memory while importing it");
  }
  // A branch may fail silently, by reading what an earlier problem already spoilt.
  const bool incomplete =
      std::any_of(node.outputs.begin(), node.outputs.end(),
                  [&](std::string_view name) { return !name.empty() && !scope.isMade(name); });
  if (problems_.size() != problemsBefore || incomplete)
    poison(node, scope);
  else if (options_.nodeOutputs && scope.depth == 0)
    recordOutputs(node, scope);
}

void ModelImport::importWith(ImportFunction function, const wire::Node& node, Scope& scope,
                             int64_t opset) {
  const Node* last = graph_.nodes().empty() ? nullptr : graph_.nodes().back().get();
  NodeImport import(*this, scope, node, opset);
  function(import);
  for (const std::string_view output : node.outputs)
    if (!output.empty() && !scope.values.contains(output))
      fail(ErrorKind::kUnsupported, "its output '", output, "' is not supported");

  if (options_.keepCopies && scope.depth == 0) keepCopies(node, scope, import.name(), last);
  TracedNode record = options_.trace ? traced(node, scope, opset) : TracedNode();
  const std::vector<Node*> added = nodesAfter(last);
  const std::string origin = onnxLayerText(
      import.name(),
      scope.functions.empty() ? std::string() : str("Local Function: ", scope.functions.back()));
  for (Node* made : added) {
    if (!made->origins.empty()) continue;
    ImportedPart part;
    if (options_.trace)
      part = {static_cast<int>(options_.trace->nodes.size()),
              static_cast<int>(record.parts.size())};
    made->origins.add(origin, part);
    record.parts.push_back(made);
  }
  if (!options_.trace) requireSizesOf(record.parts);
  if (options_.openBroadcasts && isOpenBroadcast(record)) hideOpenBroadcast(record, scope);
  if (options_.trace) options_.trace->nodes.push_back(std::move(record));
  nameOutputs(node, scope, added);
}

std::vector<Node*> ModelImport::nodesAfter(const Node* last) const {
  std::vector<Node*> nodes;
  Node* next = last                     ? graph_.next(last)
               : graph_.nodes().empty() ? nullptr
                                        : graph_.nodes().front().get();
  for (; next; next = graph_.next(next)) nodes.push_back(next);
  return nodes;
}

void ModelImport::keepCopies(const wire::Node& node, Scope& scope, const std::string& name,
                             const Node* last) {
  const std::vector<Node*> added = nodesAfter(last);
  std::set<const Value*> named;
  for (const std::string_view output : node.outputs) {
    Value* value = output.empty() ? nullptr : scope.find(output);
    if (!value || value->isConstant()) continue;
    const bool isMade = std::ranges::find(added, value->producer) != added.end();
    if (!isMade || !named.insert(value).second)
      scope.values[output] = graph_.add(&ops::Identity, name, {value}, NoAttrs{})->output();
  }
}

// Also of nodes that nothing will read: others may have taken their sizes, with Shape or Size.
void ModelImport::requireSizesOf(const std::vector<Node*>& nodes) {
  for (const Node* node : nodes)
    for (SizeCondition& condition : sizeConditionsOf(*node)) graph_.require(std::move(condition));
}

// Values take their ONNX names, which messages, the text form and the inspector show.
void ModelImport::nameOutputs(const wire::Node& node, const Scope& scope,
                              const std::vector<Node*>& added) {
  std::set<const Value*> named;
  const auto isAdded = [&](const Value* value) {
    return value && std::ranges::find(added, value->producer) != added.end();
  };
  for (const std::string_view output : node.outputs) {
    if (output.empty()) continue;
    Value* value = scope.find(output);
    const std::string name = scope.named(output);
    if (!isAdded(value) || !named.insert(value).second || value->name == name) continue;
    // Nodes are often named like their outputs, and so is the first thing that is made of them.
    Value* part = graph_.find(name);
    if (part && (part->isConstant() || isAdded(part))) graph_.rename(part, graph_.uniqueName(name));
    graph_.rename(value, graph_.uniqueName(name));
  }
}

void ModelImport::importFunction(const wire::Function& function, const wire::Node& node,
                                 Scope& scope) {
  if (scope.depth >= kMaxDepth)
    fail(ErrorKind::kInvalidModel, "functions call each other more than ", kMaxDepth, " deep");
  if (node.inputs.size() > function.inputs.size())
    fail(ErrorKind::kInvalidModel, "it passes ", node.inputs.size(), " inputs to function '",
         function.name, "', which takes ", function.inputs.size());
  const NodeImport caller(*this, scope, node, 0);
  Scope body;
  body.depth = scope.depth + 1;
  body.enter(caller.name());
  body.functions = scope.functions;
  body.functions.emplace_back(function.name);
  body.opsets = function.opsetImports;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (const auto item = caller.optionalItem(static_cast<int>(i)))
      body.values[function.inputs[i]] = *item;
  for (const std::string_view name : function.attributes)
    if (const wire::Attribute* given = caller.find(name)) body.functionAttributes[name] = given;
  for (const wire::Attribute& preset : function.attributesWithDefault) {
    const wire::Attribute* given = caller.find(preset.name);
    body.functionAttributes[preset.name] = given ? given : &preset;
  }
  // An input the caller left out is an omitted input of the body's nodes too.
  std::vector<wire::Node> nodes = function.nodes;
  for (size_t i = 0; i < function.inputs.size(); ++i)
    if (!body.values.contains(function.inputs[i]))
      for (wire::Node& inner : nodes)
        std::replace(inner.inputs.begin(), inner.inputs.end(), function.inputs[i],
                     std::string_view{});
  importNodes(nodes, body);

  for (size_t i = 0; i < node.outputs.size() && i < function.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (body.isPoisoned(function.outputs[i])) continue;  // reported already
    if (!body.isMade(function.outputs[i]))
      fail(ErrorKind::kInvalidModel, "function '", function.name, "' never makes its output '",
           function.outputs[i], "'");
    scope.values[node.outputs[i]] = *body.findItem(function.outputs[i]);
  }
}

std::vector<ImportProblem> ModelImport::importBody(const wire::Graph& body, Scope& scope,
                                                   std::vector<Item>& outputs) {
  if (scope.depth > kMaxDepth)
    fail(ErrorKind::kInvalidModel, "bodies are nested more than ", kMaxDepth, " deep");
  imported_ = outer_->imported_;  // a body may be imported more than once: all count
  importInitializers(body, scope);
  importNodes(body.nodes, scope);
  for (const auto& output : body.outputs) {
    outputs.push_back(scope.findItem(output.name).value_or(Item()));
    if (outputs.back() == Item() && !scope.isPoisoned(output.name))
      report(ErrorKind::kInvalidModel,
             str("the subgraph of '", graph_.name, "' never makes its output '", output.name, "'"));
  }
  outer_->imported_ = imported_;
  return std::move(problems_);
}

void ModelImport::addProblems(std::vector<ImportProblem> problems) {
  for (ImportProblem& problem : problems) {
    problem.nodeIndex = mainNode_;
    problems_.push_back(std::move(problem));
  }
}

std::vector<Item> ModelImport::importBranch(const wire::Graph& branch, const Scope& outer,
                                            const std::string& name,
                                            const std::vector<Item>& inputs) {
  if (outer.depth >= kMaxDepth)
    fail(ErrorKind::kInvalidModel, "branches are nested more than ", kMaxDepth, " deep");
  Scope scope;
  scope.parent = &outer;
  scope.depth = outer.depth + 1;
  scope.enter(name);
  scope.functions = outer.functions;
  scope.opsets = outer.opsets;
  scope.functionAttributes = outer.functionAttributes;
  if (inputs.size() != branch.inputs.size())
    fail(ErrorKind::kInvalidModel, "its subgraph '", branch.name, "' takes ", branch.inputs.size(),
         " inputs instead of ", inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) scope.values[branch.inputs[i].name] = inputs[i];
  importInitializers(branch, scope);
  importNodes(branch.nodes, scope);
  std::vector<Item> outputs;
  for (const auto& output : branch.outputs) {
    if (!scope.isMade(output.name) && !scope.isPoisoned(output.name))
      fail(ErrorKind::kInvalidModel, "its branch never makes its output '", output.name, "'");
    outputs.push_back(scope.findItem(output.name).value_or(Item()));
  }
  return outputs;
}

}  // namespace camshaft::onnx::importer
